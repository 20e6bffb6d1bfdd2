/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "../../orchestrator/facts.h"

static struct facts_count count;
static char said[4096];
static int lines;

static const char *name(void *arg, uint32_t node)
{
	static char text[4][16];
	static unsigned turn;

	turn = (turn + 1) % 4;
	(void)snprintf(text[turn], sizeof(text[turn]), "n%u", node + 1);
	return text[turn];
}

static void differ(void *arg, const char *line, const char *code)
{
	size_t n = strlen(said);

	(void)snprintf(said + n, sizeof(said) - n, "%s (%s)\n", line, code);
	lines++;
}

static const struct facts_calls calls = { name, differ, NULL };

/* Node by node, "" for unknown. */
static void drivers(const char *const *values, int n)
{
	memset(&count, 0, sizeof(count));
	said[0] = '\0';
	lines = 0;
	for (int i = 0; i < n; i++) {
		struct facts f = { .clock_ms = 1000000 };

		(void)snprintf(f.value[FACT_DRIVER], FACT_MAX, "%s", values[i]);
		facts_count(&count, (uint32_t)i, &f, 1000000);
	}
	n = facts_differ(&count, &calls);
	check_int("returned", n, lines);
}

static void who_is_odd(void **state)
{
	static const struct {
		const char *values[6];
		int n, lines;
		const char *want;
	} rows[] = {
		{ { "1", "1" }, 2, 0, "" },
		{ { "", "" }, 2, 0, "" },
		{ { "1", "" }, 2, 0, "" },
		{ { "1", "2" }, 2, 1,
		  "GPU driver: expected 1 as on n1, found 2 on n2 (LF-GRP-11)" },
		{ { "1", "2", "2" }, 3, 1, "expected 2 as on n2, found 1 on n1 " },
		{ { "1", "2", "1", "2", "1" }, 5, 1,
		  "expected 1 as on n1, found 2 on n2 and 1 more" },
		{ { "1", "2", "3" }, 3, 2, "found 3 on n3" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		drivers(rows[i].values, rows[i].n);
		check_int(rows[i].want, lines, rows[i].lines);
		check_has(rows[i].want, said, rows[i].want);
	}
}

static void clocks(void **state)
{
	static const struct {
		uint64_t clock;
		const char *want;
	} rows[] = {
		{ 0, "" }, /* not said */
		{ 1000000, "" },
		{ 1002000, "" },
		{ 1002001, "found n2 2.0 s ahead of it" },
		{ 900000, "found n2 100.0 s behind it" },
		{ INT64_MAX, "ahead" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct facts f = { .clock_ms = rows[i].clock };

		drivers((const char *[]){ "1" }, 1);
		facts_count(&count, 1, &f, 1000000);
		(void)facts_differ(&count, &calls);
		check_int("lines", lines, *rows[i].want != '\0');
		check_has("clock", said, rows[i].want);
	}
}

/* A node that lies: every value different, long, with what a terminal obeys. */
static void hostile_nodes(void **state)
{
	memset(&count, 0, sizeof(count));
	for (uint32_t i = 0; i < 1000; i++) {
		struct facts f = { 0 };
		struct lf_msg m, got;
		char text[1000];

		(void)snprintf(text, sizeof(text), "\033[2J%u%0900d", i, 0);
		lf_msg_begin(&m, "hello");
		lf_msg_add(&m, "driver", text);
		lf_msg_add(&m, "clock", "-5");
		assert_true(lf_msg_ok(&m));
		assert_int_equal(lf_msg_parse(&got, m.text, m.len, NULL), 0);
		facts_take(&f, &got);
		assert_null(strchr(f.value[FACT_DRIVER], '\033'));
		facts_count(&count, i, &f, 1);
	}
	said[0] = '\0';
	check_int("told apart", facts_differ(&count, &calls),
		  FACT_VALUES - 1);
}

static void what_is_said_is_heard(void **state)
{
	struct facts f = { .clock_ms = 7 }, g = { 0 };
	struct lf_msg m, got;

	for (int i = 0; i < FACTS; i++)
		(void)snprintf(f.value[i], FACT_MAX, "value %d=x", i);
	lf_msg_begin(&m, "hello");
	facts_add_to(&f, &m);
	assert_int_equal(lf_msg_parse(&got, m.text, m.len, NULL), 0);
	facts_take(&g, &got);
	for (int i = 0; i < FACTS; i++)
		check_str("value", g.value[i], f.value[i]);
	check_int("clock", (long long)g.clock_ms, 7);
}

MAIN(T(who_is_odd), T(clocks), T(hostile_nodes), T(what_is_said_is_heard))
