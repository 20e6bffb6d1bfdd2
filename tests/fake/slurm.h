/* SPDX-License-Identifier: Apache-2.0 */
/* slurm - a Slurm that is not there: what the plugin needs of its host.
 *
 * Defines spank_*() and slurm_*() in the test program, which is linked with
 * -export-dynamic and loads the plugin as slurmstepd does.  What tasks do in a
 * fork is seen by the test, for all of this lies in shared memory.
 */
#ifndef FAKE_SLURM_H
#define FAKE_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include <slurm/spank.h>

enum {
	FAKE_ENV = 64
};

struct fake_slurm {
	spank_context_t context;
	int calls, fail_from; /* spank_*() number fail_from and on fail; -1 */
	uint32_t uid, gid, job, step, nodes, nodeid, local_tasks, tasks, cpus;
	uint32_t task; /* the one in whose process we are */
	struct spank_option *option[8];
	char env[FAKE_ENV][512]; /* the job's; "" is free */
	char *envp[FAKE_ENV + 1];
	char said[16384]; /* "error: ", "info: ", "log: " lines */
};

extern struct fake_slurm *fake;

/* A job of one task on one node, with an environment of PATH alone. */
void fake_reset(spank_context_t context);
const char *fake_getenv(const char *name); /* NULL if it is not there */
void fake_setenv(const char *name, const char *value);
/* As Slurm does when it meets --NAME=VALUE: the callback's result, or -99 if
 * there is no such option. */
int fake_option(const char *name, const char *value, int remote);
/* How many lines begin with `kind`. */
int fake_lines(const char *kind);

#endif
