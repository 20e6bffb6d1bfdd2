/* SPDX-License-Identifier: Apache-2.0 */
/* local - srun, sbatch, salloc: options handed on, addresses looked up once. */
#ifndef LF_LOCAL_H
#define LF_LOCAL_H

#include <slurm/spank.h>

/* srun, when the step is known: where node names do not resolve, one question
 * to the controller on behalf of all tasks. */
void local_publish_addresses(spank_t sp);

#endif
