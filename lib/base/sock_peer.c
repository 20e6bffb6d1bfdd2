/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/sock.h"

#include <errno.h>
#include <string.h>

#include "base/auto.h"

/* Unix sockets connect at once, or say EAGAIN on a full queue. */
static int join(int fd, const struct sockaddr *sa, socklen_t n)
{
	return connect(fd, sa, n);
}

int lf_sock_connect(const char *name, uid_t owner, int *out, struct lf_err *e)
{
	lf_autoclose int fd = -1;
	uid_t uid = (uid_t)-1;
	pid_t pid;
	int rc = lf_sock_open(name, join, &fd, e);

	if (rc < 0)
		return rc;
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
