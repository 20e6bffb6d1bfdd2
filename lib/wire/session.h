/* SPDX-License-Identifier: Apache-2.0 */
/* session - messages over a connected Unix socket, one packet each.
 *
 * Non-blocking underneath; lf_session_wait blocks with a deadline, for
 * clients.  Does not know what a message means.  libc only.
 */
#ifndef LF_SESSION_H
#define LF_SESSION_H

#include "wire/msg.h"

/* -EAGAIN when the peer does not read, -EPIPE when it is gone, -EMSGSIZE. */
int lf_session_send(int fd, const struct lf_msg *m, struct lf_err *e);
/* 1 with a message, 0 at end of file, -EAGAIN when nothing waits, -EPROTO. */
int lf_session_recv(int fd, struct lf_msg *m, struct lf_err *e);
/* As lf_session_recv, but waits; -ETIMEDOUT after `ms` milliseconds. */
int lf_session_wait(int fd, struct lf_msg *m, int ms, struct lf_err *e);

#endif
