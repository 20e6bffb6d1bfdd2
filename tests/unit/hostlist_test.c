/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/hostlist.h"
#include "base/limits.h"

static void malformed(void **state)
{
	static const char *const rows[] = {
		",",
		"[",
		"]",
		"n[",
		"n]",
		"n[]",
		"n[1",
		"n[1-]",
		"n[-1]",
		"n[1--2]",
		"n[2-1]",
		"n[1,]",
		"n[,1]",
		"n[a]",
		"n[1-b]",
		"n[[1-2]",
		"n[1]]",
		"n[[1-2]]",
		"n[1-2][",
		"n[1 -2]",
		"n[ 1]",
		"n[+1]",
		"n[1-+2]",
		"n[1;2]",
		"n]1[",
		"n[0-99999999999999999999]",
		"n[1-99999999]",
		"n][1,2]",
		"n[1][x]",
		"n[1-2],[",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[64];
		int rc = 0;

		/* Sooner or later; what lies before the fault may be there. */
		for (uint32_t n = 0; n < 4 && rc == 0; n++)
			rc = lf_hostlist_at(rows[i], n, name, sizeof(name));
		check_int(rows[i], rc, -EINVAL);
	}
}

static void nothing_there(void **state)
{
	char name[8];

	assert_int_equal(lf_hostlist_at(NULL, 0, name, sizeof(name)), -ERANGE);
	assert_int_equal(lf_hostlist_at("", 0, name, sizeof(name)), -ERANGE);
	assert_int_equal(lf_hostlist_at("a", UINT32_MAX, name, sizeof(name)),
			 -ERANGE);
	assert_int_equal(lf_hostlist_at("toolongname", 0, name, sizeof(name)),
			 -EINVAL);
	assert_int_equal(lf_hostlist_at("long[1000]", 0, name, sizeof(name)),
			 -EINVAL);
}

/* `count` times the piece, expanded. */
static int expand(void *arg)
{
	static char list[20 * LF_NODES_MAX];
	const struct {
		const char *piece;
		int count;
	} *row = arg;
	char name[LF_NODE_NAME_MAX];
	size_t n = 0;

	(void)alarm(10);
	for (int i = 0; i < row->count; i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s",
				      row->piece);
	(void)lf_hostlist_at(list, 0, name, sizeof(name));
	(void)lf_hostlist_at(list, UINT32_MAX, name, sizeof(name));
	return 0;
}

/* Neither time nor stack nor a division may be had from a hostile list. */
static void hostile(void **state)
{
	static struct {
		const char *piece;
		int count;
	} rows[] = {
		{ "[0-65535]", 4 }, { "[0-65535]", 5 }, { "[0-65535]", 6 },
		{ "[0-1]", 60 },    { "[0-1]", 65 },	{ "[1]", 80 },
		{ "[1]", 65536 },   { "[", 65536 },	{ "[1,1]", 65536 },
		{ "a,", 65536 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char row[64];

		(void)snprintf(row, sizeof(row), "%s times %d", rows[i].piece,
			       rows[i].count);
		check_int(row, in_child(expand, &rows[i]), 0);
	}
}

static void vectors(void **state)
{
	static const struct {
		const char *list;
		uint32_t index;
		const char *name; /* NULL: past the end */
	} rows[] = {
		{ "n1", 0, "n1" },
		{ "n1", 1, NULL },
		{ "a,b,c", 2, "c" },
		{ "n[1-3]", 0, "n1" },
		{ "n[1-3]", 2, "n3" },
		{ "n[1-3]", 3, NULL },
		{ "n[1-3,007-9],login", 3, "n007" },
		{ "n[1-3,007-9],login", 5, "n009" },
		{ "n[1-3,007-9],login", 6, "login" },
		{ "n[1-3,007-9],login", 7, NULL },
		{ "n[08-11]", 2, "n10" },
		{ "n[098-101]", 3, "n101" },
		{ "n[5]", 0, "n5" },
		{ "rack[1-2]-n[01-02]", 0, "rack1-n01" },
		{ "rack[1-2]-n[01-02]", 1, "rack1-n02" },
		{ "rack[1-2]-n[01-02]", 2, "rack2-n01" },
		{ "rack[1-2]-n[01-02]", 3, "rack2-n02" },
		{ "rack[1-2]-n[01-02]", 4, NULL },
		{ "a[1-2]b[1-2]c[1-2]", 5, "a2b1c2" },
		{ "n[1-2].cluster.example", 1, "n2.cluster.example" },
		{ "x,n[1-2]-ib,y", 2, "n2-ib" },
		{ "n[0-65535]", 65535, "n65535" },
		{ "n[999999998-999999999]", 1, "n999999999" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char name[64] = "", row[128];
		int rc = lf_hostlist_at(rows[i].list, rows[i].index, name,
					sizeof(name));

		(void)snprintf(row, sizeof(row), "%s at %u", rows[i].list,
			       rows[i].index);
		check_int(row, rc, rows[i].name ? 0 : -ERANGE);
		if (rows[i].name)
			check_str(row, name, rows[i].name);
	}
}

MAIN(T(malformed), T(nothing_there), T(hostile), T(vectors))
