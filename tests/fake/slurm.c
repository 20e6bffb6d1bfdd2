/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "slurm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fake_slurm *fake;

void fake_reset(spank_context_t context)
{
	if (!fake)
		fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fake == MAP_FAILED)
		abort();
	*fake = (struct fake_slurm){ .context = context,
				     .fail_from = -1,
				     .uid = geteuid(),
				     .gid = getegid(),
				     .job = 7,
				     .nodes = 1,
				     .local_tasks = 1,
				     .tasks = 1,
				     .cpus = 2 };
	fake_setenv("PATH", "/usr/bin:/bin");
}

static char *slot(const char *name)
{
	size_t n = strlen(name);

	for (int i = 0; i < FAKE_ENV; i++)
		if (!strncmp(fake->env[i], name, n) && fake->env[i][n] == '=')
			return fake->env[i];
	return NULL;
}

const char *fake_getenv(const char *name)
{
	const char *at = slot(name);

	return at ? at + strlen(name) + 1 : NULL;
}

void fake_setenv(const char *name, const char *value)
{
	char *at = slot(name);

	for (int i = 0; !at && i < FAKE_ENV; i++)
		if (!*fake->env[i])
			at = fake->env[i];
	if (!at || snprintf(at, sizeof(fake->env[0]), "%s=%s", name, value) >=
			   (int)sizeof(fake->env[0]))
		abort();
}

int fake_option(const char *name, const char *value, int remote)
{
	for (int i = 0; i < 8 && fake->option[i]; i++)
		if (!strcmp(fake->option[i]->name, name))
			return fake->option[i]->cb(fake->option[i]->val, value,
						   remote);
	return -99;
}

int fake_lines(const char *kind)
{
	const char *line = fake->said;
	int n = 0;

	while (*line) {
		n += !strncmp(line, kind, strlen(kind));
		line = strchr(line, '\n') + 1;
	}
	return n;
}

__attribute__((format(printf, 2, 0))) static void say(const char *kind,
						      const char *format,
						      va_list ap)
{
	size_t size = sizeof(fake->said), n = strlen(fake->said);

	n += (size_t)snprintf(fake->said + n, size - n, "%s: ", kind);
	n += (size_t)vsnprintf(fake->said + n, size - n, format, ap);
	if (n + 2 > size)
		abort();
	(void)snprintf(fake->said + n, size - n, "\n");
}

#define SAYS(name, kind)                                                       \
	void name(const char *format, ...)                                     \
	{                                                                      \
		va_list ap;                                                    \
                                                                               \
		va_start(ap, format);                                          \
		say(kind, format, ap);                                         \
		va_end(ap);                                                    \
	}

SAYS(slurm_error, "error")
SAYS(slurm_info, "info")
SAYS(slurm_spank_log, "log")

static bool fails(void)
{
	return fake->fail_from >= 0 && fake->calls++ >= fake->fail_from;
}

spank_context_t spank_context(void)
{
	return fails() ? S_CTX_ERROR : fake->context;
}

spank_err_t spank_option_register(spank_t sp, struct spank_option *opt)
{
	if (fails())
		return ESPANK_ERROR;
	for (int i = 0; i < 8; i++) {
		if (fake->option[i])
			continue;
		fake->option[i] = opt;
		return ESPANK_SUCCESS;
	}
	return ESPANK_ERROR;
}

static char **job_env(void)
{
	int n = 0;

	for (int i = 0; i < FAKE_ENV; i++)
		if (*fake->env[i])
			fake->envp[n++] = fake->env[i];
	fake->envp[n] = NULL;
	return fake->envp;
}

static const uint32_t *number(spank_item_t item)
{
	switch (item) {
	case S_JOB_UID:
		return &fake->uid;
	case S_JOB_GID:
		return &fake->gid;
	case S_JOB_ID:
		return &fake->job;
	case S_JOB_STEPID:
		return &fake->step;
	case S_JOB_NNODES:
		return &fake->nodes;
	case S_JOB_NODEID:
		return &fake->nodeid;
	case S_JOB_LOCAL_TASK_COUNT:
		return &fake->local_tasks;
	case S_JOB_TOTAL_TASK_COUNT:
		return &fake->tasks;
	case S_STEP_CPUS_PER_TASK:
		return &fake->cpus;
	case S_TASK_ID:
	case S_TASK_GLOBAL_ID:
		return &fake->task;
	default:
		return NULL;
	}
}

spank_err_t spank_get_item(spank_t sp, spank_item_t item, ...)
{
	const uint32_t *n = number(item);
	spank_err_t rc = ESPANK_SUCCESS;
	va_list ap;

	if (fails())
		return ESPANK_NOT_TASK;
	va_start(ap, item);
	if (item == S_JOB_ENV)
		*va_arg(ap, char ***) = job_env();
	else if (n)
		*va_arg(ap, uint32_t *) = *n;
	else
		rc = ESPANK_NOT_AVAIL;
	va_end(ap);
	return rc;
}

spank_err_t spank_getenv(spank_t sp, const char *name, char *buf, int n)
{
	const char *value = fake_getenv(name);

	if (fails())
		return ESPANK_BAD_ARG;
	if (!value)
		return ESPANK_ENV_NOEXIST;
	return snprintf(buf, (size_t)n, "%s", value) < n ? ESPANK_SUCCESS
							 : ESPANK_NOSPACE;
}

spank_err_t spank_setenv(spank_t sp, const char *name, const char *value,
			 int overwrite)
{
	if (fails())
		return ESPANK_BAD_ARG;
	if (fake_getenv(name) && !overwrite)
		return ESPANK_ENV_EXISTS;
	fake_setenv(name, value);
	return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t sp, const char *name)
{
	char *at = slot(name);

	if (fails())
		return ESPANK_BAD_ARG;
	if (at)
		*at = '\0';
	return ESPANK_SUCCESS;
}
