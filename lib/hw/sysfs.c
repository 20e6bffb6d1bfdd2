/* SPDX-License-Identifier: Apache-2.0 */
/* Real files, below a root.  A copy may be a whole root, a /sys by itself, or
 * just what was /sys/class/infiniband.  Links are read as text where they tell
 * where a device hangs; for content the kernel follows them, which in a copy
 * shows no more than its reader may read anyway.  A FIFO in a copy must not
 * hang us. */
#include "config.h"

#include "hw/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "hw/sysview.h"

enum {
	PATH = 4096
};

/* What of a path is replaced by the root. */
struct place {
	const char *root;
	const char *cut;
};

static bool real_path(const struct lf_sysview *v, const char *path,
		      char out[PATH])
{
	const struct place *p = v->arg;
	size_t n = strlen(p->cut);

	if (strncmp(path, p->cut, n) != 0)
		return false;
	return snprintf(out, PATH, "%s%s", p->root, path + n) < PATH;
}

static int read_fd(int fd, char *buf, size_t n)
{
	size_t len = 0;

	while (len < n - 1) {
		ssize_t got = read(fd, buf + len, n - 1 - len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return (int)len;
}

static int get(const struct lf_sysview *v, const char *path, char *buf,
	       size_t n)
{
	char real[PATH];
	lf_autoclose int fd = -1;
	struct stat st;
	int len;

	buf[0] = '\0';
	if (!real_path(v, path, real))
		return -1;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	len = read_fd(fd, buf, n);
	if (len < 0)
		return -1;
	/* Text ends in a newline; PCI configuration space does not. */
	while (len > 0 && len < 4096 &&
	       (buf[len - 1] == '\n' || buf[len - 1] == ' '))
		len--;
	buf[len] = '\0';
	return len;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool list(const struct lf_sysview *v, const char *path,
		 struct lf_sys_names *names)
{
	char real[PATH];
	struct dirent *entry;
	DIR *dir;

	names->n = 0;
	names->more = false;
	dir = real_path(v, path, real) ? opendir(real) : NULL;
	if (!dir)
		return false;
	while ((entry = readdir(dir)) != NULL) {
		size_t n = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || n >= LF_SYS_NAME)
			continue;
		if (names->n == LF_SYS_NAMES) {
			names->more = true;
			break;
		}
		memcpy(names->name[names->n++], entry->d_name, n + 1);
	}
	(void)closedir(dir);
	qsort(names->name, (size_t)names->n, LF_SYS_NAME, by_name);
	return true;
}

static bool link_text(const struct lf_sysview *v, const char *path, char *buf,
		      size_t n)
{
	char real[PATH];
	ssize_t len;

	if (!real_path(v, path, real))
		return false;
	len = readlink(real, buf, n - 1);
	if (len < 0)
		return false;
	buf[len] = '\0';
	return true;
}

static bool has(const char *root, const char *name)
{
	char path[PATH];
	struct stat st;

	return snprintf(path, sizeof(path), "%s/%s", root, name) < PATH &&
	       stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static const char *cut_for(const char *root)
{
	if (has(root, "sys"))
		return "";
	if (has(root, "bus") || has(root, "class") || has(root, "devices"))
		return "/sys";
	return "/sys/class/infiniband";
}

/* A folder of RDMA devices, each with ports, and nothing else. */
static bool is_class(const struct lf_sysview *v)
{
	struct lf_sys_names *names = malloc(sizeof(*names));
	const struct place *p = v->arg;
	char path[PATH];
	bool yes = false;

	if (names && list(v, p->cut, names))
		for (int i = 0; i < names->n && !yes; i++)
			yes = snprintf(path, sizeof(path), "%s/ports",
				       names->name[i]) < PATH &&
			      has(p->root, path);
	free(names);
	return yes;
}

int lf_hw_live_sysfs(struct lf_hw *hw, const char *root, struct lf_err *e)
{
	char folder[PATH];
	struct place place = { folder, "" };
	const struct lf_sysview v = { get, list, link_text, &place };
	size_t n;
	int rc;

	if (snprintf(folder, sizeof(folder), "%s", root) >= PATH)
		return lf_err(e, -ENAMETOOLONG, "%.80s...: too long", root);
	n = strlen(folder);
	while (n > 0 && folder[n - 1] == '/')
		folder[--n] = '\0'; /* "/" becomes "" */
	place.cut = cut_for(folder);
	if (strcmp(place.cut, "/sys/class/infiniband") == 0 && !is_class(&v))
		return lf_err(e, -ENOENT,
			      "%s: no sysfs: expected sys, bus and class, or "
			      "RDMA devices in it",
			      root);
	rc = lf_sysview_read(hw, &v, e);
	return rc < 0 ? lf_err_wrap(e, rc, "%s", root) : 0;
}
