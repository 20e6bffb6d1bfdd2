/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/parse.h"

static void number(void **state)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		int rc;
		uint64_t value;
	} rows[] = {
		{ NULL, 0, 9, -EINVAL, 0 },
		{ "", 0, 9, -EINVAL, 0 },
		{ " 1", 0, 9, -EINVAL, 0 },
		{ "1 ", 0, 9, -EINVAL, 0 },
		{ "+1", 0, 9, -EINVAL, 0 },
		{ "-1", 0, UINT64_MAX, -EINVAL, 0 },
		{ "0x1", 0, 9, -EINVAL, 0 },
		{ "1e3", 0, 9999, -EINVAL, 0 },
		{ "nan", 0, 9, -EINVAL, 0 },
		{ "\xd9\xa1", 0, 9, -EINVAL, 0 }, /* an Arabic 1 */
		{ "18446744073709551616", 0, UINT64_MAX, -ERANGE, 0 },
		{ "99999999999999999999999999", 0, UINT64_MAX, -ERANGE, 0 },
		{ "10", 0, 9, -ERANGE, 0 },
		{ "4", 5, 9, -ERANGE, 0 },
		{ "5", 5, 5, 0, 5 },
		{ "007", 0, 9, 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].text ? rows[i].text : "NULL";
		uint64_t v = 42;

		check_int(row,
			  lf_parse_u64(rows[i].text, rows[i].min, rows[i].max,
				       &v),
			  rows[i].rc);
		check_int(row, (long long)v,
			  (long long)(rows[i].rc ? 42 : rows[i].value));
	}
}

static void yes_or_no(void **state)
{
	static const struct {
		const char *text;
		int rc;
		bool value;
	} rows[] = {
		{ NULL, -EINVAL, false },   { "", -EINVAL, false },
		{ "yes ", -EINVAL, false }, { "yess", -EINVAL, false },
		{ "2", -EINVAL, false },    { "y", -EINVAL, false },
		{ "yes", 0, true },	    { "on", 0, true },
		{ "true", 0, true },	    { "1", 0, true },
		{ "no", 0, false },	    { "off", 0, false },
		{ "false", 0, false },	    { "0", 0, false },
		{ "YES", 0, true },	    { "True", 0, true },
		{ "Off", 0, false },	    { "NO", 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].text ? rows[i].text : "NULL";
		bool v = !rows[i].value;

		check_int(row, lf_parse_bool(rows[i].text, &v), rows[i].rc);
		check_int(row, v, rows[i].rc ? !rows[i].value : rows[i].value);
	}
}

/* Each piece as "key<value>", a bad one as "!piece", where the walk ends. */
static void pairs(void **state)
{
	static const struct {
		const char *text, *walk;
	} rows[] = {
		{ "", "" },
		{ ";;;", "" },
		{ "x", "!x" },
		{ "=v", "!=v" },
		{ "=", "!=" },
		{ "a=1", "a<1>" },
		{ "a=", "a<>" },
		{ ";a=1;;b=2;", "a<1>b<2>" },
		{ "a=b=c", "a<b=c>" },
		{ "a=1;b;c=3", "a<1>!b" },
		{ " a = 1 ", " a < 1 >" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[64], walk[128] = "", *cursor = text, *key, *value;
		int rc;

		(void)snprintf(text, sizeof(text), "%s", rows[i].text);
		while ((rc = lf_parse_pair(&cursor, ';', &key, &value)) > 0) {
			size_t n = strlen(walk);

			(void)snprintf(walk + n, sizeof(walk) - n, "%s<%s>",
				       key, value);
		}
		if (rc < 0) {
			size_t n = strlen(walk);

			check_int(rows[i].text, rc, -EINVAL);
			(void)snprintf(walk + n, sizeof(walk) - n, "!%s", key);
		}
		check_str(rows[i].text, walk, rows[i].walk);
	}
}

MAIN(T(number), T(yes_or_no), T(pairs))
