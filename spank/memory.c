/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/parse.h"

/* From linux/mempolicy.h, which older headers lack in part. */
enum {
	PREFERRED = 1,
	PREFERRED_MANY = 5, /* Linux 5.15 */
	MEMS_ALLOWED = 4,
	NODES_MAX = (int)(8 * sizeof(unsigned long))
};

int memory_lock(spank_t sp, const char *target)
{
	struct rlimit now, want = { RLIM_INFINITY, RLIM_INFINITY };
	char given[32];
	uint64_t bytes;

	if (!strcmp(target, "keep"))
		return 0;
	/* Slurm marks what the user asked to propagate with a U. */
	if (sp_getenv(sp, "SLURM_RLIMIT_MEMLOCK", given, sizeof(given)) &&
	    given[0] == 'U')
		return 0;
	if (lf_parse_u64(target, 0, UINT64_MAX, &bytes) == 0)
		want.rlim_cur = want.rlim_max = bytes;
	if (getrlimit(RLIMIT_MEMLOCK, &now) < 0)
		return -errno;
	if (want.rlim_max < now.rlim_max) /* never lower a hard limit */
		want.rlim_max = now.rlim_max;
	if (now.rlim_cur < want.rlim_cur &&
	    setrlimit(RLIMIT_MEMLOCK, &want) < 0)
		return -errno;
	/* Slurm would set the submit host's limit after us. */
	(void)spank_unsetenv(sp, "SLURM_RLIMIT_MEMLOCK");
	return 0;
}

void memory_prefer(unsigned long nodes)
{
	unsigned long allowed = ~0UL;

	(void)syscall(SYS_get_mempolicy, NULL, &allowed, NODES_MAX, NULL,
		      MEMS_ALLOWED);
	nodes &= allowed;
	if (!nodes || nodes == allowed) /* unknown, or nothing to choose */
		return;
	if (syscall(SYS_set_mempolicy, PREFERRED_MANY, &nodes, NODES_MAX + 1) <
		    0 &&
	    (nodes & (nodes - 1)) == 0)
		(void)syscall(SYS_set_mempolicy, PREFERRED, &nodes,
			      NODES_MAX + 1);
}
