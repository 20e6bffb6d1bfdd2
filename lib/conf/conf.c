/* SPDX-License-Identifier: Apache-2.0 */
/* libconfuse parses; every value goes through the key table as it is read,
 * since then its line is known. */
#include "config.h"

#include "conf/conf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/confuse.h"

enum {
	SECTION_MAX = 32
};

/* libconfuse's callbacks carry no pointer of ours; parsing is not reentrant. */
static struct {
	const char *path;
	struct lf_conf *conf;
} now;

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

static int parse(const char *path, struct lf_err *e)
{
	struct tables t;
	cfg_t *cfg;
	int rc;

	build(&t);
	cfg = cfg_init(t.top, CFGF_NONE);
	if (!cfg)
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	for (int i = 0; i < LF_KEYS; i++) {
		char name[2 * SECTION_MAX];

		(void)snprintf(name, sizeof(name), "%s", lf_keys[i].name);
		*strchr(name, '.') = '|'; /* libconfuse's separator */
		(void)cfg_set_validate_func(cfg, name, on_value);
	}
	rc = lf_confuse_read(path, cfg, e);
	(void)cfg_free(cfg);
	return rc;
}

void lf_conf_defaults(struct lf_conf *c)
{
	lf_keys_defaults(&c->values);
	for (int i = 0; i < LF_KEYS; i++)
		(void)snprintf(c->origin[i], LF_ORIGIN_MAX, "built-in");
}

int lf_conf_read(const char *path, struct lf_conf *c, struct lf_err *e)
{
	struct lf_conf next;
	int rc;

	lf_conf_defaults(c);
	lf_conf_defaults(&next);
	now.path = path;
	now.conf = &next;
	rc = parse(path, e);
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
