/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_fixture.h"

#define HEAD2  "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
#define LEGEND "\nLegend:\n\n  X    = Self\n  PIX  = a bridge\n"
#define NV     "  NV#  = Connection traversing a bonded set of # NVLinks\n"

static const struct lf_hw_reader *const topo = &lf_hw_read_topo;

static void refused(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "0:1: no line with GPU0" },
		{ "hello\n", "1:1: no line with GPU0" },
		{ HEAD2, "1:1: no row" },
		{ "GPU0GPU1CPU Affinity\nGPU0 X NV1 0\n", "1:5: columns run" },
		{ "\tGPU0\tGPU0\n", "1:7: column GPU0 stands twice" },
		{ HEAD2 "GPU0\t X \tNV4\t0\t0\t\tN/A\n"
			"GPU1\tNV4\tNV4\t0\t0\t\tN/A\n",
		  "3:10: GPU1 to GPU1 says 'NV4'" },
		{ HEAD2 "GPU0\tX\tX\t0\t0\t\tN/A\n", "2:8: GPU0 to GPU1" },
		{ HEAD2 "GPU0\t X \tNW4\t0\t0\t\tN/A\n", "2:10: 'NW4' is no" },
		{ HEAD2 "GPU0\t X \tNV0\t0\t0\t\tN/A\n", "2:10: 'NV0' is no" },
		{ HEAD2 "GPU0\t X \n", "2:8: row GPU0 has 1 cells of 2" },
		{ HEAD2 "GPU0\t X \tSYS\t0\t0\t\tN/A\tN/A\n", "2:23: 'N/A'" },
		{ HEAD2 "GPU0\t X \tSYS\t0-z\t0\t\tN/A\n", "2:14: '0-z' fits" },
		{ HEAD2 "GPU0\t X \tSYS\t0\t0\t\tN/A\n" LEGEND,
		  "4:1: 'Legend:' is no row: 1 of 2" },
		{ HEAD2 "GPU0\t X \tSYS\t0\t0\t\tN/A\n"
			"GPU0\t X \tSYS\t0\t0\t\tN/A\n",
		  "3:1: row GPU0 stands twice" },
		{ HEAD2 "GPU2\t X \tSYS\t0\t0\t\tN/A\n", "2:1: 'GPU2' is no" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_fail(topo, rows[i].text, rows[i].error);
}

static void affinity_columns(void **state)
{
	AUTOHW *hw =
		must_read(topo, HEAD2 "GPU0\t X \tSYS\t0-3,8\t1\t\tN/A\n"
				      "GPU1\tSYS\t X \t4\t0-1\t\tN/A\n" NV);
	AUTOHW *no_cpu = must_read(topo, "\tGPU0\tCPU Affinity\tNUMA Affinity\n"
					 "GPU0\t X \t\t1\n");

	assert_string_equal(hw->gpu[0].cpus, "0-3,8");
	assert_int_equal(hw->gpu[0].numa, 1);
	assert_int_equal(hw->gpu[1].numa, -1);
	assert_int_equal(hw->node.gpus_attached, 2);
	assert_int_equal(hw->path[0][1], LF_PATH_SYS);
	assert_string_equal(no_cpu->gpu[0].cpus, "");
	assert_int_equal(no_cpu->gpu[0].numa, -1);
}

static void hidden_nvlinks(void **state)
{
	static const char rows[] = "\tGPU0\tGPU1\nGPU0\t X \tPIX\n"
				   "GPU1\tPIX\t X \n";
	char text[512];
	AUTOHW *plain = must_read(topo, rows);
	AUTOHW *shown = NULL;
	AUTOHW *hidden = NULL;

	(void)snprintf(text, sizeof(text), "%s%s", rows, LEGEND NV);
	shown = must_read(topo, text);
	(void)snprintf(text, sizeof(text), "%s%s", rows, LEGEND);
	hidden = must_read(topo, text);
	assert_int_equal(shown->nvlink[0][1], 0);
	assert_true(shown->nvlink_shown);
	assert_int_equal(hidden->nvlink[0][1], -1);
	assert_false(hidden->nvlink_shown);
	assert_int_equal(hidden->path[0][1], LF_PATH_PIX);
	assert_int_equal(plain->nvlink[0][1], 0);
}

static void nic_legend(void **state)
{
	AUTOHW *hw = must_read(topo, "\x1b[4m\tGPU0\tNIC0\tNIC1\x1b[0m\r\n"
				     "GPU0 X PXB NODE\r\n"
				     "NIC0 PXB X PIX\r\nNIC1 NODE PIX X\r\n"
				     "\nNIC Legend:\n\n  NIC0: mlx5_bond_0\n");

	assert_int_equal(hw->nics, 2);
	assert_true(hw->nics_shown);
	assert_string_equal(hw->nic[0].name, "mlx5_bond_0");
	assert_string_equal(hw->nic[0].alias, "NIC0");
	assert_string_equal(hw->nic[1].name, "NIC1");
	assert_int_equal(hw->nic_path[0][0], LF_PATH_PXB);
	assert_int_equal(hw->nic_path[0][1], LF_PATH_NODE);
}

static void cut_and_dotted(void **state)
{
	AUTOHW *cut = must_read(topo, "\tGPU0\tGPU1\tGPU2\nGPU0 X NV12 NV12\n"
				      "GPU1 NV12 X NV1");
	AUTOHW *dots = must_read(topo, "\tGPU0\tGPU1\tGPU2\nGPU0 X NV2 NV2\n"
				       "...\nGPU2 NV2 NV2 X\n");

	assert_true(cut->partial);
	assert_int_equal(cut->nvlink[0][2], 12);
	assert_int_equal(cut->nvlink[1][2], -1); /* not 1 */
	assert_true(dots->partial);
	assert_int_equal(dots->nvlink[1][2], 2);
}

static void contradiction(void **state)
{
	AUTOHW *hw = must_read(topo, "GPU0 GPU1\nGPU0 X NV4\nGPU1 NV3 X\n");

	assert_int_equal(hw->conflicts, 1);
	assert_string_equal(hw->conflict[0].what, "NVLinks");
}

static void peers(void **state)
{
	static const char text[] = " \tGPU0\tGPU1\tGPU2\t\n GPU0\tX\tOK\tNS\t\n"
				   " GPU1\tOK\tX\tGNS\t\n GPU2\tNS\tGNS\tX\t\n";
	AUTOHW *hw = must_read(&lf_hw_read_topo_p2p, text);

	assert_true(lf_hw_read_topo_p2p.claims(text, strlen(text)) >
		    topo->claims(text, strlen(text)));
	assert_int_equal(hw->p2p[0][1], 1);
	assert_int_equal(hw->p2p[2][1], 0);
	assert_int_equal(hw->p2p[0][2], -1);
	assert_false(hw->nvlink_shown);
	assert_int_equal(hw->nvlink[0][1], -1);
}

static void fixtures(void **state)
{
	static const struct {
		const char *name;
		int gpus, nics, links; /* links: GPU0-GPU1 */
		int numa;	       /* of GPU 0 */
		enum lf_hw_path nic;   /* nearest of GPU 0 */
	} rows[] = {
		{ "2x_nv2_and_phb_numa-na", 2, 0, 2, -1, 0 },
		{ "3090-2x_nv3_numa-na_CUT", 2, 0, 3, -1, 0 },
		{ "5090-2x_phb", 2, 0, 0, 0, 0 },
		{ "5090-2x_topo-p2p-rw_GNS", 2, 0, -1, -1, 0 },
		{ "5gpu_node-phb", 5, 0, 0, 0, 0 },
		{ "5gpu_topo-p2p-p_OK", 5, 0, -1, -1, 0 },
		{ "8x_all-sys", 8, 0, 0, 0, 0 },
		{ "8x_topo-mp_12nic_drv-new", 8, 12, -1, 0, LF_PATH_PIX },
		{ "a100-4x_nv4_4mlx_drv4xx", 4, 4, 4, 0, LF_PATH_NODE },
		{ "a100-8x_10nic_x-nospace", 8, 10, 12, 0, LF_PATH_PXB },
		{ "a800-8x_nv8_4nic_no-gpunumaid", 8, 4, 8, 0, LF_PATH_NODE },
		{ "a800-8x_nv8_8bond", 8, 8, 8, 0, LF_PATH_PIX },
		{ "dgx-a100_12mlx_drv470", 8, 12, 12, 3, LF_PATH_PXB },
		{ "dgx1_topo-mp_4mlx", 8, 4, -1, 0, LF_PATH_PIX },
		{ "gb200-4x_nv18_nonic", 4, 0, 18, 0, 0 },
		{ "h100-8x_nv18_spaces", 8, 0, 18, 0, 0 },
		{ "h100pcie-2x_nv12_bridge", 2, 0, 12, 1, 0 },
		{ "h200-8x_10nic_ansi", 8, 10, 18, 0, LF_PATH_PIX },
		{ "l4-2x_sys", 2, 0, 0, 0, 0 },
		{ "titanv-8x_cpuaff-only", 8, 0, 0, -1, 0 },
		{ "v100-8x_hybrid-cube-mesh_drv440", 8, 1, 1, -1,
		  LF_PATH_NODE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum lf_hw_path near = LF_PATH_UNKNOWN;
		AUTOHW *hw = NULL;
		char name[128];
		const char *text;

		(void)snprintf(name, sizeof(name), "topo-m/%s.txt",
			       rows[i].name);
		text = fixture(name);
		hw = must_read(topo, text);
		for (int k = 0; k < hw->nics; k++)
			if (!near || hw->nic_path[0][k] < near)
				near = hw->nic_path[0][k];
		print_message("# %s\n", name);
		assert_int_equal(hw->gpus, rows[i].gpus);
		assert_int_equal(hw->nics, rows[i].nics);
		assert_int_equal(hw->nvlink[0][1], rows[i].links);
		assert_int_equal(hw->nvlink_shown, rows[i].links >= 0);
		assert_int_equal(hw->gpu[0].numa, rows[i].numa);
		assert_int_equal(near, rows[i].nic);
		assert_int_equal(hw->conflicts, 0);
		assert_false(hw->partial);
		assert_true(topo->claims(text, strlen(text)) >= 80);
		survives_damage(topo, text);
	}
}

static void garbage(void **state)
{
	refuses_garbage(topo);
	refuses_garbage(&lf_hw_read_topo_p2p);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(affinity_columns),
		cmocka_unit_test(hidden_nvlinks),
		cmocka_unit_test(nic_legend),
		cmocka_unit_test(cut_and_dotted),
		cmocka_unit_test(contradiction),
		cmocka_unit_test(peers),
		cmocka_unit_test(fixtures),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("hw_topo", t, NULL, NULL);
}
