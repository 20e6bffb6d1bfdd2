/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin in a host that only looks like Slurm.
 *
 * Loading is tried with the plugin itself; behaviour with the same sources,
 * built so that programs are looked for in tests/libexec of the build, where
 * each case links what it wants to be found. */
#include "unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/sock.h"
#include "fake/slurm.h"

#define CARRIER "SLURM_SPANK__SLURM_SPANK_OPTION_loongforge_loongforge"

typedef int hook_f(spank_t, int, char **);

enum hook {
	INIT,
	POST_OPT,
	LOCAL_USER,
	PRIVILEGED,
	TASK,
	FORKED,
	TASK_EXIT,
	PROLOG,
	EPILOG,
	HOOKS
};

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

static int call(enum hook h)
{
	return hooks[h](NULL, 2, plugstack);
}

static const char *built(const char *name)
{
	static char path[4][4096];
	static unsigned turn;
	const char *dir = getenv("abs_builddir");

	turn = (turn + 1) % 4;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir ? dir : ".",
		       name);
	return path[turn];
}

static void *load(const char *path)
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

/* `name` in tests/libexec becomes `target`, or nothing. */
static void link_program(const char *name, const char *target)
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

static void scripted(const char *path, const char *script)
{
	write_file(path, script, strlen(script), 0755);
}

/* Every case starts with a new plugin and a new host. */
static int begin(void **state)
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

static int end(void **state)
{
	(void)dlclose(module);
	return 0;
}

static void loads(void **state)
{
	void *m = load(built(".libs/spank_loongforge.so"));
	const char *name = dlsym(m, "plugin_name");
	const char *type = dlsym(m, "plugin_type");
	const unsigned *version = dlsym(m, "plugin_version");

	assert_string_equal(name, "loongforge");
	assert_string_equal(type, "spank");
	assert_int_equal(*version, SLURM_VERSION_NUMBER);
	assert_null(dlsym(m, "lf_err"));
	assert_null(dlsym(m, "step_begin"));
	(void)dlclose(m);
}

/* Ends the process at any call that opens, connects or starts something. */
static bool forbid_everything(void)
{
#define DENY(name)                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
		DENY(open),
		DENY(fork),
		DENY(vfork),
#endif
		DENY(openat),
		DENY(socket),
		DENY(socketpair),
		DENY(clone),
		DENY(execve),
		DENY(pipe2),
		DENY(kill),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { COUNT(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static unsigned hash_env(void)
{
	unsigned h = 5381;

	for (char **e = environ; *e; e++)
		for (const char *p = *e; *p; p++)
			h = h * 33 + (unsigned char)*p;
	for (size_t i = 0; i < sizeof(fake->env); i++)
		h = h * 33 + (unsigned char)((char *)fake->env)[i];
	return h;
}

/* All hooks but prolog and epilog, which keep the node's settings fresh. */
static int idle(void *arg)
{
	unsigned before = hash_env();

	if (!forbid_everything())
		return 77;
	for (int h = 0; h < PROLOG; h++)
		if (call((enum hook)h) != 0)
			return 1 + h;
	if (*fake->said)
		return 20;
	return hash_env() == before ? 0 : 21;
}

static void nothing_without_the_option(void **state)
{
	static const spank_context_t contexts[] = {
		S_CTX_LOCAL, S_CTX_ALLOCATOR, S_CTX_REMOTE, S_CTX_SLURMD
	};

	for (size_t i = 0; i < COUNT(contexts); i++) {
		int rc;

		fake->context = contexts[i];
		rc = in_child(idle, NULL);
		NEEDS(rc != 77, "seccomp is not available");
		check_int("context", rc, 0);
	}
}

/* Hands an option over: environment first, as Slurm does. */
static int from_environment(const char *name, const char *carrier)
{
	const char *value = getenv(carrier);

	return value ? fake_option(name, value, 0) : 0;
}

static int submit(const char *mode, const char *set, const char *set2)
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

static void refused_options(void **state)
{
	static const struct {
		const char *twin, *twin_set, *mode, *set, *set2, *line;
	} rows[] = {
		{ NULL, NULL, "maybe", NULL, NULL,
		  "error: loongforge: --loongforge: expected on, check or off, found "
		  "'maybe' (LF-OPT-01)\n" },
		{ NULL, NULL, "onn", NULL, NULL, "(LF-OPT-01)" },
		{ NULL, NULL, "2", NULL, NULL, "(LF-OPT-01)" },
		{ "maybe", NULL, NULL, NULL, NULL, "(LF-OPT-01)" },
		{ NULL, NULL, "on", "x", NULL,
		  "--loongforge-set: expected KEY=VALUE, found 'x' "
		  "(LF-OPT-03)" },
		{ NULL, NULL, "on", "x=1", NULL, "unknown key 'x'" },
		{ NULL, NULL, "on", "launch.ports=1-20", NULL,
		  "belongs to the administrator" },
		{ NULL, "x=1", NULL, NULL, NULL, "unknown key 'x'" },
		{ NULL, NULL, "on", "log.level=INFO", "log.level=DEBUG",
		  "log.level is given twice: INFO and DEBUG" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)end(NULL);
		(void)begin(NULL);
		if (rows[i].twin)
			(void)setenv("LOONGFORGE", rows[i].twin, 1);
		if (rows[i].twin_set)
			(void)setenv("LOONGFORGE_SET", rows[i].twin_set, 1);
		check_int(rows[i].line,
			  submit(rows[i].mode, rows[i].set, rows[i].set2), -1);
		check_has(rows[i].line, fake->said, rows[i].line);
		check_int(rows[i].line, fake_lines(""), 1);
		check_int(rows[i].line, fake_lines("error: loongforge: "), 1);
	}
}

/* Told, not cut, on either way. */
static void a_list_too_long(void **state)
{
	static char list[9000];
	const char *want = "--loongforge-set: expected at most 8191 bytes, "
			   "found 8999 (LF-OPT-03)\n";

	memset(list, ';', sizeof(list) - 1);
	memcpy(list, "log.level=INFO", 14);
	assert_int_equal(submit("on", list, NULL), -1);
	check_has("option", fake->said, want);
	(void)end(NULL);
	(void)begin(NULL);
	(void)setenv("LOONGFORGE_SET", list, 1);
	assert_int_equal(submit("on", NULL, NULL), -1);
	check_has("twin", fake->said, want);
	assert_int_equal(fake_lines(""), 1);
}

static void contradicting_modes(void **state)
{
	assert_int_equal(submit("on", NULL, NULL), 0);
	assert_int_equal(fake_option("loongforge", "on", 0), 0);
	assert_int_equal(fake_option("loongforge", NULL, 0), 0);
	assert_int_equal(fake_option("loongforge", "(null)", 0), 0);
	assert_string_equal(fake->said, "");
	assert_int_equal(fake_option("loongforge", "off", 0), -1);
	assert_int_equal(fake_lines("error: "), 1);
	check_has("twice", fake->said, "LF-OPT-02");
}

static void is_env(const char *name, const char *want)
{
	const char *value = getenv(name);

	check_str(name, value ? value : "unset", want ? want : "unset");
}

static void settings_are_joined(void **state)
{
	assert_int_equal(submit("on", "log.level=DEBUG", "env.threads=no"), 0);
	assert_string_equal(fake->said, "");
	is_env("SLURM_LOONGFORGE_SET", "env.threads=no;log.level=DEBUG");
	is_env(CARRIER "_secret", NULL); /* no task ever sees it */
}

static void twins(void **state)
{
	(void)setenv("LOONGFORGE", "on", 1);
	(void)setenv("LOONGFORGE_SET", "log.level=DEBUG", 1);
	/* The command line wins over them, and that is no contradiction. */
	assert_int_equal(submit("off", "log.level=ERROR", NULL), 0);
	assert_string_equal(fake->said, "");
	is_env("SLURM_LOONGFORGE_SET", "log.level=DEBUG;log.level=ERROR");
}

static void no_program_on_the_submit_host(void **state)
{
	link_program("loongforge-plan", NULL);
	assert_int_equal(submit("on", "log.level=DEBUG", NULL), -1);
	check_has("text", fake->said, "cannot be run (LF-OPT-03)");
	assert_int_equal(fake_lines(""), 1);
}

/* slurmstepd up to where it forks. */
static void step_begins(const char *mode, const char *set)
{
	check_int("init", call(INIT), 0);
	if (mode)
		check_int("option", fake_option("loongforge", mode, 1), 0);
	if (set)
		check_int("option", fake_option("loongforge-set", set, 1), 0);
	check_int("post_opt", call(POST_OPT), 0);
}

static int task(void *arg)
{
	fake->task = *(uint32_t *)arg;
	if (call(PRIVILEGED) != 0)
		return 100;
	if (fake->uid != geteuid() &&
	    (setgid(fake->gid) < 0 || setuid(fake->uid) < 0))
		return 101;
	return call(TASK) == 0 ? 0 : 102;
}

static int run_task(uint32_t n)
{
	return in_child(task, &n);
}

static int step_ends(void)
{
	int rc = call(FORKED);

	for (uint32_t i = 0; i < fake->local_tasks; i++)
		rc |= call(TASK_EXIT);
	return rc;
}

/* The name of the socket on which somebody listens for this job, or "". */
static const char *listening(void)
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

/* As keys take them, on either way and on either side. */
static void words_for_on_and_off(void **state)
{
	static const struct {
		const char *word;
		bool on;
	} rows[] = { { "yes", true },  { "1", true },	{ "True", true },
		     { "ON", true },   { "no", false }, { "0", false },
		     { "FALSE", false }, { "Off", false } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].word;

		(void)end(NULL);
		(void)begin(NULL);
		(void)setenv("LOONGFORGE", row, 1);
		check_int(row, submit(rows[i].on ? "on" : "off", NULL, NULL),
			  0);
		check_int(row, fake_option("loongforge", row, 0), 0);
		check_str(row, fake->said, "");
		(void)end(NULL);
		(void)begin(NULL);
		step_begins(row, NULL);
		check_int(row, *listening() != '\0', rows[i].on);
		check_int(row, run_task(0), 0);
		check_int(row, step_ends(), 0);
	}
}

static void a_step(void **state)
{
	int fds = open_fds(), fd;
	const char *socket;

	fake_setenv("OMP_NUM_THREADS", "3");
	fake->local_tasks = fake->tasks = 2;
	step_begins("on", "log.level=DEBUG");
	assert_string_equal(fake->said, "");
	assert_string_not_equal(listening(), "");
	check_int("task 0", run_task(0), 0);
	check_int("task 1", run_task(1), 0);
	assert_string_equal(fake->said, "");
	socket = fake_getenv("LOONGFORGE_SOCKET");
	assert_non_null(socket);
	assert_string_equal(socket, listening());
	assert_string_equal(fake_getenv("MASTER_ADDR"), "127.0.0.1");
	assert_non_null(fake_getenv("MASTER_PORT"));
	assert_string_equal(fake_getenv("RANK"), "1"); /* the last one's */
	assert_string_equal(fake_getenv("LOCAL_RANK"), "1");
	assert_string_equal(fake_getenv("WORLD_SIZE"), "2");
	assert_string_equal(fake_getenv("OMP_NUM_THREADS"), "3");
	check_has("note", fake_getenv("LOONGFORGE_ENV_SET"),
		  "OMP_NUM_THREADS=kept");
	assert_int_equal(call(FORKED), 0);
	assert_int_equal(call(TASK_EXIT), 0); /* not the last one */
	assert_int_equal(lf_sock_connect(socket, geteuid(), &fd, NULL), 0);
	(void)close(fd);
	assert_int_equal(call(TASK_EXIT), 0);
	assert_int_equal(lf_sock_connect(socket, geteuid(), &fd, NULL),
			 -ECONNREFUSED);
	assert_string_equal(fake->said, "");
	assert_int_equal(open_fds(), fds);
}

/* Two lines by the first task, none by the others, and each task ends. */
static void a_refused_step(void **state)
{
	int fds = open_fds();

	fake->local_tasks = fake->tasks = 2;
	step_begins("on", "nonsense=1");
	assert_string_equal(fake->said, "");
	assert_string_equal(listening(), "");
	check_int("task 1", run_task(1), 1);
	assert_string_equal(fake->said, "");
	check_int("task 0", run_task(0), 1);
	check_has("finding", fake->said,
		  "log: loongforge: n1: --loongforge-set: unknown key "
		  "'nonsense' (LF-OPT-03)\n");
	assert_int_equal(fake_lines("log: loongforge: hint: "), 1);
	assert_int_equal(fake_lines(""), 2);
	assert_null(fake_getenv("MASTER_PORT"));
	assert_int_equal(step_ends(), 0);
	assert_int_equal(open_fds(), fds);
	/* Every node finds the same: nobody has to be told. */
	assert_int_not_equal(access(scratch("scancelled"), F_OK), 0);
}

static void missing_programs(void **state)
{
	static const char *const programs[] = { "loongforge-plan",
						"loongforged" };

	for (size_t i = 0; i < COUNT(programs); i++) {
		char script[600];

		(void)end(NULL);
		(void)begin(NULL);
		(void)snprintf(script, sizeof(script),
			       "#!/bin/sh\necho $* >%s\n",
			       scratch("scancelled"));
		scripted(scratch("bin/scancel"), script);
		link_program(programs[i], NULL);
		fake->nodes = 2;
		step_begins("on", NULL);
		check_int(programs[i], run_task(0), 1);
		check_has(programs[i], fake->said, "(LF-LCH-02)\n");
		check_int(programs[i], fake_lines("log: "), 2);
		check_int(programs[i], step_ends(), 0);
		/* Other nodes do not know: the step is ended. */
		check_int(programs[i], access(scratch("scancelled"), F_OK), 0);
	}
	(void)unlink(scratch("bin/scancel"));
}

static void switched_off(void **state)
{
	static const struct {
		const char *mode, *off;
		mode_t file_mode;
		bool on;
	} rows[] = {
		{ "off", NULL, 0, false },
		{ "on", "", 0644, false },
		{ "on", "maintenance until noon\n", 0644, false },
		/* Whatever is wrong with it, somebody reached for it. */
		{ "on", "gate", 0666, false },
		{ "on", "gate\n", 0644, true },
		{ "on", NULL, 0, true },
	};

	NEEDS(is_root(), "the off file must be root's");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char row[64];

		(void)end(NULL);
		(void)begin(NULL);
		(void)snprintf(row, sizeof(row), "%s, off file '%s'",
			       rows[i].mode, rows[i].off ? rows[i].off : "-");
		if (rows[i].off)
			write_file(scratch("etc/off"), rows[i].off,
				   strlen(rows[i].off), rows[i].file_mode);
		fake_setenv("LOONGFORGE_SOCKET", "an outer step's");
		step_begins(rows[i].mode, NULL);
		check_int(row, *listening() != '\0', rows[i].on);
		check_int(row, fake_getenv("LOONGFORGE_SOCKET") != NULL, 0);
		check_int(row, run_task(0), 0);
		check_int(row, fake_getenv("MASTER_PORT") != NULL, rows[i].on);
		check_int(row, fake_lines("log: "), 0);
		check_int(row, step_ends(), 0);
	}
}

static void settings_of_others(void **state)
{
	const char *text = "launch.drain_seconds=1\nenv.threads=no\n";

	NEEDS(is_root(), "settings must be root's");
	write_file(scratch("run/n1.settings"), text, strlen(text), 0666);
	step_begins("on", NULL);
	check_int("task", run_task(0), 0);
	check_has("told", fake->said, "not trusted");
	check_has("told", fake->said, "(LF-CFG-01)");
	assert_int_equal(fake_lines("log: "), 2);
	assert_string_equal(fake_getenv("OMP_NUM_THREADS"), "2");
	assert_int_equal(step_ends(), 0);
}

/* Where nobody may raise the limit. */
static int poor_task(void *arg)
{
	struct rlimit little = { 65536, 65536 };
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3,
						   0 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	if (setrlimit(RLIMIT_MEMLOCK, &little) < 0 ||
	    syscall(SYS_capset, &header, none) < 0)
		return 77;
	return task(arg);
}

static void memlock_that_cannot_be_raised(void **state)
{
	uint32_t first = 0, second = 1;

	fake_setenv("SLURM_RLIMIT_MEMLOCK", "8192");
	fake->local_tasks = fake->tasks = 2;
	step_begins("on", NULL);
	check_int("task 1", in_child(poor_task, &second), 0);
	check_str("task 1", fake->said, "");
	check_int("task 0", in_child(poor_task, &first), 0);
	check_has("told", fake->said,
		  "log: loongforge: n1: locked-memory limit: expected "
		  "unlimited, found Operation not permitted (LF-MEM-01)\n"
		  "log: loongforge: hint: set LimitMEMLOCK=infinity in "
		  "slurmd's unit and leave it CAP_SYS_RESOURCE\n");
	assert_int_equal(fake_lines(""), 2);
	assert_int_equal(step_ends(), 0);
}

static void fake_orchestrator(const char *what)
{
	link_program("loongforged", built("tests/fake/loongforged"));
	fake_setenv("LOONGFORGE_FAKE", what);
}

static void one_that_lingers(void)
{
	const char *text = "launch.drain_seconds=1\n";
	uint64_t begun;
	pid_t pid = 0;
	int fds = open_fds();

	write_text(scratch("run/n1.settings"), text);
	fake_orchestrator("linger");
	step_begins("on", NULL);
	check_int("task", run_task(0), 0);
	begun = lf_clock_ms();
	assert_int_equal(step_ends(), 0);
	assert_in_range(elapsed_ms(begun), 1000, 4000);
	check_has("notice", fake->said, "log: loongforge: pid ");
	check_has("told", fake->said,
		  "log: loongforge: n1: orchestrator did not end within 1 s, "
		  "killed (LF-LCH-03)\n");
	assert_int_equal(sscanf(strstr(fake->said, "pid "), "pid %d", &pid), 1);
	assert_false(runs(pid));
	assert_int_equal(open_fds(), fds);
}

static void killed_when_it_lingers(void **state)
{
	NEEDS(is_root(), "settings must be root's");
	one_that_lingers();
}

static int reaches_programs(void *arg)
{
	return setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
	       access(built("tests/libexec/loongforge-plan"), X_OK) < 0 ||
	       access(built("tests/fake/loongforged"), X_OK) < 0;
}

static void killed_with_the_users_rights(void **state)
{
	NEEDS(is_root(), "only root can become somebody else");
	NEEDS(in_child(reaches_programs, NULL) == 0,
	      "the build folder is not for everybody");
	fake->uid = fake->gid = NOBODY;
	one_that_lingers();
}

static void notices_at_the_end(void **state)
{
	uint64_t begun = lf_clock_ms();

	fake_orchestrator("notices");
	step_begins("on", NULL);
	check_int("task", run_task(0), 0);
	(void)usleep(200000);
	assert_int_equal(step_ends(), 0);
	assert_true(elapsed_ms(begun) < 5000);
	check_has("cleaned", fake->said, "log: loongforge: ?[1mred\n");
	assert_int_equal(fake_lines("log: loongforge: "), 8);
	assert_int_equal(fake_lines(""), 8);
}

static void batch_step(void **state)
{
	uint64_t begun = lf_clock_ms();
	int fds = open_fds();

	fake->step = 0xfffffffbu;
	step_begins("on", NULL);
	assert_string_equal(listening(), "");
	check_int("task", run_task(0), 0);
	assert_string_equal(fake->said, "");
	assert_non_null(fake_getenv("LOONGFORGE_SOCKET"));
	assert_null(fake_getenv("RANK"));
	assert_int_equal(step_ends(), 0);
	assert_true(elapsed_ms(begun) < 5000);
	assert_int_equal(open_fds(), fds);
}

/* Serves the step's socket for so long, as an orchestrator that a client has
 * started. */
static pid_t serve(const char *socket, unsigned ms)
{
	int ready[2], fd;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		(void)alarm(60);
		if (lf_sock_listen(socket, &fd, NULL) == 0 &&
		    write(ready[1], "x", 1) == 1)
			(void)usleep(1000 * ms);
		_exit(0);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void a_clients_orchestrator_is_seen_out(void **state)
{
	static const struct {
		unsigned serves_ms, least_ms, most_ms;
		bool killed;
	} rows[] = {
		{ 400, 300, 950, false },
		{ 30000, 1000, 4000, true },
	};

	NEEDS(is_root(), "settings must be root's");
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t begun;
		int status;
		pid_t pid;

		(void)end(NULL);
		(void)begin(NULL);
		write_text(scratch("run/n1.settings"),
			   "launch.drain_seconds=1\n");
		fake->step = 0xfffffffbu;
		step_begins("on", NULL);
		check_int("task", run_task(0), 0);
		pid = serve(fake_getenv("LOONGFORGE_SOCKET"),
			    rows[i].serves_ms);
		begun = lf_clock_ms();
		assert_int_equal(step_ends(), 0);
		assert_in_range(elapsed_ms(begun), rows[i].least_ms,
				rows[i].most_ms);
		check_str("told", fake->said,
			  rows[i].killed ? "log: loongforge: n1: orchestrator "
					   "did not end within 1 s, killed "
					   "(LF-LCH-03)\n"
					 : "");
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WIFSIGNALED(status), rows[i].killed);
	}
}

static void extern_step(void **state)
{
	fake->step = 0xfffffffcu;
	step_begins("on", NULL);
	assert_string_equal(listening(), "");
	check_int("task", run_task(0), 0);
	assert_null(fake_getenv("LOONGFORGE_SOCKET"));
	assert_int_equal(step_ends(), 0);
	assert_string_equal(fake->said, "");
}

/* From the n-th on, every question to Slurm fails. */
static int failing_step(void *arg)
{
	bool ok = true;
	uint32_t first = 0;
	int rc;

	fake->fail_from = *(int *)arg;
	ok = call(INIT) == 0;
	if (fake->option[0])
		ok = ok && fake_option("loongforge", "on", 1) == 0;
	ok = ok && call(POST_OPT) == 0;
	rc = in_child(task, &first);
	ok = ok && (rc == 0 || rc == 1);
	return ok && step_ends() == 0 ? 0 : 1;
}

static void failing_host(void **state)
{
	for (int n = 0; n < 60; n++) {
		char row[32];

		(void)end(NULL);
		(void)begin(NULL);
		fake_orchestrator("report");
		(void)snprintf(row, sizeof(row), "from call %d", n);
		check_int(row, in_child(failing_step, &n), 0);
	}
}

static int failing_hooks(void *arg)
{
	fake->context = *(spank_context_t *)arg;
	fake->fail_from = 0;
	for (int h = 0; h < HOOKS; h++)
		if (call((enum hook)h) != 0)
			return 1 + h;
	return 0;
}

static void failing_host_elsewhere(void **state)
{
	static spank_context_t contexts[] = { S_CTX_LOCAL, S_CTX_ALLOCATOR,
					      S_CTX_SLURMD, S_CTX_JOB_SCRIPT,
					      S_CTX_ERROR };

	for (size_t i = 0; i < COUNT(contexts); i++)
		check_int("context", in_child(failing_hooks, &contexts[i]), 0);
}

/* A fault is one line of it, whatever the faulty value holds: behind it there
 * are the built-in values. */
static void settings_tell_the_fault(const char *settings)
{
	char line[1024];
	FILE *f = fopen(settings, "re");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(strncmp(line, "error=", 6), 0);
	check_has("error", line, "loongforge.conf:1: log.dir: expected");
	assert_non_null(fgets(line, sizeof(line), f));
	check_str("second line", line, "launch.drain_seconds=15\n");
	(void)fclose(f);
}

static void prolog(void **state)
{
	const char *settings = scratch("run/n1.settings");

	fake->context = S_CTX_JOB_SCRIPT;
	write_text(scratch("etc/loongforge.conf"),
		   "log { dir = \"a\\nb=c\" }\n");
	assert_int_equal(call(PROLOG), 0);
	check_has("faulty", fake->said, "error: loongforge: n1: gate: ");
	check_has("faulty", fake->said, "(LF-GATE-01)\n");
	assert_int_equal(fake_lines(""), 1);
	settings_tell_the_fault(settings);
	fake_reset(S_CTX_JOB_SCRIPT);
	write_text(scratch("etc/loongforge.conf"), "log { level = WARN }\n");
	assert_int_equal(call(PROLOG), 0);
	assert_string_equal(fake->said, "");
	assert_int_equal(unlink(settings), 0);
	link_program("loongforge-probe", NULL);
	assert_int_equal(call(PROLOG), 0);
	check_has("no probe", fake->said, "cannot be run (LF-GATE-01)\n");
	assert_int_equal(fake_lines(""), 1);
	(void)unlink(scratch("etc/loongforge.conf"));
}

/* Slurm drains a node whose prolog fails: only a status of 3 may do that. */
static void only_a_drained_node_fails_the_prolog(void **state)
{
	static const struct {
		const char *script;
		int want;
		const char *said;
	} rows[] = {
		{ "#!/bin/sh\n", 0, "" },
		{ "#!/bin/sh\necho warn: n1: x\n", 0, "gate: warn: n1: x\n" },
		{ "#!/bin/sh\necho drained: n1: x; exit 3\n", -1,
		  "gate: drained: n1: x\n" },
		{ "#!/bin/sh\nexit 3\n", -1, "" },
		/* G7: what it says does not count */
		{ "#!/bin/sh\necho drained: n1: x; exit 1\n", 0,
		  "gate: drained: n1: x (LF-GATE-01)\n" },
		{ "#!/bin/sh\nexit 1\n", 0, "failed (LF-GATE-01)\n" },
		{ "#!/bin/sh\nkill -SEGV $$\n", 0, "failed (LF-GATE-01)\n" },
		{ "no program", 0, "cannot be run (LF-GATE-01)\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fake_reset(S_CTX_JOB_SCRIPT);
		scripted(scratch("probe"), rows[i].script);
		link_program("loongforge-probe", scratch("probe"));
		check_int(rows[i].script, call(PROLOG), rows[i].want);
		check_has(rows[i].script, fake->said, rows[i].said);
	}
	link_program("loongforge-probe", NULL);
}

static void epilog(void **state)
{
	static const char *const gone[] = { "7.0", "7.1", "7.2" };
	static const char *const kept[] = { "70.0", "17.0", "7", "8.0" };
	struct stat st;

	NEEDS(is_root(), "the folder of segments must be root's");
	fake->context = S_CTX_JOB_SCRIPT;
	fake->job = 7;
	write_text(scratch("outside"), "x");
	for (size_t i = 0; i < 7; i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "run/seg/%s",
			       i < 3 ? gone[i] : kept[i - 3]);
		assert_int_equal(mkdir(scratch(path), 0700), 0);
		assert_int_equal(chown(scratch(path), NOBODY, NOBODY), 0);
	}
	assert_int_equal(
		symlink(scratch("outside"), scratch("run/seg/7.0/link")), 0);
	assert_int_equal(symlink("/", scratch("run/seg/7.3")), 0);
	assert_int_equal(mkdir(scratch("run/seg/7.1/-rf"), 0700), 0);
	assert_int_equal(lchown(scratch("run/seg/7.1/-rf"), NOBODY, NOBODY), 0);
	assert_int_equal(call(EPILOG), 0);
	for (size_t i = 0; i < 7; i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "run/seg/%s",
			       i < 3 ? gone[i] : kept[i - 3]);
		check_int(path, lstat(scratch(path), &st), i < 3 ? -1 : 0);
		if (i >= 3)
			(void)rmdir(scratch(path));
	}
	assert_int_equal(stat(scratch("outside"), &st), 0);
	assert_string_equal(fake->said, "");
	(void)unlink(scratch("run/seg/7.3"));
}

#define C(f) cmocka_unit_test_setup_teardown(f, begin, end)

MAIN(T(loads), C(nothing_without_the_option), C(refused_options),
     C(a_list_too_long), C(words_for_on_and_off), C(contradicting_modes), C(settings_are_joined), C(twins),
     C(no_program_on_the_submit_host), C(a_step), C(a_refused_step),
     C(missing_programs), C(switched_off), C(settings_of_others),
     C(memlock_that_cannot_be_raised),
     C(killed_when_it_lingers), C(killed_with_the_users_rights),
     C(notices_at_the_end), C(batch_step),
     C(a_clients_orchestrator_is_seen_out), C(extern_step), C(failing_host),
     C(failing_host_elsewhere), C(prolog),
     C(only_a_drained_node_fails_the_prolog), C(epilog))
