/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for loongforged.  LOONGFORGE_FAKE says what it does:
 *
 *   report   sends up the lifeline what it finds itself to be, and ends
 *   linger   sends its pid, and does not end when it should
 *   notices  sends twenty lines, one with control characters, and ends at EOF
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/launch.h"
#include "base/lifeline.h"

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return (int)(strtol((*a)->d_name, NULL, 10) -
		     strtol((*b)->d_name, NULL, 10));
}

/* Only the fds that lead somewhere else than this folder listing. */
static void add_fds(struct lf_buf *b)
{
	struct dirent **fds = NULL;
	int n = scandir("/proc/self/fd", &fds, NULL, by_number);

	for (int i = 0; i < n; i++) {
		char path[300], at[300];
		ssize_t len;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%s",
			       fds[i]->d_name);
		free(fds[i]);
		len = readlink(path, at, sizeof(at) - 1);
		if (len <= 0)
			continue;
		at[len] = '\0';
		at[strcspn(at, ":")] = '\0';
		lf_buf_add(b, "fd%s=%s\n", path + strlen("/proc/self/fd/"), at);
	}
	free(fds);
}

static void add_self(struct lf_buf *b)
{
	char cwd[256] = "";
	cpu_set_t cpus;
	sigset_t mask;
	int blocked = 0, policy = -1;

	(void)sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < NSIG; s++)
		blocked += sigismember(&mask, s) == 1;
	(void)sched_getaffinity(0, sizeof(cpus), &cpus);
	(void)syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0);
	lf_buf_add(b, "cpus=%d\nnice=%d\nblocked=%d\npolicy=%d\ncwd=%s\n",
		   CPU_COUNT(&cpus), getpriority(PRIO_PROCESS, 0), blocked,
		   policy, getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	lf_buf_add(b, "sid=%d\npgid=%d\nppid=%d\n", (int)getsid(0),
		   (int)getpgid(0), (int)getppid());
}

static void send_notices(void)
{
	struct pollfd p = { LF_LAUNCH_LIFELINE, POLLIN, 0 };
	char text[4096];

	(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, "loongforge: \033[1mred");
	for (int i = 1; i < 20; i++) {
		(void)snprintf(text, sizeof(text), "loongforge: notice %d", i);
		(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, text);
	}
	do
		(void)poll(&p, 1, -1);
	while (lf_lifeline_recv(LF_LAUNCH_LIFELINE, text, sizeof(text), NULL) >
	       0);
}

int main(int argc, char **argv)
{
	const char *what = getenv("LOONGFORGE_FAKE");
	struct lf_buf b = LF_BUF(8192);

	(void)alarm(60);
	if (what && !strcmp(what, "notices")) {
		send_notices();
	} else if (what && !strcmp(what, "linger")) {
		lf_buf_add(&b, "loongforge: pid %d", (int)getpid());
		(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, lf_buf_text(&b));
		for (;;)
			(void)pause();
	} else {
		add_fds(&b);
		add_self(&b);
		(void)lf_lifeline_send(LF_LAUNCH_LIFELINE, lf_buf_text(&b));
	}
	lf_buf_free(&b);
	return 0;
}
