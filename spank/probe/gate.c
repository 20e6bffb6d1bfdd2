/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clean.h"
#include "base/fs.h"
#include "base/save.h"
#include "hw/policy.h"
#include "probe.h"
#include "slurm.h"

static uint64_t number(const struct probe *p, enum lf_key_id id)
{
	return lf_keys_number(&p->conf.values, id);
}

bool probe_off(const struct probe *p)
{
	lf_autofree char *text = NULL;
	char path[PATH_MAX];
	int rc;

	probe_beside(p, "off", path, sizeof(path));
	rc = lf_fs_read(path, 0, 64, &text, NULL);
	return rc != -ENOENT && rc != -ENOTDIR;
}

bool probe_asked(const struct probe *p)
{
	const char *jobs = p->conf.values.text[LF_KEY_GATE_JOBS];

	return !strcmp(jobs, "all") || (*jobs == 'g' && p->gpus) ||
	       (!strcmp(jobs, "asked") && p->asked);
}

/* "SUBJECT: expected X, found Y" */
static void text_of(const struct lf_verdict_finding *f, char *text, size_t n)
{
	(void)snprintf(text, n, "%s: expected %s, found %s", f->subject,
		       f->expected, f->found);
	lf_clean(text, "");
}

static void refusal_path(const struct probe *p, char *path, size_t n)
{
	(void)snprintf(path, n, "%s/%s.%u.refuse", p->run, p->node, p->job);
}

void probe_forget(const struct probe *p)
{
	char path[PATH_MAX];

	refusal_path(p, path, sizeof(path));
	if (p->job)
		(void)unlink(path);
}

/* For the steps of the job: lines as loongforge-plan's, see plan.md. */
static int refuse(const struct probe *p, const struct lf_verdict_finding *f,
		  struct lf_err *e)
{
	lf_autobuf struct lf_buf b = LF_BUF(LF_START_MAX);
	char path[PATH_MAX], text[LF_ERR_MAX];

	text_of(f, text, sizeof(text));
	refusal_path(p, path, sizeof(path));
	lf_buf_add(&b, "refuse=%s\t%s\t%s\nalone=1\n", f->code, text,
		   *f->remedy ? f->remedy
			      : "ask your administrator, or exclude this node");
	return p->job ? lf_save(path, 0644, lf_buf_text(&b), e) : 0;
}

/* -EBUSY when as many other nodes were drained lately as the policy allows,
 * which is more than one fault explains: it may be the policy's own. */
static int break_off(const struct probe *p, const struct slurm_nodes *now,
		     int others, struct lf_err *e)
{
	uint64_t most = number(p, LF_KEY_BREAKER_NODES);
	uint64_t share =
		(uint64_t)now->nodes * number(p, LF_KEY_BREAKER_PERCENT) / 100;

	if ((uint64_t)others < (most > share ? most : share))
		return 0;
	return lf_err(e, -EBUSY,
		      "%d of %d nodes drained within %d minutes: not drained, "
		      "look at the policy (LF-GATE-03)",
		      others, now->nodes,
		      (int)number(p, LF_KEY_BREAKER_MINUTES));
}

/* Nodes that judge at the same moment have not seen each other.  Each looks
 * again behind its own drain; since Slurm drains them one after another, the
 * last that stays has seen all others that do, so no more stay than may. */
static int drain_or_resume(const struct probe *p, const struct slurm *s,
			   const char *reason, time_t since, struct lf_err *e)
{
	struct slurm_nodes now;
	struct lf_err ignored;
	int rc = slurm_drain(s, reason, e);

	if (rc < 0 || slurm_look(s, p->partition, since, &now, &ignored) < 0)
		return rc;
	rc = break_off(p, &now, now.ours - 1, e);
	if (rc < 0 && slurm_resume(s, &ignored) < 0)
		return 0; /* it is drained */
	return rc;
}

/* 1, or -errno with the reason why the node is left as it is. */
static int drain(const struct probe *p, const struct lf_verdict_finding *f,
		 struct lf_err *e)
{
	struct slurm s = { p->conf.values.text[LF_KEY_GATE_SLURM], p->node };
	time_t since =
		time(NULL) - 60 * (time_t)number(p, LF_KEY_BREAKER_MINUTES);
	char text[LF_ERR_MAX], reason[LF_ERR_MAX + 64];
	struct slurm_nodes now;
	int rc = slurm_look(&s, p->partition, since, &now, e);

	text_of(f, text, sizeof(text));
	(void)snprintf(reason, sizeof(reason), "loongforge: %s (%s)", text,
		       f->code);
	if (rc == 0 && !*now.reason) { /* never over another's */
		rc = break_off(p, &now, now.ours, e);
		if (rc == 0)
			rc = drain_or_resume(p, &s, reason, since, e);
	}
	if (rc == 0 && p->job)
		(void)slurm_requeue(&s, p->job, NULL);
	return rc < 0 ? rc : 1;
}

static int act(const struct probe *p, enum lf_action action,
	       const struct lf_verdict_finding *why, struct lf_err *e)
{
	return action == LF_ACTION_DRAIN    ? drain(p, why, e)
	       : action == LF_ACTION_REJECT ? refuse(p, why, e)
					    : 0;
}

int probe_gate(const struct probe *p, const struct lf_verdict *v, char *line,
	       size_t n)
{
	struct lf_policy policy;
	struct lf_verdict_finding why;
	struct lf_err e = { "" };
	enum lf_action action;
	char text[LF_ERR_MAX];
	int rc;

	*line = '\0';
	lf_policy_from(&p->conf.values, &policy);
	action = lf_policy_decide(&policy, v, p->gpus, &why);
	if (action == LF_ACTION_OFF)
		return 0;
	rc = act(p, action, &why, &e);
	text_of(&why, text, sizeof(text));
	(void)snprintf(line, n, "%s: %s: %s (%s)%s%s",
		       rc == 1 ? "drained" : lf_action_names[action], p->node,
		       text, why.code, rc < 0 ? "; " : "",
		       rc < 0 ? e.text : "");
	return rc;
}
