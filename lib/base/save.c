/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/save.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"

static int write_all(int fd, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		ssize_t put = write(fd, text, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		text += put;
		n -= (size_t)put;
	}
	return fsync(fd) < 0 ? -errno : 0;
}

int lf_save(const char *path, mode_t mode, const char *text, struct lf_err *e)
{
	char tmp[PATH_MAX];
	lf_autoclose int fd = -1;
	int rc;

	if (snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp))
		return lf_err(e, -ENAMETOOLONG, "%s: too long", path);
	fd = mkostemp(tmp, O_CLOEXEC);
	if (fd < 0)
		return lf_err(e, -errno, "%s: %s", tmp, strerror(errno));
	rc = write_all(fd, text);
	if (rc == 0 && fchmod(fd, mode) < 0)
		rc = -errno;
	if (rc == 0 && rename(tmp, path) < 0)
		rc = -errno;
	if (rc < 0) {
		(void)unlink(tmp);
		return lf_err(e, rc, "%s: %s", path, strerror(-rc));
	}
	return 0;
}
