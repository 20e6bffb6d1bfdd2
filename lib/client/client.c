/* SPDX-License-Identifier: Apache-2.0 */
/* The session of this process.  One mutex guards it all: lf_init may wait for
 * the other nodes, but it is called once, and what threads ask often
 * (lf_active) reads an atomic.  After fork the child's copy is not connected:
 * the pid tells. */
#include "config.h"

#include "client/loongforge.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/launch.h"
#include "base/lifeline.h"
#include "base/parse.h"
#include "base/sock.h"
#include "wire/session.h"

_Static_assert(LF_TEXT_MAX >= LF_ERR_MAX, "an error line must fit");

enum {
	ANSWER_MS = 15000 /* a loaded node; the orchestrator runs at nice 10 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pid_t owner; /* the process that is connected, or 0 */
static int session = -1;
static int lifeline = -1; /* of an orchestrator that we started */
static char state[LF_TEXT_MAX] = "lf_init was not called";

static bool env_number(const char *name, long *out)
{
	uint64_t v;

	if (lf_parse_u64(getenv(name), 0, INT32_MAX, &v) < 0)
		return false;
	*out = (long)v;
	return true;
}

static int check_number(const char *what, long said, const char *name,
			struct lf_err *e)
{
	long slurm;

	if (said < 0 || !env_number(name, &slurm) || said == slurm)
		return 0;
	return lf_err(e, -EINVAL,
		      "loongforge: %s: expected %ld (%s), found %ld: leave the "
		      "argument out",
		      what, slurm, name, said);
}

static int check_args(const struct lf_init_args *a, struct lf_err *e)
{
	const char *addr = getenv("MASTER_ADDR");
	int rc;

	if (!a)
		return 0;
	rc = check_number("world_size", a->world_size, "SLURM_NTASKS", e);
	if (rc == 0)
		rc = check_number("rank", a->rank, "SLURM_PROCID", e);
	if (rc == 0)
		rc = check_number("master_port", a->master_port, "MASTER_PORT",
				  e);
	if (rc == 0 && a->master_addr && addr && strcmp(a->master_addr, addr))
		rc = lf_err(e, -EINVAL,
			    "loongforge: master_addr: expected %s "
			    "(MASTER_ADDR), found %.200s: leave the argument "
			    "out",
			    addr, a->master_addr);
	return rc;
}

/* Batch and interactive steps have the highest step numbers. */
static bool is_lazy(const char *name, unsigned *step)
{
	return sscanf(name, "loongforge/%*u.%10u.", step) == 1 &&
	       *step >= 0xfffffff0u;
}

/* In a batch or interactive step nobody listens before the first client: that
 * one binds the name, which is the lock, and launches. */
static void add_start(struct lf_buf *b, const char *key, const char *env)
{
	const char *v = getenv(env);

	if (v && !strchr(v, '\n'))
		lf_buf_add(b, "%s=%s\n", key, v);
}

static int start_lazily(const char *name, unsigned step, struct lf_err *e)
{
	lf_autobuf struct lf_buf b = LF_BUF(LF_START_MAX);
	char id[64];
	char *argv[] = { LF_LIBEXECDIR "/loongforged", id, NULL };
	int listener = -1, life[2], rc;

	rc = lf_sock_listen(name, &listener, e);
	if (rc < 0)
		return rc == -EADDRINUSE ? 0 : rc; /* another one was first */
	rc = lf_lifeline_open(life, e);
	if (rc == 0) {
		struct lf_launch l = { argv, environ, listener, life[1] };

		add_start(&b, "job", "SLURM_JOB_ID");
		add_start(&b, "restart", "SLURM_RESTART_COUNT");
		add_start(&b, "node", "SLURMD_NODENAME");
		add_start(&b, "cluster", "SLURM_CLUSTER_NAME");
		lf_buf_add(&b, "step=%u\nlazy=1\n", step);
		add_start(&b, "log.level", "LOONGFORGE_LOG_LEVEL");
		add_start(&b, "log.dir", "LOONGFORGE_LOG_DIR");
		(void)lf_lifeline_send(life[0], lf_buf_text(&b));
		(void)snprintf(id, sizeof(id), "%s.batch",
			       getenv("SLURM_JOB_ID") ?: "0");
		rc = lf_launch(&l, e);
		(void)close(life[1]);
		if (rc == 0)
			lifeline = life[0];
		else
			(void)close(life[0]);
	}
	(void)close(listener);
	return rc;
}

static int connect_once(const char *name, struct lf_err *e)
{
	int rc = lf_sock_connect(name, geteuid(), &session, e);

	/* A full queue: the orchestrator is busy starting. */
	for (int i = 0; rc == -EAGAIN && i < 100; i++) {
		(void)poll(NULL, 0, 50);
		rc = lf_sock_connect(name, geteuid(), &session, e);
	}
	return rc;
}

static int connect_or_start(const char *name, struct lf_err *e)
{
	unsigned step;
	int rc = connect_once(name, e);

	if (rc == -ECONNREFUSED && is_lazy(name, &step)) {
		rc = start_lazily(name, step, e);
		if (rc == 0)
			rc = connect_once(name, e);
	}
	if (rc == 0)
		return 0;
	if (rc != -ECONNREFUSED) /* a squatter, no fds, no program, ... */
		return lf_err_wrap(e, -ENOTCONN,
				   "loongforge: going on without an "
				   "orchestrator");
	return lf_err(e, -ENOTCONN,
		      "loongforge: the orchestrator of this node is gone; going "
		      "on without it");
}

/* What an orchestrator that we started said before it ended. */
static const char *last_words(char *buf, size_t n)
{
	char text[LF_NOTICE_MAX];
	int rc = 1;

	*buf = '\0';
	while (lifeline >= 0 && rc > 0) {
		rc = lf_lifeline_recv(lifeline, text, sizeof(text), NULL);
		if (rc > 0 && *text)
			(void)snprintf(buf, n, " (%.400s)", text);
	}
	return buf;
}

/* What lf_init says and hears; the answer may wait for other nodes. */
static int greet(const struct lf_init_args *a, struct lf_err *e)
{
	struct lf_msg m;
	char words[LF_NOTICE_MAX];
	long rank = 0, local = 0;
	int rc;

	(void)env_number("SLURM_PROCID", &rank);
	(void)env_number("SLURM_LOCALID", &local);
	lf_msg_begin(&m, "hello");
	lf_msg_add_u64(&m, "protocol", LF_MSG_PROTOCOL);
	lf_msg_add(&m, "version", PACKAGE_VERSION);
	lf_msg_add_u64(&m, "rank", (uint64_t)rank);
	lf_msg_add_u64(&m, "local_rank", (uint64_t)local);
	if (a && a->plugin)
		lf_msg_add(&m, "plugin", a->plugin);
	rc = lf_session_send(session, &m, e);
	if (rc == 0)
		rc = lf_session_wait(session, &m, ANSWER_MS, e);
	if (rc > 0 && !strcmp(m.verb, "wait")) {
		uint64_t s = lf_msg_get_u64(&m, "seconds", LF_HELLO_SECS_MAX,
					    LF_HELLO_SECS_MAX);

		rc = lf_session_wait(session, &m, (int)s * 1000 + ANSWER_MS, e);
	}
	if (rc < 0 && rc != -EPROTO)
		return lf_err_wrap(e, -ENOTCONN,
				   "loongforge: orchestrator, going on without "
				   "it");
	if (rc < 0)
		return lf_err_wrap(e, rc, "loongforge: orchestrator");
	if (rc == 0)
		return lf_err(e, -ENOTCONN,
			      "loongforge: the orchestrator has ended%s, going "
			      "on without it",
			      last_words(words, sizeof(words)));
	if (!strcmp(m.verb, "welcome")) {
		(void)lf_err(e, 0, "%s", lf_msg_get(&m, "findings"));
		return 0;
	}
	rc = !strcmp(lf_msg_get(&m, "kind"), "protocol") ? -EPROTO : -ECOMM;
	return lf_err(e, rc, "%s", lf_msg_get(&m, "reason"));
}

static void drop(void)
{
	if (session >= 0)
		(void)close(lf_steal_fd(&session));
	if (lifeline >= 0)
		(void)close(lf_steal_fd(&lifeline));
}

static int init_locked(const struct lf_init_args *a, struct lf_err *e)
{
	const char *name = getenv("LOONGFORGE_SOCKET");
	int rc;

	drop(); /* a parent's, after fork */
	atomic_store(&owner, 0);
	if (!name || !*name) {
		(void)snprintf(state, sizeof(state),
			       "not in a step that was started with "
			       "--loongforge");
		return 0;
	}
	rc = check_args(a, e);
	if (rc == 0)
		rc = connect_or_start(name, e);
	if (rc == 0)
		rc = greet(a, e);
	if (rc < 0) {
		drop();
		(void)snprintf(state, sizeof(state), "%s", e->text);
		return rc;
	}
	atomic_store(&owner, getpid());
	(void)snprintf(state, sizeof(state), "connected to %s", name);
	return 0;
}

int lf_init(const struct lf_init_args *args, char *text)
{
	struct lf_err e = { "" };
	int rc = 0;

	(void)pthread_mutex_lock(&lock);
	if (atomic_load(&owner) != getpid())
		rc = init_locked(args, &e);
	if (text)
		(void)snprintf(text, LF_TEXT_MAX, "%s", e.text);
	(void)pthread_mutex_unlock(&lock);
	return rc;
}

/* Whether the orchestrator still holds its end; true while lf_init runs in
 * another thread. */
static bool peer_lives(void)
{
	bool lives = true;
	char c;

	if (pthread_mutex_trylock(&lock) != 0)
		return true;
	if (session >= 0)
		lives = recv(session, &c, 1, MSG_PEEK | MSG_DONTWAIT) != 0;
	if (!lives)
		(void)snprintf(state, sizeof(state),
			       "the orchestrator has ended");
	(void)pthread_mutex_unlock(&lock);
	return lives;
}

int lf_active(void)
{
	return atomic_load(&owner) == getpid() && peer_lives();
}

void lf_finalize(void)
{
	struct lf_msg m;

	(void)pthread_mutex_lock(&lock);
	if (atomic_load(&owner) == getpid()) {
		lf_msg_begin(&m, "bye");
		(void)lf_session_send(session, &m, NULL);
		drop();
		atomic_store(&owner, 0);
		(void)snprintf(state, sizeof(state), "finalized");
	}
	(void)pthread_mutex_unlock(&lock);
}

const char *lf_version(void)
{
	return PACKAGE_VERSION;
}

const char *lf_state(void)
{
	return state;
}
