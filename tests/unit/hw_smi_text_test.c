/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_fixture.h"

#define HEAD(n)                                                                \
	"\n==============NVSMI LOG==============\n\n"                          \
	"Timestamp                                 : Mon Nov 30\n"             \
	"Driver Version                            : 570.86.15\n"              \
	"CUDA Version                              : 12.8\n\n"                 \
	"Attached GPUs                             : " #n "\n"
#define GPU(bus)                                                               \
	"GPU 00000000:" bus ":00.0\n"                                          \
	"    Product Name                          : NVIDIA B200\n"
#define END "    Processes                             : None\n"

static const struct lf_hw_reader *const smi = &lf_hw_read_smi_text;

static void refused(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "0:1: no line 'GPU" },
		{ HEAD(1), "8:1: no line 'GPU" },
		{ HEAD(x), "8:45: 'x' is no number of GPUs" },
		{ GPU("0a") "    Minor Number : -1\n" END,
		  "3:20: Minor Number: '-1' is no number" },
		{ GPU("0a") "    Performance State : Q8\n" END,
		  "3:25: Performance State: 'Q8' is no performance state" },
		{ GPU("0a") "    PCI\n        GPU Link Info\n"
			    "            Link Width\n"
			    "                Max : 16\n" END,
		  "6:23: PCI/GPU Link Info/Link Width/Max: '16' is no link" },
		{ GPU("0a") "    MIG Mode\n        Current : Perhaps\n" END,
		  "4:19: MIG Mode/Current: 'Perhaps' is no Enabled" },
		{ GPU("0a") "    PCI\n        Device Id : 0x12348086\n" END,
		  "4:21: PCI/Device Id: '0x12348086' is no device id of NV" },
		{ "NVIDIA-SMI has failed because it couldn't communicate\n",
		  "1:1: nvidia-smi failed there: NVIDIA-SMI has failed" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_fail(smi, rows[i].text, rows[i].error);
}

static void fabric(void **state)
{
	static const char *const healths[] = {
		"            Summary : Unhealthy\n",
		"            Bandwidth : Degraded\n",
		"            Route Unhealthy : True\n",
	};
	AUTOHW *good = must_read(
		smi, HEAD(1) GPU("0a") "    Fabric\n"
				       "        State : Completed\n"
				       "        Status : Success\n"
				       "        CliqueId : 7\n"
				       "        ClusterUUID : ab-cd\n"
				       "        Health\n"
				       "            Bandwidth : Full\n"
				       "            Novelty : Blue\n" END);
	AUTOHW *bad = must_read(
		smi,
		HEAD(1) GPU("0a") "    Fabric\n"
				  "        State : Completed\n"
				  "        Status : Insufficient Resources\n"
				  "        CliqueId : 0\n"
				  "        ClusterUUID : 00-00\n" END);

	assert_int_equal(good->gpu[0].fabric, LF_FABRIC_COMPLETED);
	assert_int_equal(good->gpu[0].fabric_ok, 1);
	assert_string_equal(good->gpu[0].clique, "ab-cd.7");
	assert_int_equal(bad->gpu[0].fabric_ok, 0);
	assert_string_equal(bad->gpu[0].clique, "");
	for (size_t i = 0; i < sizeof(healths) / sizeof(*healths); i++) {
		char text[1024];
		AUTOHW *hw = NULL;

		(void)snprintf(text, sizeof(text), "%s%s%s%s",
			       GPU("0a") "    Fabric\n        Health\n",
			       healths[i], "        Status : Success\n", END);
		hw = must_read(smi, text);
		assert_int_equal(hw->gpu[0].fabric_ok, 0);
	}
}

/* A MIG device's counts and a process's words are not the GPU's. */
static void paths(void **state)
{
	AUTOHW *hw = must_read(
		smi,
		HEAD(1) GPU("0a") "    MIG Mode\n        Current : Enabled\n"
				  "    MIG Device\n        ECC Errors\n"
				  "            Volatile\n"
				  "                SRAM Uncorrectable : 9\n"
				  "    ECC Errors\n        Volatile\n"
				  "            SRAM Uncorrectable : 1\n"
				  "            DRAM Uncorrectable : 2\n"
				  "        Aggregate\n"
				  "            DRAM Uncorrectable : 50\n"
				  "    Remapped Rows\n        Pending : Yes\n"
				  "    Processes\n"
				  "        Product Name : a : b\n");

	assert_int_equal(hw->gpu[0].mig, 1);
	assert_int_equal(hw->gpu[0].ecc_uncorrected, 3);
	assert_int_equal(hw->gpu[0].remap_pending, 1);
	assert_int_equal(hw->gpu[0].remap_failed, -1);
	assert_string_equal(hw->gpu[0].name, "NVIDIA B200");
	assert_int_equal(hw->conflicts, 0);
}

static void silent_values(void **state)
{
	AUTOHW *hw = must_read(
		smi, HEAD(1) GPU("0a") "    Performance State : [N/A]\n"
				       "    Fabric\n"
				       "        State : [Unknown Error]\n"
				       "    MIG Mode\n"
				       "        Current : GPU is lost\n"
				       "    Remapped Rows : N/A\n" END);

	assert_int_equal(hw->gpu[0].pstate, -1);
	assert_int_equal(hw->gpu[0].fabric, LF_FABRIC_UNKNOWN);
	assert_int_equal(hw->gpu[0].mig, -1);
	assert_false(hw->partial);
}

static void counted(void **state)
{
	AUTOHW *all = must_read(
		smi,
		HEAD(2) GPU("0a") "    Minor Number : 7\n" END GPU("0b") END);
	AUTOHW *one = must_read(smi, HEAD(2) GPU("0b") END);
	AUTOHW *cut = must_read(smi, HEAD(1) GPU("0a"));
	AUTOHW *none = must_read(smi, "No devices were found\n");

	assert_int_equal(all->gpu[1].index, 1);
	assert_int_equal(all->gpu[0].minor, 7);
	assert_int_equal(all->gpu[1].minor, -1);
	assert_false(all->partial);
	assert_string_equal(all->node.driver, "570.86.15");
	assert_int_equal(one->gpu[0].index, -1); /* it may be GPU 1 */
	assert_true(one->partial);
	assert_true(cut->partial);
	assert_int_equal(none->node.gpus_attached, 0);
}

static void fixtures(void **state)
{
	static const struct {
		const char *name;
		int gpus, id, gen, max_gen, device_max, host_max, pstate;
		enum lf_hw_fabric fabric;
	} rows[] = {
		{ "4090-8x_all-idle-gen1", 8, 0x2684, 1, 4, 4, 5, 8,
		  LF_FABRIC_NONE },
		{ "a10-1x_gen4", 1, 0x2236, 4, 4, 4, -1, 8, LF_FABRIC_NONE },
		{ "h100-8x_535.161.08", 8, 0x2330, 5, 5, 5, 5, 0,
		  LF_FABRIC_COMPLETED },
		{ "titanv-1x_560", 1, 0x1d81, 1, 3, 3, 3, 8, LF_FABRIC_NONE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		AUTOHW *hw = NULL;
		char name[128];
		const char *text;

		(void)snprintf(name, sizeof(name), "nvidia-smi-q/%s.txt",
			       rows[i].name);
		text = fixture(name);
		hw = must_read(smi, text);
		print_message("# %s\n", name);
		assert_int_equal(hw->gpus, rows[i].gpus);
		assert_int_equal(hw->node.gpus_attached, rows[i].gpus);
		assert_false(hw->partial);
		assert_int_equal(hw->conflicts, 0);
		for (int g = 0; g < hw->gpus; g++) {
			const struct lf_hw_gpu *p = &hw->gpu[g];

			assert_int_equal(p->index, g);
			assert_int_equal(p->device_id, rows[i].id);
			assert_int_equal(p->pcie.gen, rows[i].gen);
			assert_int_equal(p->pcie.max_gen, rows[i].max_gen);
			assert_int_equal(p->pcie.device_max_gen,
					 rows[i].device_max);
			assert_int_equal(p->pcie.host_max_gen,
					 rows[i].host_max);
			assert_int_equal(p->pcie.width, 16);
			assert_int_equal(p->pstate, rows[i].pstate);
			assert_int_equal(p->fabric, rows[i].fabric);
		}
		survives_damage(smi, text);
	}
}

static void garbage(void **state)
{
	refuses_garbage(smi);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refused), cmocka_unit_test(fabric),
		cmocka_unit_test(paths),   cmocka_unit_test(silent_values),
		cmocka_unit_test(counted), cmocka_unit_test(fixtures),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("hw_smi_text", t, NULL, NULL);
}
