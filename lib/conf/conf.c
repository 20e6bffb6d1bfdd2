/* SPDX-License-Identifier: Apache-2.0 */
/* libconfuse parses; three things are added.  Every value goes through the key
 * table as it is read, since then its line is known.  A file cut inside a
 * section is refused, which libconfuse takes for complete.  And it reads a
 * text that was checked before, never a path. */
#include "config.h"

#include "conf/conf.h"

#include <confuse.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fs.h"
#include "base/limits.h"

enum {
	SECTION_MAX = 32
};

/* libconfuse's callbacks carry no pointer of ours; parsing is not reentrant. */
static struct {
	const char *path;
	struct lf_conf *conf;
	struct lf_err *e;
	bool failed;
} now;

__attribute__((format(printf, 2, 0))) static void
on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	char text[200];

	if (now.failed) /* the first fault is the cause */
		return;
	now.failed = true;
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	(void)lf_err(now.e, -EINVAL, "%s:%d: %s", now.path,
		     cfg ? cfg->line : 0, text);
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt)
{
	char name[2 * SECTION_MAX]; /* "section.key" */
	struct lf_err e;

	(void)snprintf(name, sizeof(name), "%s.%s", cfg_name(cfg),
		       cfg_opt_name(opt));
	if (lf_keys_set(&now.conf->values, name, cfg_opt_getstr(opt), false,
			&e) < 0) {
		cfg_error(cfg, "%s", e.text);
		return -1;
	}
	for (int i = 0; i < LF_KEYS; i++)
		if (strcmp(name, lf_keys[i].name) == 0)
			(void)snprintf(now.conf->origin[i], LF_ORIGIN_MAX,
				       "%s:%d", now.path, cfg->line);
	return 0;
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

/* The key table as libconfuse's: sections, each with its keys. */
struct tables {
	cfg_opt_t top[LF_KEYS + 1];
	cfg_opt_t keys[LF_KEYS][LF_KEYS + 1];
	char section[LF_KEYS][SECTION_MAX];
	int sections;
};

static int section_of(struct tables *t, const char *name, size_t len)
{
	for (int s = 0; s < t->sections; s++)
		if (!strncmp(t->section[s], name, len) && !t->section[s][len])
			return s;
	(void)snprintf(t->section[t->sections], SECTION_MAX, "%.*s", (int)len,
		       name);
	return t->sections++;
}

static void build(struct tables *t)
{
	int used[LF_KEYS] = { 0 };

	memset(t, 0, sizeof(*t)); /* a zero entry is CFG_END */
	for (int i = 0; i < LF_KEYS; i++) {
		const char *dot = strchr(lf_keys[i].name, '.');
		int s = section_of(t, lf_keys[i].name,
				   (size_t)(dot - lf_keys[i].name));

		t->keys[s][used[s]++] =
			(cfg_opt_t)CFG_STR(dot + 1, NULL, CFGF_NODEFAULT);
	}
	for (int s = 0; s < t->sections; s++)
		t->top[s] = (cfg_opt_t)CFG_SEC(t->section[s], t->keys[s],
					       CFGF_NONE);
}

static int parse(const char *text)
{
	struct tables t;
	cfg_t *cfg;
	int rc;

	build(&t);
	cfg = cfg_init(t.top, CFGF_NONE);
	if (!cfg)
		return -ENOMEM;
	(void)cfg_set_error_function(cfg, on_error);
	for (int i = 0; i < LF_KEYS; i++) {
		char name[2 * SECTION_MAX];

		(void)snprintf(name, sizeof(name), "%s", lf_keys[i].name);
		*strchr(name, '.') = '|'; /* libconfuse's separator */
		(void)cfg_set_validate_func(cfg, name, on_value);
	}
	rc = cfg_parse_buf(cfg, text);
	(void)cfg_free(cfg);
	return rc == CFG_SUCCESS && !now.failed ? 0 : -EINVAL;
}

void lf_conf_defaults(struct lf_conf *c)
{
	lf_keys_defaults(&c->values);
	for (int i = 0; i < LF_KEYS; i++)
		(void)snprintf(c->origin[i], LF_ORIGIN_MAX, "built-in");
}

int lf_conf_read(const char *path, struct lf_conf *c, struct lf_err *e)
{
	lf_autofree char *text = NULL;
	struct lf_conf next;
	int rc;

	lf_conf_defaults(c);
	lf_conf_defaults(&next);
	rc = lf_fs_read(path, geteuid(), LF_CONF_MAX, &text, e);
	if (rc < 0)
		return rc;
	blank_comments(text);
	if (strstr(text, "${")) /* libconfuse would take the reader's */
		return lf_err(e, -EINVAL, "%s: variables have no value here",
			      path);
	rc = check_closed(text, path, e);
	if (rc < 0)
		return rc;
	now.path = path;
	now.conf = &next;
	now.e = e;
	now.failed = false;
	rc = parse(text);
	if (rc < 0 && !now.failed) /* of this libconfuse says nothing */
		(void)lf_err(e, rc, "%s: %s", path,
			     rc == -ENOMEM ? "no memory" : "an empty name");
	if (rc == 0)
		*c = next;
	return rc;
}

int lf_conf_overlay(struct lf_conf *c, const char *list, const char *origin,
		    struct lf_err *e)
{
	struct lf_values before = c->values;
	int rc = lf_keys_set_list(&c->values, list, e);

	if (rc < 0)
		return lf_err_wrap(e, rc, "%s", origin);
	for (int i = 0; i < LF_KEYS; i++)
		if (strcmp(before.text[i], c->values.text[i]) != 0)
			(void)snprintf(c->origin[i], LF_ORIGIN_MAX, "%s",
				       origin);
	return 0;
}
