/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "wire/session.h"

static struct lf_msg m;

static void open_pair(int fd[2])
{
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
}

static void close_pair(int fd[2])
{
	(void)close(fd[0]);
	(void)close(fd[1]);
}

static void rubbish(void **state)
{
	static char big[2 * LF_MSG_MAX];
	static const struct {
		const char *row;
		size_t n;
	} rows[] = {
		{ "one too long", LF_MSG_MAX },
		{ "two too long", LF_MSG_MAX + 1 },
		{ "far too long", sizeof(big) },
		{ "NUL bytes", 7 },
	};
	struct lf_err e;
	int fd[2];

	open_pair(fd);
	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(big, rows[i].n < 8 ? 0 : 'v', sizeof(big));
		assert_int_equal(send(fd[1], big, rows[i].n, 0), rows[i].n);
		check_int(rows[i].row, lf_session_recv(fd[0], &m, &e), -EPROTO);
	}
	/* It did not get out of step. */
	assert_int_equal(send(fd[1], "hi a=1", 6, 0), 6);
	assert_int_equal(lf_session_recv(fd[0], &m, &e), 1);
	assert_string_equal(lf_msg_get(&m, "a"), "1");
	close_pair(fd);
}

static void gone_or_silent(void **state)
{
	uint64_t begun = lf_clock_ms();
	struct lf_err e;
	int fd[2];

	open_pair(fd);
	assert_int_equal(lf_session_recv(fd[0], &m, &e), -EAGAIN);
	assert_int_equal(lf_session_wait(fd[0], &m, 200, &e), -ETIMEDOUT);
	assert_true(elapsed_ms(begun) >= 200 && elapsed_ms(begun) < 5000);
	assert_string_equal(e.text, "no answer within 200 ms");
	assert_int_equal(lf_session_wait(fd[0], &m, 0, &e), -ETIMEDOUT);
	lf_msg_begin(&m, "unread");
	assert_int_equal(lf_session_send(fd[0], &m, &e), 0);
	(void)close(fd[1]); /* with something unread: a reset */
	assert_int_equal(lf_session_wait(fd[0], &m, 5000, &e), 0);
	assert_int_equal(lf_session_recv(fd[0], &m, &e), 0);
	lf_msg_begin(&m, "late");
	assert_int_equal(lf_session_send(fd[0], &m, &e), -EPIPE);
	(void)close(fd[0]);
	assert_int_equal(lf_session_recv(-1, &m, &e), -EBADF);
	assert_int_equal(lf_session_wait(-1, &m, 100, &e), -ETIMEDOUT);
}

static void peer_that_does_not_read(void **state)
{
	int fd[2], rc = 0;
	struct lf_err e;

	open_pair(fd);
	lf_msg_begin(&m, "more");
	for (int i = 0; i < 1000000 && rc == 0; i++)
		rc = lf_session_send(fd[0], &m, &e);
	assert_int_equal(rc, -EAGAIN);
	close_pair(fd);
}

static void too_long_is_not_sent(void **state)
{
	static char big[LF_MSG_MAX + 1];
	struct lf_err e;
	int fd[2];

	memset(big, 'v', sizeof(big) - 1);
	open_pair(fd);
	lf_msg_begin(&m, "v");
	lf_msg_add(&m, "k", big);
	assert_int_equal(lf_session_send(fd[0], &m, &e), -EMSGSIZE);
	assert_int_equal(lf_session_recv(fd[1], &m, &e), -EAGAIN);
	close_pair(fd);
}

static void there_and_back(void **state)
{
	struct lf_err e;
	int fd[2];

	open_pair(fd);
	lf_msg_begin(&m, "hello");
	lf_msg_add(&m, "text", "a b\n");
	assert_int_equal(lf_session_send(fd[0], &m, &e), 0);
	assert_int_equal(lf_session_wait(fd[1], &m, 5000, &e), 1);
	assert_string_equal(m.verb, "hello");
	assert_string_equal(lf_msg_get(&m, "text"), "a b\n");
	close_pair(fd);
}

MAIN(T(rubbish), T(gone_or_silent), T(peer_that_does_not_read),
     T(too_long_is_not_sent), T(there_and_back))
