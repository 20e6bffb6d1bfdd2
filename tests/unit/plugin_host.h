/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_host - the plugin in a host that only looks like Slurm.
 *
 * Built from the same sources, so that programs are looked for in tests/libexec
 * of the build, where each case links what it wants to be found: files that use
 * it must not run at the same time.
 */
#ifndef PLUGIN_HOST_H
#define PLUGIN_HOST_H

#include "unit.h"

#include "fake/slurm.h"

#define CARRIER "SLURM_SPANK__SLURM_SPANK_OPTION_loongforge_loongforge"

enum hook {
	INIT,
	POST_OPT,
	LOCAL_USER,
	PRIVILEGED,
	TASK,
	FORKED,
	TASK_EXIT,
	PROLOG,
	EPILOG,
	HOOKS
};

int call(enum hook h);
/* A path in the build; good for the next three calls. */
const char *built(const char *name);
/* The plugin at `path`, its hooks behind call(). */
void *load(const char *path);
/* `name` in tests/libexec becomes `target`, or nothing. */
void link_program(const char *name, const char *target);
void scripted(const char *path, const char *script);
/* Every case starts with a new plugin and a new host. */
int begin(void **state);
int end(void **state);
/* srun with these options, NULL for none, up to post_opt. */
int submit(const char *mode, const char *set, const char *set2);
/* slurmstepd up to where it forks. */
void step_begins(const char *mode, const char *set);
/* The task's hooks, for in_child; `arg` points to its number. */
int task(void *arg);
/* Task n in a process of its own; its exit status. */
int run_task(uint32_t n);
int step_ends(void);
/* The name of the socket on which somebody listens for this job, or "". */
const char *listening(void);

#define C(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif
