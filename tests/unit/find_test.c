/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "find/find.h"

static void cut_and_dirty(void **state)
{
	const struct lf_finding f = { .code = "LF-TST-01",
				      .what = "a\nb\033[1m\177\t",
				      .remedy = "c\rd" };
	char small[12], line[200];

	lf_find_line(&f, "n\n1", line, sizeof(line));
	assert_string_equal(line, "loongforge: n?1: a?b?[1m?? (LF-TST-01)");
	lf_find_hint(&f, line, sizeof(line));
	assert_string_equal(line, "loongforge: hint: c?d");
	lf_find_line(&f, "node", small, sizeof(small));
	assert_string_equal(small, "loongforge:");
	lf_find_hint(&f, small, sizeof(small));
	assert_string_equal(small, "loongforge:");
}

static void shapes(void **state)
{
	struct lf_finding f = { .code = "LF-TST-01", .what = "port" };
	char line[200];

	lf_find_line(&f, NULL, line, sizeof(line));
	assert_string_equal(line, "loongforge: port (LF-TST-01)");
	lf_find_hint(&f, line, sizeof(line));
	assert_string_equal(line, "");
	f.expected = "free";
	f.found = "taken";
	f.remedy = "try again";
	lf_find_line(&f, "n1", line, sizeof(line));
	assert_string_equal(line, "loongforge: n1: port: expected free, found "
				  "taken (LF-TST-01)");
	lf_find_hint(&f, line, sizeof(line));
	assert_string_equal(line, "loongforge: hint: try again");
}

MAIN(T(cut_and_dirty), T(shapes))
