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

static int address(const char *name, struct sockaddr_un *sa, socklen_t *len)
{
	size_t n = strlen(name);

	*sa = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (n == 0 || n > sizeof(sa->sun_path) - 1)
		return -EINVAL;
	memcpy(sa->sun_path + 1, name, n); /* leading NUL: abstract */
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
	return 0;
}

static int open_at(const char *name, struct sockaddr_un *sa, socklen_t *len,
		   int *fd, struct lf_err *e)
{
	int rc = address(name, sa, len);

	if (rc < 0)
		return lf_err(e, rc, "@%s: not a socket name", name);
	*fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		return lf_err(e, -errno, "socket: %s", strerror(errno));
	return 0;
}

int lf_sock_listen(const char *name, int *out, struct lf_err *e)
{
	lf_autoclose int fd = -1;
	struct sockaddr_un sa;
	socklen_t len = 0;
	int rc = open_at(name, &sa, &len, &fd, e);

	if (rc < 0)
		return rc;
	if (bind(fd, (struct sockaddr *)&sa, len) < 0 ||
	    listen(fd, LF_BACKLOG) < 0)
		return lf_err(e, -errno, "@%s: %s", name, strerror(errno));
	*out = lf_steal_fd(&fd);
	return 0;
}

int lf_sock_connect(const char *name, uid_t owner, int *out, struct lf_err *e)
{
	lf_autoclose int fd = -1;
	struct sockaddr_un sa;
	socklen_t len = 0;
	uid_t uid = (uid_t)-1;
	pid_t pid;
	int rc = open_at(name, &sa, &len, &fd, e);

	if (rc < 0)
		return rc;
	/* Unix sockets connect at once, or say EAGAIN on a full queue. */
	if (connect(fd, (struct sockaddr *)&sa, len) < 0)
		return lf_err(e, -errno, "@%s: %s", name, strerror(errno));
	rc = lf_sock_peer(fd, &pid, &uid);
	if (rc < 0)
		return lf_err(e, rc, "@%s: %s", name, strerror(-rc));
	if (uid != 0 && uid != owner && owner != LF_SOCK_ANY)
		return lf_err(e, -EPERM,
			      "@%s: belongs to uid %u, expected %u or root",
			      name, (unsigned)uid, (unsigned)owner);
	*out = lf_steal_fd(&fd);
	return 0;
}

int lf_sock_peer(int fd, pid_t *pid, uid_t *uid)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return -errno;
	*pid = cred.pid;
	*uid = cred.uid;
	return 0;
}
