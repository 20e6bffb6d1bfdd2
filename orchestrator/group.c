/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "group.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/log.h"
#include "cred.h"
#include "link.h"
#include "roster.h"

enum {
	NAMED_MAX = 8, /* silent nodes named in one line */
	STAGGER_MS = 250, /* between nodes that miss the leader */
	STAGGER_NODES = 20,
	TOLD_MS = 200,
	INSIST_MS = 2000 /* from TERM to a plain scancel */
};

struct group {
	uv_loop_t *loop;
	const struct start *start;
	struct group_calls calls;
	struct link *link;
	struct roster *roster;
	uv_poll_t *poll[LINK_FDS];
	int polls;
	uv_timer_t deadline, again;
	uv_process_t scancel;
	bool *here; /* leader: by node id */
	uint32_t present;
	enum group_state state;
	char reason[LF_ERR_MAX];
	bool greeted, cancels, insisted, leader_gone;
};

static const char *node_name(uint32_t id, char *buf, size_t n)
{
	const char *list = getenv("SLURM_STEP_NODELIST");

	if (lf_hostlist_at(list ? list : "", id, buf, n) < 0)
		(void)snprintf(buf, n, "node %u", id);
	return buf;
}

static void set_state(struct group *g, enum group_state state)
{
	if (g->state != GROUP_GATHERING)
		return;
	g->state = state;
	(void)uv_timer_stop(&g->deadline);
	g->calls.changed(g->calls.arg);
}

static void on_still_there(uv_timer_t *t);

static void on_scancel(uv_process_t *p, int64_t status, int signal)
{
	lf_log(status ? LF_LOG_ERROR : LF_LOG_INFO, "group",
	       "scancel ended with status %d", (int)status);
	uv_close((uv_handle_t *)p, NULL);
}

/* The user's own right, by the user's own command. */
static void cancel_step(struct group *g)
{
	char id[32];
	char *args[] = { "scancel", "--signal=TERM", id, NULL };
	uv_process_options_t o = { .file = "scancel",
				   .args = args,
				   .exit_cb = on_scancel };
	int rc;

	(void)snprintf(id, sizeof(id), "%u.%u", g->start->job, g->start->step);
	rc = uv_spawn(g->loop, &g->scancel, &o);
	if (rc < 0)
		lf_log(LF_LOG_ERROR, "group", "scancel %s: %s", id,
		       uv_strerror(rc));
	(void)uv_timer_start(&g->deadline, on_still_there, INSIST_MS, 0);
}

/* For tasks that ignore TERM.  A plain scancel makes srun stop listening, so
 * it comes last, when the user has read why. */
static void insist(struct group *g)
{
	char id[32];
	char *argv[] = { "/usr/bin/env", "scancel", id, NULL };
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = LF_SCONTROL_MS };

	if (g->state != GROUP_FAILED || !g->cancels || g->insisted)
		return;
	g->insisted = true;
	(void)snprintf(id, sizeof(id), "%u.%u", g->start->job, g->start->step);
	(void)lf_child_run(&c, NULL);
}

static void on_still_there(uv_timer_t *t)
{
	insist(t->data);
}

/* The group cannot come together: named, told to everybody, ended. */
static void fail(struct group *g, const char *reason)
{
	struct lf_msg m;
	char line[LF_NOTICE_MAX];

	if (g->state == GROUP_FAILED)
		return;
	(void)snprintf(g->reason, sizeof(g->reason), "%s", reason);
	lf_log(LF_LOG_ERROR, "group", "%s", reason);
	(void)snprintf(line, sizeof(line), "loongforge: %s: %s; the step is "
					   "cancelled (LF-GRP-01)",
		       g->start->node, reason);
	g->calls.notice(g->calls.arg, line);
	g->calls.notice(g->calls.arg,
			"loongforge: hint: is the plugin installed and listed "
			"in plugstack.conf on every node, and nowhere switched "
			"off (/etc/loongforge/off)?");
	lf_msg_begin(&m, "fail");
	lf_msg_add(&m, "reason", reason);
	for (uint32_t i = 1; g->here && g->link && i < g->start->nodes; i++)
		if (g->here[i])
			(void)link_send(g->link, i, &m, NULL);
	set_state(g, GROUP_FAILED);
	g->cancels = true;
	cancel_step(g);
}

static void name_silent(struct group *g, char *out, size_t n)
{
	char name[LF_NODE_NAME_MAX];
	int named = 0;
	size_t len = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < g->start->nodes && len < n; i++) {
		if (g->here[i] || named++ >= NAMED_MAX)
			continue;
		len += (size_t)snprintf(out + len, n - len, "%s%s",
					len ? ", " : "",
					node_name(i, name, sizeof(name)));
	}
	if (named > NAMED_MAX && len < n)
		(void)snprintf(out + len, n - len, " and %d more",
			       named - NAMED_MAX);
}

static void on_deadline(uv_timer_t *t)
{
	struct group *g = t->data;
	char silent[300], text[LF_ERR_MAX], name[LF_NODE_NAME_MAX];
	unsigned seconds = (unsigned)lf_keys_number(&g->start->values,
						    LF_KEY_HELLO_SECONDS);

	if (g->here) {
		name_silent(g, silent, sizeof(silent));
		(void)snprintf(text, sizeof(text),
			       "expected every node's hello within %u s, found "
			       "silent: %s",
			       seconds, silent);
	} else {
		(void)snprintf(text, sizeof(text),
			       "expected an orchestrator on %s within %u s, "
			       "found none",
			       node_name(0, name, sizeof(name)), seconds);
	}
	fail(g, text);
}

static void leave_doors(struct group *g);

static const char *on_name(void *arg, uint32_t node)
{
	int here;

	return group_node(arg, node, &here);
}

static void check_complete(struct group *g)
{
	struct lf_msg m;

	if (g->present < g->start->nodes)
		return;
	lf_msg_begin(&m, "ready");
	for (uint32_t i = 1; i < g->start->nodes; i++)
		(void)link_send(g->link, i, &m, NULL);
	lf_log(LF_LOG_INFO, "group", "all %u nodes are here", g->present);
	roster_judge(g->roster, on_name, g);
	leave_doors(g); /* nobody else may come, nor disturb */
	set_state(g, GROUP_READY);
}

/* Leader: a node says who it is. */
static void hello(struct group *g, uint32_t from, const struct lf_msg *m)
{
	char name[LF_NODE_NAME_MAX], text[LF_ERR_MAX];

	if (strcmp(lf_msg_get(m, "version"), PACKAGE_VERSION) != 0) {
		(void)snprintf(text, sizeof(text),
			       "expected LoongForge " PACKAGE_VERSION
			       " on every node, found %.32s on %s",
			       lf_msg_get(m, "version"),
			       node_name(from, name, sizeof(name)));
		g->here[from] = true; /* so that it hears why */
		fail(g, text);
		return;
	}
	if (!g->here[from])
		roster_take(g->roster, from, m);
	g->present += !g->here[from];
	g->here[from] = true;
	lf_log(LF_LOG_INFO, "group", "hello from node %u, %s", from,
	       lf_msg_get(m, "name"));
	check_complete(g);
}

static void heard(void *arg, uint32_t from, const struct lf_msg *m)
{
	struct group *g = arg;

	if (g->here) {
		if (!strcmp(m->verb, "hello") && from < g->start->nodes)
			hello(g, from, m);
		else if (!strcmp(m->verb, "bye"))
			lf_log(LF_LOG_INFO, "group", "node %u has ended", from);
		return;
	}
	if (!strcmp(m->verb, "ready")) {
		lf_log(LF_LOG_INFO, "group", "the leader says ready");
		set_state(g, GROUP_READY);
	} else if (!strcmp(m->verb, "fail")) {
		(void)snprintf(g->reason, sizeof(g->reason), "%s",
			       lf_msg_get(m, "reason"));
		lf_log(LF_LOG_ERROR, "group", "%s", g->reason);
		set_state(g, GROUP_FAILED);
	} else if (!strcmp(m->verb, "bye")) {
		g->leader_gone = true;
		lf_log(LF_LOG_INFO, "group", "the leader has ended");
	}
}

static void pump(struct group *g);

static void on_readable(uv_poll_t *p, int status, int events)
{
	pump(p->data);
}

static void free_handle(uv_handle_t *h)
{
	free(h);
}

static void unwatch(struct group *g)
{
	for (int i = 0; i < g->polls; i++) {
		(void)uv_poll_stop(g->poll[i]);
		uv_close((uv_handle_t *)g->poll[i], free_handle);
	}
	g->polls = 0;
}

static void watch(struct group *g)
{
	int fds[LINK_FDS], n = link_fds(g->link, fds);

	for (int i = 0; i < n; i++) {
		uv_poll_t *p = malloc(sizeof(*p));

		if (!p || uv_poll_init(g->loop, p, fds[i]) < 0) {
			free(p);
			continue;
		}
		p->data = g;
		(void)uv_poll_start(p, UV_READABLE, on_readable);
		g->poll[g->polls++] = p;
	}
}

static void leave_doors(struct group *g)
{
	unwatch(g);
	link_leave_doors(g->link);
	watch(g);
}

/* Follower, once through the door: the doors go, the hello is sent. */
static void greet(struct group *g)
{
	struct lf_msg m;

	leave_doors(g);
	lf_msg_begin(&m, "hello");
	lf_msg_add(&m, "name", g->start->node);
	lf_msg_add(&m, "version", PACKAGE_VERSION);
	lf_msg_add_u64(&m, "protocol", LF_MSG_PROTOCOL);
	roster_add_to(g->roster, &m);
	(void)link_send(g->link, 0, &m, NULL);
	g->greeted = true;
}

static void on_again(uv_timer_t *t)
{
	pump(t->data);
}

static void pump(struct group *g)
{
	int more = link_pump(g->link);

	if (!g->here && !g->greeted && link_connected(g->link)) {
		greet(g);
		more = link_pump(g->link);
	}
	if (more) /* after the others' turn */
		(void)uv_timer_start(&g->again, on_again, 0, 0);
}

/* Where node 0 is: what srun found out, else what the name resolves to. */
static int leader_host(char *host, size_t n, struct lf_err *e)
{
	const char *at = getenv("SLURM_LOONGFORGE_ADDRS");
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
	char name[LF_NODE_NAME_MAX];
	size_t len;
	int rc;

	(void)node_name(0, name, sizeof(name));
	len = strlen(name);
	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, len) && at[len] == '=') {
			(void)snprintf(host, n, "%.*s",
				       (int)strcspn(at + len + 1, ","),
				       at + len + 1);
			return 0;
		}
	}
	rc = getaddrinfo(name, NULL, &hints, &found);
	if (rc == 0)
		rc = getnameinfo(found->ai_addr, found->ai_addrlen, host,
				 (socklen_t)n, NULL, 0, NI_NUMERICHOST);
	if (found)
		freeaddrinfo(found);
	return rc == 0 ? 0 : lf_err(e, -EHOSTUNREACH,
				    "address of %s: %s", name,
				    gai_strerror(rc));
}

static int connect_nodes(struct group *g, struct lf_err *e)
{
	char host[256] = "";
	int rc = cred_open(g->start->secret, e);
	int found = leader_host(host, sizeof(host), e);

	g->roster = roster_open(g->start, found == 0 ? host : "");
	if (!g->roster)
		return lf_err(e, -ENOMEM, "group: no memory");
	if (rc == 0 && g->start->nodeid == 0) {
		g->here = calloc(g->start->nodes, sizeof(*g->here));
		if (!g->here)
			return lf_err(e, -ENOMEM, "group: no memory");
		g->here[0] = true;
		g->present = 1;
		return link_lead(&g->link, g->start, heard, g, e);
	}
	if (rc == 0)
		rc = found;
	if (rc == 0)
		rc = link_follow(&g->link, g->start, host, heard, g, e);
	return rc;
}

/* The leader at the deadline; the others one after another behind it. */
static uint64_t deadline_ms(const struct start *s)
{
	uint64_t ms = 1000 * lf_keys_number(&s->values, LF_KEY_HELLO_SECONDS);
	uint32_t place = s->nodeid < STAGGER_NODES ? s->nodeid : STAGGER_NODES;

	return ms + (uint64_t)place * STAGGER_MS * 4;
}

static void on_failed_start(uv_timer_t *t)
{
	struct group *g = t->data;
	char reason[LF_ERR_MAX];

	(void)snprintf(reason, sizeof(reason), "%s", g->reason);
	fail(g, reason);
}

struct group *group_open(uv_loop_t *loop, const struct start *s,
			 const struct group_calls *calls)
{
	struct group *g = calloc(1, sizeof(*g));
	struct lf_err e;

	if (!g)
		return NULL;
	g->loop = loop;
	g->start = s;
	g->calls = *calls;
	(void)uv_timer_init(loop, &g->deadline);
	(void)uv_timer_init(loop, &g->again);
	g->deadline.data = g->again.data = g;
	if (s->nodes == 1) {
		g->present = 1;
		g->state = GROUP_READY;
		lf_log(LF_LOG_INFO, "group", "%s: hardware: %s", s->node,
		       *s->verdict ? s->verdict : "unknown");
	} else if (connect_nodes(g, &e) < 0) {
		(void)snprintf(g->reason, sizeof(g->reason), "%s", e.text);
		(void)uv_timer_start(&g->deadline, on_failed_start, 0, 0);
	} else {
		watch(g);
		pump(g);
		(void)uv_timer_start(&g->deadline, on_deadline, deadline_ms(s),
				     0);
	}
	return g;
}

enum group_state group_state(const struct group *g)
{
	return g->state;
}

const char *group_reason(const struct group *g)
{
	return g->reason;
}

uint32_t group_present(const struct group *g)
{
	return g->present;
}

const char *group_node(const struct group *g, uint32_t id, int *here)
{
	static char name[LF_NODE_NAME_MAX];

	*here = g->here ? g->here[id] : id == g->start->nodeid;
	return id == g->start->nodeid ? g->start->node :
					node_name(id, name, sizeof(name));
}

const char *group_verdict(const struct group *g, uint32_t id)
{
	if (g->roster)
		return roster_verdict(g->roster, id);
	return id == g->start->nodeid ? g->start->verdict : "";
}

const char *group_findings(const struct group *g)
{
	return g->roster ? roster_findings(g->roster) : "";
}

static void say_bye(struct group *g)
{
	struct lf_msg m;

	lf_msg_begin(&m, "bye");
	/* A message to one that has gone would only wait for its linger. */
	if (!g->here && g->greeted && !g->leader_gone)
		(void)link_send(g->link, 0, &m, NULL);
	for (uint32_t i = 1; g->here && i < g->start->nodes; i++)
		if (g->here[i])
			(void)link_send(g->link, i, &m, NULL);
}

/* The whole time: scancel's SIGCHLD comes just then. */
static void sleep_ms(uint64_t ms)
{
	uint64_t until = lf_clock_ms() + ms;

	for (uint64_t now; (now = lf_clock_ms()) < until;)
		(void)poll(NULL, 0, (int)(until - now));
}

void group_close(struct group *g)
{
	if (!g)
		return;
	/* slurmstepd has our lines by now and waits for us; its I/O thread
	 * needs a moment to pass them on, before srun is told to stop. */
	if (g->cancels && !g->insisted)
		sleep_ms(TOLD_MS);
	insist(g);
	uv_close((uv_handle_t *)&g->deadline, NULL);
	uv_close((uv_handle_t *)&g->again, NULL);
	unwatch(g);
	if (g->link) {
		say_bye(g);
		link_close(g->link);
		g->link = NULL;
	}
}

void group_free(struct group *g)
{
	if (!g)
		return;
	free(g->here);
	roster_free(g->roster);
	free(g);
}
