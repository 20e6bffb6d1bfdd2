/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "plan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/fs.h"
#include "base/parse.h"
#include "env.h"
#include "gate.h"
#include "numa.h"

int plan_take(struct plan *p, char *words, struct lf_err *e)
{
	const struct {
		const char *key;
		uint32_t *number;
		const char **text;
	} known[] = {
		{ "job", &p->job, NULL },
		{ "step", &p->step, NULL },
		{ "restart", &p->restart, NULL },
		{ "nodeid", &p->nodeid, NULL },
		{ "nodes", &p->nodes, NULL },
		{ "tasks", &p->tasks, NULL },
		{ "world", &p->world, NULL },
		{ "cpus", &p->cpus, NULL },
		{ "node", NULL, &p->node },
		{ "run", NULL, &p->run },
		{ "socket", NULL, &p->socket },
		{ "mode", NULL, &p->mode },
		{ "set", NULL, &p->set },
	};
	const size_t count = sizeof(known) / sizeof(*known);
	char *key, *value;
	int rc;

	p->node = p->run = p->socket = p->mode = p->set = "";
	while ((rc = lf_parse_pair(&words, '\n', &key, &value)) > 0) {
		size_t k = 0;
		uint64_t v;

		while (k < count && strcmp(known[k].key, key) != 0)
			k++;
		if (k == count || (known[k].number &&
				   lf_parse_u64(value, 0, UINT32_MAX, &v) < 0))
			return lf_err(e, -EINVAL, "bad word '%.64s'", key);
		if (known[k].number)
			*known[k].number = (uint32_t)v;
		else
			*known[k].text = value;
	}
	return rc == 0 ? 0 : lf_err(e, rc, "bad word '%.64s'", key);
}

void plan_finding(struct lf_buf *out, const char *kind, const char *code,
		  const struct lf_err *e, const char *remedy)
{
	char text[LF_ERR_MAX];

	(void)snprintf(text, sizeof(text), "%s", e->text);
	for (char *s = text; *s; s++)
		if (*s == '\n' || *s == '\t')
			*s = ' ';
	lf_buf_add(out, "%s=%s\t%s\t%s\n", kind, code, text, remedy);
}

static const char see_conf[] = "see loongforge.conf(5), or run "
			       "`loongforge config show --origin`";

/* The administrator's, which the probe has checked. */
static void take_settings(struct plan *p, struct lf_buf *out)
{
	static const char remedy[] = "ask your administrator; built-in values "
				     "hold";
	lf_autofree char *text = NULL;
	char path[PATH_MAX], *cursor, *key, *value;
	struct lf_err e;
	int rc;

	(void)snprintf(path, sizeof(path), "%s/%s.settings", p->run, p->node);
	rc = lf_fs_read(path, 0, LF_START_MAX, &text, &e);
	if (rc < 0 && rc != -ENOENT)
		plan_finding(out, "tell", "LF-CFG-01", &e, remedy);
	cursor = text;
	while (rc == 0 &&
	       (rc = lf_parse_pair(&cursor, '\n', &key, &value)) != 0) {
		if (rc > 0 && !strcmp(key, "basis"))
			rc = snprintf(p->basis, sizeof(p->basis), "%s", value) >
			     0;
		else if (rc > 0 && !strcmp(key, "error"))
			rc = lf_err(&e, -EINVAL, "%s", value);
		else if (rc > 0)
			rc = lf_keys_set(&p->values, key, value, false, &e);
		else
			rc = lf_err(&e, rc, "%s: damaged", path);
		if (rc < 0)
			plan_finding(out, "tell", "LF-CFG-01", &e, remedy);
	}
}

/* Environment, then options: the later wins.  False if refused. */
static bool take_users(struct plan *p, struct lf_buf *out)
{
	const char *level = getenv("LOONGFORGE_LOG_LEVEL");
	struct lf_err e;

	if (strcmp(p->mode, "on") != 0 && strcmp(p->mode, "check") != 0) {
		(void)lf_err(&e, -EINVAL,
			     "--loongforge: expected on, check or off, "
			     "found '%.64s'",
			     p->mode);
		plan_finding(out, "refuse", "LF-OPT-01", &e, "");
		return false;
	}
	if (level &&
	    lf_keys_set(&p->values, "log.level", level, true, &e) < 0) {
		(void)lf_err_wrap(&e, 0, "LOONGFORGE_LOG_LEVEL");
		plan_finding(out, "refuse", "LF-OPT-03", &e, see_conf);
		return false;
	}
	if (lf_keys_set_list(&p->values, p->set, &e) < 0) {
		(void)lf_err_wrap(&e, 0, "--loongforge-set");
		plan_finding(out, "refuse", "LF-OPT-03", &e, see_conf);
		return false;
	}
	return true;
}

/* The first node proves MASTER_PORT free; the others compute the same one. */
static bool take_ports(struct plan *p, struct lf_buf *out)
{
	const char *cluster = getenv("SLURM_CLUSTER_NAME");
	struct lf_err e;
	pid_t holder = 0;
	char who[32] = "another user";

	p->cluster = cluster ? cluster : "";
	if (ports_of(getenv("SLURM_STEP_RESV_PORTS"),
		     p->values.text[LF_KEY_PORTS], p->cluster, p->job, p->step,
		     &p->ports) < 0 ||
	    p->nodeid != 0 || p->lazy ||
	    !lf_keys_bool(&p->values, LF_KEY_RENDEZVOUS) ||
	    env_is_users("MASTER_PORT") || ports_free(p->ports.master, &holder))
		return true;
	if (holder > 0)
		(void)snprintf(who, sizeof(who), "pid %d", (int)holder);
	(void)lf_err(&e, 0,
		     "MASTER_PORT: expected port %u to be free, found "
		     "it held by %s",
		     p->ports.master, who);
	plan_finding(out, "refuse", "LF-PRT-01", &e,
		     "start again (the next step takes another port), or set "
		     "MASTER_PORT yourself");
	lf_buf_add(out, "alone=1\n"); /* the other nodes do not know */
	return false;
}

static void add_numa(const struct plan *p, struct lf_buf *out)
{
	const char *gpus = getenv("SLURM_STEP_GPUS");
	const char *bind = getenv("SLURM_MEM_BIND_TYPE");

	if (gpus && (!bind || !*bind || strstr(bind, "none")) &&
	    !strcmp(p->values.text[LF_KEY_MEMORY_POLICY], "preferred"))
		lf_buf_add(out, "numa=%lu\n", numa_near("", gpus));
}

static void add_start(const struct plan *p, struct lf_buf *out)
{
	lf_buf_add(out, "--\njob=%u\nstep=%u\nrestart=%u\nnodeid=%u\n", p->job,
		   p->step, p->restart, p->nodeid);
	lf_buf_add(out, "nodes=%u\ntasks=%u\nnode=%s\nrun=%s\nverdict=%s\n",
		   p->nodes, p->tasks, p->node, p->run, p->verdict);
	for (int i = 0; i < LF_PORT_CANDIDATES; i++)
		lf_buf_add(out, "port=%u\n", p->ports.candidate[i]);
	for (int i = 0; i < LF_KEYS; i++)
		lf_buf_add(out, "%s=%s\n", lf_keys[i].name, p->values.text[i]);
}

void plan_write(struct plan *p, struct lf_buf *out)
{
	lf_keys_defaults(&p->values);
	p->lazy = p->step >= 0xfffffff0u; /* batch, interactive: slurm.h */
	take_settings(p, out);
	p->site = p->values;
	memset(p->values.given, 0, sizeof(p->values.given));
	if (!take_users(p, out) || !gate_write(p, out) || !take_ports(p, out))
		return;
	env_plan(p, out);
	add_numa(p, out);
	add_start(p, out);
}

int plan_join(const char *had, const char *more, struct lf_buf *out,
	      struct lf_err *e)
{
	struct lf_values old, new;
	int rc;

	lf_keys_defaults(&old);
	lf_keys_defaults(&new);
	rc = lf_keys_set_list(&old, had, e);
	if (rc == 0)
		rc = lf_keys_set_list(&new, more, e);
	for (int i = 0; rc == 0 && i < LF_KEYS; i++) {
		if (old.given[i] && new.given[i] &&
		    strcmp(old.text[i], new.text[i]) != 0)
			return lf_err(
				e, -EINVAL, "%s is given twice: %s and %s",
				lf_keys[i].name, old.text[i], new.text[i]);
		if (old.given[i] || new.given[i])
			lf_buf_add(out, "%s%s=%s", out->len ? ";" : "",
				   lf_keys[i].name,
				   new.given[i] ? new.text[i] : old.text[i]);
	}
	return rc;
}
