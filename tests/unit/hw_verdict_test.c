/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"
#include "hw/verdict.h"

static struct lf_verdict in, out;

static void fill(void)
{
	static struct lf_hw hw;
	static struct lf_report report;
	struct lf_expect x = { .name = "DGX A100" };

	hw.gpus = 2;
	hw.gpu[0].minor = 5;
	hw.gpu[1].minor = -1;
	hw.gpu[1].index = 1;
	(void)snprintf(hw.node.driver, LF_HW_TEXT, "535.161.08");
	report = (struct lf_report){ .verdict = LF_RESULT_FAIL,
				     .findings = 2,
				     .dropped = 3 };
	report.clause[LF_CLAUSE_NVLINK] = LF_RESULT_FAIL;
	report.clause[LF_CLAUSE_PCIE] = LF_RESULT_PASS;
	report.clause[LF_CLAUSE_GDR] = LF_RESULT_UNKNOWN;
	report.finding[0] = (struct lf_hw_finding){
		.code = "LF-GDR-01", .clause = LF_CLAUSE_GDR,
		.result = LF_RESULT_WARN, .subject = "a", .expected = "b",
		.found = "c"
	};
	report.finding[1] = (struct lf_hw_finding){
		.code = "LF-NVL-03", .clause = LF_CLAUSE_NVLINK,
		.result = LF_RESULT_FAIL, .gpus = 3, .subject = "GPU0: NVLinks",
		.expected = "12", .found = "11", .remedy = "reseat"
	};
	memset(&in, 0, sizeof(in));
	lf_verdict_take(&in, &hw, &x, &report);
	(void)snprintf(in.boot, sizeof(in.boot), "b-1");
	in.time = 1764547200;
	in.basis = 0xfedcba9876543210;
	in.facts = 1;
	in.recorded = true;
}

static char *text_of(const struct lf_verdict *v)
{
	struct lf_buf b = LF_BUF(LF_VERDICT_MAX);

	lf_verdict_write(v, &b);
	assert_true(lf_buf_ok(&b));
	return b.text;
}

static void comes_back_as_written(void **state)
{
	struct lf_err e = { "" };
	char *text;

	fill();
	text = text_of(&in);
	check_int(e.text, lf_verdict_parse(text, &out, &e), 0);
	free(text);
	assert_memory_equal(&in, &out, sizeof(in));
	check_str("worst first", out.finding[0].code, "LF-NVL-03");
	check_int("minors 5 and 1", (long long)out.finding[0].gpus, 34);
}

static void a_line_for_people(void **state)
{
	char line[200];

	fill();
	lf_verdict_line(&in, line, sizeof(line));
	check_str("line", line, "fail, DGX A100; nvlink fail; gdr unknown");
}

static void damaged(void **state)
{
	static const struct {
		const char *from, *to, *want;
	} rows[] = {
		{ "loongforge=verdict 1", "loongforge=verdict 9", "line 1" },
		{ "end=", "en", "line " },
		{ "gpus=2", "gpus=-2", "line 10" },
		{ "basis=f", "basis=x", "line 4" },
		{ "verdict=fail", "verdict=good", "line 12" },
		{ "clause=nvlink\tfail", "clause=nvlink", "line 14" },
		{ "\t22\t", "\tzz\t", "line 2" },
		{ "\treseat", "\treseat\tmore", "line 2" },
	};

	fill();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct lf_err e = { "" };
		char *text = text_of(&in), *at = strstr(text, rows[i].from);
		char *bad = calloc(1, strlen(text) + 32);

		assert_non_null(at);
		(void)sprintf(bad, "%.*s%s%s", (int)(at - text), text,
			      rows[i].to, at + strlen(rows[i].from));
		check_int(rows[i].to, lf_verdict_parse(bad, &out, &e), -EINVAL);
		check_has(rows[i].to, e.text, rows[i].want);
		free(bad);
		free(text);
	}
}

/* Every way of cutting one off: refused, or (behind the end) whole. */
static void cut_off(void **state)
{
	char *text;

	fill();
	text = text_of(&in);
	for (size_t n = strlen(text) - 2; n > 0; n--) {
		char *copy = strndup(text, n);

		if (lf_verdict_parse(copy, &out, NULL) == 0)
			check_has("cut", text + n, "=");
		free(copy);
	}
	free(text);
}

static void only_roots_file_counts(void **state)
{
	struct lf_err e;
	char dir[256];

	(void)snprintf(dir, sizeof(dir), "%s", scratch("n1.verdict"));
	*strrchr(dir, '/') = '\0';
	check_int("none", lf_verdict_read(dir, "n1", &out, &e), -ENOENT);
	fill();
	{
		char *text = text_of(&in);

		write_text(scratch("n1.verdict"), text);
		free(text);
	}
	if (geteuid() == 0)
		check_int("root's", lf_verdict_read(dir, "n1", &out, &e), 0);
	assert_int_equal(chmod(scratch("n1.verdict"), 0666), 0);
	check_int("anybody's", lf_verdict_read(dir, "n1", &out, &e), -EPERM);
	assert_int_equal(unlink(scratch("n1.verdict")), 0);
	assert_int_equal(symlink("/etc/passwd", scratch("n1.verdict")), 0);
	check_int("a link", lf_verdict_read(dir, "n1", &out, &e) < 0, 1);
}

MAIN(T(comes_back_as_written), T(a_line_for_people), T(damaged), T(cut_off),
     T(only_roots_file_counts))
