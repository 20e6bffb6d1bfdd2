/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin_host.h"

#include <dlfcn.h>

typedef int hook_f(spank_t, int, char **);

static const char *const names[HOOKS] = {
	[INIT] = "slurm_spank_init",
	[POST_OPT] = "slurm_spank_init_post_opt",
	[LOCAL_USER] = "slurm_spank_local_user_init",
	[PRIVILEGED] = "slurm_spank_task_init_privileged",
	[TASK] = "slurm_spank_task_init",
	[FORKED] = "slurm_spank_task_post_fork",
	[TASK_EXIT] = "slurm_spank_task_exit",
	[PROLOG] = "slurm_spank_job_prolog",
	[EPILOG] = "slurm_spank_job_epilog",
};

static void *module;
static hook_f *hooks[HOOKS];
static char arg_config[600], arg_run[600];
static char *plugstack[] = { arg_config, arg_run };

int call(enum hook h)
{
	return hooks[h](NULL, 2, plugstack);
}

const char *built(const char *name)
{
	static char path[4][4096];
	static unsigned turn;
	const char *dir = getenv("abs_builddir");

	turn = (turn + 1) % 4;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir ? dir : ".",
		       name);
	return path[turn];
}

void *load(const char *path)
{
	void *m = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!m)
		print_error("%s\n", dlerror());
	assert_non_null(m);
	for (int h = 0; h < HOOKS; h++) {
		hooks[h] = (hook_f *)dlsym(m, names[h]);
		check_int(names[h], hooks[h] != NULL, 1);
	}
	return m;
}

void link_program(const char *name, const char *target)
{
	char path[4200];

	(void)mkdir(built("tests"), 0755);
	(void)mkdir(built("tests/libexec"), 0755);
	(void)snprintf(path, sizeof(path), "%s/%s", built("tests/libexec"),
		       name);
	(void)unlink(path);
	if (target)
		assert_int_equal(symlink(target, path), 0);
}

void scripted(const char *path, const char *script)
{
	write_file(path, script, strlen(script), 0755);
}

int begin(void **state)
{
	static const char *const dirs[] = { "run", "etc", "bin", "submit" };

	static uint32_t job;

	for (size_t i = 0; i < COUNT(dirs); i++)
		(void)mkdir(scratch(dirs[i]), 0755);
	if (is_root()) /* another user's would not be trusted */
		(void)mkdir(scratch("run/seg"), 0755);
	(void)unlink(scratch("etc/off"));
	(void)unlink(scratch("run/n1.settings"));
	(void)unlink(scratch("scancelled"));
	(void)snprintf(arg_config, sizeof(arg_config), "config=%s",
		       scratch("etc/loongforge.conf"));
	(void)snprintf(arg_run, sizeof(arg_run), "run=%s", scratch("run"));
	link_program("loongforged", built("loongforged"));
	link_program("loongforge-plan", built("loongforge-plan"));
	link_program("loongforge-probe", built("loongforge-probe"));
	(void)unsetenv("LOONGFORGE");
	(void)unsetenv("LOONGFORGE_SET");
	(void)unsetenv("SLURM_LOONGFORGE_SET");
	(void)unsetenv(CARRIER);
	(void)unsetenv(CARRIER "_set");
	(void)unsetenv(CARRIER "_secret");
	(void)setenv("SLURMD_NODENAME", "n1", 1);
	fake_reset(S_CTX_REMOTE);
	/* Of no cluster that may run on this machine. */
	fake->job = 3000000000u + (uint32_t)getpid() % 1000000 * 1000 + job++;
	/* A limit that this machine may not raise is not the matter here. */
	fake_setenv("SLURM_RLIMIT_MEMLOCK", "U1");
	/* Slurm's own commands must not be reached from here. */
	fake_setenv("PATH", scratch("bin"));
	fake_setenv("SLURM_SUBMIT_DIR", scratch("submit"));
	module = load(built("tests/.libs/spank_loongforge_test.so"));
	return 0;
}

int end(void **state)
{
	(void)dlclose(module);
	return 0;
}

/* Hands an option over: environment first, as Slurm does. */
static int from_environment(const char *name, const char *carrier)
{
	const char *value = getenv(carrier);

	return value ? fake_option(name, value, 0) : 0;
}

int submit(const char *mode, const char *set, const char *set2)
{
	int rc;

	fake->context = S_CTX_LOCAL;
	if (call(INIT) != 0)
		return -1000;
	rc = from_environment("loongforge", CARRIER);
	if (rc == 0)
		rc = from_environment("loongforge-set", CARRIER "_set");
	if (rc == 0 && mode)
		rc = fake_option("loongforge", mode, 0);
	if (rc == 0 && set)
		rc = fake_option("loongforge-set", set, 0);
	if (rc == 0 && set2)
		rc = fake_option("loongforge-set", set2, 0);
	if (rc == 0 && call(POST_OPT) != 0)
		rc = -1000;
	return rc;
}

void step_begins(const char *mode, const char *set)
{
	check_int("init", call(INIT), 0);
	if (mode)
		check_int("option", fake_option("loongforge", mode, 1), 0);
	if (set)
		check_int("option", fake_option("loongforge-set", set, 1), 0);
	check_int("post_opt", call(POST_OPT), 0);
}

int task(void *arg)
{
	fake->task = *(uint32_t *)arg;
	if (call(PRIVILEGED) != 0)
		return 100;
	if (fake->uid != geteuid() &&
	    (setgid(fake->gid) < 0 || setuid(fake->uid) < 0))
		return 101;
	return call(TASK) == 0 ? 0 : 102;
}

int run_task(uint32_t n)
{
	return in_child(task, &n);
}

int step_ends(void)
{
	int rc = call(FORKED);

	for (uint32_t i = 0; i < fake->local_tasks; i++)
		rc |= call(TASK_EXIT);
	return rc;
}

const char *listening(void)
{
	static char name[200];
	char line[512], ours[32];
	FILE *f = fopen("/proc/net/unix", "re");

	*name = '\0';
	(void)snprintf(ours, sizeof(ours), "@loongforge/%u.", fake->job);
	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, ours);

		if (at)
			(void)snprintf(name, sizeof(name), "%.*s",
				       (int)strcspn(at + 1, "\n"), at + 1);
	}
	if (f)
		(void)fclose(f);
	return name;
}
