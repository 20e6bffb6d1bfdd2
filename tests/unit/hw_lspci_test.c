/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_fixture.h"

#define LINK(cap, now)                                                         \
	"\t\tLnkCap:\tPort #0, Speed " cap                                     \
	", ASPM L1\n\t\tLnkSta:\tSpeed " now "\n"
#define GPU "3D controller: NVIDIA Corporation Device 2330 (rev a1)\n"
#define NIC "Ethernet controller: Mellanox Technologies MT2910 [ConnectX-7]\n"
#define PORT(bus, to, what)                                                    \
	bus " PCI bridge: Somebody (prog-if 00 [Normal decode])\n"             \
	    "\tBus: primary=00, secondary=" to ", subordinate=ff\n"            \
	    "\tCapabilities: [68] Express (v2) " what "\n"
#define ROOT(bus, to)  PORT(bus, to, "Root Port (Slot-), MSI 00")
#define GEN5	       LINK("32GT/s, Width x16", "32GT/s (ok), Width x16 (ok)")
#define ACS(redirects) "\t\tACSCtl:\tSrcValid+ ReqRedir" redirects " x-\n"

static const struct lf_hw_reader *const lspci = &lf_hw_read_lspci;

static void refused(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "0:1: no line of a device" },
		{ "19:00.0 " GPU LINK("33GT/s, Width x16", "32GT/s, Width x16"),
		  "2:26: '33GT/s, Widt' is no PCIe speed" },
		{ "19:00.0 " GPU LINK("32GT/s, Width y16", "32GT/s, Width x16"),
		  "2:40: 'y16, ASP' is no width" },
		{ "19:00.0 " GPU "\t\tLnkSta:\tSpeed 32GT/s\n", "2:23: no Sp" },
		{ "19:00.0 " GPU "\tNUMA node: x\n", "2:13: 'x' is no NUMA" },
		{ "00:01.0 PCI bridge: X\n\tBus: primary=00, secondary=zz\n",
		  "2:29: 'zz' is no bus" },
		{ GEN5 GEN5, "3:1: links of several devices" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_fail(lspci, rows[i].text, rows[i].error);
}

/* A switch of two ports below one root port; a second root elsewhere. */
static void tree(void **state)
{
	AUTOHW *hw = must_read(
		lspci,
		ROOT("15:01.0", "16") GEN5 ACS("-") PORT(
			"16:00.0", "17",
			"Upstream Port") LINK("32GT/s, Width x16",
					      "5GT/s (downgraded), Width x16")
			PORT("17:00.0", "18", "Downstream Port") GEN5 PORT(
				"17:01.0", "19", "Downstream Port")
				GEN5 ACS("+") "18:00.0 " GPU
					      "\tNUMA node: 1\n" GEN5
					      "19:00.0 " NIC
					      "\tNUMA node: 1\n" LINK(
						      "32GT/s, Width x16",
						      "16GT/s (downgraded), "
						      "Width x8")
						      ROOT("15:02.0", "20") GEN5
		"20:00.0 " NIC ROOT("80:02.0", "81")
			GEN5 ACS("-") "81:00.0 " NIC "\tNUMA node: 0\n" GEN5);

	assert_int_equal(hw->gpus, 1);
	assert_int_equal(hw->gpu[0].index, 0);
	assert_int_equal(hw->gpu[0].device_id, 0x2330);
	assert_int_equal(hw->gpu[0].numa, 1);
	assert_int_equal(hw->gpu[0].pcie.max_gen, 5);
	assert_int_equal(hw->gpu[0].pcie.path_gen, 2);
	assert_int_equal(hw->gpu[0].pcie.path_width, 16);
	assert_int_equal(hw->nic[0].pcie.width, 8);
	assert_string_equal(hw->nic[0].type, "MT4129");
	assert_int_equal(hw->nic_path[0][0], LF_PATH_PIX);
	assert_int_equal(hw->nic_path[0][1], LF_PATH_PHB);
	assert_int_equal(hw->nic_path[0][2], LF_PATH_SYS);
	assert_int_equal(hw->node.acs, 1);
}

static void excerpts(void **state)
{
	AUTOHW *gpu = must_read(lspci, "19:00.0 " GPU GEN5);
	AUTOHW *bare = must_read(lspci, LINK("16GT/s, Width x16",
					     "2.5GT/s (downgraded), Width x16 "
					     "(ok)"));
	AUTOHW *dead = must_read(
		lspci, "19:00.0 " GPU LINK("32GT/s, Width x16",
					   "unknown, Width x0 (downgraded)"));
	AUTOHW *cut = must_read(lspci, "19:00.0 " GPU
				       "\t\tLnkSta:\tSpeed 32GT/s, Width x1");

	assert_int_equal(gpu->gpu[0].index, -1); /* one of how many? */
	assert_int_equal(gpu->gpu[0].pcie.max_gen, -1);
	assert_int_equal(gpu->gpu[0].pcie.device_max_gen, 5);
	assert_int_equal(gpu->gpu[0].pcie.path_gen, -1);
	assert_int_equal(gpu->node.acs, -1);
	assert_true(bare->partial);
	assert_int_equal(bare->gpu[0].pcie.gen, 1);
	assert_int_equal(bare->gpu[0].pcie.device_max_gen, 4);
	assert_int_equal(bare->gpu[0].vendor, LF_VENDOR_UNKNOWN);
	assert_int_equal(dead->gpu[0].pcie.gen, -1);
	assert_int_equal(dead->gpu[0].pcie.width, -1);
	assert_int_equal(cut->gpu[0].pcie.width, -1);
	assert_true(cut->partial);
}

static void inventory(void **state)
{
	AUTOHW *hw = must_read(
		lspci,
		"00:01.0 VGA compatible controller [0300]: Red Hat "
		"[1af4:1050]\n"
		"01:00.0 VGA compatible controller [0300]: ASPEED [1a03:2000]\n"
		"02:00.0 Processing accelerators [1200]: Advanced Micro "
		"Devices, Inc. [AMD/ATI] Aqua Vanjaram [1002:74a1]\n"
		"000a:03:00.0 VGA compatible controller [0300]: NVIDIA "
		"Corporation AD102 [GeForce RTX 4090] [10de:2684] (rev a1)\n"
		"000a:03:00.1 Audio device [0403]: NVIDIA Corporation AD102 "
		"[10de:22ba]\n"
		"04:00.0 Ethernet controller [0200]: Intel I350 [8086:1521]\n"
		"05:00.0 Infiniband controller [0207]: Mellanox Technologies "
		"MT28908 [ConnectX-6] [15b3:101b]\n");

	assert_int_equal(hw->gpus, 2);
	assert_int_equal(hw->gpu[0].vendor, LF_VENDOR_OTHER);
	assert_int_equal(hw->gpu[1].vendor, LF_VENDOR_NVIDIA);
	assert_string_equal(hw->gpu[1].bus, "000a:03:00.0");
	assert_int_equal(hw->gpu[1].index, 0);
	assert_int_equal(hw->nics, 1);
	assert_string_equal(hw->nic[0].type, "MT4123");
	assert_int_equal(hw->nic[0].pcie.gen, -1);
}

static void iommu(void **state)
{
	const struct lf_hw_reader *r = &lf_hw_read_dmesg;
	AUTOHW *on = must_read(r, "[0.1] iommu: Default domain type: "
				  "Translated\n");
	AUTOHW *off = must_read(r, "x\n[0.1] iommu: Default domain type: "
				   "Passthrough (set via kernel command)\n");

	assert_int_equal(on->node.iommu, 1);
	assert_int_equal(off->node.iommu, 0);
	must_fail(r, "[0.1] iommu: Default domain type: Blue\n", "1:35: 'Bl");
	must_fail(r, "[0.1] DMAR: IOMMU enabled\n", "1:1: nothing on");
}

static void fixtures(void **state)
{
	static const struct {
		const char *name;
		int gpus, nics, gen, device_max, path_gen, width, numa, acs;
		bool partial;
	} rows[] = {
		{ "4090_idle-gen1_lnk", 1, 0, 1, 4, -1, 16, -1, -1, true },
		{ "a100_lspci-nn", 8, 9, -1, -1, -1, -1, -1, -1, false },
		{ "a10_lspci-nn", 1, 1, -1, -1, -1, -1, -1, -1, false },
		{ "h100-8x_lspci-vvv_linkonly", 8, 12, 5, 5, 5, 16, 0, 0,
		  false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		AUTOHW *hw = NULL;
		char name[128];
		const char *text;

		(void)snprintf(name, sizeof(name), "lspci/%s.txt",
			       rows[i].name);
		text = fixture(name);
		hw = must_read(lspci, text);
		print_message("# %s\n", name);
		assert_int_equal(hw->gpus, rows[i].gpus);
		assert_int_equal(hw->nics, rows[i].nics);
		for (int g = 0; g < hw->gpus; g++) {
			const struct lf_hw_pcie *p = &hw->gpu[g].pcie;

			assert_int_equal(p->gen, rows[i].gen);
			assert_int_equal(p->device_max_gen, rows[i].device_max);
			assert_int_equal(p->path_gen, rows[i].path_gen);
			assert_int_equal(p->width, rows[i].width);
		}
		assert_int_equal(hw->gpu[0].numa, rows[i].numa);
		assert_int_equal(hw->node.acs, rows[i].acs);
		assert_int_equal(hw->partial, rows[i].partial);
		assert_int_equal(hw->conflicts, 0);
		survives_damage(lspci, text);
	}
	survives_damage(&lf_hw_read_dmesg,
			fixture("lspci/dmesg_iommu_translated-lazy.txt"));
}

/* One NIC in the GPU's switch, as `topo -m` of such a node says. */
static void hgx_paths(void **state)
{
	AUTOHW *hw = must_read(lspci,
			       fixture("lspci/h100-8x_lspci-vvv_linkonly.txt"));

	for (int g = 0; g < hw->gpus; g++) {
		int near = 0;

		for (int n = 0; n < hw->nics; n++)
			near += hw->nic_path[g][n] == LF_PATH_PIX;
		assert_int_equal(near, g % 4 ? 1 : 3);
	}
	assert_int_equal(hw->nic_path[0][11], LF_PATH_SYS);
	assert_int_equal(hw->path[0][3], LF_PATH_NODE);
}

static void garbage(void **state)
{
	refuses_garbage(lspci);
	refuses_garbage(&lf_hw_read_dmesg);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refused),   cmocka_unit_test(tree),
		cmocka_unit_test(excerpts),  cmocka_unit_test(inventory),
		cmocka_unit_test(iommu),     cmocka_unit_test(fixtures),
		cmocka_unit_test(hgx_paths), cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("hw_lspci", t, NULL, NULL);
}
