/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks that Slurm calls, each handed to the file of its context:
 *
 *   srun, sbatch, salloc  options.c, local.c     prolog, epilog  prolog.c,
 *   slurmstepd, tasks     step.c, memory.c                       epilog.c
 *                                                all             site.c
 *
 * Every hook returns 0, since Slurm drains nodes over failing hooks, but for
 * the prolog of a node that the gate has drained.  A submit-side refusal comes
 * from an option's callback, a node's refusal from step_task. */
#include "config.h"

#include <slurm/spank.h>

#include "local.h"
#include "options.h"
#include "prolog.h"
#include "step.h"

SPANK_PLUGIN(loongforge, 1)

int slurm_spank_init(spank_t sp, int ac, char **av)
{
	spank_context_t ctx = spank_context();

	if (ctx != S_CTX_LOCAL && ctx != S_CTX_ALLOCATOR && ctx != S_CTX_REMOTE)
		return 0;
	options_register(sp, ctx != S_CTX_REMOTE);
	return 0;
}

int slurm_spank_init_post_opt(spank_t sp, int ac, char **av)
{
	if (spank_context() == S_CTX_REMOTE)
		step_begin(sp, ac, av);
	else
		options_publish();
	return 0;
}

int slurm_spank_local_user_init(spank_t sp, int ac, char **av)
{
	if (options_on())
		local_publish_addresses(sp);
	return 0;
}

int slurm_spank_task_init_privileged(spank_t sp, int ac, char **av)
{
	step_task_privileged(sp);
	return 0;
}

int slurm_spank_task_init(spank_t sp, int ac, char **av)
{
	step_task(sp);
	return 0;
}

int slurm_spank_task_post_fork(spank_t sp, int ac, char **av)
{
	step_forked();
	return 0;
}

int slurm_spank_task_exit(spank_t sp, int ac, char **av)
{
	step_task_exit(sp);
	return 0;
}

int slurm_spank_job_prolog(spank_t sp, int ac, char **av)
{
	return prolog_run(sp, ac, av);
}

int slurm_spank_job_epilog(spank_t sp, int ac, char **av)
{
	epilog_run(sp, ac, av);
	return 0;
}
