/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/limits.h"
#include "conf/keys.h"

static void refused(void **state)
{
	static char big[LF_VALUE_MAX + 1];
	const struct {
		const char *name, *value;
		bool as_user;
		int rc;
		const char *text;
	} rows[] = {
		{ "", "1", false, -ENOENT, "unknown key ''" },
		{ "launch", "1", false, -ENOENT, "unknown key 'launch'" },
		{ "launch.", "1", false, -ENOENT, "unknown key" },
		{ "drain_seconds", "1", false, -ENOENT, "unknown key" },
		{ "LOG.LEVEL", "INFO", false, -ENOENT, "unknown key" },
		{ "launch.ports", "1-20", true, -EPERM, "administrator" },
		{ "launch.drain_seconds", "0", false, -EINVAL,
		  "launch.drain_seconds: expected seconds, 1 to 300, found "
		  "'0'" },
		{ "launch.drain_seconds", "301", false, -EINVAL, "" },
		{ "launch.drain_seconds", "", false, -EINVAL, "" },
		{ "launch.ports", "1-8", false, -EINVAL, "at least 9 ports" },
		{ "launch.ports", "20000", false, -EINVAL, "" },
		{ "memory.memlock", "64g", false, -EINVAL, "64G" },
		{ "memory.policy", "", true, -EINVAL, "preferred or off" },
		{ "memory.policy", "or", true, -EINVAL, "" },
		{ "memory.policy", "prefer", true, -EINVAL, "" },
		{ "memory.policy", "preferred or off", true, -EINVAL, "" },
		{ "env.threads", "maybe", true, -EINVAL, "yes or no" },
		{ "log.level", "inf", true, -EINVAL, "" },
		{ "log.level", "nfo", true, -EINVAL, "" },
		{ "log.level", "infos", true, -EINVAL, "" },
		{ "log.level", "OR", true, -EINVAL, "" },
		{ "log.level", "INFO,", true, -EINVAL, "" },
		{ "log.level", "ERROR, WARN", true, -EINVAL, "" },
		{ "log.dir", "relative", true, -EINVAL, "absolute" },
		{ "log.dir", "/a;log.level=INFO", true, -EINVAL, "" },
		{ "log.dir", "/a\nsecret=x", true, -EINVAL, "" },
		{ "log.dir", big, true, -EINVAL, "" },
	};
	struct lf_values v, before;

	memset(big, '/', sizeof(big) - 1);
	lf_keys_defaults(&v);
	before = v;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e;
		int rc = lf_keys_set(&v, rows[i].name, rows[i].value,
				     rows[i].as_user, &e);

		check_int(rows[i].value, rc, rows[i].rc);
		check_has(rows[i].value, e.text, rows[i].text);
		assert_memory_equal(&v, &before, sizeof(v));
	}
}

static void table_is_sound(void **state)
{
	struct lf_values v;

	lf_keys_defaults(&v);
	for (int i = 0; i < LF_KEYS; i++) {
		const struct lf_key *k = &lf_keys[i];
		struct lf_err e;

		assert_non_null(k->name);
		assert_non_null(strchr(k->name, '.'));
		assert_true(strlen(k->name) < 32);
		assert_true(strlen(k->help) > 0 && strlen(k->expected) > 0);
		check_str(k->name, v.text[i], k->value);
		check_int(k->name, v.given[i], false);
		check_int(k->name,
			  lf_keys_set(&v, k->name, k->value, false, &e), 0);
		check_int(k->name, v.given[i], true);
	}
}

/* `kept`: NULL where it is as it was given. */
static void taken(void **state)
{
	static const struct {
		const char *name, *value, *kept;
	} rows[] = {
		{ "launch.drain_seconds", "300", NULL },
		{ "launch.ports", "1-9", NULL },
		{ "memory.memlock", "64G", NULL },
		{ "memory.memlock", "keep", NULL },
		{ "memory.policy", "off", NULL },
		{ "memory.policy", "Preferred", "preferred" },
		{ "gate.enforce", "on", NULL },
		{ "gate.jobs", "ALL", "all" },
		{ "env.threads", "off", "no" },
		{ "env.threads", "1", "yes" },
		{ "env.threads", "False", "no" },
		{ "log.level", "ERROR", NULL },
		{ "log.level", "WARN", NULL },
		{ "log.level", "DEBUG", NULL },
		{ "log.level", "info", "INFO" },
		{ "log.level", "Debug", "DEBUG" },
		{ "log.dir", "", NULL },
		{ "log.dir", "/with space/and=sign", NULL },
	};
	struct lf_values v;

	lf_keys_defaults(&v);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].value;

		check_int(row,
			  lf_keys_set(&v, rows[i].name, row, false, NULL), 0);
		check_str(row, v.text[lf_keys_find(rows[i].name)],
			  rows[i].kept ? rows[i].kept : row);
	}
	assert_int_equal(lf_keys_number(&v, LF_KEY_DRAIN_SECONDS), 300);
	assert_false(lf_keys_bool(&v, LF_KEY_THREADS));
	assert_true(lf_keys_bool(&v, LF_KEY_PYTHON));
	assert_string_equal(v.text[LF_KEY_LOG_DIR], "/with space/and=sign");
}

static void lists(void **state)
{
	static char big[LF_SET_MAX + 2];
	const struct {
		const char *list;
		int rc;
		const char *text;
	} rows[] = {
		{ "", 0, "" },
		{ ";;", 0, "" },
		{ "log.level", -EINVAL, "expected KEY=VALUE, found 'log" },
		{ "=x", -EINVAL, "expected KEY=VALUE" },
		{ "log.level=DEBUG;nonsense=1", -ENOENT, "nonsense" },
		{ "log.level=DEBUG;launch.ports=1-20", -EPERM, "ports" },
		{ "log.level=DEBUG;log.level=loud", -EINVAL, "loud" },
		{ big, -E2BIG, "at most 8191 bytes, found 8193" },
	};
	struct lf_values v, before;

	memset(big, ';', sizeof(big) - 1);
	lf_keys_defaults(&v);
	before = v;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };

		check_int(rows[i].list, lf_keys_set_list(&v, rows[i].list, &e),
			  rows[i].rc);
		check_has(rows[i].list, e.text, rows[i].text);
		assert_memory_equal(&v, &before, sizeof(v));
	}
	assert_int_equal(lf_keys_set_list(&v,
					  "log.level=WARN;env.python=no;"
					  "log.level=DEBUG",
					  NULL),
			 0);
	assert_string_equal(v.text[LF_KEY_LOG_LEVEL], "DEBUG");
	assert_false(lf_keys_bool(&v, LF_KEY_PYTHON));
	assert_false(v.given[LF_KEY_THREADS]);
}

MAIN(T(refused), T(table_is_sound), T(taken), T(lists))
