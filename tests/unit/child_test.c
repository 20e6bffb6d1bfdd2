/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/clock.h"

static char out[4096];

static int run(const char *script, int deadline_ms, struct lf_err *e)
{
	char *argv[] = { "/bin/sh", "-c", (char *)script, NULL };
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = deadline_ms,
			      .out = out,
			      .size = sizeof(out) };

	return lf_child_run(&c, e);
}

static void no_program(void **state)
{
	char *argv[] = { "/no/such/program", NULL };
	struct lf_child c = { .argv = argv, .deadline_ms = 5000 };
	int fds = open_fds();
	struct lf_err e;

	assert_int_equal(lf_child_run(&c, &e), -ECHILD);
	assert_string_equal(e.text, "/no/such/program: cannot be run");
	assert_int_equal(lf_child_run(&c, NULL), -ECHILD);
	assert_int_equal(open_fds(), fds);
}

static void deadline_kills_the_whole_group(void **state)
{
	uint64_t begun = lf_clock_ms();
	struct lf_err e;
	int fds = open_fds();
	long pid;

	/* The second process would keep the pipe for a minute. */
	assert_int_equal(run("sleep 60 & echo $!; sleep 60", 300, &e),
			 -ETIMEDOUT);
	assert_true(elapsed_ms(begun) >= 300 && elapsed_ms(begun) < 10000);
	assert_string_equal(e.text, "/bin/sh: no answer within 300 ms, killed");
	pid = strtol(out, NULL, 10);
	assert_true(pid > 1);
	for (int i = 0; i < 100 && runs((pid_t)pid); i++)
		(void)usleep(20000);
	assert_false(runs((pid_t)pid));
	assert_int_equal(open_fds(), fds);
}

/* As root and, where we are, as another: a change of ids clears the signal. */
static void dies_with_a_caller_that_is_killed(void **state)
{
	const uid_t uids[] = { 0, NOBODY };

	for (size_t i = 0; i < COUNT(uids) && (i == 0 || is_root()); i++) {
		char *argv[] = { "/bin/sleep", "60", NULL };
		struct lf_child c = { .argv = argv,
				      .deadline_ms = 60000,
				      .uid = uids[i],
				      .gid = uids[i] };
		pid_t caller = fork();
		char path[64], pid_text[32] = "";
		FILE *f;

		if (caller == 0) {
			(void)lf_child_run(&c, NULL);
			_exit(0);
		}
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
			       (int)caller, (int)caller);
		for (int n = 0; n < 250 && !*pid_text; n++) {
			(void)usleep(20000);
			f = fopen(path, "re");
			if (f && !fgets(pid_text, sizeof(pid_text), f))
				pid_text[0] = '\0';
			if (f)
				(void)fclose(f);
		}
		check_int("has a child", *pid_text != '\0', 1);
		(void)usleep(100000); /* it has become sleep */
		assert_int_equal(kill(caller, SIGKILL), 0);
		assert_int_equal(waitpid(caller, NULL, 0), caller);
		for (int n = 0; n < 100 && runs((pid_t)atol(pid_text)); n++)
			(void)usleep(20000);
		check_int("is gone", runs((pid_t)atol(pid_text)), 0);
	}
}

/* The user of a child of root's may trace it: a killed process then stays the
 * tracer's to reap. */
static pid_t trace_whom(const char *file)
{
	pid_t tracer = fork();

	if (tracer != 0)
		return tracer;
	for (;;) {
		long pid = 0;
		FILE *f = fopen(file, "re");

		if (f && fscanf(f, "%ld", &pid) == 1 && pid > 1 &&
		    ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, NULL) == 0)
			(void)pause();
		if (f)
			(void)fclose(f);
		(void)usleep(5000);
	}
}

static void a_traced_child_holds_nobody_up(void **state)
{
	char script[600];
	const char *file = scratch("pid");
	uint64_t begun = lf_clock_ms();
	pid_t tracer;

	NEEDS(is_root(), "tracing a sibling needs root");
	(void)snprintf(script, sizeof(script), "echo $$ >%s; exec sleep 60",
		       file);
	tracer = trace_whom(file);
	assert_int_equal(run(script, 500, NULL), -ETIMEDOUT);
	assert_true(elapsed_ms(begun) < 500 + 2000 + 3000);
	(void)kill(tracer, SIGKILL);
	(void)waitpid(tracer, NULL, 0);
}

static void tells_the_exit(void **state)
{
	static const struct {
		const char *script;
		int rc;
		const char *text;
	} rows[] = {
		{ "exit 0", 0, "" },
		{ "exit 3", -ECHILD, "/bin/sh: failed" },
		{ "echo one; echo two; exit 1", -ECHILD, "one" },
		{ "echo lost >&2; exit 1", -ECHILD, "/bin/sh: failed" },
		{ "kill -9 $$", -ECHILD, "/bin/sh: failed" },
		{ "kill -TERM $$", -ECHILD, "/bin/sh: failed" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };

		check_int(rows[i].script, run(rows[i].script, 10000, &e),
			  rows[i].rc);
		check_str(rows[i].script, e.text, rows[i].text);
	}
}

static void output_is_cut(void **state)
{
	char small[8] = "garbage";
	char *argv[] = { "/bin/sh", "-c",
			 "i=0; while [ $i -lt 9999 ]; do echo 0123456789; "
			 "i=$((i+1)); done",
			 NULL };
	struct lf_child c = { .argv = argv,
			      .deadline_ms = 20000,
			      .out = small,
			      .size = sizeof(small) };

	assert_int_equal(lf_child_run(&c, NULL), 0);
	assert_string_equal(small, "0123456");
	c.out = NULL;
	c.size = 0;
	assert_int_equal(lf_child_run(&c, NULL), 0);
}

/* What the program finds is what it was promised, whatever we are like. */
static int spoil_and_run(void *arg)
{
	sigset_t all;
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)signal(SIGUSR1, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	if (write(fd, "100", 3) != 3 || dup2(fd, 77) < 0)
		return 2;
	return run(arg, 10000, NULL) == 0 ? 0 : 1;
}

static void clean_slate(void **state)
{
	static const char *const rows[] = {
		"grep -q '^SigBlk:.0*$' /proc/self/status",
		/* 32 and 33 are libc's own, and may come in ignored. */
		"grep -q '^SigIgn:.0000000[01][08]0000000$' /proc/self/status",
		"[ $(cat /proc/self/oom_score_adj) = 0 ]",
		"[ ! -e /proc/self/fd/77 ]",
		"[ $(readlink /proc/$$/fd/0) = /dev/null ]",
		"[ $(readlink /proc/$$/fd/2) = /dev/null ]",
		"[ $(ps -o pgid= $$) = $$ ]",
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		check_int(rows[i], in_child(spoil_and_run, (void *)rows[i]), 0);
}

static void no_environment_unless_given(void **state)
{
	char *argv[] = { "/usr/bin/env", NULL };
	char *envp[] = { (char[]){ "A=1" }, NULL };
	struct lf_child c = { .argv = argv,
			      .deadline_ms = 10000,
			      .out = out,
			      .size = sizeof(out) };

	assert_int_equal(lf_child_run(&c, NULL), 0);
	assert_string_equal(out, "");
	c.envp = envp;
	assert_int_equal(lf_child_run(&c, NULL), 0);
	assert_string_equal(out, "A=1\n");
}

/* Bit n: fd n is closed, as fd 0 is in Slurm's prolog. */
static int run_without_stdio(void *arg)
{
	for (int fd = 0; fd < 3; fd++)
		if (*(int *)arg & 1 << fd)
			(void)close(fd);
	if (run("cat; echo seen; echo not seen >&2", 10000, NULL) < 0)
		return 1;
	return strcmp(out, "seen\n") == 0 ? 0 : 2;
}

static void any_of_stdio_closed(void **state)
{
	for (int closed = 0; closed < 8; closed++) {
		char row[32];

		(void)snprintf(row, sizeof(row), "closed: mask %d", closed);
		check_int(row, in_child(run_without_stdio, &closed), 0);
	}
}

static int run_while_children_are_ignored(void *arg)
{
	(void)signal(SIGCHLD, SIG_IGN);
	return run("echo seen; exit 3", 10000, NULL) == 0 &&
			       strcmp(out, "seen\n") == 0
		       ? 0
		       : 1;
}

static void *reap_everything(void *arg)
{
	for (;;)
		if (waitpid(-1, NULL, 0) < 0)
			(void)usleep(100);
	return NULL;
}

static int run_while_another_thread_reaps(void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, reap_everything, NULL) != 0)
		return 2;
	for (int i = 0; i < 20; i++)
		if (run("echo seen", 10000, NULL) < 0 ||
		    strcmp(out, "seen\n") != 0)
			return 1;
	return 0;
}

/* A status that somebody else took is no error; the output still counts. */
static void somebody_else_reaps(void **state)
{
	assert_int_equal(in_child(run_while_children_are_ignored, NULL), 0);
	assert_int_equal(in_child(run_while_another_thread_reaps, NULL), 0);
}

static void becomes_the_user(void **state)
{
	char *argv[] = { "/bin/sh", "-c", "id -u; id -g; id -G; id -ru", NULL };
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = 10000,
			      .uid = NOBODY,
			      .gid = NOBODY,
			      .out = out,
			      .size = sizeof(out) };

	NEEDS(is_root(), "only root can become somebody else");
	assert_int_equal(lf_child_run(&c, NULL), 0);
	assert_string_equal(out, "65534\n65534\n65534\n65534\n");
}

/* -1 means "leave as it is" to the kernel: somebody who does not know the user
 * must not get root. */
static void unknown_user(void **state)
{
	static const struct {
		const char *row;
		uid_t uid;
		gid_t gid;
	} rows[] = {
		{ "uid", (uid_t)-1, NOBODY },
		{ "gid", NOBODY, (gid_t)-1 },
		{ "both", (uid_t)-1, (gid_t)-1 },
	};
	char *argv[] = { "/bin/sh", "-c", "echo runs", NULL };
	struct lf_child c = { .argv = argv,
			      .deadline_ms = 10000,
			      .out = out,
			      .size = sizeof(out) };

	NEEDS(is_root(), "only root can become somebody else");
	for (size_t i = 0; i < COUNT(rows); i++) {
		c.uid = rows[i].uid;
		c.gid = rows[i].gid;
		check_int(rows[i].row, lf_child_run(&c, NULL) < 0, 1);
		check_str(rows[i].row, out, "");
	}
}

MAIN(T(no_program), T(deadline_kills_the_whole_group),
     T(dies_with_a_caller_that_is_killed), T(a_traced_child_holds_nobody_up), T(tells_the_exit),
     T(output_is_cut), T(clean_slate), T(no_environment_unless_given),
     T(any_of_stdio_closed), T(somebody_else_reaps), T(becomes_the_user),
     T(unknown_user))
