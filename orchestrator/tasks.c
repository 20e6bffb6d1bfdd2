/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tasks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sock.h"
#include "record.h"
#include "wire/session.h"

struct session {
	LIST_ENTRY(session) link;
	struct tasks *tasks;
	uv_poll_t poll;
	int fd;
	pid_t pid;
	bool task; /* said hello */
	bool waiting; /* for the group */
	uint32_t rank, local_rank;
};

struct tasks {
	uv_loop_t *loop;
	const struct start *start;
	const struct group *group;
	const char *log;
	int listen_fd;
	uv_poll_t accept;
	LIST_HEAD(, session) sessions;
	unsigned count, connected;
	uint64_t begun_ms;
	tasks_idle_f *idle;
	void *idle_arg;
};

static void on_closed(uv_handle_t *h)
{
	struct session *s = h->data;

	(void)close(s->fd);
	free(s);
}

static void drop(struct session *s)
{
	struct tasks *t = s->tasks;

	LIST_REMOVE(s, link);
	t->count--;
	t->connected -= s->task;
	(void)uv_poll_stop(&s->poll);
	uv_close((uv_handle_t *)&s->poll, on_closed);
	if (s->task && t->connected == 0 && t->idle)
		t->idle(t->idle_arg);
}

static void reply(struct session *s, const struct lf_msg *m)
{
	struct lf_err e;

	if (lf_session_send(s->fd, m, &e) < 0)
		lf_log(LF_LOG_WARN, "tasks", "pid %d: %s", (int)s->pid, e.text);
}

static void refuse(struct session *s, const char *kind, const char *reason)
{
	struct lf_msg m;

	lf_msg_begin(&m, "refuse");
	lf_msg_add(&m, "kind", kind);
	lf_msg_add(&m, "reason", reason);
	reply(s, &m);
}

static void welcome(struct session *s)
{
	const struct start *st = s->tasks->start;
	struct lf_msg m;

	lf_msg_begin(&m, "welcome");
	lf_msg_add_u64(&m, "protocol", LF_MSG_PROTOCOL);
	lf_msg_add(&m, "version", PACKAGE_VERSION);
	lf_msg_add_u64(&m, "job", st->job);
	lf_msg_add_u64(&m, "step", st->step);
	lf_msg_add(&m, "node", st->node);
	lf_msg_add_u64(&m, "nodes", st->nodes);
	if (s->rank == 0) /* for the user once, not for every task */
		lf_msg_add(&m, "findings", group_findings(s->tasks->group));
	reply(s, &m);
}

/* Tells a task that said hello what has become of the group. */
static void answer(struct session *s)
{
	const struct tasks *t = s->tasks;
	char text[LF_ERR_MAX + 64];
	struct lf_msg m;

	switch (group_state(t->group)) {
	case GROUP_READY:
		s->waiting = false;
		welcome(s);
		break;
	case GROUP_FAILED:
		s->waiting = false;
		(void)snprintf(text, sizeof(text), "loongforge: %s: %s",
			       t->start->node, group_reason(t->group));
		refuse(s, "group", text);
		break;
	case GROUP_GATHERING:
		if (s->waiting)
			break;
		s->waiting = true;
		lf_msg_begin(&m, "wait");
		lf_msg_add_u64(&m, "seconds",
			       lf_keys_number(&t->start->values,
					      LF_KEY_HELLO_SECONDS));
		reply(s, &m);
		break;
	}
}

static void hello(struct session *s, const struct lf_msg *m)
{
	uint64_t theirs = lf_msg_get_u64(m, "protocol", UINT32_MAX, 0);
	char text[LF_ERR_MAX];

	if (theirs != LF_MSG_PROTOCOL) {
		(void)snprintf(text, sizeof(text),
			       "loongforge: %s: client library: expected "
			       "protocol %d (LoongForge " PACKAGE_VERSION
			       "), found %u (%.32s): rebuild or reinstall it "
			       "(LF-VER-01)",
			       s->tasks->start->node, LF_MSG_PROTOCOL,
			       (unsigned)theirs, lf_msg_get(m, "version"));
		lf_log(LF_LOG_WARN, "tasks", "pid %d: %s", (int)s->pid, text);
		refuse(s, "protocol", text);
		return;
	}
	s->tasks->connected += !s->task;
	s->task = true;
	s->rank = (uint32_t)lf_msg_get_u64(m, "rank", UINT32_MAX, 0);
	s->local_rank = (uint32_t)lf_msg_get_u64(m, "local_rank", UINT32_MAX,
						 0);
	lf_log(LF_LOG_INFO, "tasks", "hello from rank %u, pid %d", s->rank,
	       (int)s->pid);
	answer(s);
}

static const char *state_text(const struct group *g)
{
	static const char *const names[] = { "gathering", "ready", "failed" };

	return names[group_state(g)];
}

static void send_summary(struct session *s)
{
	const struct tasks *t = s->tasks;
	struct lf_msg m;

	lf_msg_begin(&m, "orchestrator");
	lf_msg_add_u64(&m, "job", t->start->job);
	lf_msg_add(&m, "step", record_step(t->start));
	lf_msg_add(&m, "node", t->start->node);
	lf_msg_add_u64(&m, "nodeid", t->start->nodeid);
	lf_msg_add_u64(&m, "nodes", t->start->nodes);
	lf_msg_add_u64(&m, "present", group_present(t->group));
	lf_msg_add(&m, "state", state_text(t->group));
	lf_msg_add(&m, "reason", group_reason(t->group));
	lf_msg_add(&m, "version", PACKAGE_VERSION);
	lf_msg_add_u64(&m, "pid", (uint64_t)getpid());
	lf_msg_add_u64(&m, "uptime_ms", lf_clock_ms() - t->begun_ms);
	lf_msg_add_u64(&m, "tasks", t->start->tasks);
	lf_msg_add_u64(&m, "connected", t->connected);
	lf_msg_add(&m, "log", t->log ? t->log : "");
	reply(s, &m);
}

static void status(struct session *s)
{
	enum { NODES_TOLD = 64 };
	const struct tasks *t = s->tasks;
	const struct session *o;
	struct lf_msg m;

	send_summary(s);
	for (uint32_t i = 0; t->start->nodeid == 0 && i < t->start->nodes &&
			     i < NODES_TOLD;
	     i++) {
		int here;
		const char *name = group_node(t->group, i, &here);

		lf_msg_begin(&m, "node");
		lf_msg_add_u64(&m, "nodeid", i);
		lf_msg_add(&m, "name", name);
		lf_msg_add(&m, "state", here ? "here" : "silent");
		lf_msg_add(&m, "verdict", group_verdict(t->group, i));
		reply(s, &m);
	}
	LIST_FOREACH(o, &t->sessions, link) {
		if (!o->task)
			continue;
		lf_msg_begin(&m, "task");
		lf_msg_add_u64(&m, "rank", o->rank);
		lf_msg_add_u64(&m, "local_rank", o->local_rank);
		lf_msg_add_u64(&m, "pid", (uint64_t)o->pid);
		reply(s, &m);
	}
	lf_msg_begin(&m, "end");
	reply(s, &m);
}

/* False: the session is over. */
static bool serve(struct session *s)
{
	struct lf_msg m;
	struct lf_err e;
	int rc = lf_session_recv(s->fd, &m, &e);

	if (rc == -EAGAIN || rc == -EINTR)
		return true;
	if (rc < 0) {
		lf_log(LF_LOG_WARN, "tasks", "pid %d dropped: %s", (int)s->pid,
		       e.text);
		return false;
	}
	if (rc == 0) {
		if (s->task)
			lf_log(LF_LOG_INFO, "tasks", "rank %u has gone",
			       s->rank);
		return false;
	}
	if (!strcmp(m.verb, "hello")) {
		hello(s, &m);
	} else if (!strcmp(m.verb, "status")) {
		status(s);
	} else if (!strcmp(m.verb, "bye")) {
		lf_log(LF_LOG_INFO, "tasks", "bye from rank %u", s->rank);
		return false;
	} else {
		lf_log(LF_LOG_WARN, "tasks", "pid %d: unknown verb '%.32s'",
		       (int)s->pid, m.verb);
		refuse(s, "verb", "loongforge: unknown message");
	}
	return true;
}

static void on_readable(uv_poll_t *p, int st, int events)
{
	struct session *s = p->data;

	if (!serve(s))
		drop(s);
}

static bool allowed(int fd, pid_t *pid)
{
	uid_t uid = (uid_t)-1;

	if (lf_sock_peer(fd, pid, &uid) == 0 && (uid == geteuid() || uid == 0))
		return true;
	lf_log(LF_LOG_WARN, "tasks",
	       "refused pid %d of uid %u: expected uid %u (LF-SES-01)",
	       (int)*pid, (unsigned)uid, (unsigned)geteuid());
	return false;
}

static void admit(struct tasks *t, int fd)
{
	struct session *s = NULL;
	pid_t pid = 0;

	if (allowed(fd, &pid) && t->count < LF_SESSIONS_MAX)
		s = calloc(1, sizeof(*s));
	if (!s || uv_poll_init(t->loop, &s->poll, fd) < 0) {
		free(s);
		(void)close(fd);
		return;
	}
	s->tasks = t;
	s->fd = fd;
	s->pid = pid;
	s->poll.data = s;
	LIST_INSERT_HEAD(&t->sessions, s, link);
	t->count++;
	(void)uv_poll_start(&s->poll, UV_READABLE, on_readable);
}

static void on_accept(uv_poll_t *p, int st, int events)
{
	struct tasks *t = p->data;

	for (int i = 0; i < LF_BACKLOG; i++) {
		int fd = accept4(t->listen_fd, NULL, NULL,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		admit(t, fd);
	}
}

int tasks_open(struct tasks **out, uv_loop_t *loop, int listen_fd,
	       const struct start *s, struct lf_err *e)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return lf_err(e, -ENOMEM, "no memory");
	/* A second listen puts our pid where SO_PEERCRED looks. */
	if (listen(listen_fd, LF_BACKLOG) < 0 ||
	    uv_poll_init(loop, &t->accept, listen_fd) < 0) {
		free(t);
		return lf_err(e, -EBADF, "fd %d is not a listening socket",
			      listen_fd);
	}
	t->loop = loop;
	t->listen_fd = listen_fd;
	t->start = s;
	t->begun_ms = lf_clock_ms();
	t->accept.data = t;
	LIST_INIT(&t->sessions);
	(void)uv_poll_start(&t->accept, UV_READABLE, on_accept);
	*out = t;
	return 0;
}

void tasks_set_group(struct tasks *t, const struct group *g)
{
	t->group = g;
}

void tasks_set_log(struct tasks *t, const char *path)
{
	t->log = path;
}

void tasks_on_idle(struct tasks *t, tasks_idle_f *fn, void *arg)
{
	t->idle = fn;
	t->idle_arg = arg;
}

void tasks_group_changed(struct tasks *t)
{
	struct session *s;

	LIST_FOREACH(s, &t->sessions, link)
		if (s->waiting)
			answer(s);
}

void tasks_close(struct tasks *t)
{
	t->idle = NULL;
	(void)uv_poll_stop(&t->accept);
	uv_close((uv_handle_t *)&t->accept, NULL);
	while (!LIST_EMPTY(&t->sessions))
		drop(LIST_FIRST(&t->sessions));
}

void tasks_free(struct tasks *t)
{
	free(t);
}
