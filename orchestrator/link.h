/* SPDX-License-Identifier: Apache-2.0 */
/* link - messages between the orchestrators of one step, over ZeroMQ.
 *
 * A door without encryption, where credentials are exchanged, and behind it a
 * CURVE socket that admits only the keys which came in credentials, each for
 * one node.  Four rules of libzmq hold here: the fds are edge-triggered, so
 * everything is read until empty after every send and receive
 * (in portions: strangers may flood a door); LINGER is
 * bounded; nobody forks without exec after link_open; no zmq elsewhere.
 * Does not know what a message means; calls `heard` for each.
 */
#ifndef LF_LINK_H
#define LF_LINK_H

#include <stdint.h>

#include "start.h"
#include "wire/msg.h"

struct link;

/* A message of node `from`, proved by its key. */
typedef void link_heard_f(void *arg, uint32_t from, const struct lf_msg *m);

enum {
	LINK_FDS = 3 + LF_PORT_CANDIDATES
};

/* Node 0: binds door and control on candidate ports. */
int link_lead(struct link **out, const struct start *s, link_heard_f *heard,
	      void *arg, struct lf_err *e);
/* Others: knock at `host` on every candidate; link_send works when
 * link_connected says so. */
int link_follow(struct link **out, const struct start *s, const char *host,
		link_heard_f *heard, void *arg, struct lf_err *e);
/* The fds to watch for readability; returns how many (LINK_FDS at most).  May
 * grow after link_pump. */
int link_fds(const struct link *l, int fds[LINK_FDS]);
/* Reads what waits, on every socket, but not for ever: 1 when more is left, and
 * the caller has to come again by itself, since the fds are edge-triggered. */
int link_pump(struct link *l);
int link_connected(const struct link *l);
/* Closes the doors: a follower's once it is connected, the leader's once all
 * are here.  Their fds must not be watched. */
void link_leave_doors(struct link *l);
/* Follower: to the leader (`to` is 0).  Leader: to node `to`. */
int link_send(struct link *l, uint32_t to, const struct lf_msg *m,
	      struct lf_err *e);
/* Waits at most 100 ms for what was sent to leave. */
void link_close(struct link *l);

#endif
