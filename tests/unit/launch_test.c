/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>

#include "base/launch.h"
#include "base/lifeline.h"
#include "base/sock.h"

enum {
	HIGH = 100 /* fds of ours that must not be in the way */
};

/* Places of the two fds, and what became of it. */
struct
try {
	int listen_fd, lifeline_fd;
	int keeper; /* our end */
	char *program;
	struct lf_err e;
	pid_t pid;
	char text[4096]; /* its report */
};

static char *fake(void)
{
	static char path[4096];
	const char *build = getenv("abs_builddir");

	(void)snprintf(path, sizeof(path), "%s/tests/fake/loongforged",
		       build ? build : ".");
	return path;
}

static int move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH);

	(void)close(fd);
	return high;
}

static int launch(struct try *t)
{
	char *argv[] = { t->program, "1.0", NULL };
	char *envp[] = { (char[]){ "LOONGFORGE_FAKE=report" }, NULL };
	struct lf_launch l = { argv, envp, t->listen_fd, t->lifeline_fd };

	return lf_launch(&l, &t->e);
}

/* The introduction, then the report. */
static int hear(struct try *t)
{
	for (int n = 0; n < 2;) {
		struct pollfd p = { t->keeper, POLLIN, 0 };
		int rc;

		if (poll(&p, 1, 20000) <= 0)
			return -ETIMEDOUT;
		rc = lf_lifeline_recv(t->keeper, t->text, sizeof(t->text),
				      &t->pid);
		if (rc <= 0)
			return rc ? rc : -EPIPE;
		n++;
	}
	return 0;
}

static void open_high(struct try *t)
{
	char name[LF_SOCK_NAME_MAX];
	struct lf_step_id id = { 1, 0, 0 };
	int life[2];

	assert_int_equal(lf_sock_name(&id, name, NULL), 0);
	assert_int_equal(lf_sock_listen(name, &t->listen_fd, NULL), 0);
	assert_int_equal(lf_lifeline_open(life, NULL), 0);
	t->listen_fd = move_high(t->listen_fd);
	t->keeper = move_high(life[0]);
	t->lifeline_fd = move_high(life[1]);
}

static void close_all(struct try *t)
{
	(void)close(t->listen_fd);
	(void)close(t->keeper);
	(void)close(t->lifeline_fd);
}

static void no_program(void **state)
{
	struct try t = { .program = (char[]){ "/no/such/program" } };
	int fds = open_fds();

	open_high(&t);
	assert_int_equal(launch(&t), -ENOENT);
	check_has("text", t.e.text, "/no/such/program");
	check_has("text", t.e.text, "No such file or directory");
	t.program = (char[]){ "/etc/passwd" };
	assert_int_equal(launch(&t), -EACCES);
	close_all(&t);
	assert_int_equal(open_fds(), fds);
}

/* CPU mask of one, a blocked signal, an ignored one, an fd that leaks. */
static int launch_spoilt(void *arg)
{
	struct try *t = arg;
	sigset_t all;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sigfillset(&all);
	if (sched_setaffinity(0, sizeof(one), &one) < 0 ||
	    sigprocmask(SIG_SETMASK, &all, NULL) < 0 || dup2(1, 77) < 0)
		return 1;
	(void)signal(SIGCHLD, SIG_IGN);
	return launch(t) == 0 ? 0 : 2;
}

static void sheds_what_it_inherits(void **state)
{
	struct try t = { .program = fake() };
	char want[128];
	cpu_set_t cpus;

	open_high(&t);
	assert_int_equal(in_child(launch_spoilt, &t), 0);
	assert_int_equal(hear(&t), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	(void)snprintf(want, sizeof(want),
		       "cpus=%d\nnice=10\nblocked=0\npolicy=0\ncwd=/\n",
		       CPU_COUNT(&cpus));
	check_has("process", t.text, want);
	check_has("fds", t.text,
		  "fd0=/dev/null\nfd1=/dev/null\nfd2=/dev/null\n"
		  "fd3=socket\nfd4=socket\n");
	assert_null(strstr(t.text, "fd77"));
	assert_null(strstr(t.text, "fd5=pipe"));
	(void)snprintf(want, sizeof(want), "sid=%d\n", (int)getsid(0));
	assert_null(strstr(t.text, want));
	(void)snprintf(want, sizeof(want), "pgid=%d\n", (int)getpgid(0));
	assert_null(strstr(t.text, want));
	assert_true(t.pid > 1);
	close_all(&t);
}

static int launch_at(void *arg)
{
	struct try t = *(struct try *)arg;
	int listen_fd = t.listen_fd, lifeline_fd = t.lifeline_fd;

	t.listen_fd = t.keeper / 1000 % 10;
	t.lifeline_fd = t.keeper / 10000 % 10;
	t.keeper = t.keeper % 1000;
	for (int fd = 0; fd < 10; fd++)
		(void)close(fd);
	if (dup2(listen_fd, t.listen_fd) < 0 ||
	    dup2(lifeline_fd, t.lifeline_fd) < 0)
		return 1;
	(void)close(listen_fd);
	(void)close(lifeline_fd);
	return launch(&t) == 0 ? 0 : 2;
}

static void any_numbers(void **state)
{
	for (int at = 0; at < 36; at++) {
		struct try t = { .program = fake() }, where;
		char row[64];

		if (at / 6 == at % 6)
			continue;
		(void)snprintf(row, sizeof(row), "listen %d, lifeline %d",
			       at / 6, at % 6);
		open_high(&t);
		where = t;
		where.keeper += 1000 * (at / 6) + 10000 * (at % 6);
		check_int(row, in_child(launch_at, &where), 0);
		check_int(row, hear(&t), 0);
		check_has(row, t.text, "fd3=socket\nfd4=socket\n");
		close_all(&t);
	}
}

MAIN(T(no_program), T(sheds_what_it_inherits), T(any_numbers))
