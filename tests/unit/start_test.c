/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "orchestrator/start.h"

static int parse(const char *text, struct start *s, struct lf_err *e)
{
	static char copy[LF_START_MAX];

	(void)snprintf(copy, sizeof(copy), "%s", text);
	return start_parse(copy, s, e);
}

static void rubbish(void **state)
{
	static char secret[80], node[400];
	const struct {
		const char *text;
		int rc;
		const char *why;
	} rows[] = {
		{ "x", -EINVAL, "not a pair: x" },
		{ "=1", -EINVAL, "not a pair" },
		{ "job", -EINVAL, "not a pair: job" },
		{ "job=", -EINVAL, "bad value: job=" },
		{ "job=-1", -EINVAL, "bad value: job=-1" },
		{ "job=4294967296", -EINVAL, "bad value" },
		{ "nonsense=1", -ENOENT, "unknown key 'nonsense'" },
		{ "lazy=maybe", -EINVAL, "lazy=maybe" },
		{ "port=65536", -EINVAL, "port=65536" },
		{ "log.level=loud", -EINVAL, "log.level: expected" },
		{ "nodes=0", -EINVAL, "node 0 of 0" },
		{ "nodes=65537", -EINVAL, "of 65537" },
		{ "nodes=2\nnodeid=2", -EINVAL, "node 2 of 2" },
		{ "port=1\nport=2\nport=3\nport=4\nport=5\nport=6\nport=7\n"
		  "port=8\nport=9",
		  -EINVAL, "port=9" },
		{ secret, -EINVAL, "bad value: secret=" },
		{ node, -EINVAL, "bad value: node=" },
	};
	static struct start s;

	(void)snprintf(secret, sizeof(secret), "secret=%065d", 0);
	(void)snprintf(node, sizeof(node), "node=%0300d", 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };

		check_int(rows[i].text, parse(rows[i].text, &s, &e),
			  rows[i].rc);
		check_has(rows[i].text, e.text, rows[i].why);
	}
}

static void nothing_said(void **state)
{
	static struct start s;

	memset(&s, 'x', sizeof(s));
	assert_int_equal(parse("", &s, NULL), 0);
	assert_int_equal(s.nodes, 1);
	assert_int_equal(s.tasks, 1);
	assert_int_equal(s.job, 0);
	assert_int_equal(s.ports, 0);
	assert_false(s.lazy);
	assert_string_equal(s.node, "");
	assert_string_equal(s.secret, "");
	assert_string_equal(s.values.text[LF_KEY_LOG_LEVEL], "INFO");
}

static void all_said(void **state)
{
	static struct start s;

	assert_int_equal(parse("job=7\nstep=4294967291\nrestart=2\n"
			       "nodeid=3\nnodes=4\ntasks=8\nnode=n3\n"
			       "cluster=c\nrun=/run/x\nport=1000\nport=1001\n"
			       "lazy=1\nlog.level=DEBUG\nlog.dir=\n"
			       "launch.hello_seconds=600\nsecret=\n",
			       &s, NULL),
			 0);
	assert_int_equal(s.job, 7);
	assert_true(s.step == 4294967291u);
	assert_int_equal(s.restart, 2);
	assert_int_equal(s.nodeid, 3);
	assert_int_equal(s.nodes, 4);
	assert_int_equal(s.tasks, 8);
	assert_string_equal(s.node, "n3");
	assert_string_equal(s.cluster, "c");
	assert_string_equal(s.run, "/run/x");
	assert_int_equal(s.ports, 2);
	assert_int_equal(s.port[1], 1001);
	assert_true(s.lazy);
	assert_string_equal(s.values.text[LF_KEY_LOG_LEVEL], "DEBUG");
	assert_int_equal(lf_keys_number(&s.values, LF_KEY_HELLO_SECONDS), 600);
}

MAIN(T(rubbish), T(nothing_said), T(all_said))
