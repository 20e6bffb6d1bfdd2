/* SPDX-License-Identifier: Apache-2.0 */
/* What whole recordings lead to is in tests/data/hw; here are the clauses one
 * by one, on models that no recording shows. */
#include "hw_unit.h"

#include "hw/judge.h"

static struct lf_hw *hw;
static struct lf_expect general;
static struct lf_report report;

/* `n` GPUs of one product. */
static void machine(int n, const char *product)
{
	lf_hw_free(hw);
	hw = lf_hw_new();
	assert_non_null(hw);
	for (int i = 0; i < n; i++) {
		struct lf_hw_gpu *g = lf_hw_gpu(hw, i, NULL, NULL);

		assert_non_null(g);
		(void)snprintf(g->name, sizeof(g->name), "%s", product);
		g->vendor = LF_VENDOR_NVIDIA;
	}
	lf_expect_default(&general);
}

/* The only finding of a clause, or NULL. */
static const struct lf_hw_finding *found(const char *row,
					 enum lf_clause_id clause)
{
	const struct lf_hw_finding *f = NULL;

	for (int i = 0; i < report.findings; i++)
		if (report.finding[i].clause == clause) {
			if (f)
				fail_msg("%s: %s, then %s", row, f->code,
					 report.finding[i].code);
			f = &report.finding[i];
		}
	return f;
}

/* What a machine's file says of NVLinks, also where there can be none. */
static const struct {
	const char *row;
	int gpus;
	const char *product;
	int active, stated;
	enum lf_result result;
	const char *found;
} stated[] = {
	{ "single, nothing stated", 1, "NVIDIA H200", 0, 0, LF_RESULT_NA,
	  NULL },
	{ "single, unseen, nothing stated", 1, "NVIDIA H200", -1, 0,
	  LF_RESULT_NA, NULL },
	{ "single, none stated", 1, "NVIDIA H200", 0, -1, LF_RESULT_NA, NULL },
	{ "none stated, some of a part's up", 2, "NVIDIA H200", 17, -1,
	  LF_RESULT_FAIL, "17" },
	{ "single, 18 stated", 1, "NVIDIA H200", 0, 18, LF_RESULT_FAIL,
	  "0, on a single GPU" },
	{ "single, 18 up", 1, "NVIDIA H200", 18, 18, LF_RESULT_PASS, NULL },
	{ "single, 17 up", 1, "NVIDIA H200", 17, 18, LF_RESULT_FAIL,
	  "17, on a single GPU" },
	{ "single, unknown part, 2 up", 1, "NVIDIA X1", 2, 2, LF_RESULT_PASS,
	  NULL },
	{ "single, 18 stated, unseen", 1, "NVIDIA H200", -1, 18,
	  LF_RESULT_UNKNOWN, NULL },
	{ "single A10, 4 stated, unseen", 1, "NVIDIA A10", -1, 4,
	  LF_RESULT_FAIL, "0, a part without NVLink" },
	{ "A10s, nothing stated", 2, "NVIDIA A10", -1, 0, LF_RESULT_FAIL,
	  "parts without NVLink" },
	{ "A10s, none stated", 2, "NVIDIA A10", -1, -1, LF_RESULT_NA, NULL },
	{ "A10s, 4 stated", 2, "NVIDIA A10", -1, 4, LF_RESULT_FAIL,
	  "0, a part without NVLink" },
	{ "bridges, nothing stated", 2, "NVIDIA H100 PCIe", 0, 0,
	  LF_RESULT_FAIL, "no NVLink" },
	{ "bridges stated, none there", 2, "NVIDIA H100 PCIe", 0, 12,
	  LF_RESULT_FAIL, "0" },
	{ "MIG", -1, "NVIDIA H200", 0, 18, LF_RESULT_NA, NULL },
};

static void stated_nvlinks(void **state)
{
	for (size_t i = 0; i < COUNT(stated); i++) {
		int n = stated[i].gpus < 0 ? 1 : stated[i].gpus;

		machine(n, stated[i].product);
		general.nvlinks = stated[i].stated;
		hw->nvlink_shown = stated[i].active >= 0;
		for (int g = 0; g < n; g++) {
			hw->gpu[g].links_active = stated[i].active;
			hw->gpu[g].mig = stated[i].gpus < 0;
		}
		if (stated[i].active == 0)
			lf_hw_set_nvlink(hw, 0, 1, 0);
		lf_judge(hw, &general, &report);
		same(stated[i].row, "result",
		     (long)report.clause[LF_CLAUSE_NVLINK],
		     (long)stated[i].result);
		same(stated[i].row, "findings", report.findings > 0,
		     stated[i].found != NULL);
		if (stated[i].found)
			assert_string_equal(report.finding[0].found,
					    stated[i].found);
	}
}

static void peers(void **state)
{
	static const struct {
		const char *row;
		int gpus, mig, nvlink, p2p;
		enum lf_result result;
		const char *code;
	} rows[] = {
		{ "none", 0, 0, -1, -1, LF_RESULT_NA, NULL },
		{ "one GPU", 1, 0, -1, -1, LF_RESULT_NA, NULL },
		{ "MIG", 2, 1, 4, 0, LF_RESULT_NA, NULL },
		{ "not shown", 2, 0, 4, -1, LF_RESULT_UNKNOWN, NULL },
		{ "NVLink", 2, 0, 4, 1, LF_RESULT_PASS, NULL },
		{ "PCIe", 2, 0, 0, 1, LF_RESULT_PASS, NULL },
		{ "NVLink, refused", 2, 0, 4, 0, LF_RESULT_FAIL, "LF-PEER-01" },
		{ "PCIe, refused", 2, 0, 0, 0, LF_RESULT_WARN, "LF-PEER-02" },
		{ "any link, refused", 2, 0, -1, 0, LF_RESULT_WARN,
		  "LF-PEER-02" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lf_hw_finding *f;

		machine(rows[i].gpus, "NVIDIA A100-SXM4-80GB");
		for (int g = 0; g < rows[i].gpus; g++)
			hw->gpu[g].mig = rows[i].mig;
		lf_hw_set_nvlink(hw, 0, 1, rows[i].nvlink);
		lf_hw_set_p2p(hw, 0, 1, rows[i].p2p);
		lf_judge(hw, &general, &report);
		same(rows[i].row, "result", (long)report.clause[LF_CLAUSE_PEER],
		     (long)rows[i].result);
		f = found(rows[i].row, LF_CLAUSE_PEER);
		same(rows[i].row, "finding", f != NULL, rows[i].code != NULL);
		if (f)
			assert_string_equal(f->code, rows[i].code);
	}
	machine(1, "NVIDIA A100-SXM4-80GB");
	hw->node.gpus_attached = 4; /* a view of one of them */
	lf_judge(hw, &general, &report);
	assert_int_equal(report.clause[LF_CLAUSE_PEER], LF_RESULT_UNKNOWN);
}

/* 120 lines would say no more than one; its GPUs are those of all pairs. */
static void many_pairs_are_one_finding(void **state)
{
	const struct lf_hw_finding *f;

	machine(16, "NVIDIA L40S");
	for (int a = 0; a < 16; a++)
		for (int b = 0; b < a; b++)
			lf_hw_set_p2p(hw, a, b, a < 3 || b >= 3);
	lf_judge(hw, &general, &report);
	f = found("16 GPUs", LF_CLAUSE_PEER);
	assert_non_null(f);
	assert_string_equal(f->subject, "GPU0-GPU3 and 38 more: peer access");
	assert_int_equal(f->gpus, 0xffff);
	has(f->remedy, "ACS");
	machine(3, "NVIDIA L40S");
	lf_hw_set_p2p(hw, 0, 1, 1);
	lf_hw_set_p2p(hw, 0, 2, 1);
	lf_hw_set_p2p(hw, 1, 2, 0);
	lf_judge(hw, &general, &report);
	f = found("3 GPUs", LF_CLAUSE_PEER);
	assert_non_null(f);
	assert_string_equal(f->subject, "GPU1-GPU2: peer access");
	assert_int_equal(f->gpus, 6);
}

static void software(void **state)
{
	static const struct lf_software sets = {
		2,
		{ { "new", { "580-", "13.0-", "2.27.3-2.30" } },
		  { "old", { "530.30.02-", "12.1-", "2.18.1" } } }
	};
	static const struct {
		const char *driver, *cuda, *nccl;
		enum lf_result result;
		const char *code, *expected;
	} rows[] = {
		{ "", "", "", LF_RESULT_UNKNOWN, NULL, NULL },
		{ "535.161.08", "", "", LF_RESULT_UNKNOWN, NULL, NULL },
		{ "", "12.2", "", LF_RESULT_UNKNOWN, NULL, NULL },
		{ "535.161.08", "12.2", "", LF_RESULT_PASS, NULL, NULL },
		{ "535.161.08", "12.2", "2.18.1", LF_RESULT_PASS, NULL, NULL },
		{ "580.159.03", "13.0", "2.28.9", LF_RESULT_PASS, NULL, NULL },
		/* within a range each, but in no set together */
		{ "535.161.08", "12.2", "2.28.9", LF_RESULT_WARN, "LF-SW-03",
		  "2.18.1 (old)" },
		{ "580.159.03", "13.0", "2.31.0", LF_RESULT_WARN, "LF-SW-03",
		  "2.27.3 to 2.30 (new)" },
		{ "470.82.01", "", "2.18.1", LF_RESULT_WARN, "LF-SW-01",
		  "530.30.02 or later (old)" },
		{ "535.161.08", "12.0", "", LF_RESULT_WARN, "LF-SW-02",
		  "12.1 or later (old)" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct lf_hw_finding *f;
		char row[64];

		(void)snprintf(row, sizeof(row), "%s, %s, %s", rows[i].driver,
			       rows[i].cuda, rows[i].nccl);
		machine(1, "NVIDIA A10");
		general.software = sets;
		lf_hw_set_text(hw, "", "", hw->node.driver, rows[i].driver);
		lf_hw_set_text(hw, "", "", hw->node.cuda, rows[i].cuda);
		lf_hw_set_text(hw, "", "", hw->node.nccl, rows[i].nccl);
		lf_judge(hw, &general, &report);
		same(row, "result", (long)report.clause[LF_CLAUSE_SOFTWARE],
		     (long)rows[i].result);
		f = found(row, LF_CLAUSE_SOFTWARE);
		same(row, "finding", f != NULL, rows[i].code != NULL);
		if (!f)
			continue;
		assert_string_equal(f->code, rows[i].code);
		assert_string_equal(f->expected, rows[i].expected);
		assert_int_equal(f->gpus, 0);
	}
}

static void software_without_sets_or_gpus(void **state)
{
	machine(1, "NVIDIA A10");
	lf_hw_set_text(hw, "", "", hw->node.driver, "1.0");
	lf_judge(hw, &general, &report);
	assert_int_equal(report.clause[LF_CLAUSE_SOFTWARE], LF_RESULT_NA);
	machine(0, "");
	general.software.sets = 1;
	lf_hw_set_text(hw, "", "", hw->node.driver, "1.0");
	lf_judge(hw, &general, &report);
	assert_int_equal(report.clause[LF_CLAUSE_SOFTWARE], LF_RESULT_NA);
}

static void contradictions_have_their_gpus(void **state)
{
	machine(3, "NVIDIA A10");
	lf_hw_set_int(hw, "GPU2", "PCIe width", &hw->gpu[2].pcie.width, 16);
	lf_hw_set_int(hw, "GPU2", "PCIe width", &hw->gpu[2].pcie.width, 8);
	lf_hw_set_nvlink(hw, 1, 0, 4);
	lf_hw_set_nvlink(hw, 1, 0, 3);
	lf_hw_set_high(hw, "node", "ACS", &hw->node.acs, 0);
	lf_hw_set_high(hw, "node", "ACS", &hw->node.acs, 1);
	lf_judge(hw, &general, &report);
	assert_int_equal(report.clause[LF_CLAUSE_MODEL], LF_RESULT_WARN);
	assert_int_equal(report.clause[LF_CLAUSE_PCIE], LF_RESULT_FAIL);
	for (int i = 0; i < 3; i++) {
		static const uint64_t gpus[] = { 4, 3, 0 };
		const struct lf_hw_finding *f =
			&report.finding[report.findings - 3 + i];

		assert_string_equal(f->code, "LF-REC-01");
		assert_int_equal(f->gpus, gpus[i]);
	}
}

static int teardown(void **state)
{
	lf_hw_free(hw);
	hw = NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest all[] = { T(stated_nvlinks),
					  T(peers),
					  T(many_pairs_are_one_finding),
					  T(software),
					  T(contradictions_have_their_gpus),
					  T(software_without_sets_or_gpus) };

	return cmocka_run_group_tests_name("hw_judge", all, NULL, teardown);
}
