/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge-plan - the plugin's thinking, outside of Slurm's processes.
 *
 *   step LINES MODE SET what slurmstepd is to do          plan.c, env.c, ...
 *   join HAD MORE       settings of repeated options      plan.c
 *   addresses LIST      of nodes without resolvable names addrs.c
 *   kill PID            KILL, with this user's rights
 *   end SOCKET MS       waits for who serves it, or kills   end.c
 *
 * Run by the plugin as the user; prints its answer, or one line and exit 1. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "addrs.h"
#include "base/parse.h"
#include "end.h"
#include "plan.h"

static int run_step(int argc, char **argv, struct lf_buf *out,
		    struct lf_err *e)
{
	static struct plan p;
	int rc;

	if (argc != 3)
		return lf_err(e, -EINVAL, "step: expected LINES, MODE and SET");
	rc = plan_take(&p, argv[0], e);
	p.mode = argv[1];
	p.set = argv[2];
	if (rc == 0)
		plan_write(&p, out);
	return rc;
}

static int run_join(int argc, char **argv, struct lf_buf *out,
		    struct lf_err *e)
{
	if (argc != 2)
		return lf_err(e, -EINVAL, "join: expected HAD and MORE");
	return plan_join(argv[0], argv[1], out, e);
}

static int run_addresses(int argc, char **argv, struct lf_buf *out,
			 struct lf_err *e)
{
	if (argc != 1)
		return lf_err(e, -EINVAL, "addresses: expected a node list");
	addrs_write(argv[0], out);
	return 0;
}

static int run_kill(int argc, char **argv, struct lf_buf *out,
		    struct lf_err *e)
{
	uint64_t pid;

	if (argc != 1 || lf_parse_u64(argv[0], 2, INT32_MAX, &pid) < 0)
		return lf_err(e, -EINVAL, "kill: expected a pid");
	if (kill((pid_t)pid, SIGKILL) < 0)
		return lf_err(e, -errno, "kill: %s", strerror(errno));
	return 0;
}

static int run_end(int argc, char **argv, struct lf_buf *out, struct lf_err *e)
{
	uint64_t ms;

	if (argc != 2 ||
	    lf_parse_u64(argv[1], 0, 1000 * LF_DRAIN_SECS_MAX, &ms) < 0)
		return lf_err(e, -EINVAL, "end: expected SOCKET and MS");
	if (end_wait(argv[0], ms))
		lf_buf_add(out, "killed");
	return 0;
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv, struct lf_buf *out,
		   struct lf_err *e);
} modes[] = {
	{ "step", run_step },
	{ "join", run_join },
	{ "addresses", run_addresses },
	{ "kill", run_kill },
	{ "end", run_end },
};

int main(int argc, char **argv)
{
	lf_autobuf struct lf_buf out = LF_BUF(LF_START_MAX);
	struct lf_err e;
	int rc = lf_err(&e, -EINVAL, "loongforge-plan is run by the plugin; "
				     "see spank_loongforge(8)");

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			rc = modes[i].run(argc - 2, argv + 2, &out, &e);
	if (rc == 0 && !lf_buf_ok(&out))
		rc = lf_err(&e, -EMSGSIZE, "the plan is longer than %d bytes",
			    LF_START_MAX);
	(void)puts(rc < 0 ? e.text : lf_buf_text(&out));
	return rc < 0;
}
