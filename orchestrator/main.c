/* SPDX-License-Identifier: Apache-2.0 */
/* loongforged - one per node and step, as the user.
 *
 *   start    start.c    what the lifeline says about the step
 *   record   record.c   the job's folder and the log
 *   tasks    tasks.c    sessions with the processes of this node
 *   group    group.c    the other nodes (link.c: transport, cred.c: who)
 *
 * It lives until its lifeline ends: the last task of the node has ended, or
 * slurmstepd has died. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/launch.h"
#include "base/lifeline.h"
#include "base/log.h"
#include "group.h"
#include "record.h"
#include "start.h"
#include "tasks.h"

enum {
	EXIT_USAGE = 64, /* sysexits.h */
	LAZY_GRACE_MS = 10000 /* a first client that never comes */
};

struct daemon {
	struct start start;
	uv_loop_t loop;
	uv_poll_t lifeline;
	uv_signal_t term;
	uv_timer_t grace;
	struct tasks *tasks;
	struct group *group;
	bool ending;
};

static int read_start(struct daemon *d, struct lf_err *e)
{
	char text[LF_START_MAX];
	int rc;

	/* They came through our exec; a scancel of ours must not keep them. */
	(void)fcntl(LF_LAUNCH_LISTEN, F_SETFD, FD_CLOEXEC);
	(void)fcntl(LF_LAUNCH_LIFELINE, F_SETFD, FD_CLOEXEC);
	rc = lf_lifeline_recv(LF_LAUNCH_LIFELINE, text, sizeof(text), NULL);

	if (rc <= 0)
		return lf_err(e, -EINVAL,
			      "fd %d brings no start message: loongforged is "
			      "started by Slurm's plugin, see "
			      "spank_loongforge(8)",
			      LF_LAUNCH_LIFELINE);
	return start_parse(text, &d->start, e);
}

static void end(struct daemon *d, const char *why)
{
	if (d->ending)
		return;
	d->ending = true;
	lf_log(LF_LOG_INFO, "main", "ending: %s", why);
	uv_close((uv_handle_t *)&d->lifeline, NULL);
	uv_close((uv_handle_t *)&d->term, NULL);
	uv_close((uv_handle_t *)&d->grace, NULL);
	tasks_close(d->tasks);
	group_close(d->group);
}

static void on_lifeline(uv_poll_t *p, int status, int events)
{
	struct daemon *d = p->data;
	char text[64];
	int rc = lf_lifeline_recv(LF_LAUNCH_LIFELINE, text, sizeof(text), NULL);

	if (rc > 0 || rc == -EAGAIN || rc == -EINTR)
		return;
	(void)uv_poll_stop(p);
	if (!d->start.lazy) /* else: while clients are there */
		end(d, "the last task has ended");
}

static void on_term(uv_signal_t *s, int signum)
{
	end(s->data, "SIGTERM");
}

static void on_grace(uv_timer_t *t)
{
	end(t->data, "no client came");
}

static void on_idle(void *arg)
{
	end(arg, "the last client has gone");
}

static void on_group(void *arg)
{
	struct daemon *d = arg;

	if (!d->ending)
		tasks_group_changed(d->tasks);
}

/* The keeper prints it to the user when the step ends. */
static void on_notice(void *arg, const char *line)
{
	(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, line);
}

/* A job without a log goes on, but not in silence. */
static void tell_no_log(struct daemon *d, const struct lf_err *why)
{
	char line[LF_NOTICE_MAX];

	(void)snprintf(line, sizeof(line),
		       "loongforge: %.100s: no log: %.300s (LF-LOG-01)",
		       d->start.node, why->text);
	on_notice(d, line);
}

static int open_all(struct daemon *d, const char *log, struct lf_err *e)
{
	const struct group_calls calls = { on_group, on_notice, d };
	int rc;

	(void)uv_poll_init(&d->loop, &d->lifeline, LF_LAUNCH_LIFELINE);
	(void)uv_signal_init(&d->loop, &d->term);
	(void)uv_timer_init(&d->loop, &d->grace);
	d->lifeline.data = d->term.data = d->grace.data = d;
	rc = tasks_open(&d->tasks, &d->loop, LF_LAUNCH_LISTEN, &d->start, e);
	if (rc < 0)
		return rc;
	d->group = group_open(&d->loop, &d->start, &calls);
	if (!d->group)
		return lf_err(e, -ENOMEM, "no memory");
	tasks_set_group(d->tasks, d->group);
	tasks_set_log(d->tasks, log);
	if (d->start.lazy) {
		tasks_on_idle(d->tasks, on_idle, d);
		(void)uv_timer_start(&d->grace, on_grace, LAZY_GRACE_MS, 0);
	}
	(void)uv_signal_start(&d->term, on_term, SIGTERM);
	(void)uv_poll_start(&d->lifeline, UV_READABLE | UV_DISCONNECT,
			    on_lifeline);
	return 0;
}

static int run(struct daemon *d, struct lf_err *e)
{
	struct lf_err no_log = { "" };
	const char *log = record_open(&d->start, &no_log);
	int rc;

	if (!log)
		tell_no_log(d, &no_log);
	lf_log(LF_LOG_INFO, "main",
	       "LoongForge %s, job %u, step %u, node %s (%u of %u), pid %d",
	       PACKAGE_VERSION, d->start.job, d->start.step, d->start.node,
	       d->start.nodeid, d->start.nodes, (int)getpid());
	rc = uv_loop_init(&d->loop);
	if (rc < 0)
		return lf_err(e, rc, "event loop: %s", uv_strerror(rc));
	rc = open_all(d, log, e);
	if (rc < 0)
		return rc;
	(void)uv_run(&d->loop, UV_RUN_DEFAULT);
	tasks_free(d->tasks);
	group_free(d->group);
	(void)uv_loop_close(&d->loop);
	return 0;
}

int main(int argc, char **argv)
{
	static struct daemon d;
	struct lf_err e;

	if (argc == 2 && !strcmp(argv[1], "--version")) {
		(void)puts(PACKAGE_STRING);
		return 0;
	}
	if (read_start(&d, &e) < 0) {
		(void)lf_err_wrap(&e, 0, "loongforge: orchestrator");
		(void)fprintf(stderr, "%s\n", e.text);
		(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, e.text);
		return EXIT_USAGE;
	}
	if (run(&d, &e) < 0) {
		lf_log(LF_LOG_ERROR, "main", "%s", e.text);
		(void)lf_err_wrap(&e, 0, "loongforge: orchestrator");
		(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, e.text);
		return 1;
	}
	return 0;
}
