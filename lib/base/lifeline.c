/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/lifeline.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int lf_lifeline_open(int fd[2], struct lf_err *e)
{
	int on = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return lf_err(e, -errno, "socketpair: %s", strerror(errno));
	(void)setsockopt(fd[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	return 0;
}

/* SEQPACKET has no empty packets apart from end of file: a NUL goes ahead. */
int lf_lifeline_send(int fd, const char *text)
{
	struct iovec iov[2] = { { (char[]){ 0 }, 1 },
				{ (char *)text, strlen(text) } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

	return sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static pid_t sender(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct ucred cred;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		return cred.pid;
	}
	return 0;
}

int lf_lifeline_recv(int fd, char *text, size_t n, pid_t *pid)
{
	char control[CMSG_SPACE(sizeof(struct ucred))], mark;
	struct iovec iov[2] = { { &mark, 1 }, { text, n - 1 } };
	struct msghdr m = { .msg_iov = iov,
			    .msg_iovlen = 2,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return errno == ECONNRESET ? 0 : -errno;
	if (got == 0)
		return 0;
	text[got - 1] = '\0';
	if (pid)
		*pid = sender(&m);
	return 1;
}
