/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "doctor.h"

enum {
	ARGS_MAX = 16,
	ENV_MAX = 4096
};

static const char usual[] = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:"
			    "/usr/sbin:/sbin:/opt/slurm/bin";

const char *doctor_path(const struct doctor *d, char buf[PATH_MAX],
			const char *path)
{
	(void)snprintf(buf, PATH_MAX, "%.1000s%.3000s", d->root, path);
	return buf;
}

const char *doctor_job_path(const struct doctor *d, char buf[PATH_MAX],
			    const char *path)
{
	if (d->pid == 0)
		return doctor_path(d, buf, path);
	(void)snprintf(buf, PATH_MAX, "/proc/%d/root%.4000s", d->pid, path);
	return buf;
}

void doctor_aside(struct doctor *d, const char *fmt, ...)
{
	size_t n = strlen(d->aside);
	va_list ap;

	if (n > 0 && n + 3 < sizeof(d->aside))
		n += (size_t)snprintf(d->aside + n, sizeof(d->aside) - n, "; ");
	va_start(ap, fmt);
	(void)vsnprintf(d->aside + n, sizeof(d->aside) - n, fmt, ap);
	va_end(ap);
}

/* Below a root, only its own programs count. */
static bool find_program(const struct doctor *d, const char *name,
			 char path[PATH_MAX])
{
	const char *list = *d->root ? NULL : getenv("PATH");

	for (const char *p = list ? list : usual; *p;) {
		size_t n = strcspn(p, ":");

		(void)snprintf(path, PATH_MAX, "%s%.*s/%s", d->root, (int)n, p,
			       name);
		if (*p == '/' && access(path, X_OK) == 0)
			return true;
		p += n + (p[n] == ':');
	}
	return false;
}

/* A step of ours beside the job's must not start the plugin's own work. */
static bool ours(const char *pair)
{
	return !strncmp(pair, "LOONGFORGE", 10) ||
	       !strncmp(pair, "SLURM_SPANK__SLURM_SPANK_OPTION_loongforge", 42);
}

static char **environment(void)
{
	static char *env[ENV_MAX + 1];
	int n = 0;

	for (char **p = environ; *p && n < ENV_MAX; p++)
		if (!ours(*p))
			env[n++] = *p;
	env[n] = NULL;
	return env;
}

int doctor_run(struct doctor *d, const char *program, char **args,
	       int deadline_ms, char *out, size_t n)
{
	char path[PATH_MAX], *argv[ARGS_MAX] = { path };
	struct lf_child c = { .argv = argv,
			      .envp = environment(),
			      .deadline_ms = deadline_ms,
			      .out = out,
			      .size = n };
	struct lf_err e;
	int rc;

	if (!find_program(d, program, path))
		return -ENOENT;
	for (int i = 0; args[i] && i < ARGS_MAX - 2; i++)
		argv[i + 1] = args[i];
	rc = lf_child_run(&c, &e);
	if (rc == -ETIMEDOUT)
		lf_note_remedy(
			lf_note(&d->notes, "LF-INS-14", "%.200s", e.text),
			"is slurmctld up, and reached from here?");
	return rc;
}

bool doctor_has_rdma(const struct doctor *d)
{
	char path[PATH_MAX];
	DIR *dir = opendir(doctor_path(d, path, "/sys/class/infiniband"));
	const struct dirent *e;
	bool any = false;

	while (dir && (e = readdir(dir)))
		any |= e->d_name[0] != '.';
	if (dir)
		(void)closedir(dir);
	return any;
}
