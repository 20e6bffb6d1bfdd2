/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/auto.h"
#include "base/buf.h"
#include "base/clean.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/save.h"
#include "conf/value.h"
#include "probe.h"

int probe_folder(const struct probe *p, struct lf_err *e)
{
	lf_autoclose int dir = -1;

	if (mkdir(p->run, 0755) < 0 && errno != EEXIST)
		return lf_err(e, -errno, "%s: %s", p->run, strerror(errno));
	return lf_fs_open_dir(p->run, &dir, e);
}

bool probe_path(const struct probe *p, const char *pattern, char *path,
		size_t n)
{
	struct lf_buf b = LF_BUF(n);
	bool fits;

	for (const char *mark; (mark = strstr(pattern, "%n")) != NULL;
	     pattern = mark + 2)
		lf_buf_add(&b, "%.*s%s", (int)(mark - pattern), pattern,
			   p->node);
	lf_buf_add(&b, "%s", pattern);
	fits = lf_buf_ok(&b);
	(void)snprintf(path, n, "%s", fits ? lf_buf_text(&b) : "");
	lf_buf_free(&b);
	return fits;
}

void probe_beside(const struct probe *p, const char *name, char *path, size_t n)
{
	const char *slash = strrchr(p->config, '/');

	(void)snprintf(path, n, "%.*s/%s", slash ? (int)(slash - p->config) : 1,
		       slash ? p->config : ".", name);
}

/* A file as it now is. */
static uint64_t hash_file(uint64_t h, const struct probe *p,
			  const char *pattern)
{
	char path[PATH_MAX];
	struct stat st;

	if (!probe_path(p, pattern, path, sizeof(path)) || stat(path, &st) < 0)
		return lf_hash_text(h, "none");
	h = lf_hash(h, &st.st_size, sizeof(st.st_size));
	return lf_hash(h, &st.st_mtim, sizeof(st.st_mtim));
}

static int is_conf(const struct dirent *d)
{
	return fnmatch("*.conf", d->d_name, 0) == 0;
}

/* Each file, since one that is edited in place leaves its folder as it was. */
static uint64_t hash_folder(uint64_t h, const struct probe *p, const char *dir)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_conf, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/%s", dir,
			       list[i]->d_name);
		h = hash_file(lf_hash_text(h, path), p, path);
		free(list[i]);
	}
	free(list);
	return h;
}

static uint64_t basis_of(const struct probe *p)
{
	const struct lf_values *v = &p->conf.values;
	uint64_t h = lf_hash_text(LF_HASH_START, PACKAGE_VERSION);
	char software[PATH_MAX];

	for (int i = 0; i < LF_KEYS; i++)
		h = lf_hash_text(h, v->text[i]);
	probe_beside(p, "software.conf", software, sizeof(software));
	h = hash_file(h, p, software);
	h = hash_folder(h, p, LF_HARDWAREDIR);
	h = hash_file(h, p, v->text[LF_KEY_GATE_MACHINE]);
	return hash_file(h, p, v->text[LF_KEY_GATE_RECORDING]);
}

/* Sizes in plain bytes: the plugin knows no units. */
static void add_value(struct lf_buf *b, const struct lf_conf *c, int i)
{
	uint64_t bytes;

	if (i == LF_KEY_MEMLOCK &&
	    lf_value_size(c->values.text[i], &bytes) == 0)
		lf_buf_add(b, "%s=%" PRIu64 "\n", lf_keys[i].name, bytes);
	else
		lf_buf_add(b, "%s=%s\n", lf_keys[i].name, c->values.text[i]);
}

/* Only where it differs: whoever reads it at the time is not disturbed. */
static int put(const char *path, const char *text, struct lf_err *e)
{
	lf_autofree char *now = NULL;

	if (lf_fs_read(path, 0, LF_START_MAX, &now, NULL) == 0 &&
	    strcmp(now, text) == 0)
		return 0;
	return lf_save(path, 0644, text, e);
}

static int write_settings(const struct probe *p, const struct lf_err *refused,
			  struct lf_err *e)
{
	lf_autobuf struct lf_buf b = LF_BUF(LF_START_MAX);
	char path[PATH_MAX];

	if (refused)
		lf_buf_add(&b, "error=%s\n", refused->text);
	for (int i = 0; i < LF_KEYS; i++)
		add_value(&b, &p->conf, i);
	lf_buf_add(&b, "basis=%016" PRIx64 "\n", p->basis);
	if (!lf_buf_ok(&b))
		return lf_err(e, -ENOMEM, "settings: no memory");
	(void)snprintf(path, sizeof(path), "%s/%s.settings", p->run, p->node);
	return put(path, lf_buf_text(&b), e);
}

int probe_settings(struct probe *p, struct lf_err *e)
{
	struct lf_err refused;
	int conf_rc = lf_conf_read(p->config, &p->conf, &refused);
	int rc;

	if (conf_rc == -ENOENT) /* a site without the file: built-in values */
		conf_rc = 0;
	if (conf_rc < 0)
		lf_clean(refused.text, "");
	p->basis = basis_of(p);
	rc = write_settings(p, conf_rc < 0 ? &refused : NULL, e);
	if (rc == 0 && conf_rc < 0) {
		*e = refused;
		rc = conf_rc;
	}
	return rc;
}
