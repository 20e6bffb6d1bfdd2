/* SPDX-License-Identifier: Apache-2.0 */
/* env - what a task will find in its environment, and why.
 *
 * Only adds: a variable of the user's is kept and noted.  LOONGFORGE_ENV_SET
 * lists every variable that was set or kept, with the reason; a later step that
 * inherits it may replace what an earlier step had set.  Reads the job's
 * environment, changes nothing: writes "env=NAME<TAB>VALUE" lines, in which
 * "@rank" and "@local_rank" stand for the task's own.
 */
#ifndef ENV_H
#define ENV_H

#include <stdbool.h>

#include "base/buf.h"
#include "plan.h"

void env_plan(const struct plan *p, struct lf_buf *out);
/* True if the variable is there and no earlier step of ours set it. */
bool env_is_users(const char *name);

#endif
