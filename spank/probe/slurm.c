/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "slurm.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/limits.h"

static const char ours[] = "loongforge: ";

static int find(const struct slurm *s, const char *name, char *path, size_t n,
		struct lf_err *e)
{
	const char *const dirs[] = { s->dir, "/usr/bin", "/usr/local/bin",
				     "/opt/slurm/bin" };
	size_t last = *s->dir ? 1 : sizeof(dirs) / sizeof(*dirs);

	for (size_t i = *s->dir ? 0 : 1; i < last; i++) {
		(void)snprintf(path, n, "%s/%s", dirs[i], name);
		if (access(path, X_OK) == 0)
			return 0;
	}
	return lf_err(e, -ENOENT, "%s: not found: set gate.slurm", name);
}

/* Slurm's own configuration, and nothing that is a user's.  One time zone for
 * sinfo and us: slurmd's need not be the machine's. */
static int run(const struct slurm *s, const char *const words[], char *out,
	       size_t size, struct lf_err *e)
{
	char path[PATH_MAX], conf[PATH_MAX + 16];
	const char *set = getenv("SLURM_CONF");
	char *argv[10] = { path }, *envp[] = { "TZ=UTC0", NULL, NULL };
	struct lf_child c = { .argv = argv,
			      .envp = envp,
			      .deadline_ms = LF_SCONTROL_MS,
			      .out = out,
			      .size = size };
	int rc = find(s, words[0], path, sizeof(path), e);

	for (int i = 1; i < 9 && words[i]; i++)
		argv[i] = (char *)words[i];
	if (set) {
		(void)snprintf(conf, sizeof(conf), "SLURM_CONF=%s", set);
		envp[1] = conf;
	}
	return rc < 0 ? rc : lf_child_run(&c, e);
}

static bool is_recent(const char *text, time_t since)
{
	struct tm tm = { 0 };

	return strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) && timegm(&tm) >= since;
}

void slurm_count(char *text, const char *node, time_t since,
		 struct slurm_nodes *out)
{
	char *line;

	*out = (struct slurm_nodes){ 0 };
	while ((line = strsep(&text, "\n")) != NULL) {
		char *name = strsep(&line, " "), *when;

		when = line ? strsep(&line, " ") : NULL;
		if (!line)
			continue;
		if (!strcmp(line, "none")) /* as sinfo says it */
			*line = '\0';
		out->nodes++;
		out->ours += !strncmp(line, ours, sizeof(ours) - 1) &&
			     is_recent(when, since);
		if (!strcmp(name, node))
			(void)snprintf(out->reason, sizeof(out->reason), "%s",
				       line);
	}
}

enum {
	VIEW_MAX = 16 << 20 /* 65,536 nodes, 256 bytes each */
};

int slurm_look(const struct slurm *s, const char *partition, time_t since,
	       struct slurm_nodes *out, struct lf_err *e)
{
	/* %E without a width is the whole reason; -a and -p exclude each other.
	 */
	const char *const words[] = { "sinfo",
				      "-h",
				      "-N",
				      "-o",
				      "%N %H %E",
				      *partition ? "-p" : "-a",
				      *partition ? partition : NULL,
				      NULL };
	lf_autofree char *text = malloc(VIEW_MAX);
	int rc = text ? run(s, words, text, VIEW_MAX, e)
		      : lf_err(e, -ENOMEM, "no memory");

	if (rc == 0)
		slurm_count(text, s->node, since, out);
	if (rc == 0 && out->nodes == 0)
		rc = lf_err(e, -ENODATA, "sinfo: expected nodes, found none");
	return rc;
}

int slurm_drain(const struct slurm *s, const char *reason, struct lf_err *e)
{
	char node[LF_NODE_NAME_MAX + 16], why[LF_ERR_MAX + 16];
	const char *const words[] = { "scontrol",    "update", node,
				      "state=drain", why,      NULL };
	char out[LF_ERR_MAX];

	(void)snprintf(node, sizeof(node), "nodename=%s", s->node);
	(void)snprintf(why, sizeof(why), "reason=%s", reason);
	return run(s, words, out, sizeof(out), e);
}

int slurm_resume(const struct slurm *s, struct lf_err *e)
{
	char node[LF_NODE_NAME_MAX + 16], out[LF_ERR_MAX];
	const char *const words[] = { "scontrol", "update", node,
				      "state=resume", NULL };

	(void)snprintf(node, sizeof(node), "nodename=%s", s->node);
	return run(s, words, out, sizeof(out), e);
}

int slurm_requeue(const struct slurm *s, uint32_t job, struct lf_err *e)
{
	char id[16], out[LF_ERR_MAX];
	const char *const words[] = { "scontrol", "requeue", id, NULL };

	(void)snprintf(id, sizeof(id), "%u", job);
	return run(s, words, out, sizeof(out), e);
}
