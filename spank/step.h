/* SPDX-License-Identifier: Apache-2.0 */
/* step - slurmstepd's side: sockets, environment, launch, and the end.
 *
 * A fault is recorded when it is found and told in task_init, the one place
 * where refusing hurts neither node nor job state; every other hook returns 0.
 * Without the option nothing happens and no file is opened.
 */
#ifndef LF_STEP_H
#define LF_STEP_H

#include <slurm/spank.h>

void step_begin(spank_t sp, int ac, char **av); /* init_post_opt, root */
void step_task_privileged(spank_t sp); /* the task's process, root */
void step_task(spank_t sp); /* the task's process, user; may exit */
void step_forked(void); /* slurmstepd, after a task was forked */
void step_task_exit(spank_t sp); /* slurmstepd; the last one waits */

#endif
