/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge config check [FILE]           is the file in order?
 * loongforge config show [--origin]        what holds, and from where */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "conf/conf.h"
#include "find/find.h"

struct args {
	const char *verb, *file;
	bool named, origin, json;
};

static const struct argp_option options[] = {
	{ "file", 'f', "FILE", 0,
	  "Configuration (" LF_SYSCONFDIR "/loongforge.conf)", 0 },
	{ "origin", 'o', NULL, 0, "Say where each value comes from", 0 },
	{ "json", 'j', NULL, 0, "As one JSON document", 0 },
	{ 0 }
};

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'f':
		a->file = arg;
		a->named = true;
		return 0;
	case 'o':
		a->origin = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			a->verb = arg;
		else if (state->arg_num == 1)
			a->file = arg, a->named = true;
		else
			argp_usage(state);
		return 0;
	case ARGP_KEY_END:
		if (!a->verb || (strcmp(a->verb, "check") != 0 &&
				 strcmp(a->verb, "show") != 0))
			argp_error(state, "expected check or show");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int report(const struct lf_err *e, const char *code, const char *remedy)
{
	struct lf_finding f = { .code = code,
				.what = e->text,
				.remedy = remedy };

	lf_find_print(stderr, &f, NULL);
	return 1;
}

/* The file, then the environment's twins, as a job of this user has them. */
static int gather(const struct args *a, struct lf_conf *c)
{
	const char *set = getenv("LOONGFORGE_SET");
	const char *level = getenv("LOONGFORGE_LOG_LEVEL");
	char level_set[64];
	struct lf_err e;
	int rc = lf_conf_read(a->file, c, &e);

	if (rc == -ENOENT && a->named)
		return report(&e, "LF-CFG-01", NULL);
	if (rc == -ENOENT) {
		(void)fprintf(stderr,
			      "loongforge: %s: no such file; built-in values "
			      "hold\n",
			      a->file);
		rc = 0;
	}
	if (rc < 0)
		return report(&e, "LF-CFG-01",
			      "no value of a faulty file is used; built-in "
			      "values hold until it is mended");
	if (strcmp(a->verb, "show") != 0)
		return 0;
	(void)snprintf(level_set, sizeof(level_set), "log.level=%s",
		       level ? level : "");
	if (level && lf_conf_overlay(c, level_set,
				     "environment LOONGFORGE_LOG_LEVEL",
				     &e) < 0)
		return report(&e, "LF-OPT-03", NULL);
	if (set && lf_conf_overlay(c, set, "environment LOONGFORGE_SET", &e) < 0)
		return report(&e, "LF-OPT-03", NULL);
	return 0;
}

static void show_json(const struct lf_conf *c)
{
	json_t *doc = json_object();

	for (int i = 0; i < LF_KEYS; i++)
		(void)json_object_set_new(
			doc, lf_keys[i].name,
			json_pack("{s:s, s:s, s:s, s:b}", "value",
				  c->values.text[i], "origin", c->origin[i],
				  "help", lf_keys[i].help, "user",
				  lf_keys[i].user));
	(void)json_dumpf(doc, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(doc);
}

static void show(const struct lf_conf *c, const struct args *a)
{
	if (a->json) {
		show_json(c);
		return;
	}
	for (int i = 0; i < LF_KEYS; i++) {
		if (a->origin)
			(void)printf("%-22s = %-12s # %s%s\n", lf_keys[i].name,
				     c->values.text[i], c->origin[i],
				     lf_keys[i].user ? "; a user may set it" :
						       "");
		else
			(void)printf("%-22s = %s\n", lf_keys[i].name,
				     c->values.text[i]);
	}
}

int cli_config(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_arg, "check|show [FILE]",
		"Checks loongforge.conf, or shows what holds.", NULL, NULL, NULL
	};
	struct args a = { .file = LF_SYSCONFDIR "/loongforge.conf" };
	struct lf_conf c;
	int rc;

	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	rc = gather(&a, &c);
	if (rc != 0)
		return rc;
	if (!strcmp(a.verb, "show"))
		show(&c, &a);
	else
		(void)printf("%s: in order\n", a.file);
	return 0;
}
