/* SPDX-License-Identifier: Apache-2.0 */
/* sock - abstract Unix sockets by name, and who is at the other end.
 *
 * Abstract: no file, so nothing to clean up, and visible in every mount
 * namespace.  Packets (SOCK_SEQPACKET), non-blocking, close-on-exec.  The name
 * holds 128 random bits, and both sides look at the kernel's word on the peer.
 * sock.c listens, sock_peer.c connects, which the plugin never does.
 */
#ifndef LF_SOCK_H
#define LF_SOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	LF_SOCK_NAME_MAX = 96
};

#define LF_SOCK_ANY ((uid_t)-2) /* root looks at everybody's */

struct lf_step_id {
	uint32_t job, step, node; /* node: index within the step */
};

/* "loongforge/JOB.STEP.NODE/<32 hex digits>" */
int lf_sock_name(const struct lf_step_id *id, char name[LF_SOCK_NAME_MAX],
		 struct lf_err *e);
/* A socket that `join`, such as bind, has put at that name. */
typedef int lf_sock_join_f(int fd, const struct sockaddr *sa, socklen_t n);
int lf_sock_open(const char *name, lf_sock_join_f *join, int *fd,
		 struct lf_err *e);
/* -EADDRINUSE when somebody listens there already. */
int lf_sock_listen(const char *name, int *fd, struct lf_err *e);
/* Refuses (-EPERM) a listener that is neither root's nor `owner`'s. */
int lf_sock_connect(const char *name, uid_t owner, int *fd, struct lf_err *e);
/* The process at the other end, from the kernel. */
int lf_sock_peer(int fd, pid_t *pid, uid_t *uid);

#endif
