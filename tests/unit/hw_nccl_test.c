/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#include "base/buf.h"

#define PCI(bus, class, inside)                                                \
	"<pci busid=\"" bus                                                    \
	"\" class=\"" class "\" vendor=\"0x10de\" "                            \
			    "device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" " \
			    "link_width=\"16\">" inside "</pci>"
#define GPU(bus, dev, links)                                                   \
	PCI(bus, "0x030200", "<gpu dev=\"" dev "\">" links "</gpu>")
#define LINK(bus, count, class)                                                \
	"<nvlink target=\"" bus "\" count=\"" count "\" tclass="               \
	"\"" class "\"/>"
#define NET(name, speed, port)                                                 \
	"<nic><net name=\"" name "\" speed=\"" speed "\" port=\"" port "\""    \
	" gdr=\"1\"/></nic>"
#define CPU(node, inside) "<cpu numaid=\"" node "\">" inside "</cpu>\n"
#define SYSTEM(inside)	  "<system version=\"1\">\n" inside "</system>"

static void damage(void **state)
{
	refuses("<system><cpu numaid=\"0\"><pci busid=\"?\"/></cpu></system>",
		"1:25: ", "expected a PCI address");
	refuses("<system>\n<pci/></system>", "2:1: ", "expected a PCI");
	refuses(SYSTEM("<gpu dev=\"0\"/>"), "2:1: ", "outside of a <pci>");
	refuses(SYSTEM(GPU("0000:17:00.0", "0", LINK("", "1", "0x068000"))),
		"2:", "<nvlink> with target");
	refuses(SYSTEM(GPU("0000:17:00.0", "0",
			   LINK("0000:03:00.0", "-4", "0x068000"))),
		"2:", "count \"-4\"");
	refuses(SYSTEM(GPU("0000:17:00.0", "0", "")
			       GPU("0000:17:00.0", "1", "")),
		"2:", "a second GPU at 0000:17:00.0");
	refuses("<system><cpu>", "1:14: ", "ends within");
	refuses("<!DOCTYPE system [<!ENTITY a \"b\">]><system/>",
		"1:30: ", "refused");
}

static void too_many(void **state)
{
	struct lf_buf b = LF_BUF(1 << 20);

	lf_buf_add(&b, "<system><cpu>");
	for (int i = 0; i < 65; i++)
		lf_buf_add(&b,
			   "<pci busid=\"0000:%02x:00.0\" class=\"0x030200\">"
			   "<gpu/></pci>",
			   i);
	lf_buf_add(&b, "</cpu></system>");
	assert_true(lf_buf_ok(&b));
	refuses(lf_buf_text(&b), "1:", "more than 64 GPUs");
	lf_buf_free(&b);
}

static void switched(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		SYSTEM(CPU("0", GPU("0000:17:00.0", "0",
				    LINK("0000:03:00.0", "5", "0x068000") LINK(
					    "0000:04:00.0", "4", "0x068000")))
			       CPU("1",
				   GPU("0000:97:00.0", "1",
				       LINK("0000:03:00.0", "5", "0x068000")
					       LINK("0000:04:00.0", "3",
						    "0x068000")))));

	assert_true(hw->nvlink_shown);
	assert_false(hw->partial);
	assert_int_equal(hw->gpu[0].links_active, 9);
	assert_int_equal(hw->gpu[0].switch_links, 9);
	assert_int_equal(hw->gpu[1].links_active, 8);
	assert_int_equal(hw->nvlink[0][1], 8);
	assert_int_equal(hw->nvlink[1][0], 8);
	assert_int_equal(hw->path[0][1], LF_PATH_SYS);
	assert_int_equal(hw->gpu[1].numa, 1);
	assert_int_equal(hw->gpu[1].device_id, 0x2330);
	assert_int_equal(hw->gpu[1].pcie.max_gen, 5);
	assert_int_equal(hw->gpu[1].pcie.gen, -1);
	lf_hw_free(hw);
}

/* A virtual machine shows one stand-in for all switches. */
static void hidden_switch(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		SYSTEM(CPU("0", GPU("0000:17:00.0", "0",
				    LINK("fffffff:ff:ff.0", "18", "0x068000"))
					GPU("0000:18:00.0", "1",
					    LINK("fffffff:ff:ff.0", "18",
						 "0x068000")))));

	assert_int_equal(hw->nvlink[0][1], 18);
	assert_int_equal(hw->gpu[0].switch_links, 18);
	assert_false(hw->partial);
	lf_hw_free(hw);
}

/* The same 18 links, told for each GPU that they reach. */
static void switch_that_names_gpus(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		SYSTEM(CPU(
			"0",
			GPU("0000:17:00.0", "0",
			    LINK("0000:18:00.0", "18", "0x068000")
				    LINK("0000:19:00.0", "18", "0x068000"))
				GPU("0000:18:00.0", "1",
				    LINK("0000:17:00.0", "18", "0x068000") LINK(
					    "0000:19:00.0", "18", "0x068000"))
					GPU("0000:19:00.0", "2",
					    LINK("0000:17:00.0", "18",
						 "0x068000")
						    LINK("0000:18:00.0", "18",
							 "0x068000")))));

	assert_int_equal(hw->nvlink[0][2], 18);
	assert_int_equal(hw->gpu[0].links_active, 18);
	assert_int_equal(hw->gpu[0].switch_links, 18);
	lf_hw_free(hw);
}

static void bridges_loops_and_contradictions(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		SYSTEM(CPU("0",
			   GPU("0000:17:00.0", "0",
			       LINK("0000:17:00.0", "2", "0x030200")
				       LINK("0000:18:00.0", "4", "0x030200"))
				   GPU("0000:18:00.0", "1",
				       LINK("0000:17:00.0", "3", "0x030200"))
					   GPU("0000:19:00.0", "2",
					       LINK("0004:05:00.0", "2",
						    "0x068001")))));

	assert_int_equal(hw->nvlink[0][1], 3);
	assert_int_equal(hw->nvlink[0][2], 0);
	assert_int_equal(hw->gpu[0].links_active, 4);
	assert_int_equal(hw->gpu[0].switch_links, 0);
	assert_int_equal(hw->gpu[2].links_active, 2); /* to the CPU */
	assert_int_equal(hw->conflicts, 1);
	assert_false(hw->partial);
	lf_hw_free(hw);
}

static void one_ranks_view(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		SYSTEM(CPU("1", GPU("0000:99:00.0", "0",
				    LINK("0000:bd:00.0", "4", "0x030000")))
			       CPU("0", NET("mlx5_0+mlx5_1", "200000", "1"))));

	assert_true(hw->partial);
	has(hw->partial_why, "one rank's view");
	assert_int_equal(hw->gpu[0].links_active, 4);
	assert_int_equal(hw->nics, 2);
	assert_string_equal(hw->nic[1].name, "mlx5_1");
	assert_int_equal(hw->nic[1].rate_mbps, -1);
	assert_int_equal(hw->nic[1].numa, 0);
	lf_hw_free(hw);
}

static void several_hosts(void **state)
{
	struct lf_hw *hw =
		reads(&lf_hw_read_nccl_xml,
		      SYSTEM("<cpu host_hash=\"0x1\" numaid=\"0\">" GPU(
			      "0000:17:00.0", "0",
			      "") "</cpu>"
				  "<cpu host_hash=\"0x2\" numaid=\"0\">" GPU(
					  "0000:17:00.0", "0", "") "</cpu>"));

	assert_true(hw->partial);
	has(hw->partial_why, "several hosts");
	assert_int_equal(hw->gpus, 1);
	lf_hw_free(hw);
}

static void shipped_file(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		"<!-- a comment -->\n<system version=\"1\">"
		"<cpu numaid=\"0\"><pci busid=\"ffff:ff:01.0\" "
		"class=\"0x060400\" link_speed=\"16 GT/s\" link_width=\"16\">"
		"<pci busid=\"0003:00:00.0\" class=\"0x030200\" "
		"link_speed=\"16 GT/s\" link_width=\"16\"/>"
		"<pci busid=\"0101:00:00.0\" class=\"0x020700\"/></pci>"
		"<pci busid=\"0001:00:00.0\" class=\"0x030200\" "
		"link_speed=\"\" link_width=\"0\"/>"
		"<pci busid=\"0002:00:00.0\" class=\"0x030000\" "
		"vendor=\"0x1a03\"/></cpu></system>");

	assert_false(hw->nvlink_shown);
	assert_true(hw->nics_shown);
	assert_int_equal(hw->gpus, 2); /* the board's display is none */
	assert_string_equal(hw->gpu[0].bus, "0001:00:00.0");
	assert_int_equal(hw->gpu[0].index, 0);
	assert_int_equal(hw->gpu[0].pcie.max_gen, -1);
	assert_int_equal(hw->gpu[0].pcie.max_width, -1);
	assert_int_equal(hw->gpu[1].index, 1);
	assert_int_equal(hw->gpu[1].pcie.path_gen, 4);
	assert_int_equal(hw->nvlink[0][1], -1);
	assert_int_equal(hw->nics, 1);
	assert_int_equal(hw->nic[0].layer, LF_LAYER_IB);
	assert_int_equal(hw->nic_path[1][0], LF_PATH_PIX);
	assert_int_equal(hw->nic_path[0][0], LF_PATH_UNKNOWN);
	lf_hw_free(hw);
}

static void nics(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		SYSTEM(CPU("0",
			   PCI("0000:00:00.0", "0x060000",
			       NET("mlx5_7", "400000",
				   "3")) "<pci busid=\"0000:4b:00.0\" "
					 "class=\"0x020700\" "
					 "vendor=\"0x15b3\" "
					 "device=\"0x1021\">" NET(
						 "mlx5_0", "400000",
						 "2") "</pci>" NET("veth12",
								   "10000", "0")
						 NET("eth0", "100000", "0"))));

	assert_int_equal(hw->nics, 4);
	assert_string_equal(hw->nic[0].bus, ""); /* not the host bridge */
	assert_int_equal(hw->nic[0].port, -1);	 /* NCCL's count, not ours */
	assert_int_equal(hw->nic[0].numa, 0);
	assert_string_equal(hw->nic[1].type, "MT4129");
	assert_int_equal(hw->nic[1].rate_mbps, 400000);
	assert_int_equal(hw->nic[1].gdr, 1);
	assert_int_equal(hw->nic[1].layer, LF_LAYER_IB);
	assert_true(hw->nic[2].is_virtual);
	assert_false(hw->nic[3].is_virtual);
	assert_int_equal(hw->nic[3].layer, LF_LAYER_ETHERNET);
	lf_hw_free(hw);
}

static void another_vendor(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		"<system version=\"2\"><cpu numaid=\"0\"><pci "
		"busid=\"0000:63:00.0\" class=\"0x038000\"><gpu dev=\"0\" "
		"gcn=\"908\"><xgmi target=\"0000:43:00.0\" count=\"1\" "
		"tclass=\"0x038000\"/></gpu></pci></cpu></system>");

	assert_int_equal(hw->gpu[0].vendor, LF_VENDOR_OTHER);
	assert_false(hw->nvlink_shown);
	assert_int_equal(hw->gpu[0].links_active, -1);
	lf_hw_free(hw);
}

/* A GPU that is cut through is not there: its links would be too few. */
static void cut(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_nccl_xml,
		"<system><cpu numaid=\"0\">" GPU(
			"0000:17:00.0", "0",
			LINK("0000:03:00.0", "5",
			     "0x068000")) "<pci busid=\"0000:18:00.0\" "
					  "class=\"0x030200\"><gpu "
					  "dev=\"1\">" LINK("0000:03:00.0", "5",
							    "0x068000"));

	assert_true(hw->partial);
	assert_int_equal(hw->gpus, 1);
	assert_int_equal(hw->gpu[0].links_active, 5);
	lf_hw_free(hw);
}

static void recordings(void **state)
{
	static const struct {
		const char *file;
		int gpus, nics, links, pair, max_gen, path_gen, vendor;
		bool shown, partial;
	} rows[] = {
		{ "3090-8x_fdr_dump", 8, 1, 0, 0, 4, 4, 1, true, false },
		{ "4090-2x_cx4dual_dump", 2, 2, 0, 0, 4, -1, 1, true, false },
		{ "a6000-4x_gen3_dump", 4, 10, 0, 0, 3, -1, 1, true, false },
		{ "a6000-pair_rank0-partial-view", 1, 2, 4, -1, 4, -1, 1, true,
		  true },
		{ "amd-mi-8p_rccl-model", 8, 1, -1, -1, 4, 4, 2, false, false },
		{ "aws-p4d_a100-8x_static", 8, 4, -1, -1, 3, 3, 1, false,
		  false },
		{ "aws-p5_h100-8x_fulldump_1st", 8, 32, -1, -1, 5, 4, 0, false,
		  false },
		{ "azure-ncv4_a100pcie-4x_2pairs", 4, 1, 12, 12, -1, -1, 1,
		  true, false },
		{ "azure-ndv2_v100-8x_static", 8, 1, -1, -1, 4, -1, 0, false,
		  false },
		{ "azure-ndv4_a100-8x_static", 8, 8, -1, -1, 4, 4, 0, false,
		  false },
		{ "azure-ndv5_h100-8x_static", 8, 8, -1, -1, 5, 5, 0, false,
		  false },
		{ "b200-8x_vm_dump", 8, 13, 18, 18, 5, -1, 1, true, false },
		{ "h800-8x_8cx7_dump", 8, 8, 8, 8, 5, 5, 1, true, false },
		{ "oci-bm-gpu4-8_a100_static", 8, 8, -1, -1, 4, 4, 0, false,
		  false },
		{ "oci-bm-h100-8_dump", 8, 16, 18, 18, 5, 2, 1, true, false },
	};

	NEEDS_SHARED();
	for (size_t i = 0; i < COUNT(rows); i++) {
		char file[128];
		const struct lf_hw_gpu *g;
		struct lf_hw *hw;

		(void)snprintf(file, sizeof(file), "nccl-xml/%s.xml",
			       rows[i].file);
		hw = recording(file);
		g = hw->gpu;
		same(file, "GPUs", hw->gpus, rows[i].gpus);
		same(file, "NICs", hw->nics, rows[i].nics);
		same(file, "links", g->links_active, rows[i].links);
		same(file, "links 0-1", hw->nvlink[0][1], rows[i].pair);
		same(file, "generation", g->pcie.max_gen, rows[i].max_gen);
		same(file, "of the path", g->pcie.path_gen, rows[i].path_gen);
		same(file, "vendor", (int)g->vendor, rows[i].vendor);
		same(file, "shown", hw->nvlink_shown, rows[i].shown);
		same(file, "partial", hw->partial, rows[i].partial);
		for (int k = 0; k < hw->gpus; k++)
			same(file, "index", hw->gpu[k].index, k);
		lf_hw_free(hw);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		T(damage),
		T(too_many),
		T(switched),
		T(hidden_switch),
		T(switch_that_names_gpus),
		T(bridges_loops_and_contradictions),
		T(one_ranks_view),
		T(several_hosts),
		T(shipped_file),
		T(nics),
		T(another_vendor),
		T(cut),
		T(recordings),
	};

	return cmocka_run_group_tests_name("hw_nccl", all, NULL, NULL);
}
