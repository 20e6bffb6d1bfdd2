/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#define GPU(bus, rest)                                                         \
	"<gpu id=\"" bus "\"><product_name>NVIDIA H100 80GB HBM3"              \
	"</product_name><uuid>GPU-" bus "</uuid>" rest "</gpu>"
#define LOG(attached, gpus)                                                    \
	"<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "           \
	"\"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>"                          \
	"<driver_version>550.1</driver_version><cuda_version>12.4"             \
	"</cuda_version><attached_gpus>" attached "</attached_gpus>" gpus      \
	"</nvidia_smi_log>"

static void damage(void **state)
{
	refuses("<nvidia_smi_log><gpu id=\"zebra\">",
		"1:17: ", "without a PCI address");
	refuses("<nvidia_smi_log>\n<gpu>", "2:1: ", "without a PCI address");
	refuses("<nvidia_smi_log>", "1:17: ", "ends within");
	refuses("<nvidia_smi_log></gpu>", "1:19: ", "mismatched");
}

static void cut_is_partial(void **state)
{
	struct lf_hw *hw =
		reads(&lf_hw_read_smi_xml,
		      "<nvidia_smi_log><attached_gpus>1</attached_gpus>"
		      "<gpu id=\"00000000:17:00.0\"><product_name>X"
		      "</product_name><performance_state>P");

	assert_true(hw->partial);
	has(hw->partial_why, "ends within");
	assert_int_equal(hw->gpus, 1);
	assert_string_equal(hw->gpu[0].bus, "0000:17:00.0");
	assert_string_equal(hw->gpu[0].name, "X");
	assert_int_equal(hw->gpu[0].pstate, -1);
	lf_hw_free(hw);
}

/* clang-format off: the tree is the point. */
static const char two_gpus[] =
	"<?xml version='1.0' ?>\n"
	"<!DOCTYPE nvidia_smi_log SYSTEM 'nvsmi_device_v12.dtd'>\n"
	"<nvidia_smi_log>\n"
	" <driver_version>550.1</driver_version>\n"
	" <cuda_version>12.4</cuda_version>\n"
	" <attached_gpus>2</attached_gpus>\n"
	" <gpu id='00000000:17:00.0'>\n"
	"  <product_name>NVIDIA H100 80GB HBM3</product_name>\n"
	"  <uuid>GPU-00000000:17:00.0</uuid>\n"
	"  <minor_number>5</minor_number>\n"
	"  <performance_state>P8</performance_state>\n"
	"  <mig_mode>\n"
	"   <current_mig>Enabled</current_mig>\n"
	"  </mig_mode>\n"
	"  <pci>\n"
	"   <pci_device_id>233010DE</pci_device_id>\n"
	"   <pci_gpu_link_info>\n"
	"    <pcie_gen>\n"
	"     <max_link_gen>5</max_link_gen>\n"
	"     <current_link_gen>1</current_link_gen>\n"
	"     <max_device_link_gen>5</max_device_link_gen>\n"
	"     <max_host_link_gen>6</max_host_link_gen>\n"
	"    </pcie_gen>\n"
	"    <link_widths>\n"
	"     <max_link_width>16x</max_link_width>\n"
	"     <current_link_width>8x</current_link_width>\n"
	"    </link_widths>\n"
	"   </pci_gpu_link_info>\n"
	"  </pci>\n"
	"  <ecc_errors>\n"
	"   <volatile>\n"
	"    <sram_uncorrectable_parity>1</sram_uncorrectable_parity>\n"
	"    <sram_uncorrectable_secded>2</sram_uncorrectable_secded>\n"
	"    <dram_uncorrectable>3</dram_uncorrectable>\n"
	"   </volatile>\n"
	"   <aggregate>\n"
	"    <dram_uncorrectable>50</dram_uncorrectable>\n"
	"   </aggregate>\n"
	"  </ecc_errors>\n"
	"  <remapped_rows>\n"
	"   <remapped_row_pending>Yes</remapped_row_pending>\n"
	"   <remapped_row_failure>No</remapped_row_failure>\n"
	"  </remapped_rows>\n"
	"  <fabric>\n"
	"   <state>Completed</state>\n"
	"   <status>Success</status>\n"
	"   <cliqueId>7</cliqueId>\n"
	"   <clusterUuid>12345678-0000-0000-0000-000000000001</clusterUuid>\n"
	"   <health>\n"
	"    <summary>Unhealthy</summary>\n"
	"   </health>\n"
	"  </fabric>\n"
	" </gpu>\n"
	" <gpu id='00000000:3D:00.0'>\n"
	"  <product_name>NVIDIA H100 80GB HBM3</product_name>\n"
	"  <uuid>GPU-00000000:3D:00.0</uuid>\n"
	"  <minor_number>N/A</minor_number>\n"
	"  <mig_mode>\n"
	"   <current_mig>N/A</current_mig>\n"
	"  </mig_mode>\n"
	"  <fabric>\n"
	"   <state>In Progress</state>\n"
	"   <status>N/A</status>\n"
	"   <cliqueId>0</cliqueId>\n"
	"   <clusterUuid>00000000-0000-0000-0000-000000000000</clusterUuid>\n"
	"  </fabric>\n"
	" </gpu>\n"
	"</nvidia_smi_log>\n";
/* clang-format on */

static void fields(void **state)
{
	struct lf_hw *hw = reads(&lf_hw_read_smi_xml, two_gpus);
	const struct lf_hw_gpu *g = hw->gpu;

	assert_false(hw->partial);
	assert_string_equal(hw->node.driver, "550.1");
	assert_string_equal(hw->node.cuda, "12.4");
	assert_int_equal(hw->node.gpus_attached, 2);
	assert_int_equal(g->index, 0);
	assert_int_equal(g->minor, 5);
	assert_int_equal(g->vendor, LF_VENDOR_NVIDIA);
	assert_int_equal(g->device_id, 0x2330);
	assert_int_equal(g->pstate, 8);
	assert_int_equal(g->mig, 1);
	assert_int_equal(g->pcie.gen, 1);
	assert_int_equal(g->pcie.max_gen, 5);
	assert_int_equal(g->pcie.device_max_gen, 5);
	assert_int_equal(g->pcie.host_max_gen, 6);
	assert_int_equal(g->pcie.width, 8);
	assert_int_equal(g->pcie.max_width, 16);
	assert_int_equal(g->ecc_uncorrected, 6);
	assert_int_equal(g->remap_pending, 1);
	assert_int_equal(g->remap_failed, 0);
	assert_int_equal(g->fabric, LF_FABRIC_COMPLETED);
	assert_int_equal(g->fabric_ok, 0);
	assert_string_equal(g->clique,
			    "12345678-0000-0000-0000-000000000001.7");
	assert_int_equal(g[1].index, 1);
	assert_int_equal(g[1].minor, -1);
	assert_int_equal(g[1].mig, 0);
	assert_int_equal(g[1].ecc_uncorrected, -1);
	assert_int_equal(g[1].fabric, LF_FABRIC_IN_PROGRESS);
	assert_int_equal(g[1].fabric_ok, -1);
	assert_string_equal(g[1].clique, "");
	lf_hw_free(hw);
}

static void a_part_of_the_gpus(void **state)
{
	struct lf_hw *hw = reads(&lf_hw_read_smi_xml,
				 LOG("8", GPU("00000000:17:00.0", "")));

	assert_true(hw->partial);
	has(hw->partial_why, "8 GPUs attached, 1 shown");
	assert_int_equal(hw->gpu[0].index, -1);
	lf_hw_free(hw);
}

static void recordings(void **state)
{
	static const struct {
		const char *file, *name;
		int index, gen, max_gen, width, max_width, pstate, mig;
		bool partial;
	} rows[] = {
		{ "nvidia-smi-q/4090_host-gen3_idle.xml",
		  "NVIDIA GeForce RTX 4090", 0, 1, 3, 16, 16, 8, 0, false },
		{ "nvidia-smi-q/a100-4of1_mig_v12.xml", "NVIDIA A100-SXM4-80GB",
		  -1, 4, 4, 16, 16, 0, 1, true },
		{ "nvidia-smi-q/rtx3080_schema-v13.xml",
		  "NVIDIA GeForce RTX 3080", 0, 4, 4, 16, 16, 2, 0, false },
		{ "nvidia-smi-q/t4_x8-of-x16_gen3.xml", "Tesla T4", 0, 3, 3, 8,
		  16, 0, 0, false },
	};

	NEEDS_SHARED();
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *f = rows[i].file;
		struct lf_hw *hw = recording(f);
		const struct lf_hw_gpu *g = hw->gpu;

		same(f, "GPUs", hw->gpus, 1);
		assert_string_equal(g->name, rows[i].name);
		same(f, "index", g->index, rows[i].index);
		same(f, "gen", g->pcie.gen, rows[i].gen);
		same(f, "max gen", g->pcie.max_gen, rows[i].max_gen);
		same(f, "width", g->pcie.width, rows[i].width);
		same(f, "max width", g->pcie.max_width, rows[i].max_width);
		same(f, "pstate", g->pstate, rows[i].pstate);
		same(f, "MIG", g->mig, rows[i].mig);
		same(f, "partial", hw->partial, rows[i].partial);
		lf_hw_free(hw);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = { T(damage), T(cut_is_partial),
					  T(fields), T(a_part_of_the_gpus),
					  T(recordings) };

	return cmocka_run_group_tests_name("hw_smi_xml", all, NULL, NULL);
}
