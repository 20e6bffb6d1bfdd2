/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/limits.h"

void lf_child_reset(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;
	int fd;

	for (int s = 1; s < NSIG; s++)
		(void)sigaction(s, &dfl, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* slurmstepd's -1000 would make the child immortal. */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		ssize_t ignored = write(fd, "0", 1);

		(void)ignored;
		(void)close(fd);
	}
}

void lf_child_close_from(int first)
{
	struct rlimit lim;
	rlim_t end = 1024;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
#endif
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < 1 << 20)
		end = lim.rlim_cur;
	for (int fd = first; fd < (int)end; fd++)
		(void)close(fd);
}

/* Reads until the pipe ends, which is when the child and all that it started
 * are gone.  Polls in slices, so that EINTR needs no care. */
static int drain_pipe(int fd, const struct lf_child *c)
{
	uint64_t end = lf_clock_ms() + (uint64_t)c->deadline_ms;
	char chunk[512];
	size_t len = 0;

	for (uint64_t now; (now = lf_clock_ms()) < end;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, (int)(end - now)) <= 0)
			continue;
		got = read(fd, chunk, sizeof(chunk));
		if (got == 0 || (got < 0 && errno != EINTR))
			return 0;
		for (ssize_t i = 0; c->out && i < got && len + 1 < c->size; i++)
			c->out[len++] = chunk[i];
		if (c->out)
			c->out[len] = '\0';
	}
	return -ETIMEDOUT;
}

/* The exit status, or 0 where somebody else reaped it.  Bounded: a process that
 * its user traces is the tracer's to reap first, and a closed pipe is no end. */
static int reap(pid_t pid)
{
	int status = 0;

	for (int ms = 0; waitpid(pid, &status, WNOHANG) == 0; ms++) {
		if (ms == LF_KILL_MS)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, 1);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int finish(pid_t pid, int fd, const struct lf_child *c)
{
	int rc = drain_pipe(fd, c);

	if (rc == 0)
		rc = reap(pid);
	if (rc < 0) {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
		(void)reap(pid);
	}
	return rc;
}

static void child(const struct lf_child *c, int out, pid_t parent)
{
	char *none[] = { NULL };
	int null = open("/dev/null", O_RDWR);

	(void)setpgid(0, 0);
	lf_child_reset();
	/* Where stdio was closed, as in the prolog, either may be among it. */
	out = fcntl(out, F_DUPFD, 3);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	lf_child_close_from(3);
	/* An id of -1 means "stay who you are" to the kernel: root. */
	if (c->uid != 0 &&
	    ((geteuid() == 0 && setgroups(0, NULL) < 0) ||
	     setresgid(c->gid, c->gid, c->gid) < 0 ||
	     setresuid(c->uid, c->uid, c->uid) < 0 ||
	     getuid() != c->uid || getgid() != c->gid))
		_exit(126);
	/* Nothing goes on behind the back of a caller that was killed; set last,
	 * since a change of ids clears it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(126);
	execve(c->argv[0], c->argv, c->envp ? c->envp : none);
	_exit(127);
}

/* The pipe tells the end of the child and of all that it started, also where
 * somebody else reaps. */
static int spawn(const struct lf_child *c)
{
	pid_t pid, parent = getpid();
	int fd[2], rc;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child(c, fd[1], parent);
	rc = pid < 0 ? -errno : 0;
	(void)close(fd[1]);
	if (pid > 0)
		rc = finish(pid, fd[0], c);
	(void)close(fd[0]);
	return rc;
}

int lf_child_run(const struct lf_child *c, struct lf_err *e)
{
	int rc;

	if (c->out)
		*c->out = '\0';
	rc = spawn(c);
	if (c->status && rc >= 0)
		*c->status = rc;
	if (rc == -ETIMEDOUT)
		return lf_err(e, rc, "%s: no answer within %d ms, killed",
			      c->argv[0], c->deadline_ms);
	if (rc > 0 && c->out && *c->out)
		return lf_err(e, -ECHILD, "%.*s", (int)strcspn(c->out, "\n"),
			      c->out);
	if (rc > 0)
		return lf_err(e, -ECHILD, "%s: %s", c->argv[0],
			      rc == 127 ? "cannot be run" : "failed");
	return rc == 0 ? 0 : lf_err(e, rc, "fork: %s", strerror(-rc));
}
