/* SPDX-License-Identifier: Apache-2.0 */
/* lifeline - the socket pair between a step's keeper and its orchestrator.
 *
 * The keeper (slurmstepd; a client in batch steps) holds end 0, loongforged
 * end 1.  Downwards goes one start message; upwards the introduction, sent
 * between fork and exec, and notices for the user.  End of file means "drain
 * and go" one way and "it died" the other.  The pid of an upward packet is the
 * kernel's word, never the sender's.
 */
#ifndef LF_LIFELINE_H
#define LF_LIFELINE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

int lf_lifeline_open(int fd[2], struct lf_err *e);
/* One packet; never blocks, never raises SIGPIPE.  Async-signal-safe: the new
 * orchestrator introduces itself by the empty text. */
int lf_lifeline_send(int fd, const char *text);
/* One packet as NUL-terminated text (cut at n - 1 bytes) and, at the keeper's
 * end, its sender.  Returns 1, 0 at end of file, -EAGAIN when nothing waits. */
int lf_lifeline_recv(int fd, char *text, size_t n, pid_t *pid);

#endif
