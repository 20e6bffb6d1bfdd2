/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge doctor [--pid PID] [--log FILE] [--from FILE] [--script FILE]
 *
 * Looks at the machine, the installation, the environment and the NCCL of a
 * job, or at a job's log alone; exit 0 when nothing is found, 3 when something
 * is. */
#include "config.h"

#include "doctor.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clean.h"
#include "base/parse.h"
#include "cli.h"
#include "comm/script.h"
#include "comm/symptom.h"
#include "find/find.h"

enum {
	EXIT_FOUND = 3,
	FILES_MAX = 16,
	LOG_PIECE = 1 << 18
};

struct args {
	char *log[FILES_MAX], *script[FILES_MAX];
	int logs, scripts;
	struct recordings from;
	const char *root, *libnccl;
	uint64_t pid;
	bool json;
};

static const struct argp_option options[] = {
	{ "log", 'l', "FILE", 0,
	  "A job's log (- for stdin); alone, nothing else is looked at", 0 },
	{ "pid", 'p', "PID", 0,
	  "A process of the job: its environment, limits and NCCL", 0 },
	{ "script", 's', "FILE", 0, "A training script, for debug switches",
	  0 },
	RECORDINGS_OPTION,
	{ "libnccl", 'n', "FILE", 0, "The NCCL that the job will load", 0 },
	{ "root", 'r', "DIR", 0, "Look at the system below DIR", 0 },
	{ "json", 'j', NULL, 0, "As one JSON document", 0 },
	{ 0 }
};

static void add(struct argp_state *state, char **list, int *count, char *arg)
{
	if (*count == FILES_MAX)
		argp_error(state, "expected at most %d files", FILES_MAX);
	list[(*count)++] = arg;
}

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'l':
		add(state, a->log, &a->logs, arg);
		return 0;
	case 's':
		add(state, a->script, &a->scripts, arg);
		return 0;
	case 'f':
		recordings_add(&a->from, state, arg);
		return 0;
	case 'p':
		if (lf_parse_u64(arg, 1, INT32_MAX, &a->pid) < 0)
			argp_error(state, "expected a pid, found '%.64s'", arg);
		return 0;
	case 'n':
		a->libnccl = arg;
		return 0;
	case 'r':
		a->root = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void doctor_script(struct doctor *d, const char *path)
{
	struct lf_err e;

	if (lf_script_lint(path, &d->notes, &e) < 0)
		doctor_aside(d, "%s", e.text);
}

static int feed(int fd, struct lf_symptom_log *log)
{
	lf_autofree char *buf = malloc(LOG_PIECE);
	ssize_t got = -1;

	if (!buf)
		return -ENOMEM;
	while ((got = read(fd, buf, LOG_PIECE)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		lf_symptom_feed(log, buf, (size_t)got);
	}
	return 0;
}

int doctor_log(struct doctor *d, const char *path, struct lf_err *e)
{
	bool in = !strcmp(path, "-");
	lf_autoclose int fd =
		in ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	struct lf_symptom_log *log = lf_symptom_open();
	int rc = fd < 0 ? -errno : log ? feed(fd, log) : -ENOMEM;

	if (rc == 0)
		lf_symptom_end(log, in ? "stdin" : path, &d->notes);
	lf_symptom_close(log);
	return rc < 0 ? lf_err(e, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static void print_note(struct lf_note *n)
{
	struct lf_finding f = { .code = n->code, .what = n->what };
	char line[1024];

	f.expected = *n->expected ? n->expected : NULL;
	f.found = n->found;
	f.remedy = *n->remedy ? n->remedy : NULL;
	lf_find_line(&f, NULL, line, sizeof(line));
	(void)printf("%s\n", line);
	lf_clean(n->found, "");
	if (!f.expected && *n->found)
		(void)printf("loongforge:     | %s\n", n->found);
	lf_find_hint(&f, line, sizeof(line));
	if (*line)
		(void)printf("%s\n", line);
}

static void print(struct doctor *d)
{
	for (int i = 0; i < d->notes.count; i++)
		print_note(&d->notes.note[i]);
	if (*d->aside)
		(void)printf("not looked at: %s\n", d->aside);
	if (d->notes.count == 0)
		(void)printf("doctor: nothing found\n");
	else
		(void)printf("doctor: %d found, the first is %s\n",
			     d->notes.count + d->notes.dropped,
			     d->notes.note[0].code);
}

static json_t *text(char *s)
{
	lf_clean(s, "");
	return json_string(s);
}

static void print_json(struct doctor *d)
{
	json_t *all = json_array(), *doc;

	for (int i = 0; i < d->notes.count; i++) {
		struct lf_note *n = &d->notes.note[i];

		(void)json_array_append_new(
			all,
			json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "code",
				  n->code, "result", "fail", "subject",
				  text(n->what), "expected", text(n->expected),
				  "found", text(n->found), "remedy",
				  text(n->remedy)));
	}
	doc = json_pack("{s:s, s:i, s:o, s:o}", "verdict",
			d->notes.count ? "fail" : "pass", "dropped",
			d->notes.dropped, "not_looked_at", text(d->aside),
			"findings", all);
	(void)json_dumpf(doc, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(doc);
}

static int look(struct doctor *d, struct args *a, struct lf_err *e)
{
	bool log_only = a->logs > 0 && !a->pid && !a->from.count && !a->libnccl;
	int rc = 0;

	if (!log_only) {
		doctor_machine(d, &a->from);
		rc = doctor_job(d, e);
	}
	if (!log_only && rc == 0)
		doctor_install(d);
	for (int i = 0; rc == 0 && i < a->scripts; i++)
		doctor_script(d, a->script[i]);
	for (int i = 0; rc == 0 && i < a->logs; i++)
		rc = doctor_log(d, a->log[i], e);
	return rc;
}

int cli_doctor(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_arg,
		"",
		"Looks for what is wrong, and says what to do about it.",
		NULL,
		NULL,
		NULL
	};
	static struct doctor d;
	struct args a = { .root = "" };
	struct lf_err e;
	int rc;

	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	d.root = a.root;
	d.pid = (int)a.pid;
	d.libnccl = a.libnccl;
	rc = look(&d, &a, &e);
	lf_settings_free(&d.settings);
	if (rc < 0) {
		(void)fprintf(stderr, "loongforge: %s\n", e.text);
		return 1;
	}
	if (a.json)
		print_json(&d);
	else
		print(&d);
	return d.notes.count ? EXIT_FOUND : 0;
}
