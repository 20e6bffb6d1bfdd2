/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/fs.h"
#include "base/limits.h"
#include "prolog.h"
#include "site.h"
#include "spankapi.h"

/* The content is users' and may be hostile: GNU rm walks by open folders,
 * follows no link and stays on the file system, which is ours alone.  As root,
 * since a user could stop an rm of his own, or shut a folder to it.  One rm,
 * with one deadline, for every restart of the job: JOB.0, JOB.1, ... */
void epilog_run(spank_t sp, int ac, char **av)
{
	char path[256];
	char *argv[] = { "/bin/sh", "-c",
			 "exec rm -rf --one-file-system -- \"$0\".*", path,
			 NULL };
	struct lf_child c = { .argv = argv, .deadline_ms = LF_EPILOG_MS };
	lf_autoclose int seg = -1;
	const char *node;
	struct lf_err e;

	site_open(ac, av);
	node = getenv("SLURMD_NODENAME");
	if (node && !site_off(false) && site_probe("--refresh", node, &e) != 0)
		slurm_error("loongforge: %s: gate: %s (LF-GATE-01)", node,
			    e.text);
	(void)snprintf(path, sizeof(path), "%s/seg", site_run());
	if (lf_fs_open_dir(path, &seg, NULL) < 0)
		return;
	(void)snprintf(path, sizeof(path), "%s/seg/%u", site_run(),
		       sp_item(sp, S_JOB_ID, 0));
	if (lf_child_run(&c, &e) < 0)
		slurm_error("loongforge: epilog: %s.*: %s (LF-SEG-02)", path,
			    e.text);
}
