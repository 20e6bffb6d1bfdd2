/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/sock.h"

static const struct lf_step_id id = { 7, 4294967291u, 3 };

static void bad_names(void **state)
{
	char big[200];
	struct lf_err e;
	int fd = -1;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(lf_sock_listen("", &fd, &e), -EINVAL);
	assert_int_equal(lf_sock_listen(big, &fd, &e), -EINVAL);
	assert_int_equal(lf_sock_connect("", 0, &fd, &e), -EINVAL);
	assert_int_equal(lf_sock_connect("loongforge/none", 0, &fd, &e),
			 -ECONNREFUSED);
	assert_int_equal(lf_sock_peer(-1, NULL, NULL), -EBADF);
	assert_int_equal(fd, -1);
}

static void name(void **state)
{
	char a[LF_SOCK_NAME_MAX], b[LF_SOCK_NAME_MAX];
	const char *tail;

	assert_int_equal(lf_sock_name(&id, a, NULL), 0);
	assert_int_equal(lf_sock_name(&id, b, NULL), 0);
	assert_int_equal(strncmp(a, "loongforge/7.4294967291.3/", 26), 0);
	tail = a + 26;
	assert_int_equal(strlen(tail), 32);
	assert_int_equal(strspn(tail, "0123456789abcdef"), 32);
	assert_string_not_equal(a, b);
}

static void one_listener(void **state)
{
	int first, second = -1, client, fds = open_fds();
	char n[LF_SOCK_NAME_MAX];
	struct lf_err e;
	uid_t uid;
	pid_t pid;

	assert_int_equal(lf_sock_name(&id, n, NULL), 0);
	assert_int_equal(lf_sock_listen(n, &first, &e), 0);
	assert_true(fcntl(first, F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(first, F_GETFL) & O_NONBLOCK);
	assert_int_equal(lf_sock_listen(n, &second, &e), -EADDRINUSE);
	assert_int_equal(second, -1);
	assert_int_equal(lf_sock_connect(n, geteuid(), &client, &e), 0);
	assert_int_equal(lf_sock_peer(client, &pid, &uid), 0);
	assert_int_equal(pid, getpid());
	assert_int_equal(uid, geteuid());
	(void)close(client);
	(void)close(first);
	assert_int_equal(lf_sock_connect(n, geteuid(), &client, &e),
			 -ECONNREFUSED);
	assert_int_equal(open_fds(), fds);
}

/* Listens as somebody else until it is killed. */
static pid_t listen_as_nobody(const char *n)
{
	int ready[2], fd;
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		(void)alarm(60);
		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
		    lf_sock_listen(n, &fd, NULL) < 0 ||
		    write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	return pid;
}

static void not_to_a_strangers(void **state)
{
	char n[LF_SOCK_NAME_MAX];
	int fd = -1, fds;
	struct lf_err e;
	pid_t pid;

	NEEDS(is_root(), "only root can become somebody else");
	assert_int_equal(lf_sock_name(&id, n, NULL), 0);
	pid = listen_as_nobody(n);
	fds = open_fds();
	assert_int_equal(lf_sock_connect(n, 1234, &fd, &e), -EPERM);
	check_has("text", e.text, "belongs to uid 65534, expected 1234");
	assert_int_equal(lf_sock_connect(n, 0, &fd, &e), -EPERM);
	assert_int_equal(open_fds(), fds);
	assert_int_equal(lf_sock_connect(n, NOBODY, &fd, &e), 0);
	(void)close(fd);
	assert_int_equal(lf_sock_connect(n, LF_SOCK_ANY, &fd, &e), 0);
	(void)close(fd);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

MAIN(T(bad_names), T(name), T(one_listener), T(not_to_a_strangers))
