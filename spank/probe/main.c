/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge-probe - reads what only root should read on a node, and judges it.
 *
 *   (nothing)    judge the node and print what was found
 *   --json       the same as one JSON document
 *   --gate       the prolog: the job of the environment may start, or not
 *   --refresh    the epilog: judge anew, forget the job's refusal
 *   --health     HealthCheckProgram: judge anew, drain where the policy says so
 *   --settings   loongforge.conf -> RUN/NODE.settings only
 *
 * Exit 0; 1 for trouble, with one line; 3 when something fails (--gate,
 * --health: when the node is drained). */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "hw/policy.h"
#include "print.h"
#include "probe.h"

const char *argp_program_version = PACKAGE_STRING;

enum {
	EXIT_FAULT = 3
};

static error_t set_node(struct probe *p, const char *name,
			struct argp_state *state)
{
	if (!*name || strlen(name) >= sizeof(p->node) || strchr(name, '/') ||
	    *name == '.')
		argp_error(state, "--node: not a node name: %.64s", name);
	(void)snprintf(p->node, sizeof(p->node), "%s", name);
	return 0;
}

struct args {
	int mode; /* 0, or the option's letter */
	struct probe p;
};

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'c':
		a->p.config = arg;
		return 0;
	case 'r':
		a->p.run = arg;
		return 0;
	case 'n':
		return set_node(&a->p, arg, state);
	case 'g':
	case 'e':
	case 'h':
	case 'j':
	case 's':
		if (a->mode)
			argp_error(state, "one of --gate, --refresh, --health, "
					  "--json, --settings");
		a->mode = key;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "gate", 'g', NULL, 0, "Let the job of SLURM_JOB_ID start, or not",
	  0 },
	{ "refresh", 'e', NULL, 0, "Judge anew, without a word", 0 },
	{ "health", 'h', NULL, 0, "Judge anew, drain where the policy says so",
	  0 },
	{ "json", 'j', NULL, 0, "Print the verdict as one JSON document", 0 },
	{ "settings", 's', NULL, 0, "Write the node's settings file", 0 },
	{ "config", 'c', "FILE", 0,
	  "Configuration (" LF_SYSCONFDIR "/loongforge.conf)", 0 },
	{ "run", 'r', "DIR", 0, "Folder for node state (" LF_RUNDIR ")", 0 },
	{ "node", 'n', "NAME", 0, "Slurm's name of this node (host name)", 0 },
	{ 0 }
};

/* slurmd's own words, which no user writes. */
static void take_job(struct probe *p)
{
	const char *id = getenv("SLURM_JOB_ID");
	const char *partition = getenv("SLURM_JOB_PARTITION");
	const char *node = getenv("SLURMD_NODENAME");
	uint64_t job;

	if (gethostname(p->node, sizeof(p->node) - 1) < 0)
		p->node[0] = '\0';
	p->node[strcspn(p->node, ".")] = '\0';
	if (node && !strchr(node, '/') && *node != '.')
		(void)snprintf(p->node, sizeof(p->node), "%s", node);
	if (id && lf_parse_u64(id, 1, UINT32_MAX, &job) == 0)
		p->job = (uint32_t)job;
	p->partition = partition ? partition : "";
	p->gpus = lf_policy_gpus(getenv("SLURM_JOB_GPUS"));
	p->asked = getenv("SPANK__SLURM_SPANK_OPTION_loongforge_loongforge");
}

static int say(const char *line, int rc)
{
	if (*line)
		(void)printf("%s\n", line);
	return rc;
}

static const struct mode {
	int key;
	int (*look)(const struct probe *p, struct lf_verdict *v,
		    struct lf_err *e);
	bool of_job; /* that is starting or has ended */
	bool gate;   /* do what the policy says */
	void (*print)(const struct lf_verdict *v);
} modes[] = {
	{ 'g', probe_verdict, true, true, NULL },
	{ 'e', probe_renew, true, false, NULL },
	{ 'h', probe_refresh, false, true, NULL },
	{ 'j', probe_refresh, false, false, print_json },
	{ 0, probe_refresh, false, false, print_text },
};

static int judge(const struct mode *m, const struct probe *p)
{
	static struct lf_verdict v;
	char line[2 * LF_ERR_MAX] = "";
	struct lf_err e = { "" };
	int rc = m->look(p, &v, &e);

	/* One that could not be kept is as good for this once. */
	if (m->gate && probe_gate(p, &v, line, sizeof(line)) == 1)
		return say(line, EXIT_FAULT);
	(void)say(line, 0);
	if (m->print)
		m->print(&v);
	if (rc < 0)
		return say(e.text, 1);
	return m->print && v.verdict == LF_RESULT_FAIL ? EXIT_FAULT : 0;
}

/* Settings first: they must follow the configuration, gate or not. */
static int run(const struct args *a, struct probe *p)
{
	const struct mode *m = modes;
	struct lf_err e = { "" };
	int rc = 0, refused = probe_folder(p, &e);

	if (refused < 0)
		return say(e.text, 1);
	refused = probe_settings(p, &e);
	while (m->key && m->key != a->mode)
		m++;
	if (m->of_job)
		probe_forget(p);
	else /* by hand within an allocation, say */
		p->job = 0;
	if (a->mode != 's' && !probe_off(p) && (!m->of_job || probe_asked(p)))
		rc = judge(m, p);
	if (rc != EXIT_FAULT && refused < 0)
		rc = say(e.text, 1);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_arg,
		NULL,
		"Judges this node for LoongForge; see loongforge-probe(8).",
		NULL,
		NULL,
		NULL
	};
	static struct args a = { .p = { .config = LF_SYSCONFDIR
					"/loongforge.conf",
					.run = LF_RUNDIR } };

	take_job(&a.p);
	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	return run(&a, &a.p);
}
