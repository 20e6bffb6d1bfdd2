/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "end.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/sock.h"

static bool serves(const char *socket, pid_t *pid)
{
	lf_autoclose int fd = -1;
	uid_t uid;
	int rc = lf_sock_connect(socket, getuid(), &fd, NULL);

	if (rc == 0)
		(void)lf_sock_peer(fd, pid, &uid);
	return rc == 0 || rc == -EAGAIN; /* a full queue */
}

bool end_wait(const char *socket, uint64_t ms)
{
	uint64_t until = lf_clock_ms() + ms;
	bool killed = false;
	pid_t pid = 0;

	while (serves(socket, &pid) && lf_clock_ms() < until + LF_KILL_MS) {
		if (lf_clock_ms() >= until && pid > 1 && !killed)
			killed = kill(pid, SIGKILL) == 0;
		(void)poll(NULL, 0, 20);
	}
	return killed;
}
