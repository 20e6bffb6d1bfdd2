/* SPDX-License-Identifier: Apache-2.0 */
/* options - --loongforge and --loongforge-set, from every way they can come.
 *
 * Submit side (srun, sbatch, salloc): environment twins are put where Slurm
 * takes options from, values are checked by loongforge-plan, repeated ones
 * joined, contradictions refused.  The joined list travels in
 * SLURM_LOONGFORGE_SET, which outlives --export=NONE as every SLURM_ variable
 * does, since Slurm forwards only the last of repeated options.  Node side: option and variable are put together again.
 */
#ifndef LF_OPTIONS_H
#define LF_OPTIONS_H

#include <stdbool.h>

#include <slurm/spank.h>

/* In slurm_spank_init; `submit`: srun, sbatch, salloc. */
void options_register(spank_t sp, bool submit);
/* Submit side, in init_post_opt: hands the joined list on. */
void options_publish(void);
/* Submit side: whether the option or its twin said on. */
bool options_on(void);
/* Node side: what --loongforge said, "" if nothing, and the list of settings;
 * static.  Both unchecked. */
const char *options_mode(spank_t sp);
const char *options_set(spank_t sp);
/* Node side: the step's secret where srun found no munge, else "". */
const char *options_secret(void);

#endif
