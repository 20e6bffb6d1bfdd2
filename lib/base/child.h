/* SPDX-License-Identifier: Apache-2.0 */
/* child - a program that a daemon of others may run: bounded, reset, reaped.
 *
 * slurmstepd blocks signals, reaps with wait(-1) and has threads: the child
 * gets a clean slate, only async-signal-safe calls stand between fork and exec,
 * and a missing exit status (somebody else reaped) is not an error.  The child
 * dies with its caller.
 */
#ifndef LF_CHILD_H
#define LF_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct lf_child {
	char *const *argv; /* argv[0]: absolute path */
	char *const *envp; /* NULL: empty */
	int deadline_ms; /* then the whole process group is killed */
	uid_t uid; /* where root calls: who it becomes, without */
	gid_t gid; /* supplementary groups; 0: stays root */
	char *out; /* what it prints, NUL-terminated, the rest dropped; */
	size_t size; /* or NULL */
	int *status; /* its exit status, where it ended by itself; or NULL */
};

/* -ETIMEDOUT; -ECHILD for an exit status that is not 0, the text then being
 * the first line of its output; or -errno. */
int lf_child_run(const struct lf_child *c, struct lf_err *e);
/* Default signals, empty mask, oom_score_adj 0.  Async-signal-safe. */
void lf_child_reset(void);
/* Closes every fd from `first` on.  Async-signal-safe. */
void lf_child_close_from(int first);

#endif
