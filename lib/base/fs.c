/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

/* Whether somebody other than `owner` and root can have put this there. */
static int distrust(const struct stat *st, uid_t owner, const char *path,
		    struct lf_err *e)
{
	if ((st->st_uid == 0 || st->st_uid == owner) &&
	    !(st->st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return lf_err(e, -EPERM,
		      "%s: not trusted: expected owner root and writable by "
		      "nobody else, found uid %u, mode %03o",
		      path, (unsigned)st->st_uid,
		      (unsigned)(st->st_mode & 0777));
}

static int read_all(int fd, char *text, size_t max, const char *path,
		    struct lf_err *e)
{
	size_t n = 0;

	for (;;) {
		ssize_t got = read(fd, text + n, max + 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lf_err(e, -errno, "%s: %s", path,
				      strerror(errno));
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > max)
			return lf_err(e, -EFBIG,
				      "%s: longer than %zu bytes", path, max);
	}
	text[n] = '\0';
	if (strlen(text) != n)
		return lf_err(e, -EINVAL, "%s: holds a NUL byte", path);
	return 0;
}

int lf_fs_read(const char *path, uid_t owner, size_t max, char **text,
	       struct lf_err *e)
{
	/* O_NONBLOCK: a FIFO put there must not hang us. */
	lf_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
						 O_NONBLOCK | O_NOCTTY);
	lf_autofree char *buf = NULL;
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return lf_err(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return lf_err(e, -EPERM, "%s: not a regular file", path);
	rc = distrust(&st, owner, path, e);
	if (rc < 0)
		return rc;
	buf = malloc(max + 2);
	if (!buf)
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	rc = read_all(fd, buf, max, path, e);
	if (rc == 0)
		*text = lf_steal(&buf);
	return rc;
}

int lf_fs_open_dir(const char *path, int *fd, struct lf_err *e)
{
	lf_autoclose int dir = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
						  O_DIRECTORY);
	struct stat st;
	int rc;

	if (dir < 0 || fstat(dir, &st) < 0)
		return lf_err(e, -errno, "%s: %s", path, strerror(errno));
	rc = distrust(&st, 0, path, e);
	if (rc == 0)
		*fd = lf_steal_fd(&dir);
	return rc;
}

int lf_fs_user_dir(int dirfd, const char *name, uid_t uid, gid_t gid,
		   struct lf_err *e)
{
	lf_autoclose int fd = -1;
	struct stat st;

	if (mkdirat(dirfd, name, 0700) < 0 && errno != EEXIST)
		return lf_err(e, -errno, "%s: %s", name, strerror(errno));
	fd = openat(dirfd, name,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return lf_err(e, -errno, "%s: %s", name, strerror(errno));
	if (st.st_uid == uid && (st.st_mode & 0077) == 0)
		return 0; /* another step of the job made it */
	if (st.st_uid != 0 && st.st_uid != uid)
		return lf_err(e, -EPERM,
			      "%s: expected owner uid %u, found %u", name,
			      (unsigned)uid, (unsigned)st.st_uid);
	if (fchmod(fd, 0700) < 0 || fchown(fd, uid, gid) < 0)
		return lf_err(e, -errno, "%s: %s", name, strerror(errno));
	return 0;
}
