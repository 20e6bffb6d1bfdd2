/* SPDX-License-Identifier: Apache-2.0 */
/* launch - starts loongforged as a grandchild that nobody waits for.
 *
 * Used by the plugin in task_init and by the client library in batch steps,
 * from processes with any threads and any signal state.  The grandchild takes
 * the listening socket as fd LF_LAUNCH_LISTEN and the lifeline as fd
 * LF_LAUNCH_LIFELINE, introduces itself, sheds what it inherited (CPU mask,
 * memory policy, signals, stdio, session, other fds, priority) and executes.
 */
#ifndef LF_LAUNCH_H
#define LF_LAUNCH_H

#include "base/err.h"

enum {
	LF_LAUNCH_LISTEN = 3,
	LF_LAUNCH_LIFELINE = 4
};

struct lf_launch {
	char *const *argv; /* argv[0]: absolute path */
	char *const *envp;
	int listen_fd;
	int lifeline_fd;
};

/* Returns once the program runs, or -errno of the exec. */
int lf_launch(const struct lf_launch *l, struct lf_err *e);

#endif
