/* SPDX-License-Identifier: Apache-2.0 */
/* fs - files where the owner matters.
 *
 * Nothing here follows a symbolic link in the last component, and nothing
 * trusts a file or folder that somebody other than `owner` (or root) owns or
 * may write.  Never call these as root below a folder of a user's.
 */
#ifndef LF_FS_H
#define LF_FS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

/* Whole text of a regular file of `owner`'s (or root's), at most `max` bytes;
 * caller frees *text.  -ENOENT as such; -EPERM when not to be trusted; -EFBIG. */
int lf_fs_read(const char *path, uid_t owner, size_t max, char **text,
	       struct lf_err *e);
/* Opens a folder of root's that only root may write. */
int lf_fs_open_dir(const char *path, int *fd, struct lf_err *e);
/* Makes (or finds) the 0700 folder `name` of uid:gid in `dirfd`. */
int lf_fs_user_dir(int dirfd, const char *name, uid_t uid, gid_t gid,
		   struct lf_err *e);

#endif
