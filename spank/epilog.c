/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fs.h"
#include "base/limits.h"
#include "prolog.h"
#include "site.h"
#include "spankapi.h"

/* The folder's content is the user's and may be hostile: chmod (a folder may be
 * shut) and rm run as the user, follow no link and stay on the file system.  rm
 * fails on the folder itself, whose parent is root's; that is left to root. */
static void remove_folder(int seg, const char *name)
{
	char path[512];
	char script[] = "chmod -R u+rwx -- \"$0\"; "
			"rm -rf --one-file-system -- \"$0\"";
	char *argv[] = { "/bin/sh", "-c", script, path, NULL };
	struct lf_child c = { .argv = argv,
			      .deadline_ms = LF_PROBE_MS };
	struct stat st;

	if (fstatat(seg, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return;
	(void)snprintf(path, sizeof(path), "%s/seg/%s", site_run(), name);
	c.uid = st.st_uid;
	c.gid = st.st_gid;
	(void)lf_child_run(&c, NULL);
	if (unlinkat(seg, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		slurm_error("loongforge: epilog: %s: %s (LF-SEG-02)", path,
			    strerror(errno));
}

void epilog_run(spank_t sp, int ac, char **av)
{
	char path[256], prefix[16];
	struct dirent *d;
	DIR *dir;
	int seg;

	site_open(ac, av);
	(void)snprintf(path, sizeof(path), "%s/seg", site_run());
	if (lf_fs_open_dir(path, &seg, NULL) < 0)
		return;
	dir = fdopendir(seg);
	/* Every restart of the job: JOB.0, JOB.1, ... */
	(void)snprintf(prefix, sizeof(prefix), "%u.", sp_item(sp, S_JOB_ID, 0));
	while (dir && (d = readdir(dir)) != NULL)
		if (strncmp(d->d_name, prefix, strlen(prefix)) == 0)
			remove_folder(seg, d->d_name);
	if (dir)
		(void)closedir(dir);
}
