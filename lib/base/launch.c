/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/lifeline.h"

enum {
	FD_STATUS = 5, /* closed by a successful exec, else carries errno */
	NICE = 10
};

/* All CPUs; the kernel cuts this down to the cpuset. */
static void widen(void)
{
	unsigned char all[1024]; /* 8192 CPUs, the kernel's largest NR_CPUS */

	memset(all, 0xff, sizeof(all));
	(void)syscall(SYS_sched_setaffinity, 0, sizeof(all), all);
	(void)syscall(SYS_set_mempolicy, 0 /* MPOL_DEFAULT */, NULL, 0);
	(void)setpriority(PRIO_PROCESS, 0, NICE);
}

/* Puts the three fds at their numbers by way of high ones, since any of them
 * may sit where another has to go. */
static int place(const struct lf_launch *l, int status)
{
	int from[] = { l->listen_fd, l->lifeline_fd, status };
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++) {
		from[i] = fcntl(from[i], F_DUPFD, FD_STATUS + 1);
		if (from[i] < 0)
			return -errno;
	}
	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || dup2(null, fd) < 0)
			return -EIO;
	for (int i = 0; i < 3; i++)
		if (dup3(from[i], LF_LAUNCH_LISTEN + i,
			 i == 2 ? O_CLOEXEC : 0) < 0)
			return -errno;
	lf_child_close_from(FD_STATUS + 1);
	return 0;
}

/* -errno, or does not return. */
static int grandchild(const struct lf_launch *l, int *status)
{
	int rc = place(l, *status);

	if (rc < 0)
		return rc;
	*status = FD_STATUS;
	lf_child_reset();
	widen();
	if (chdir("/") < 0)
		return -errno;
	(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, ""); /* here I am */
	execve(l->argv[0], l->argv, l->envp);
	return -errno;
}

static void child(const struct lf_launch *l, int status)
{
	pid_t pid;
	int rc;

	(void)setsid();
	pid = fork();
	if (pid > 0)
		_exit(0);
	rc = pid < 0 ? -errno : grandchild(l, &status);
	_exit(write(status, &rc, sizeof(rc)) < 0 ? 126 : 127);
}

int lf_launch(const struct lf_launch *l, struct lf_err *e)
{
	int status[2], rc = 0;
	ssize_t got;
	pid_t pid;

	if (pipe2(status, O_CLOEXEC) < 0)
		return lf_err(e, -errno, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		child(l, status[1]);
	if (pid < 0)
		rc = -errno;
	(void)close(status[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	do
		got = read(status[0], &rc, sizeof(rc));
	while (pid > 0 && got < 0 && errno == EINTR);
	(void)close(status[0]);
	if (rc < 0)
		return lf_err(e, rc, "%s: could not be started: %s",
			      l->argv[0], strerror(-rc));
	return 0;
}
