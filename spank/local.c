/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "local.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/limits.h"
#include "spankapi.h"

void local_publish_addresses(spank_t sp)
{
	static char addrs[LF_START_MAX];
	char *list = getenv("SLURM_NODELIST");
	char *argv[] = { LF_LIBEXECDIR "/loongforge-plan", "addresses", list,
			 NULL };
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = 2 * LF_SCONTROL_MS,
			      .out = addrs,
			      .size = sizeof(addrs) };

	(void)unsetenv("SLURM_LOONGFORGE_ADDRS"); /* an outer step's */
	if (!list || sp_item(sp, S_JOB_NNODES, 1) < 2 ||
	    lf_child_run(&c, NULL) < 0)
		return;
	addrs[strcspn(addrs, "\n")] = '\0';
	if (*addrs)
		(void)setenv("SLURM_LOONGFORGE_ADDRS", addrs, 1);
}
