/* SPDX-License-Identifier: Apache-2.0 */
/* A JSON object from sysfs path to content, as test data of health checkers and
 * our own --record have it.  Keys are sorted once: a folder's names are then a
 * run of keys, found by halving. */
#include "config.h"

#include "hw/recorded/read.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/sysview.h"

#define JSON_MAX                                                               \
	(4u << 20) /* bytes; jansson needs 20 times that, 50 KB seen           \
		    */

struct entry {
	const char *path, *text;
	size_t len;
};

struct map {
	size_t n;
	struct entry *entry;
};

static int by_path(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* First entry that is not below `path` in order. */
static size_t lower(const struct map *m, const char *path)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(m->entry[mid].path, path) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int get(const struct lf_sysview *v, const char *path, char *buf,
	       size_t n)
{
	const struct map *m = v->arg;
	size_t i = lower(m, path), len;

	buf[0] = '\0';
	if (i == m->n || strcmp(m->entry[i].path, path) != 0)
		return -1;
	len = m->entry[i].len < n - 1 ? m->entry[i].len : n - 1;
	memcpy(buf, m->entry[i].text, len);
	while (len > 0 && (buf[len - 1] == '\n' || buf[len - 1] == ' '))
		len--;
	buf[len] = '\0';
	return (int)strlen(buf);
}

static bool list(const struct lf_sysview *v, const char *path,
		 struct lf_sys_names *names)
{
	const struct map *m = v->arg;
	char key[1024];
	size_t n = (size_t)snprintf(key, sizeof(key), "%s/", path), i;

	names->n = 0;
	names->more = false;
	if (n >= sizeof(key) / 2)
		return false;
	i = lower(m, key);
	while (i < m->n && strncmp(m->entry[i].path, key, n) == 0) {
		const char *name = m->entry[i].path + n;
		size_t len = strcspn(name, "/");

		if (names->n == LF_SYS_NAMES) {
			names->more = true;
			break;
		}
		if (len == 0 || len >= LF_SYS_NAME) {
			i++;
			continue;
		}
		(void)snprintf(names->name[names->n], LF_SYS_NAME, "%.*s",
			       (int)len, name);
		/* Past all that lies below it: '0' follows '/'. */
		(void)snprintf(key + n, sizeof(key) - n, "%s%c",
			       names->name[names->n++],
			       name[len] == '/' ? '0' : '\1');
		i = lower(m, key);
		key[n] = '\0';
	}
	return names->n > 0;
}

/* A map holds no links; what hangs where is not known. */
static bool no_link(const struct lf_sysview *v, const char *path, char *buf,
		    size_t n)
{
	return false;
}

static int fill(struct map *m, json_t *root, struct lf_err *e)
{
	const char *key;
	json_t *value;

	m->entry = calloc(json_object_size(root) + 1, sizeof(*m->entry));
	if (!m->entry)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	json_object_foreach(root, key, value)
	{
		if (!json_is_string(value))
			return lf_err(e, -EINVAL,
				      "1:1: \"%.80s\": expected text, as of a "
				      "file of sysfs",
				      key);
		m->entry[m->n++] =
			(struct entry){ key, json_string_value(value),
					json_string_length(value) };
	}
	qsort(m->entry, m->n, sizeof(*m->entry), by_path);
	return 0;
}

static int read_json(struct lf_hw *hw, const char *text, size_t n,
		     struct lf_err *e)
{
	struct map m = { 0 };
	const struct lf_sysview v = { get, list, no_link, &m };
	json_error_t bad;
	json_t *root;
	struct lf_err why = { "" };
	int rc;

	if (n > JSON_MAX)
		return lf_err(e, -EFBIG,
			      "1:1: longer than %u bytes, the most "
			      "for JSON",
			      JSON_MAX);
	root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &bad);
	if (!root)
		return lf_err(e, -EINVAL, "%d:%d: %s",
			      bad.line > 0 ? bad.line : 1,
			      bad.column > 0 ? bad.column : 1, bad.text);
	rc = json_is_object(root) ? fill(&m, root, e)
				  : lf_err(e, -EINVAL,
					   "1:1: expected an object from sysfs "
					   "path to content");
	if (rc == 0) {
		rc = lf_sysview_read(hw, &v, &why);
		if (rc < 0)
			(void)lf_err(e, rc, "1:1: %s", why.text);
	}
	free(m.entry);
	json_decref(root);
	return rc;
}

static int claims(const char *text, size_t n)
{
	size_t skip = strspn(text, " \t\n");

	if (skip >= n || (text[skip] != '{' && text[skip] != '['))
		return 0;
	return strstr(text, "\"/sys/") ? 95 : 20;
}

const struct lf_hw_reader lf_hw_read_sysfs_json = { "JSON map of sysfs", claims,
						    read_json };
