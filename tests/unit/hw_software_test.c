/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "hw/software.h"

static void ranges(void **state)
{
	static const struct {
		const char *range, *version;
		bool in;
	} rows[] = {
		{ "", "1.0", true },
		{ "2.18.1", "2.18.1", true },
		{ "2.18.1", "2.18.1.1", true },
		{ "2.18.1", "2.18.10", false },
		{ "2.18.1", "2.18", false },
		{ "2.18", "2.18.6", true },
		{ "2.18", "2.2", false },
		{ "530.30.02-", "530.30.02", true },
		{ "530.30.02-", "530.30.2", true },
		{ "530.30.02-", "530.30.01", false },
		{ "530.30.02-", "1000.1", true },
		{ "530.30.02-", "530", false },
		{ "530-", "530", true },
		{ "-12.9", "12.9.1", true },
		{ "-12.9", "12.10", false },
		{ "-12.9", "9.2", true },
		{ "2.22.3-2.30", "2.22.2", false },
		{ "2.22.3-2.30", "2.30.7", true },
		{ "2.22.3-2.30", "2.31", false },
		{ "2.22.3-2.30", "2.28.9+cuda13.0", true },
		{ "2.22.3-2.30", "3.0", false },
		{ "2.22.3", "", true },
		{ "2.22.3", "N/A", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char row[64];

		(void)snprintf(row, sizeof(row), "%s in '%s'", rows[i].version,
			       rows[i].range);
		check_int(row, lf_range_valid(rows[i].range), true);
		check_int(row, lf_range_holds(rows[i].range, rows[i].version),
			  rows[i].in);
	}
}

static void no_ranges(void **state)
{
	static const char *const rows[] = {
		"-",	   "x",	   "1.x",	"1.",	     "1..2",
		">= 525",  "525+", "525 - 580", "1-2-3",     "2.30-2.22",
		"2.3-2.2", "1,2",  "1.2.3.4.5", " 1",	     "1 ",
		"2-1.9",   "--1",  "-x",	"9.9.9.9-a",
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check_int(rows[i], lf_range_valid(rows[i]), false);
}

static void refused(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "set \"a\" {\n\tdriver = \"525+\"\n}\n",
		  ":2: driver: expected LOW-HIGH" },
		{ "# one\nset \"a\" {\n\tnccl = \"2.30-2.22\"\n}\n",
		  ":3: nccl: expected" },
		{ "set \"a\" {\n}\n", ":2: set 'a': expected driver" },
		{ "set \"a\" {\n\tdriver = \"1\"\n", "not closed" },
		{ "set \"a\" {\n\ttorch = \"2.1\"\n}\n", ":2: " },
		{ "set {\n\tcuda = \"12\"\n}\n", ":1: " },
		{ "set a { cuda = \"12\" }\nset a { cuda = \"13\" }\n",
		  ":2: " },
		{ "driver = \"525-\"\n", ":1: " },
		{ "set a { cuda = \"${HOME}\" }\n", "variables" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_software s = { .sets = 5 };
		struct lf_err e = { "" };

		write_text(scratch("software.conf"), rows[i].text);
		check_int(rows[i].text,
			  lf_software_read(scratch("software.conf"), &s, &e),
			  -EINVAL);
		check_has(rows[i].text, e.text, "software.conf");
		check_has(rows[i].text, e.text, rows[i].want);
		check_int("untouched", s.sets, 5);
	}
	check_int("absent",
		  lf_software_read(scratch("absent"),
				   &(struct lf_software){ 0 }, NULL),
		  -ENOENT);
}

static void as_many_as_fit(void **state)
{
	struct lf_software s = { 0 };
	struct lf_err e = { "" };
	char text[2048] = "";

	for (int i = 0; i <= LF_SOFTWARE_SETS; i++) {
		size_t n = strlen(text);

		(void)snprintf(text + n, sizeof(text) - n,
			       "set s%d { cuda = \"%d\" }\n", i, i);
		write_text(scratch("software.conf"), text);
		check_int(e.text,
			  lf_software_read(scratch("software.conf"), &s, &e),
			  i < LF_SOFTWARE_SETS ? 0 : -EINVAL);
	}
	check_has("17", e.text, ":17: expected at most 16 sets");
	check_int("16", s.sets, 16);
	check_str("the last", s.set[15].name, "s15");
	check_str("its CUDA", s.set[15].range[LF_SOFTWARE_CUDA], "15");
	check_str("its NCCL", s.set[15].range[LF_SOFTWARE_NCCL], "");
	write_text(scratch("software.conf"), "set \"a\\tb\" { nccl = 2 }\n");
	check_int(e.text, lf_software_read(scratch("software.conf"), &s, &e),
		  0);
	check_str("a name for one line", s.set[0].name, "a?b");
}

/* The set that the software was first built for is among those shipped. */
static void shipped(void **state)
{
	static const char *const first[] = { "535.104.05", "12.2", "2.18.1" };
	char path[4096];
	struct lf_software s = { 0 };
	struct lf_err e = { "" };
	const char *src = getenv("srcdir");
	int sets = 0;

	(void)snprintf(path, sizeof(path), "%s/etc/software.conf",
		       src ? src : ".");
	check_int(e.text, lf_software_read(path, &s, &e), 0);
	for (int i = 0; i < s.sets; i++) {
		bool all = true;

		for (int k = 0; k < LF_SOFTWARE_PARTS; k++)
			all = all && *s.set[i].range[k] &&
			      lf_range_holds(s.set[i].range[k], first[k]);
		sets += all;
	}
	check_int("sets with NCCL 2.18.1", sets, 1);
}

MAIN(T(ranges), T(no_ranges), T(refused), T(as_many_as_fit), T(shipped))
