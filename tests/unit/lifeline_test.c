/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/lifeline.h"

static void nothing_there(void **state)
{
	char text[8];
	int fd[2];

	assert_int_equal(lf_lifeline_recv(-1, text, sizeof(text), NULL),
			 -EBADF);
	assert_int_equal(lf_lifeline_send(-1, "x"), -EBADF);
	assert_int_equal(lf_lifeline_open(fd, NULL), 0);
	assert_true(fcntl(fd[0], F_GETFD) & FD_CLOEXEC);
	assert_int_equal(lf_lifeline_recv(fd[0], text, sizeof(text), NULL),
			 -EAGAIN);
	(void)close(fd[1]);
	assert_int_equal(lf_lifeline_recv(fd[0], text, sizeof(text), NULL), 0);
	assert_int_equal(lf_lifeline_send(fd[0], "x"), -EPIPE);
	(void)close(fd[0]);
}

static void cut_and_empty(void **state)
{
	char text[8];
	pid_t pid;
	int fd[2];

	assert_int_equal(lf_lifeline_open(fd, NULL), 0);
	assert_int_equal(lf_lifeline_send(fd[1], "0123456789"), 0);
	assert_int_equal(lf_lifeline_send(fd[1], ""), 0);
	(void)lf_lifeline_send(fd[1], "");
	assert_int_equal(lf_lifeline_recv(fd[0], text, sizeof(text), &pid), 1);
	assert_string_equal(text, "0123456");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			lf_lifeline_recv(fd[0], text, sizeof(text), &pid), 1);
		assert_string_equal(text, "");
	}
	assert_int_equal(lf_lifeline_recv(fd[0], text, sizeof(text), &pid),
			 -EAGAIN);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static void the_kernel_names_the_sender(void **state)
{
	int fd[2], status;
	char text[32];
	pid_t pid = 0, child;

	assert_int_equal(lf_lifeline_open(fd, NULL), 0);
	child = fork();
	if (child == 0) {
		(void)lf_lifeline_send(fd[1], "");
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(lf_lifeline_recv(fd[0], text, sizeof(text), &pid), 1);
	assert_int_equal(pid, child);
	assert_string_equal(text, "");
	(void)close(fd[0]);
	(void)close(fd[1]);
}

/* What reads the other end must not fill up with fds that are sent along. */
static void fds_that_come_along_are_dropped(void **state)
{
	char control[CMSG_SPACE(4 * sizeof(int))] = { 0 }, data[] = "\0hello";
	struct iovec iov = { data, sizeof(data) - 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int fd[2], fds, send[4] = { 0, 0, 0, 0 };
	char text[32];

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(send));
	memcpy(CMSG_DATA(c), send, sizeof(send));
	assert_int_equal(lf_lifeline_open(fd, NULL), 0);
	fds = open_fds();
	assert_int_equal(sendmsg(fd[1], &m, 0), sizeof(data) - 1);
	assert_int_equal(lf_lifeline_recv(fd[0], text, sizeof(text), NULL), 1);
	assert_string_equal(text, "hello");
	assert_int_equal(open_fds(), fds);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

/* A full queue loses the packet, but never blocks the sender. */
static void never_blocks(void **state)
{
	int fd[2], rc = 0;

	assert_int_equal(lf_lifeline_open(fd, NULL), 0);
	for (int i = 0; i < 1000000 && rc == 0; i++)
		rc = lf_lifeline_send(fd[1], "line");
	assert_int_equal(rc, -EAGAIN);
	(void)close(fd[0]);
	(void)close(fd[1]);
}

MAIN(T(nothing_there), T(cut_and_empty), T(the_kernel_names_the_sender),
     T(fds_that_come_along_are_dropped), T(never_blocks))
