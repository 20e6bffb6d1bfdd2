/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge-probe - reads what only root should read on a node.
 *
 *   --settings   loongforge.conf -> RUN/NODE.settings for the plugin
 *
 * Run by the plugin's prolog, or by hand.  Exit 0, or 1 with one line on
 * stdout; a configuration that is refused leaves settings that say so, so that
 * the user of the next job is told. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/save.h"
#include "conf/conf.h"
#include "conf/value.h"
#include "find/find.h"

const char *argp_program_version = PACKAGE_STRING;

struct args {
	bool settings;
	const char *config, *run;
	char node[LF_NODE_NAME_MAX];
};

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 's':
		a->settings = true;
		return 0;
	case 'c':
		a->config = arg;
		return 0;
	case 'r':
		a->run = arg;
		return 0;
	case 'n':
		if (!*arg || strlen(arg) >= sizeof(a->node) ||
		    strchr(arg, '/') || arg[0] == '.')
			argp_error(state, "--node: not a node name: %.64s",
				   arg);
		(void)snprintf(a->node, sizeof(a->node), "%s", arg);
		return 0;
	case ARGP_KEY_END:
		if (!a->settings)
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{ "settings", 's', NULL, 0, "Write the node's settings file", 0 },
	{ "config", 'c', "FILE", 0,
	  "Configuration (" LF_SYSCONFDIR "/loongforge.conf)", 0 },
	{ "run", 'r', "DIR", 0, "Folder for node state (" LF_RUNDIR ")", 0 },
	{ "node", 'n', "NAME", 0, "Slurm's name of this node (host name)", 0 },
	{ 0 }
};

/* Sizes in plain bytes: the plugin knows no units. */
static void add_value(struct lf_buf *b, const struct lf_conf *c, int i)
{
	uint64_t bytes;

	if (i == LF_KEY_MEMLOCK &&
	    lf_value_size(c->values.text[i], &bytes) == 0)
		lf_buf_add(b, "%s=%llu\n", lf_keys[i].name,
			   (unsigned long long)bytes);
	else
		lf_buf_add(b, "%s=%s\n", lf_keys[i].name, c->values.text[i]);
}

static int write_settings(const struct args *a, struct lf_err *e)
{
	lf_autobuf struct lf_buf b = LF_BUF(LF_START_MAX);
	struct lf_err conf_error;
	struct lf_conf conf;
	char path[PATH_MAX];
	int conf_rc = lf_conf_read(a->config, &conf, &conf_error);
	int rc;

	if (conf_rc == -ENOENT) /* a site without the file: built-in values */
		conf_rc = 0;
	if (conf_rc < 0) {
		lf_find_clean(conf_error.text);
		lf_buf_add(&b, "error=%s\n", conf_error.text);
	}
	for (int i = 0; i < LF_KEYS; i++)
		add_value(&b, &conf, i);
	if (!lf_buf_ok(&b))
		return lf_err(e, -ENOMEM, "settings: no memory");
	if (mkdir(a->run, 0755) < 0 && errno != EEXIST)
		return lf_err(e, -errno, "%s: %s", a->run, strerror(errno));
	(void)snprintf(path, sizeof(path), "%s/%s.settings", a->run, a->node);
	rc = lf_save(path, 0644, lf_buf_text(&b), e);
	if (rc == 0 && conf_rc < 0) {
		*e = conf_error;
		rc = conf_rc;
	}
	return rc;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_arg, NULL,
		"Reads this node for LoongForge's plugin.", NULL, NULL, NULL
	};
	struct args a = { .config = LF_SYSCONFDIR "/loongforge.conf",
			  .run = LF_RUNDIR };
	struct lf_err e;

	if (gethostname(a.node, sizeof(a.node) - 1) < 0)
		a.node[0] = '\0';
	a.node[strcspn(a.node, ".")] = '\0';
	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (write_settings(&a, &e) < 0) {
		(void)printf("%s\n", e.text);
		return 1;
	}
	return 0;
}
