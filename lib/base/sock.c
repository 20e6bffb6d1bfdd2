/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/sock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/limits.h"

int lf_sock_name(const struct lf_step_id *id, char name[LF_SOCK_NAME_MAX],
		 struct lf_err *e)
{
	uint64_t r[2];

	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		return lf_err(e, -EIO, "getrandom: %s", strerror(errno));
	(void)snprintf(name, LF_SOCK_NAME_MAX,
		       "loongforge/%u.%u.%u/%016llx%016llx", id->job, id->step,
		       id->node, (unsigned long long)r[0],
		       (unsigned long long)r[1]);
	return 0;
}

int lf_sock_open(const char *name, lf_sock_join_f *join, int *out,
		 struct lf_err *e)
{
	lf_autoclose int fd = -1;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t n = strlen(name);

	if (n == 0 || n >= sizeof(sa.sun_path))
		return lf_err(e, -EINVAL, "@%s: not a socket name", name);
	memcpy(sa.sun_path + 1, name, n); /* leading NUL: abstract */
	n += 1 + offsetof(struct sockaddr_un, sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || join(fd, (struct sockaddr *)&sa, (socklen_t)n) < 0)
		return lf_err(e, -errno, "@%s: %s", name, strerror(errno));
	*out = lf_steal_fd(&fd);
	return 0;
}

static int bind_and_listen(int fd, const struct sockaddr *sa, socklen_t n)
{
	return bind(fd, sa, n) < 0 ? -1 : listen(fd, LF_BACKLOG);
}

int lf_sock_listen(const char *name, int *out, struct lf_err *e)
{
	return lf_sock_open(name, bind_and_listen, out, e);
}
