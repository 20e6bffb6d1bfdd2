/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin in slurmstepd and in the tasks' processes. */
#include "plugin_host.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/sock.h"

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

MAIN(C(a_step), C(a_refused_step), C(missing_programs), C(switched_off),
     C(settings_of_others), C(memlock_that_cannot_be_raised),
     C(killed_when_it_lingers), C(killed_with_the_users_rights),
     C(notices_at_the_end), C(batch_step),
     C(a_clients_orchestrator_is_seen_out), C(extern_step), C(failing_host),
     C(failing_host_elsewhere))
