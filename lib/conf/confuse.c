/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "conf/confuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fs.h"
#include "base/limits.h"

/* libconfuse's callbacks carry no pointer of ours. */
static struct {
	const char *path;
	struct lf_err *e;
	bool failed;
} now;

__attribute__((format(printf, 2, 0))) static void on_error(cfg_t *cfg,
							   const char *fmt,
							   va_list ap)
{
	char text[200];

	if (now.failed) /* the first fault is the cause */
		return;
	now.failed = true;
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	(void)lf_err(now.e, -EINVAL, "%s:%d: %s", now.path, cfg ? cfg->line : 0,
		     text);
}

/* Where the string that starts at p ends. */
static char *string_end(char *p)
{
	char *end = p + 1;

	while (*end && *end != *p)
		end += *end == '\\' && end[1] ? 2 : 1;
	return *end ? end + 1 : end;
}

/* Where the comment that starts at p ends; p itself where none starts. */
static char *comment_end(char *p)
{
	char *end;

	if (*p == '#' || (p[0] == '/' && p[1] == '/'))
		return p + strcspn(p, "\n");
	if (p[0] != '/' || p[1] != '*')
		return p;
	end = strstr(p + 2, "*/");
	return end ? end + 2 : p + strlen(p);
}

/* Comments become spaces, since libconfuse counts their lines twice. */
static void blank_comments(char *text)
{
	for (char *p = text; *p;) {
		char *end = comment_end(p);

		if (end == p) {
			p = *p == '"' || *p == '\'' ? string_end(p) : p + 1;
			continue;
		}
		for (; p < end; p++)
			if (*p != '\n')
				*p = ' ';
	}
}

/* Without comments. */
static int check_closed(char *text, const char *path, struct lf_err *e)
{
	int line = 1, opened = 0, depth = 0;

	for (char *p = text; *p;) {
		char *next = *p == '"' || *p == '\'' ? string_end(p) : p + 1;

		if (*p == '{' && depth++ == 0)
			opened = line;
		depth -= *p == '}';
		for (; p < next; p++)
			line += *p == '\n';
	}
	if (depth > 0)
		return lf_err(e, -EINVAL,
			      "%s:%d: section is not closed: expected '}', "
			      "found the end of the file",
			      path, opened);
	return 0;
}

static int parse(const char *path, const char *text, cfg_t *cfg,
		 struct lf_err *e)
{
	int rc;

	now.path = path;
	now.e = e;
	now.failed = false;
	(void)cfg_set_error_function(cfg, on_error);
	rc = cfg_parse_buf(cfg, text);
	now.e = NULL;
	if (rc == CFG_SUCCESS && !now.failed)
		return 0;
	if (!now.failed) /* of this libconfuse says nothing */
		(void)lf_err(e, -EINVAL, "%s: an empty name", path);
	return -EINVAL;
}

int lf_confuse_read(const char *path, cfg_t *cfg, struct lf_err *e)
{
	lf_autofree char *text = NULL;
	int rc = lf_fs_read(path, geteuid(), LF_CONF_MAX, &text, e);

	if (rc < 0)
		return rc;
	blank_comments(text);
	if (strstr(text, "${")) /* libconfuse would take the reader's */
		return lf_err(e, -EINVAL, "%s: variables have no value here",
			      path);
	rc = check_closed(text, path, e);
	return rc < 0 ? rc : parse(path, text, cfg, e);
}
