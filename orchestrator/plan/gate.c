/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "gate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hw/policy.h"

enum {
	TOLD_MAX = 4, /* findings; the rest is counted */
	EXIT_FAULT = 3
};

/* Why a verdict is not to be believed, or "". */
static void doubt(const struct plan *p, struct lf_verdict *v, char *why,
		  size_t n)
{
	char boot[sizeof(v->boot)], basis[20];
	struct lf_err e = { "" };
	int rc = lf_verdict_read(p->run, p->node, v, &e);

	*why = '\0';
	lf_verdict_boot(boot);
	(void)snprintf(basis, sizeof(basis), "%016" PRIx64, v->basis);
	if (rc == -ENOENT)
		(void)snprintf(why, n, "no verdict");
	else if (rc < 0)
		(void)snprintf(why, n, "%s", e.text);
	else if (strcmp(boot, v->boot) != 0)
		(void)snprintf(why, n, "a verdict from before the restart");
	else if (strcmp(basis, p->basis) != 0)
		(void)snprintf(why, n, "a verdict by another configuration");
	else if (v->time > time(NULL))
		(void)snprintf(why, n, "a verdict from the future");
	else if (*v->unseen)
		(void)snprintf(why, n, "%s", v->unseen);
}

static uint64_t gpus(void)
{
	const char *list = getenv("SLURM_STEP_GPUS");

	return lf_policy_gpus(list ? list : getenv("SLURM_JOB_GPUS"));
}

/* Whether the prolog should have looked at this job, which has the option. */
static bool looked_at(const struct plan *p)
{
	return *p->site.text[LF_KEY_GATE_JOBS] != 'g' || gpus();
}

static void say(struct lf_buf *out, const char *kind,
		const struct lf_verdict_finding *f)
{
	struct lf_err e;

	(void)lf_err(&e, 0, "%s: expected %s, found %s", f->subject,
		     f->expected, f->found);
	plan_finding(out, kind, f->code, &e, f->remedy);
}

/* All that matter to the job; the count. */
static int tell_all(const struct lf_policy *policy, const struct lf_verdict *v,
		    uint64_t job, struct lf_buf *out)
{
	int n = 0;
	struct lf_err e;

	for (int i = 0; i < v->findings; i++)
		if (lf_policy_finding(policy, &v->finding[i], job) >=
			    LF_ACTION_WARN &&
		    n++ < TOLD_MAX)
			say(out, "tell", &v->finding[i]);
	if (n <= TOLD_MAX)
		return n;
	(void)lf_err(&e, 0, "%d more findings", n - TOLD_MAX);
	plan_finding(out, "tell", "LF-GATE-04", &e,
		     "run srun --loongforge=check, or loongforge check");
	return n;
}

/* --loongforge=check: the verdict in place of the program. */
static void show(const struct lf_policy *policy, const struct lf_verdict *v,
		 const char *why, struct lf_buf *out)
{
	char line[400];
	struct lf_err e;
	bool fails = !*why && v->verdict == LF_RESULT_FAIL;

	lf_verdict_line(v, line, sizeof(line));
	if (*why)
		(void)lf_err(&e, 0, "verdict: unknown: %s", why);
	else
		(void)lf_err(
			&e, 0,
			"verdict: %s; %d GPUs, %d RDMA ports%s, %lld s ago",
			line, v->gpus, v->nics, v->recorded ? ", recorded" : "",
			(long long)(time(NULL) - v->time));
	plan_finding(out, "tell", "LF-GATE-00", &e, "");
	if (!*why)
		(void)tell_all(policy, v, UINT64_MAX, out);
	lf_buf_add(out, "exit=%d\n", fails ? EXIT_FAULT : 0);
}

static bool refused(const struct lf_policy *policy, const struct lf_verdict *v,
		    struct lf_buf *out)
{
	struct lf_verdict_finding why;

	if (lf_policy_decide(policy, v, gpus(), &why) < LF_ACTION_REJECT)
		return false;
	say(out, "refuse", &why);
	lf_buf_add(out, "alone=1\n"); /* each node has its own verdict */
	return true;
}

bool gate_write(struct plan *p, struct lf_buf *out)
{
	static struct lf_verdict v;
	struct lf_policy policy;
	struct lf_err e;
	char why[LF_ERR_MAX];

	doubt(p, &v, why, sizeof(why));
	lf_policy_from(&p->site, &policy);
	lf_policy_of_user(&p->values, &policy);
	if (!strcmp(p->mode, "check")) {
		show(&policy, &v, why, out);
		return false;
	}
	if (!looked_at(p)) /* nothing of it is this job's business */
		return true;
	if (*why)
		(void)snprintf(p->verdict, sizeof(p->verdict), "unknown: %s",
			       why);
	else
		lf_verdict_line(&v, p->verdict, sizeof(p->verdict));
	if (!*why && refused(&policy, &v, out))
		return false;
	if (!*why)
		(void)tell_all(&policy, &v, gpus(), out);
	else if (p->step == 0) { /* once a job */
		(void)lf_err(&e, 0, "hardware: unknown: %s", why);
		plan_finding(out, "tell", "LF-GATE-02", &e,
			     "the job runs; your administrator can run "
			     "loongforge-probe there");
	}
	return true;
}
