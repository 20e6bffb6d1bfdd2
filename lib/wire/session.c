/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "wire/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

int lf_session_send(int fd, const struct lf_msg *m, struct lf_err *e)
{
	if (!lf_msg_ok(m))
		return lf_err(e, -EMSGSIZE, "message '%s': too long", m->verb);
	if (send(fd, m->text, m->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return lf_err(e, -errno, "send: %s", strerror(errno));
	return 0;
}

int lf_session_recv(int fd, struct lf_msg *m, struct lf_err *e)
{
	char data[LF_MSG_MAX + 1]; /* one more shows a message too long */
	ssize_t n = recv(fd, data, sizeof(data), MSG_DONTWAIT);
	int rc;

	if (n < 0 && (errno == ECONNRESET || errno == EPIPE))
		return 0;
	if (n < 0)
		return lf_err(e, -errno, "receive: %s", strerror(errno));
	if (n == 0)
		return 0;
	rc = lf_msg_parse(m, data, (size_t)n, e);
	return rc < 0 ? rc : 1;
}

int lf_session_wait(int fd, struct lf_msg *m, int ms, struct lf_err *e)
{
	uint64_t end = lf_clock_ms() + (uint64_t)ms;

	for (uint64_t now; (now = lf_clock_ms()) < end;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, (int)(end - now)) > 0) {
			int rc = lf_session_recv(fd, m, e);

			if (rc != -EAGAIN && rc != -EINTR)
				return rc;
		}
	}
	return lf_err(e, -ETIMEDOUT, "no answer within %d ms", ms);
}
