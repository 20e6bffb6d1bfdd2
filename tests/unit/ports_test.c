/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "orchestrator/plan/ports.h"

static void malformed(void **state)
{
	static const char *const rows[] = { "",	   "x",	      "1",    "5-1",
					    "1-8", "1-70000", "1-9 ", "-" };
	struct ports p;

	for (size_t i = 0; i < COUNT(rows); i++)
		check_int(rows[i], ports_of(NULL, rows[i], "c", 1, 0, &p),
			  -EINVAL);
	/* Malformed reserved ports are none. */
	check_int("reserved", ports_of("1-", "1-9", "c", 1, 0, &p), 0);
	assert_int_equal(p.master, 1);
}

static void in_range_and_distinct(const struct ports *p, unsigned low,
				  unsigned high)
{
	assert_in_range(p->master, low, high);
	for (int i = 0; i < LF_PORT_CANDIDATES; i++) {
		assert_in_range(p->candidate[i], low, high);
		assert_int_not_equal(p->candidate[i], p->master);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(p->candidate[i], p->candidate[k]);
	}
}

static void hashed(void **state)
{
	static const struct {
		const char *range;
		unsigned low, high;
	} rows[] = {
		{ "1-9", 1, 9 },
		{ "65527-65535", 65527, 65535 },
		{ "20000-29999", 20000, 29999 },
		{ "1-65535", 1, 65535 },
		{ "1000-1026", 1000, 1026 },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		for (uint32_t job = 0; job < 500; job++) {
			struct ports p, same;

			assert_int_equal(ports_of(NULL, rows[r].range, "c", job,
						  job % 3, &p),
					 0);
			assert_int_equal(ports_of("", rows[r].range, "c", job,
						  job % 3, &same),
					 0);
			assert_memory_equal(&p, &same, sizeof(p));
			in_range_and_distinct(&p, rows[r].low, rows[r].high);
		}
	}
}

/* Every node computes the same, whatever the machine: golden values. */
static void alike_on_every_machine(void **state)
{
	struct ports a, b;

	assert_int_equal(ports_of(NULL, "20000-29999", "c", 7, 0, &a), 0);
	assert_int_equal(ports_of(NULL, "20000-29999", "c", 7, 1, &b), 0);
	assert_int_equal(a.master, 28361);
	assert_int_not_equal(a.master, b.master);
	assert_int_equal(ports_of(NULL, "20000-29999", "d", 7, 0, &b), 0);
	assert_int_not_equal(a.master, b.master);
	assert_int_equal(ports_of(NULL, "20000-29999", "c", 8, 0, &b), 0);
	assert_int_not_equal(a.master, b.master);
}

static void reserved(void **state)
{
	struct ports p;

	assert_int_equal(ports_of("12000-12008", "1-9", "c", 1, 0, &p), 0);
	assert_int_equal(p.master, 12000);
	assert_int_equal(p.candidate[0], 12001);
	in_range_and_distinct(&p, 12000, 12008);
	/* Too few: for the rendezvous only. */
	assert_int_equal(ports_of("12000-12007", "1-9", "c", 1, 0, &p), 0);
	assert_int_equal(p.master, 12000);
	assert_in_range(p.candidate[0], 1, 9);
	assert_int_equal(ports_of("12000", "1-9", "c", 1, 0, &p), 0);
	assert_int_equal(p.master, 12000);
}

static int listen_on(int family, uint16_t *port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_addr = in6addr_any };
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr *sa = family == AF_INET ? (struct sockaddr *)&v4
						: (struct sockaddr *)&v6;
	socklen_t n = family == AF_INET ? sizeof(v4) : sizeof(v6);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, sa, n) < 0 || listen(fd, 1) < 0 ||
	    getsockname(fd, sa, &n) < 0) {
		(void)close(fd);
		return -1;
	}
	*port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return fd;
}

static void taken_by(int family)
{
	uint16_t port = 0;
	int fd = listen_on(family, &port);
	pid_t holder = 0;

	NEEDS(fd >= 0, "no such address family here");
	assert_false(ports_free(port, &holder));
	assert_int_equal(holder, getpid());
	(void)close(fd);
	assert_true(ports_free(port, &holder));
}

static void taken_on_loopback(void **state)
{
	taken_by(AF_INET);
}

static void taken_on_every_address(void **state)
{
	taken_by(AF_INET6);
}

MAIN(T(malformed), T(hashed), T(alike_on_every_machine), T(reserved),
     T(taken_on_loopback), T(taken_on_every_address))
