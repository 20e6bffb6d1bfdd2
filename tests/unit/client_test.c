/* SPDX-License-Identifier: Apache-2.0 */
/* The client against a small orchestrator of our own, which answers every
 * hello with what the case says. */
#include "unit.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/sock.h"
#include "client/loongforge.h"
#include "wire/session.h"

static struct {
	int listener;
	char name[LF_SOCK_NAME_MAX];
	const char *answer[2]; /* "" is: closes the connection */
	pthread_t thread;
	_Atomic bool stop;
	_Atomic int hellos, byes;
} fake;

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL),
			 strlen(text));
}

static void serve(int fd)
{
	struct lf_msg m;

	while (lf_session_wait(fd, &m, 60000, NULL) > 0) {
		fake.hellos += !strcmp(m.verb, "hello");
		fake.byes += !strcmp(m.verb, "bye");
		if (strcmp(m.verb, "hello") != 0)
			continue;
		for (int i = 0; i < 2 && fake.answer[i]; i++) {
			if (!*fake.answer[i])
				return;
			say(fd, fake.answer[i]);
		}
	}
}

static void *orchestrate(void *arg)
{
	while (!fake.stop) {
		struct pollfd p = { fake.listener, POLLIN, 0 };
		int fd;

		if (poll(&p, 1, 100) <= 0)
			continue;
		fd = accept(fake.listener, NULL, NULL);
		if (fd < 0)
			continue;
		serve(fd);
		(void)close(fd);
	}
	return NULL;
}

static void start(const char *first, const char *second)
{
	const struct lf_step_id id = { 1, 0, 0 };

	fake.answer[0] = first;
	fake.answer[1] = second;
	fake.hellos = fake.byes = 0;
	fake.stop = false;
	assert_int_equal(lf_sock_name(&id, fake.name, NULL), 0);
	assert_int_equal(lf_sock_listen(fake.name, &fake.listener, NULL), 0);
	assert_int_equal(setenv("LOONGFORGE_SOCKET", fake.name, 1), 0);
	assert_int_equal(pthread_create(&fake.thread, NULL, orchestrate, NULL),
			 0);
}

static void stop(void)
{
	lf_finalize(); /* or it would wait for our next word */
	fake.stop = true;
	assert_int_equal(pthread_join(fake.thread, NULL), 0);
	(void)close(fake.listener);
}

static int clean(void **state)
{
	static const char *const names[] = {
		"LOONGFORGE_SOCKET", "SLURM_NTASKS", "SLURM_PROCID",
		"SLURM_LOCALID",     "MASTER_ADDR",  "MASTER_PORT"
	};

	for (size_t i = 0; i < COUNT(names); i++)
		(void)unsetenv(names[i]);
	return 0;
}

static void outside_of_a_step(void **state)
{
	char text[LF_TEXT_MAX] = "old";

	lf_finalize(); /* before any lf_init */
	assert_int_equal(lf_active(), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(lf_init(NULL, text), 0);
		assert_int_equal(lf_init(NULL, NULL), 0);
		assert_int_equal(lf_active(), 0);
		assert_string_equal(text, "");
		check_has("state", lf_state(), "not in a step");
		lf_finalize();
		(void)setenv("LOONGFORGE_SOCKET", "", 1);
	}
	assert_string_equal(lf_version(), PACKAGE_VERSION);
}

static void arguments_that_contradict(void **state)
{
	static const struct {
		const char *row;
		struct lf_init_args args;
	} rows[] = {
		{ "world_size", { 9, -1, NULL, NULL, -1 } },
		{ "rank", { -1, 9, NULL, NULL, -1 } },
		{ "master_addr", { -1, -1, NULL, "elsewhere", -1 } },
		{ "master_port", { -1, -1, NULL, NULL, 9 } },
	};
	struct lf_init_args right = { 2, 1, "gr00t", "n1", 29500 };
	char text[LF_TEXT_MAX];

	start("welcome protocol=1", NULL);
	(void)setenv("SLURM_NTASKS", "2", 1);
	(void)setenv("SLURM_PROCID", "1", 1);
	(void)setenv("MASTER_ADDR", "n1", 1);
	(void)setenv("MASTER_PORT", "29500", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		check_int(rows[i].row, lf_init(&rows[i].args, text), -EINVAL);
		check_has(rows[i].row, text, rows[i].row);
		check_int(rows[i].row, strchr(text, '\n') != NULL, 0);
		assert_int_equal(lf_active(), 0);
	}
	assert_int_equal(fake.hellos, 0);
	check_int(text, lf_init(&right, text), 0);
	assert_int_equal(lf_active(), 1);
	stop();
}

static void answers(void **state)
{
	static const struct {
		const char *first, *second;
		int rc;
		const char *text;
	} rows[] = {
		{ "", NULL, -ENOTCONN, "ended" },
		{ "rubbish a", NULL, -EPROTO, "message" },
		{ "welcome a=%", NULL, -EPROTO, "message" },
		{ "refuse kind=protocol reason=too%20old", NULL, -EPROTO,
		  "too old" },
		{ "refuse kind=group reason=n2%20is%20silent", NULL, -ECOMM,
		  "n2 is silent" },
		{ "wait seconds=1", "", -ENOTCONN, "ended" },
		{ "wait seconds=1", "refuse kind=group reason=x", -ECOMM, "x" },
		{ "welcome", NULL, 0, "" },
		{ "wait seconds=1", "welcome", 0, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[LF_TEXT_MAX] = "";
		int fds = open_fds();

		start(rows[i].first, rows[i].second);
		check_int(rows[i].first, lf_init(NULL, text), rows[i].rc);
		check_has(rows[i].first, text, rows[i].text);
		check_int(rows[i].first, lf_active(), rows[i].rc == 0);
		if (rows[i].rc == 0) /* a second call is a no-op */
			check_int(rows[i].first, lf_init(NULL, text), 0);
		check_int(rows[i].first, fake.hellos, 1);
		stop();
		check_int(rows[i].first, lf_active(), 0);
		check_int(rows[i].first, fake.byes, rows[i].rc == 0);
		check_int(rows[i].first, open_fds(), fds);
	}
}

static void nobody_listens(void **state)
{
	char text[LF_TEXT_MAX];
	int fds = open_fds();

	(void)setenv("LOONGFORGE_SOCKET", "loongforge/1.0.0/gone", 1);
	assert_int_equal(lf_init(NULL, text), -ENOTCONN);
	check_has("text", text, "going on without it");
	assert_int_equal(lf_active(), 0);
	(void)setenv("LOONGFORGE_SOCKET", "loongforge", 1);
	assert_int_equal(lf_init(NULL, text), -ENOTCONN);
	assert_int_equal(open_fds(), fds);
}

static void notices_a_death(void **state)
{
	uint64_t begun = lf_clock_ms();

	start("welcome", "");
	assert_int_equal(lf_init(NULL, NULL), 0);
	while (lf_active() && elapsed_ms(begun) < 5000)
		(void)usleep(1000);
	assert_int_equal(lf_active(), 0);
	check_has("state", lf_state(), "ended");
	stop();
	assert_int_equal(lf_active(), 0);
}

static int in_the_child(void *arg)
{
	if (lf_active())
		return 1; /* not ours */
	lf_finalize();	  /* must not say goodbye for the parent */
	return lf_active();
}

static void after_fork(void **state)
{
	start("welcome", NULL);
	assert_int_equal(lf_init(NULL, NULL), 0);
	assert_int_equal(in_child(in_the_child, NULL), 0);
	(void)usleep(50000);
	assert_int_equal(lf_active(), 1);
	assert_int_equal(fake.byes, 0);
	stop();
}

static void *busy(void *arg)
{
	for (int i = 0; i < 200; i++) {
		(void)lf_init(NULL, NULL);
		(void)lf_active();
		if (i % 10 == 9)
			lf_finalize();
	}
	return NULL;
}

static void many_threads(void **state)
{
	pthread_t t[4];

	start("welcome", NULL);
	for (size_t i = 0; i < COUNT(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, busy, NULL), 0);
	for (size_t i = 0; i < COUNT(t); i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	assert_int_equal(lf_init(NULL, NULL), 0);
	assert_int_equal(lf_active(), 1);
	stop();
	assert_int_equal(fake.hellos, fake.byes);
}

/* In a batch step the first client starts the real orchestrator; the second
 * finds it, and it leaves after the last one. */
static int batch_client(void *arg)
{
	char text[LF_TEXT_MAX] = "";

	if (lf_init(NULL, text) < 0) {
		print_error("%s\n", text);
		return 1;
	}
	if (!lf_active())
		return 2;
	(void)usleep(100000);
	lf_finalize();
	return 0;
}

static void batch_step(void **state)
{
	const struct lf_step_id id = { 1, 0xfffffffbu, 0 };
	char name[LF_SOCK_NAME_MAX], text[LF_TEXT_MAX] = "";
	uint64_t begun = lf_clock_ms();
	int fd;

	assert_int_equal(lf_sock_name(&id, name, NULL), 0);
	(void)setenv("LOONGFORGE_SOCKET", name, 1);
	(void)setenv("SLURM_JOB_ID", "1", 1);
	(void)setenv("SLURM_SUBMIT_DIR", scratch("submit"), 1);
	(void)mkdir(scratch("submit"), 0755);
	check_int(text, lf_init(NULL, text), 0);
	assert_int_equal(lf_active(), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(in_child(batch_client, NULL), 0);
	assert_int_equal(lf_active(), 1);
	lf_finalize();
	while (lf_sock_connect(name, geteuid(), &fd, NULL) == 0 &&
	       elapsed_ms(begun) < 20000) {
		(void)close(fd);
		(void)usleep(20000);
	}
	assert_int_equal(lf_sock_connect(name, geteuid(), &fd, NULL),
			 -ECONNREFUSED);
}

#define C(f) cmocka_unit_test_setup(f, clean)

MAIN(C(outside_of_a_step), C(arguments_that_contradict), C(answers),
     C(nobody_listens), C(notices_a_death), C(after_fork), C(many_threads),
     C(batch_step))
