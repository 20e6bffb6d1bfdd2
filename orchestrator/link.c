/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "link.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/auto.h"
#include "base/log.h"
#include "cred.h"

#define ZAP_ADDRESS "inproc://zeromq.zap.01" /* rfc.zeromq.org/spec/27 */

enum {
	DOORS = LF_PORT_CANDIDATES / 2, /* the other half is for control */
	KEY_TEXT = 41, /* a CURVE key in Z85, with its NUL */
	KEY_BYTES = 32,
	LINGER_MS = 100,
	BAD_LOGGED = 20, /* lines about rubbish, then silence */
	CRED_BYTES = 1024, /* a credential has about 400 */
	PORTION = 32 /* messages read before others have their turn */
};

struct admitted {
	unsigned char key[KEY_BYTES];
	uint32_t node;
};

struct link {
	const struct start *start;
	void *ctx, *door[DOORS], *control, *zap;
	char public_key[KEY_TEXT], secret_key[KEY_TEXT], host[256];
	bool leads, connected;
	uint16_t control_port;
	struct admitted *admitted;
	uint32_t admitted_count;
	int bad;
	link_heard_f *heard;
	void *arg;
};

static void complain(struct link *l, const char *what, const char *why)
{
	if (l->bad++ < BAD_LOGGED)
		lf_log(LF_LOG_WARN, "link", "%s: %s", what, why);
}

static void set_int(void *s, int option, int value)
{
	(void)zmq_setsockopt(s, option, &value, sizeof(value));
}

static void *make_socket(struct link *l, int type)
{
	void *s = zmq_socket(l->ctx, type);

	if (!s)
		return NULL;
	set_int(s, ZMQ_LINGER, LINGER_MS);
	set_int(s, ZMQ_RECONNECT_IVL, 10); /* doubles, up to: */
	set_int(s, ZMQ_RECONNECT_IVL_MAX, 1000);
	set_int(s, ZMQ_IPV6, 1);
	set_int(s, ZMQ_HEARTBEAT_IVL, 1000);
	set_int(s, ZMQ_HEARTBEAT_TIMEOUT, 5000);
	(void)zmq_setsockopt(s, ZMQ_MAXMSGSIZE, &(int64_t){ LF_MSG_MAX }, 8);
	return s;
}

static void *bind_one(struct link *l, void *s, int from, int to,
		      uint16_t *port)
{
	for (int i = from; s && i < to; i++) {
		char at[32];

		(void)snprintf(at, sizeof(at), "tcp://*:%u",
			       l->start->port[i]);
		*port = l->start->port[i];
		if (l->start->port[i] && zmq_bind(s, at) == 0)
			return s;
	}
	if (s)
		(void)zmq_close(s);
	return NULL;
}

static struct link *create(const struct start *s, link_heard_f *heard,
			   void *arg)
{
	struct link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->start = s;
	l->heard = heard;
	l->arg = arg;
	l->ctx = zmq_ctx_new();
	if (!l->ctx || zmq_curve_keypair(l->public_key, l->secret_key) < 0) {
		link_close(l);
		return NULL;
	}
	return l;
}

int link_lead(struct link **out, const struct start *s, link_heard_f *heard,
	      void *arg, struct lf_err *e)
{
	struct link *l = create(s, heard, arg);
	uint16_t port;

	if (!l)
		return lf_err(e, -ENOMEM, "zmq: %s", zmq_strerror(errno));
	l->leads = true;
	l->admitted = calloc(s->nodes, sizeof(*l->admitted));
	l->zap = make_socket(l, ZMQ_REP);
	if (l->zap)
		(void)zmq_bind(l->zap, ZAP_ADDRESS);
	l->control = make_socket(l, ZMQ_ROUTER);
	if (l->control) {
		set_int(l->control, ZMQ_CURVE_SERVER, 1);
		set_int(l->control, ZMQ_ROUTER_HANDOVER, 1);
		(void)zmq_setsockopt(l->control, ZMQ_CURVE_SECRETKEY,
				     l->secret_key, KEY_TEXT - 1);
		(void)zmq_setsockopt(l->control, ZMQ_ZAP_DOMAIN, "step", 4);
	}
	l->control = bind_one(l, l->control, DOORS, LF_PORT_CANDIDATES,
			      &l->control_port);
	l->door[0] = bind_one(l, make_socket(l, ZMQ_ROUTER), 0, DOORS, &port);
	if (!l->admitted || !l->zap || !l->control || !l->door[0]) {
		link_close(l);
		return lf_err(e, -EADDRINUSE,
			      "ports %u to %u: no two of them are free",
			      s->port[0], s->port[LF_PORT_CANDIDATES - 1]);
	}
	lf_log(LF_LOG_DEBUG, "link", "door %u, control %u", port,
	       l->control_port);
	*out = l;
	return 0;
}

/* Says which step it means, so that no other step of the user answers. */
static void add_step(struct lf_msg *m, const struct link *l)
{
	lf_msg_add_u64(m, "job", l->start->job);
	lf_msg_add_u64(m, "step", l->start->step);
	lf_msg_add_u64(m, "restart", l->start->restart);
	lf_msg_add(m, "key", l->public_key);
}

static bool same_step(const struct lf_msg *m, const struct link *l)
{
	return lf_msg_get_u64(m, "job", UINT32_MAX, 0) == l->start->job &&
	       lf_msg_get_u64(m, "step", UINT32_MAX, ~0ull) ==
		       l->start->step &&
	       lf_msg_get_u64(m, "restart", UINT32_MAX, ~0ull) ==
		       l->start->restart;
}

static int knock(struct link *l, int i, const char *host, struct lf_err *e)
{
	bool v6 = strchr(host, ':') != NULL;
	lf_autofree char *sealed = NULL;
	struct lf_msg m;
	char at[300];
	int rc;

	lf_msg_begin(&m, "knock");
	add_step(&m, l);
	lf_msg_add_u64(&m, "node", l->start->nodeid);
	/* One credential a door: munge takes each only once. */
	rc = cred_seal(m.text, &sealed, e);
	if (rc < 0)
		return rc;
	l->door[i] = make_socket(l, ZMQ_DEALER);
	(void)snprintf(at, sizeof(at), "tcp://%s%s%s:%u", v6 ? "[" : "", host,
		       v6 ? "]" : "", l->start->port[i]);
	if (!l->door[i] || zmq_connect(l->door[i], at) < 0)
		return lf_err(e, -errno, "%s: %s", at, zmq_strerror(errno));
	(void)zmq_send(l->door[i], sealed, strlen(sealed), ZMQ_DONTWAIT);
	return 0;
}

int link_follow(struct link **out, const struct start *s, const char *host,
		link_heard_f *heard, void *arg, struct lf_err *e)
{
	struct link *l = create(s, heard, arg);

	if (!l)
		return lf_err(e, -ENOMEM, "zmq: %s", zmq_strerror(errno));
	(void)snprintf(l->host, sizeof(l->host), "%s", host);
	for (int i = 0; i < DOORS; i++) {
		int rc = s->port[i] ? knock(l, i, host, e) : 0;

		if (rc < 0) {
			link_close(l);
			return rc;
		}
	}
	*out = l;
	return 0;
}

static int add_fd(void *s, int fds[LINK_FDS], int n)
{
	size_t size = sizeof(int);

	if (s && zmq_getsockopt(s, ZMQ_FD, &fds[n], &size) == 0)
		n++;
	return n;
}

int link_fds(const struct link *l, int fds[LINK_FDS])
{
	int n = add_fd(l->control, fds, 0);

	n = add_fd(l->zap, fds, n);
	for (int i = 0; i < DOORS; i++)
		n = add_fd(l->door[i], fds, n);
	return n;
}

/* Up to `max` frames of one message into buffers; returns how many, 0 when
 * nothing waits, -EPROTO for one with more frames or longer ones. */
struct frame {
	char data[LF_MSG_MAX + 1];
	size_t len;
};

static int receive(void *s, struct frame *f, int max)
{
	int n = 0, more = 1;
	bool bad = false;

	while (more) {
		size_t size = sizeof(more);
		struct frame *to = &f[n < max ? n : max - 1];
		int got = zmq_recv(s, to->data, LF_MSG_MAX,
				   n ? 0 : ZMQ_DONTWAIT);

		if (got < 0)
			return n ? -EPROTO : 0;
		bad = bad || got > LF_MSG_MAX || n >= max;
		to->len = got > LF_MSG_MAX ? LF_MSG_MAX : (size_t)got;
		to->data[to->len] = '\0';
		n++;
		(void)zmq_getsockopt(s, ZMQ_RCVMORE, &more, &size);
	}
	return bad ? -EPROTO : n;
}

static void admit(struct link *l, const struct lf_msg *m)
{
	uint32_t node = (uint32_t)lf_msg_get_u64(m, "node", l->start->nodes - 1,
						 0);
	const char *key = lf_msg_get(m, "key");
	struct admitted a = { .node = node };
	uint32_t i = 0;

	if (node == 0 || strlen(key) != KEY_TEXT - 1 ||
	    !zmq_z85_decode(a.key, key))
		return;
	while (i < l->admitted_count && l->admitted[i].node != node)
		i++;
	l->admitted[i] = a; /* a node has one key, its last */
	if (i == l->admitted_count)
		l->admitted_count++;
}

/* Leader: a credential came; ours goes back. */
static void answer_door(struct link *l, struct frame *f)
{
	lf_autofree char *sealed = NULL;
	char text[LF_MSG_MAX];
	struct lf_msg m;
	struct lf_err e;

	if (cred_unseal(f[1].data, text, sizeof(text), &e) < 0 ||
	    lf_msg_parse(&m, text, strlen(text), &e) < 0) {
		complain(l, "door", e.text);
		return;
	}
	if (strcmp(m.verb, "knock") != 0 || !same_step(&m, l))
		return; /* another step of this user: not for us */
	admit(l, &m);
	lf_msg_begin(&m, "come");
	add_step(&m, l);
	lf_msg_add_u64(&m, "port", l->control_port);
	if (cred_seal(m.text, &sealed, &e) < 0) {
		complain(l, "door", e.text);
		return;
	}
	(void)zmq_send(l->door[0], f[0].data, f[0].len,
		       ZMQ_SNDMORE | ZMQ_DONTWAIT);
	(void)zmq_send(l->door[0], sealed, strlen(sealed), ZMQ_DONTWAIT);
}

/* Follower: the leader's key and port. */
static void enter(struct link *l, const struct lf_msg *m)
{
	bool v6 = strchr(l->host, ':') != NULL;
	char at[300], id[16];

	l->control = make_socket(l, ZMQ_DEALER);
	if (!l->control)
		return;
	(void)snprintf(id, sizeof(id), "%u", l->start->nodeid);
	(void)zmq_setsockopt(l->control, ZMQ_ROUTING_ID, id, strlen(id));
	(void)zmq_setsockopt(l->control, ZMQ_CURVE_SERVERKEY,
			     lf_msg_get(m, "key"), KEY_TEXT - 1);
	(void)zmq_setsockopt(l->control, ZMQ_CURVE_PUBLICKEY, l->public_key,
			     KEY_TEXT - 1);
	(void)zmq_setsockopt(l->control, ZMQ_CURVE_SECRETKEY, l->secret_key,
			     KEY_TEXT - 1);
	(void)snprintf(at, sizeof(at), "tcp://%s%s%s:%u", v6 ? "[" : "",
		       l->host, v6 ? "]" : "",
		       (unsigned)lf_msg_get_u64(m, "port", UINT16_MAX, 0));
	l->connected = zmq_connect(l->control, at) == 0;
}

static void hear_answer(struct link *l, struct frame *f)
{
	char text[LF_MSG_MAX];
	struct lf_msg m;
	struct lf_err e;

	if (l->connected)
		return;
	if (cred_unseal(f[0].data, text, sizeof(text), &e) < 0 ||
	    lf_msg_parse(&m, text, strlen(text), &e) < 0)
		complain(l, "answer", e.text);
	else if (!strcmp(m.verb, "come") && same_step(&m, l) &&
		 strlen(lf_msg_get(&m, "key")) == KEY_TEXT - 1)
		enter(l, &m);
}

static void pump_doors(struct link *l)
{
	struct frame f[2];
	int want = l->leads ? 2 : 1, left = PORTION;

	for (int i = 0; i < DOORS; i++) {
		int n;

		while (l->door[i] && left-- > 0 &&
		       (n = receive(l->door[i], f, want)) != 0) {
			if (n != want || f[want - 1].len > CRED_BYTES)
				complain(l, "door", "not a credential");
			else if (l->leads)
				answer_door(l, f);
			else
				hear_answer(l, f);
		}
	}
}

/* ZAP: frames version, request id, domain, address, identity, mechanism, key.
 * The user id of the answer is the node that the key belongs to. */
static void pump_zap(struct link *l)
{
	enum { REQUEST = 1, KEY = 6, FRAMES = 7 };
	struct frame *f = malloc(FRAMES * sizeof(*f));
	int n, left = PORTION;

	while (f && l->zap && left-- > 0 &&
	       (n = receive(l->zap, f, FRAMES)) != 0) {
		char node[16] = "";

		for (uint32_t i = 0; n == FRAMES && i < l->admitted_count; i++)
			if (f[KEY].len == KEY_BYTES &&
			    !memcmp(f[KEY].data, l->admitted[i].key, KEY_BYTES))
				(void)snprintf(node, sizeof(node), "%u",
					       l->admitted[i].node);
		if (!*node)
			complain(l, "control", "a key that no node sent");
		(void)zmq_send(l->zap, "1.0", 3, ZMQ_SNDMORE);
		(void)zmq_send(l->zap, f[REQUEST].data,
			       n > REQUEST ? f[REQUEST].len : 0, ZMQ_SNDMORE);
		(void)zmq_send(l->zap, *node ? "200" : "400", 3, ZMQ_SNDMORE);
		(void)zmq_send(l->zap, "", 0, ZMQ_SNDMORE);
		(void)zmq_send(l->zap, node, strlen(node), ZMQ_SNDMORE);
		(void)zmq_send(l->zap, "", 0, 0);
	}
	free(f);
}

/* The node that sent a control message, as its key proved; 0 if unknown. */
static uint32_t proved(zmq_msg_t *frame)
{
	const char *id = zmq_msg_gets(frame, "User-Id");

	return id ? (uint32_t)strtoul(id, NULL, 10) : 0;
}

static void take_control(struct link *l, zmq_msg_t *frame)
{
	uint32_t from = l->leads ? proved(frame) : 0;
	struct lf_msg m;
	struct lf_err e;

	if (lf_msg_parse(&m, zmq_msg_data(frame), zmq_msg_size(frame), &e) < 0)
		complain(l, "control", e.text);
	else if (l->leads && from == 0)
		complain(l, "control", "sender unknown");
	else
		l->heard(l->arg, from, &m);
}

static void pump_control(struct link *l)
{
	zmq_msg_t frame;

	for (int left = PORTION; l->control && left > 0; left--) {
		int more = 1;

		for (int n = 0; more; n++) {
			(void)zmq_msg_init(&frame);
			if (zmq_msg_recv(&frame, l->control, ZMQ_DONTWAIT) <
			    0) {
				(void)zmq_msg_close(&frame);
				return;
			}
			more = zmq_msg_more(&frame);
			/* A router puts the routing id in front. */
			if (!more && n == (l->leads ? 1 : 0))
				take_control(l, &frame);
			(void)zmq_msg_close(&frame);
		}
	}
}

/* Edge-triggered: an event may come in on one socket while another is read. */
static bool waits(void *s)
{
	size_t size = sizeof(int);
	int events = 0;

	return s && zmq_getsockopt(s, ZMQ_EVENTS, &events, &size) == 0 &&
	       (events & ZMQ_POLLIN);
}

/* Each kind has a portion of its own: strangers at the door must not take the
 * turn of those who are through it. */
int link_pump(struct link *l)
{
	bool more;

	pump_doors(l);
	pump_zap(l);
	pump_control(l);
	more = waits(l->control) || waits(l->zap);
	for (int i = 0; i < DOORS; i++)
		more = more || waits(l->door[i]);
	return more;
}

int link_connected(const struct link *l)
{
	return l->connected;
}

void link_leave_doors(struct link *l)
{
	for (int i = 0; i < DOORS; i++) {
		if (!l->door[i])
			continue;
		if (!l->leads) /* knocks at ports where nobody listens */
			set_int(l->door[i], ZMQ_LINGER, 0);
		(void)zmq_close(l->door[i]);
		l->door[i] = NULL;
	}
}

int link_send(struct link *l, uint32_t to, const struct lf_msg *m,
	      struct lf_err *e)
{
	char id[16];

	if (!lf_msg_ok(m))
		return lf_err(e, -EMSGSIZE, "message '%s': too long", m->verb);
	(void)snprintf(id, sizeof(id), "%u", to);
	if (l->leads && zmq_send(l->control, id, strlen(id),
				 ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
		return lf_err(e, -errno, "node %u: %s", to,
			      zmq_strerror(errno));
	if (zmq_send(l->control, m->text, m->len, ZMQ_DONTWAIT) < 0)
		return lf_err(e, -errno, "node %u: %s", to,
			      zmq_strerror(errno));
	return 0;
}

void link_close(struct link *l)
{
	if (!l)
		return;
	link_leave_doors(l);
	if (l->control)
		(void)zmq_close(l->control);
	if (l->zap)
		(void)zmq_close(l->zap);
	if (l->ctx)
		(void)zmq_ctx_term(l->ctx);
	free(l->admitted);
	free(l);
}
