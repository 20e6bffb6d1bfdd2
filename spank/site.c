/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "site.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/parse.h"
#include "spankapi.h"

static const char *config = LF_SYSCONFDIR "/loongforge.conf";
static const char *run = LF_RUNDIR;

void site_open(int ac, char **av)
{
	config = sp_arg(ac, av, "config", config);
	run = sp_arg(ac, av, "run", run);
}

const char *site_run(void)
{
	return run;
}

bool site_off(bool gate)
{
	lf_autofree char *text = NULL;
	char path[PATH_MAX];
	const char *slash = strrchr(config, '/');
	int rc;

	(void)snprintf(path, sizeof(path), "%.*s/off",
		       slash ? (int)(slash - config) : 1, slash ? config : ".");
	rc = lf_fs_read(path, 0, 64, &text, NULL);
	/* Whatever is wrong with the file, somebody reached for the switch. */
	return rc != -ENOENT && rc != -ENOTDIR &&
	       (gate || rc != 0 || strncmp(text, "gate", 4) != 0);
}

static void settings_path(const char *node, char *path, size_t n)
{
	(void)snprintf(path, n, "%s/%s.settings", run, node);
}

void site_setting(const char *node, const char *key, const char *none,
		  char *buf, size_t n)
{
	lf_autofree char *text = NULL;
	char path[PATH_MAX], *cursor, *k, *value;

	(void)snprintf(buf, n, "%s", none);
	settings_path(node, path, sizeof(path));
	if (lf_fs_read(path, 0, LF_START_MAX, &text, NULL) < 0)
		return;
	cursor = text;
	while (lf_parse_pair(&cursor, '\n', &k, &value) > 0)
		if (!strcmp(k, key))
			(void)snprintf(buf, n, "%s", value);
}

int site_probe(const char *mode, const char *node, struct lf_err *e)
{
	char out[LF_ERR_MAX];
	int status = -EIO;
	char *argv[] = { LF_SBINDIR "/loongforge-probe",
			 (char *)mode,
			 "--config",
			 (char *)config,
			 "--run",
			 (char *)run,
			 "--node",
			 (char *)node,
			 NULL };
	struct lf_child c = { .argv = argv,
			      .envp = environ, /* slurmd's; users' are SPANK_ */
			      .deadline_ms = LF_GATE_MS,
			      .out = out,
			      .size = sizeof(out),
			      .status = &status };
	int rc = lf_child_run(&c, e);

	out[strcspn(out, "\n")] = '\0';
	return rc == 0 ? lf_err(e, 0, "%s", out) : rc == -ECHILD ? status : rc;
}
