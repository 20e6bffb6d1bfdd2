/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge status [JOB] [--local] [--json]
 *
 * Orchestrators of this node are found by their sockets' names, which hold job
 * and step.  A job that has none here is asked on its first node, by a step of
 * its own beside the others (srun --overlap). */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clean.h"
#include "base/hostlist.h"
#include "base/limits.h"
#include "base/parse.h"
#include "base/sock.h"
#include "cli.h"
#include "wire/session.h"

enum {
	ANSWER_MS = 5000,
	SOCKETS_MAX = 256 /* orchestrators of one node */
};

struct args {
	uint64_t job; /* 0: all of this node's */
	bool local, json;
};

static const struct argp_option options[] = {
	{ "local", 'l', NULL, 0, "Look on this node only", 0 },
	{ "json", 'j', NULL, 0, "As one JSON document", 0 },
	{ 0 }
};

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'l':
		a->local = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num > 0 ||
		    lf_parse_u64(arg, 1, UINT32_MAX, &a->job) < 0)
			argp_error(state, "expected one job id, found '%.64s'",
				   arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Names of listening orchestrators, each once (/proc/net/unix also lists every
 * accepted connection). */
struct names {
	char name[SOCKETS_MAX][LF_SOCK_NAME_MAX];
	int count;
};

static void add_name(struct names *n, const char *name)
{
	for (int i = 0; i < n->count; i++)
		if (!strcmp(n->name[i], name))
			return;
	if (n->count < SOCKETS_MAX)
		(void)snprintf(n->name[n->count++], LF_SOCK_NAME_MAX, "%s",
			       name);
}

static int find_sockets(uint64_t job, struct names *n)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];

	n->count = 0;
	while (f && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, '@');
		unsigned found;

		line[strcspn(line, "\n")] = '\0';
		if (at && sscanf(at, "@loongforge/%10u.", &found) == 1 &&
		    (job == 0 || found == job))
			add_name(n, at + 1);
	}
	if (f)
		(void)fclose(f);
	return n->count;
}

/* Somebody else's, where root asks. */
static json_t *to_json(const struct lf_msg *m)
{
	json_t *o = json_object();

	for (int i = 0; i < m->keys; i++) {
		uint64_t v;

		lf_clean(m->value[i], "");
		if (lf_parse_u64(m->value[i], 0, INT64_MAX, &v) == 0)
			(void)json_object_set_new(o, m->key[i],
						  json_integer((json_int_t)v));
		else
			(void)json_object_set_new(o, m->key[i],
						  json_string(m->value[i]));
	}
	return o;
}

/* One orchestrator's answer: the summary with arrays "nodeList", "taskList". */
static json_t *ask(const char *name)
{
	uid_t owner = geteuid() == 0 ? LF_SOCK_ANY : geteuid();
	json_t *doc = NULL, *nodes = json_array(), *tasks = json_array();
	lf_autoclose int fd = -1;
	struct lf_msg m;
	int rc = lf_sock_connect(name, owner, &fd, NULL);

	lf_msg_begin(&m, "status");
	if (rc == 0)
		rc = lf_session_send(fd, &m, NULL);
	while (rc >= 0) {
		rc = lf_session_wait(fd, &m, ANSWER_MS, NULL);
		if (rc <= 0 || !strcmp(m.verb, "end"))
			break;
		if (!strcmp(m.verb, "orchestrator")) {
			json_decref(doc);
			doc = to_json(&m);
		} else if (!strcmp(m.verb, "node")) {
			(void)json_array_append_new(nodes, to_json(&m));
		} else if (!strcmp(m.verb, "task")) {
			(void)json_array_append_new(tasks, to_json(&m));
		}
	}
	if (doc) {
		(void)json_object_set(doc, "node_list", nodes);
		(void)json_object_set(doc, "task_list", tasks);
	}
	json_decref(nodes);
	json_decref(tasks);
	return doc;
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static long long number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void print_lists(const json_t *doc)
{
	const json_t *nodes = json_object_get(doc, "node_list");
	const json_t *tasks = json_object_get(doc, "task_list");
	const json_t *o;
	size_t i;

	if (json_array_size(nodes)) {
		(void)printf("  nodes ");
		json_array_foreach(nodes, i, o)
			(void)printf("%s %s %s", i ? "," : "", text(o, "name"),
				     text(o, "state"));
		(void)putchar('\n');
		json_array_foreach(nodes, i, o)
			if (*text(o, "verdict"))
				(void)printf("  %s: hardware: %s\n",
					     text(o, "name"),
					     text(o, "verdict"));
	}
	(void)printf("  tasks  %lld of %lld connected",
		     number(doc, "connected"), number(doc, "tasks"));
	json_array_foreach(tasks, i, o)
		(void)printf("%s rank %lld (pid %lld)", i ? "," : ":",
			     number(o, "rank"), number(o, "pid"));
	(void)printf("\n  log    %s\n",
		     *text(doc, "log") ? text(doc, "log") : "none");
}

static void print(const json_t *doc)
{
	const json_t *step = json_object_get(doc, "step");
	bool leads = number(doc, "nodeid") == 0;
	char number_text[24];

	(void)snprintf(number_text, sizeof(number_text), "%lld",
		       number(doc, "step"));
	(void)printf("job %lld, step %s, node %s (%lld of %lld%s): %s",
		     number(doc, "job"),
		     json_is_string(step) ? json_string_value(step) :
					    number_text,
		     text(doc, "node"), number(doc, "nodeid") + 1,
		     number(doc, "nodes"), leads ? ", leads" : "",
		     text(doc, "state"));
	if (leads)
		(void)printf(", %lld of %lld nodes here",
			     number(doc, "present"), number(doc, "nodes"));
	(void)printf(", up %.1f s, LoongForge %s, pid %lld\n",
		     (double)number(doc, "uptime_ms") / 1e3,
		     text(doc, "version"), number(doc, "pid"));
	if (*text(doc, "reason"))
		(void)printf("  reason %s\n", text(doc, "reason"));
	print_lists(doc);
}

/* The job's first node; 24.11 takes -r0 for any node of it, and %B is the
 * submitting host of jobs that srun made. */
static int first_node(const char *job, char *out, size_t n)
{
	char *argv[] = { "/usr/bin/env", "squeue", "-h", "-o", "%N", "-j",
			 (char *)job,	 NULL };
	static char list[64 * 1024]; /* of 65,533 nodes at the most */
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = 2 * LF_SCONTROL_MS,
			      .out = list,
			      .size = sizeof(list) };
	int rc = lf_child_run(&c, NULL);

	list[strcspn(list, "\n")] = '\0';
	return rc == 0 ? lf_hostlist_at(list, 0, out, n) : -ENOENT;
}

/* Beside the job's own steps, without the plugin's start for this one. */
static int ask_remotely(const struct args *a)
{
	char node[LF_NODE_NAME_MAX + 2] = "-w";
	char jobid[40], job[24], self[] = LF_BINDIR "/loongforge";
	char *argv[16] = { "srun", jobid, "--overlap",
			   "--mem=0", /* the job's is given out */
			   "-N1", "-n1", node, "--input=none", self, "status",
			   "--local", job };

	(void)snprintf(jobid, sizeof(jobid), "--jobid=%u", (unsigned)a->job);
	(void)snprintf(job, sizeof(job), "%u", (unsigned)a->job);
	if (a->json)
		argv[12] = "--json";
	if (first_node(job, node + 2, sizeof(node) - 2) < 0) {
		(void)fprintf(stderr,
			      "loongforge: job %s: Slurm shows no such job that "
			      "runs here\n", job);
		return 1;
	}
	(void)unsetenv("LOONGFORGE");
	(void)unsetenv("LOONGFORGE_SET");
	(void)unsetenv("SLURM_SPANK__SLURM_SPANK_OPTION_loongforge_loongforge");
	(void)execvp(argv[0], argv);
	(void)fprintf(stderr, "loongforge: srun: %s: run this where Slurm's "
			      "commands are\n", strerror(errno));
	return 1;
}

static int none_here(const struct args *a)
{
	if (a->job)
		(void)fprintf(stderr,
			      "loongforge: job %u has no orchestrator on this "
			      "node: does a step of it run with "
			      "--loongforge now, and is it yours?\n",
			      (unsigned)a->job);
	else
		(void)fprintf(stderr, "loongforge: no orchestrator on this "
				      "node; name a job\n");
	return 1;
}

int cli_status(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_arg, "[JOB]",
		"Shows what the orchestrators of a job are doing.", NULL, NULL,
		NULL
	};
	static struct names names;
	struct args a = { 0 };
	json_t *all = json_array();
	int rc = 0;

	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (a.job == 0)
		(void)lf_parse_u64(getenv("SLURM_JOB_ID"), 1, UINT32_MAX,
				   &a.job);
	if (find_sockets(a.job, &names) == 0 && a.job && !a.local)
		return ask_remotely(&a);
	for (int i = 0; i < names.count; i++) {
		json_t *doc = ask(names.name[i]);

		if (doc && !a.json)
			print(doc);
		if (doc)
			(void)json_array_append_new(all, doc);
	}
	if (json_array_size(all) == 0)
		rc = none_here(&a);
	else if (a.json)
		rc = json_dumpf(all, stdout, JSON_INDENT(2)) < 0;
	if (a.json)
		(void)putchar('\n');
	json_decref(all);
	return rc;
}
