/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <time.h>

#include "../../spank/probe/slurm.h"

static void counts(void **state)
{
	static const struct {
		const char *what, *text;
		int nodes, ours;
		const char *reason;
	} rows[] = {
		{ "nothing", "", 0, 0, "" },
		{ "no reason", "n1 Unknown none\n", 1, 0, "" },
		{ "ours, lately", "n1 2026-11-30T12:00:00 loongforge: a b\n", 1,
		  1, "loongforge: a b" },
		{ "ours, long ago", "n1 2026-11-30T11:00:00 loongforge: a\n", 1,
		  0, "loongforge: a" },
		{ "another's", "n1 2026-11-30T12:00:00 disk is full\n", 1, 0,
		  "disk is full" },
		{ "looks like ours",
		  "n1 2026-11-30T12:00:00 not loongforge: a\n", 1, 0,
		  "not loongforge: a" },
		{ "of several",
		  "n0 2026-11-30T12:00:01 loongforge: x\nn1 Unknown none\n"
		  "n2 2026-11-30T12:00:01 loongforge: y\n",
		  3, 2, "" },
		{ "no time", "n1 yesterday loongforge: a\n", 1, 0,
		  "loongforge: a" },
		{ "cut off", "n0 2026-11-30T12:00:01\nn1\nn1 x", 0, 0, "" },
	};
	struct tm tm = { 0 };
	time_t since;

	assert_non_null(strptime("2026-11-30T11:30:00", "%Y-%m-%dT%H:%M:%S",
				 &tm));
	since = timegm(&tm);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[400];
		struct slurm_nodes now;

		(void)snprintf(text, sizeof(text), "%s", rows[i].text);
		slurm_count(text, "n1", since, &now);
		check_int(rows[i].what, now.nodes, rows[i].nodes);
		check_int(rows[i].what, now.ours, rows[i].ours);
		check_str(rows[i].what, now.reason, rows[i].reason);
	}
}

/* Commands that are missing, fail, or hang. */
static void commands(void **state)
{
	struct slurm s = { .node = "n1" };
	struct slurm_nodes now;
	char dir[256];
	struct lf_err e;

	(void)snprintf(dir, sizeof(dir), "%s", scratch("sinfo"));
	*strrchr(dir, '/') = '\0';
	s.dir = dir;
	check_int("missing", slurm_look(&s, "", 0, &now, &e), -ENOENT);
	check_has("missing", e.text, "sinfo: not found: set gate.slurm");
	write_file(scratch("sinfo"), "#!/bin/sh\necho no; exit 1\n", 26, 0755);
	check_int("fails", slurm_look(&s, "", 0, &now, &e), -ECHILD);
	check_str("fails", e.text, "no");
	write_file(scratch("sinfo"), "#!/bin/sh\ntrue\n", 15, 0755);
	check_int("is empty", slurm_look(&s, "", 0, &now, &e), -ENODATA);
	write_file(scratch("sinfo"), "#!/bin/sh\necho $3 $4 $5 $6\n", 27, 0755);
	check_int("answers", slurm_look(&s, "p x", 0, &now, &e), 0);
	write_file(scratch("scontrol"),
		   "#!/bin/sh\n[ \"$4\" = 'reason=a; b' ] && [ $# = 4 ]\n", 49,
		   0755);
	check_int("one word", slurm_drain(&s, "a; b", &e), 0);
	check_int("requeue", slurm_requeue(&s, 7, &e), -ECHILD);
}

MAIN(T(counts), T(commands))
