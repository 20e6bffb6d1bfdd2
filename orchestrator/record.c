/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static char path[PATH_MAX];

/* mkdir -p, below what exists. */
static int make_dirs(char *dir)
{
	for (char *p = dir + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(dir, 0755) < 0 && errno != EEXIST) {
			int rc = -errno;

			*p = '/';
			return rc;
		}
		*p = '/';
	}
	return mkdir(dir, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int choose_dir(const struct start *s, char *dir, size_t n)
{
	const char *configured = s->values.text[LF_KEY_LOG_DIR];
	const char *submit = getenv("SLURM_SUBMIT_DIR");
	int len;

	if (!submit) /* srun into an allocation from outside of it */
		submit = getenv("PWD");
	if (*configured)
		len = snprintf(dir, n, "%s", configured);
	else if (submit && *submit == '/')
		len = snprintf(dir, n, "%s/.loongforge/%u", submit, s->job);
	else
		return -ENOENT;
	return len < (int)n ? 0 : -ENAMETOOLONG;
}

const char *record_step(const struct start *s)
{
	static char number[16];

	if (s->step == 0xfffffffbu) /* slurm.h: SLURM_BATCH_SCRIPT */
		return "batch";
	if (s->step == 0xfffffffau) /* SLURM_INTERACTIVE_STEP */
		return "interactive";
	(void)snprintf(number, sizeof(number), "%u", s->step);
	return number;
}

/* O_NONBLOCK: a FIFO that somebody put there must not hold us up. */
static int open_log(int *out)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC |
				    O_NOFOLLOW | O_NONBLOCK, 0644);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return -EINVAL;
	}
	*out = fd;
	return 0;
}

const char *record_open(const struct start *s, struct lf_err *e)
{
	enum lf_log_level level = LF_LOG_INFO;
	char dir[PATH_MAX - 300];
	int fd = -1, rc = choose_dir(s, dir, sizeof(dir));

	(void)lf_log_parse_level(s->values.text[LF_KEY_LOG_LEVEL], &level);
	lf_log_open(-1, level);
	if (rc < 0) {
		(void)lf_err(e, rc, "no folder: SLURM_SUBMIT_DIR is unset");
		return NULL;
	}
	rc = make_dirs(dir);
	(void)snprintf(path, sizeof(path), "%s/%s.%s.log", dir,
		       record_step(s), s->node);
	if (rc == 0)
		rc = open_log(&fd);
	if (rc < 0) {
		(void)lf_err(e, rc, "%s: %s", dir, strerror(-rc));
		return NULL;
	}
	lf_log_open(fd, level);
	return path;
}
