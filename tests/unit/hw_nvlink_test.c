/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_fixture.h"

#define GPU(n) "GPU " #n ": NVIDIA X1 (UUID: GPU-" #n ")\n"
#define S(n)   "\t Link " #n ": 26.562 GB/s\n"
#define R(n, bus, far)                                                         \
	"\t Link " #n ": Remote Device 00000000:" bus ":00.0: Link " #far "\n"

static const struct lf_hw_reader *const status = &lf_hw_read_nvlink_status;
static const struct lf_hw_reader *const remote = &lf_hw_read_nvlink_remote;

static void refused(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "0:1: no line 'GPU 0" },
		{ S(0), "1:1: a link before its GPU" },
		{ GPU(0) "\t Link 0: 26.562 GX/s\n", "2:11: '26.562 GX/s' is" },
		{ GPU(0) "\t Link 99: 25 GB/s\n", "2:3: 'Link 99' is no link" },
		{ GPU(0) "GPU 0: NVIDIA X1 (UUID: GPU-9)\n", "2:1: GPU 0 st" },
		{ "GPU 64: NVIDIA X1 (UUID: GPU-1)\n", "1:1: a GPU's number" },
		{ GPU(0) "\t Link 0: Remote Device oops: Link 1\n",
		  "2:25: 'o" },
		{ GPU(0) R(0, "05", x), "2:41: no number" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_fail(status, rows[i].text, rows[i].error);
}

static void counts(void **state)
{
	AUTOHW *hw =
		must_read(status, GPU(0) S(0) "\t Link 1: <inactive>\n"
					      "\t Link 2: 25 GB/s\n" GPU(1));

	assert_string_equal(hw->gpu[0].name, "NVIDIA X1");
	assert_string_equal(hw->gpu[0].uuid, "GPU-0");
	assert_int_equal(hw->gpu[0].links_active, 2);
	assert_int_equal(hw->gpu[0].links_inactive, 1);
	assert_int_equal(hw->gpu[0].link_mbps, 25000);
	assert_int_equal(hw->gpu[1].links_active, -1);
	assert_true(hw->nvlink_shown);
}

static void all_down(void **state)
{
	AUTOHW *hw = must_read(status, GPU(0) "NVML: Unable to retrieve NVLink "
					      "information as all links are "
					      "inActive\n");
	AUTOHW *bare = must_read(status, GPU(0));

	assert_int_equal(hw->gpu[0].links_active, 0);
	assert_true(hw->nvlink_shown);
	assert_int_equal(bare->gpu[0].links_active, -1);
	assert_false(bare->nvlink_shown);
}

/* What was left out is unknown, not down. */
static void torn(void **state)
{
	static const char *const rows[] = {
		GPU(0) S(0) S(1) GPU(1) S(0), /* cut */
		GPU(0) S(0) S(1) GPU(1) S(0) "\t Li",
		GPU(0) S(0) S(1) S(2) GPU(1) S(0) S(2), /* a line is gone */
		GPU(0) S(0) S(1) "...\n" GPU(1) S(1),
		GPU(0) S(0) S(1) GPU(1) S(0) "\t Link 1: 26.5",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		AUTOHW *hw = must_read(status, rows[i]);

		assert_true(hw->gpu[0].links_active >= 2);
		assert_int_equal(hw->gpu[1].links_active, -1);
		assert_true(hw->partial);
	}
}

static void left_out(void **state)
{
	AUTOHW *hw = must_read(status, GPU(0) S(0) GPU(3) S(0));

	assert_true(hw->partial);
	assert_int_equal(hw->gpu[1].index, 3);
	assert_int_equal(hw->gpu[1].links_active, 1);
}

/* A ring of four: each bus is a GPU, in nvidia-smi's order. */
static void direct(void **state)
{
	AUTOHW *hw = must_read(
		remote, GPU(0) R(0, "20", 0) R(1, "40", 0) GPU(1) R(0, "10", 0)
				R(1, "30", 0) GPU(2) R(0, "20", 1) R(1, "40", 1)
					GPU(3) R(0, "10", 1) R(1, "30", 1));

	assert_int_equal(hw->nvlink[0][1], 1);
	assert_int_equal(hw->nvlink[0][3], 1);
	assert_int_equal(hw->nvlink[0][2], 0);
	assert_int_equal(hw->gpu[0].switch_links, -1);
}

static void switches(void **state)
{
	AUTOHW *shared =
		must_read(remote, GPU(0) R(0, "05", 0) R(1, "06", 0) GPU(1)
					  R(0, "05", 2) R(1, "06", 2) GPU(2)
						  R(0, "05", 4) R(1, "06", 4));
	AUTOHW *high = must_read(remote, GPU(0) R(0, "05", 40) R(1, "06", 1));
	AUTOHW *hidden = must_read(
		remote, GPU(0) "\t Link 0: Remote Device FFFFFFFF:FF:FF.0: "
			       "Link 0\n");
	AUTOHW *unclear = must_read(remote, GPU(0) R(0, "05", 3));

	assert_int_equal(shared->gpu[2].switch_links, 2);
	assert_int_equal(shared->nvlink[0][1], -1);
	assert_int_equal(high->gpu[0].switch_links, 2);
	assert_int_equal(hidden->gpu[0].switch_links, 1);
	assert_int_equal(unclear->gpu[0].switch_links, -1);
}

static void known_bus(void **state)
{
	static const char text[] = GPU(0) R(0, "c2", 0);
	AUTOHW *hw = lf_hw_new();

	(void)lf_hw_gpu(hw, 0, "17:00.0", NULL);
	(void)lf_hw_gpu(hw, 1, "c2:00.0", NULL);
	assert_int_equal(remote->read(hw, text, strlen(text), NULL), 0);
	assert_int_equal(hw->gpus, 2);
	assert_int_equal(hw->nvlink[1][0], 1);
}

static void fixtures(void **state)
{
	static const struct {
		const char *name;
		int gpus, active, inactive, mbps, to_switch, pair;
		bool partial;
	} rows[] = {
		{ "nvlink-R_h100-hgx_gpu0", 1, 18, -1, -1, 18, -1, false },
		{ "nvlink-R_h100pcie-pair", 2, 12, -1, -1, -1, 12, false },
		{ "nvlink-s_h100pcie-pair_6-inactive-ok", 2, 12, 6, 26562, -1,
		  -1, false },
		{ "nvlink-status_a100-8x_12x25", 8, 12, 0, 25000, -1, -1,
		  false },
		{ "nvlink-status_h800_partial", 3, 8, 0, 26562, -1, -1, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		AUTOHW *hw = NULL;
		char name[128];
		const char *text;

		(void)snprintf(name, sizeof(name), "nvlink/%s.txt",
			       rows[i].name);
		text = fixture(name);
		hw = must_read(status, text);
		print_message("# %s\n", name);
		assert_int_equal(hw->gpus, rows[i].gpus);
		for (int g = 0; g < hw->gpus; g++) {
			const struct lf_hw_gpu *p = &hw->gpu[g];

			assert_int_equal(p->links_active, rows[i].active);
			assert_int_equal(p->links_inactive, rows[i].inactive);
			assert_int_equal(p->link_mbps, rows[i].mbps);
			assert_int_equal(p->switch_links, rows[i].to_switch);
		}
		assert_int_equal(hw->nvlink[0][1], rows[i].pair);
		assert_int_equal(hw->partial, rows[i].partial);
		assert_int_equal(remote->claims(text, strlen(text)) >
					 status->claims(text, strlen(text)),
				 rows[i].mbps < 0);
		survives_damage(status, text);
	}
}

static void garbage(void **state)
{
	refuses_garbage(status);
	refuses_garbage(remote);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refused),  cmocka_unit_test(counts),
		cmocka_unit_test(all_down), cmocka_unit_test(torn),
		cmocka_unit_test(left_out), cmocka_unit_test(direct),
		cmocka_unit_test(switches), cmocka_unit_test(known_bus),
		cmocka_unit_test(fixtures), cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("hw_nvlink", t, NULL, NULL);
}
