/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/bounded.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"

enum {
	UNDONE = 1
};

/* What the child fills.  Shared memory: the model has no pointers. */
struct sheet {
	struct lf_hw hw;
	struct lf_err e;
	int rc;
};

/* The child holds one end of a pipe, which closes when it ends.  pidfd_open
 * is younger than the kernels that clusters run. */
static pid_t start(struct sheet *s, const struct lf_hw_bounded *b, int *end)
{
	pid_t pid;
	int life[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(life[0]);
		s->rc = b->read(&s->hw, b->arg, &s->e);
		_exit(0);
	}
	*end = life[0];
	(void)close(life[1]);
	if (pid >= 0)
		return pid;
	(void)close(life[0]);
	return -EAGAIN;
}

static bool ends_within(int end, int ms)
{
	struct pollfd p = { .fd = end, .events = POLLIN };
	uint64_t until = lf_clock_ms() + (uint64_t)ms, now;
	int rc;

	do {
		now = lf_clock_ms();
		rc = poll(&p, 1, now < until ? (int)(until - now) : 0);
	} while (rc < 0 && errno == EINTR);
	return rc > 0;
}

static int watch(struct sheet *s, const struct lf_hw_bounded *b,
		 struct lf_err *e)
{
	lf_autoclose int end = -1;
	pid_t pid = start(s, b, &end);
	int status = 0;

	if (pid < 0)
		return lf_err(e, pid, "a child: %s", strerror(-pid));
	if (!ends_within(end, b->ms)) {
		(void)kill(pid, SIGKILL);
		/* One that is inside the driver dies when that lets it go. */
		(void)waitpid(pid, &status, WNOHANG);
		return lf_err(e, -ETIMEDOUT,
			      "this machine: expected its %s driver to answer "
			      "within %g s, found it hanging: look at dmesg; a "
			      "reset of the %s or a reboot helps",
			      b->device, b->ms / 1000.0, b->device);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (s->rc == UNDONE)
		return lf_err(e, -EIO,
			      "this machine: expected what its %s driver says, "
			      "found its library ended by signal %d",
			      b->device, WTERMSIG(status));
	*e = s->e;
	return s->rc;
}

int lf_hw_bounded(struct lf_hw *hw, const struct lf_hw_bounded *b,
		  struct lf_err *e)
{
	struct sheet *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int rc;

	if (s == MAP_FAILED)
		return lf_err(e, -ENOMEM, "no memory");
	s->hw = *hw;
	s->rc = UNDONE;
	rc = watch(s, b, e);
	if (rc == 0)
		*hw = s->hw;
	(void)munmap(s, sizeof(*s));
	return rc;
}
