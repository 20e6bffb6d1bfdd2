/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/buf.h"

static void bounds(void **state)
{
	static const struct {
		const char *row, *text;
		size_t bound;
		bool ok;
	} rows[] = {
		{ "no room at all", "", 0, false },
		{ "room for the NUL only", "", 1, true },
		{ "one byte too many", "x", 1, false },
		{ "exactly", "12345", 6, true },
		{ "one less", "12345", 5, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_buf b = LF_BUF(rows[i].bound);

		lf_buf_add(&b, "%s", rows[i].text);
		check_int(rows[i].row, lf_buf_ok(&b), rows[i].ok);
		check_str(rows[i].row, lf_buf_text(&b),
			  rows[i].ok ? rows[i].text : "");
		lf_buf_free(&b);
	}
}

static void remembers_an_overflow(void **state)
{
	struct lf_buf b = LF_BUF(8);

	assert_string_equal(lf_buf_text(&b), "");
	lf_buf_add(&b, "%s", "abc");
	lf_buf_add(&b, "%s", "too long a piece");
	lf_buf_add(&b, "%s", "d");
	assert_false(lf_buf_ok(&b));
	assert_string_equal(lf_buf_text(&b), "abc");
	lf_buf_free(&b);
	lf_buf_free(&b);
	lf_buf_add(&b, "%s", "again");
	assert_true(lf_buf_ok(&b));
	lf_buf_free(&b);
}

static void grows(void **state)
{
	struct lf_buf b = LF_BUF(100000);

	for (int i = 0; i < 10000; i++)
		lf_buf_add(&b, "%d", i % 10);
	assert_true(lf_buf_ok(&b));
	assert_int_equal(b.len, 10000);
	assert_int_equal(strlen(lf_buf_text(&b)), 10000);
	assert_memory_equal(b.text + 9990, "0123456789", 10);
	lf_buf_free(&b);
}

MAIN(T(bounds), T(remembers_an_overflow), T(grows))
