/* SPDX-License-Identifier: Apache-2.0 */
/* tasks - sessions with the processes of this node: tasks and onlookers.
 *
 * Accepts on the listening socket, only from this user (and root).  A task's
 * hello is answered once the group has come together or failed.  Onlookers ask
 * for status.  Whoever sends rubbish is named in the log and dropped; nobody
 * can make the orchestrator wait.
 */
#ifndef LF_TASKS_H
#define LF_TASKS_H

#include <uv.h>

#include "group.h"
#include "start.h"

struct tasks;

typedef void tasks_idle_f(void *arg); /* the last task has gone */

int tasks_open(struct tasks **out, uv_loop_t *loop, int listen_fd,
	       const struct start *s, struct lf_err *e);
/* Borrowed; before the loop runs. */
void tasks_set_group(struct tasks *t, const struct group *g);
void tasks_set_log(struct tasks *t, const char *path);
void tasks_on_idle(struct tasks *t, tasks_idle_f *fn, void *arg);
/* The group's state changed: answers those who wait. */
void tasks_group_changed(struct tasks *t);
/* Closes; the loop must run once more before tasks_free. */
void tasks_close(struct tasks *t);
void tasks_free(struct tasks *t);

#endif
