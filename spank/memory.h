/* SPDX-License-Identifier: Apache-2.0 */
/* memory - locked-memory limit and NUMA policy of the calling task. */
#ifndef LF_MEMORY_H
#define LF_MEMORY_H

#include "spankapi.h"

/* As root, before the task becomes the user: raises RLIMIT_MEMLOCK to `target`
 * ("unlimited", "keep" or bytes).  0, or -errno where the machine forbids it. */
int memory_lock(spank_t sp, const char *target);
/* Prefers the NUMA nodes (bit n: node n) within the task's cpuset. */
void memory_prefer(unsigned long nodes);

#endif
