/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/save.h"
#include "probe.h"

enum {
	/* A driver that hangs costs every look LF_PROBE_MS: not every job's. */
	UNSEEN_AGE = 60
};

static bool holds(const struct probe *p, const struct lf_verdict *v)
{
	int64_t age = (int64_t)time(NULL) - v->time;
	int64_t most =
		(int64_t)lf_keys_number(&p->conf.values, LF_KEY_GATE_MAX_AGE);
	char boot[sizeof(v->boot)];

	if (*v->unseen && most > UNSEEN_AGE)
		most = UNSEEN_AGE;
	lf_verdict_boot(boot);
	return strcmp(boot, v->boot) == 0 && v->basis == p->basis && age >= 0 &&
	       age < most && v->facts == probe_facts();
}

int probe_refresh(const struct probe *p, struct lf_verdict *v, struct lf_err *e)
{
	lf_autobuf struct lf_buf b = LF_BUF(LF_VERDICT_MAX);
	char path[PATH_MAX];

	probe_look(p, v);
	lf_verdict_boot(v->boot);
	v->time = time(NULL);
	v->basis = p->basis;
	v->facts = probe_facts();
	lf_verdict_write(v, &b);
	if (!lf_buf_ok(&b))
		return lf_err(e, -ENOMEM, "verdict: no memory");
	(void)snprintf(path, sizeof(path), "%s/%s.verdict", p->run, p->node);
	return lf_save(path, 0644, lf_buf_text(&b), e);
}

int probe_renew(const struct probe *p, struct lf_verdict *v, struct lf_err *e)
{
	if (lf_verdict_read(p->run, p->node, v, NULL) == 0 && *v->unseen &&
	    holds(p, v))
		return 0; /* or each job's end would hang as long */
	return probe_refresh(p, v, e);
}

int probe_verdict(const struct probe *p, struct lf_verdict *v, struct lf_err *e)
{
	if (lf_verdict_read(p->run, p->node, v, NULL) == 0 && holds(p, v))
		return 0;
	return probe_refresh(p, v, e);
}
