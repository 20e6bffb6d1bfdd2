/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/limits.h"
#include "conf/conf.h"

static struct lf_conf conf, builtin;

static void is_builtin(const char *row)
{
	for (int i = 0; i < LF_KEYS; i++) {
		check_str(row, conf.values.text[i], builtin.values.text[i]);
		check_str(row, conf.origin[i], "built-in");
		check_int(row, conf.values.given[i], false);
	}
}

/* `why` comes behind "FILE" if it begins with a colon. */
static void refused(const char *row, const char *path, int rc, const char *why)
{
	struct lf_err e = { "" };
	char want[5000];

	memset(&conf, 'x', sizeof(conf));
	check_int(row, lf_conf_read(path, &conf, &e), rc);
	(void)snprintf(want, sizeof(want), "%s%s", *why == ':' ? path : "",
		       why);
	check_has(row, e.text, want);
	is_builtin(row);
}

static void not_to_be_trusted(void **state)
{
	static char big[LF_CONF_MAX + 1];
	const char *text = "log { level = DEBUG }\n";

	lf_conf_defaults(&builtin);
	memset(big, '\n', sizeof(big));
	write_file(scratch("big"), big, sizeof(big), 0644);
	write_file(scratch("nul"), "log {\0}", 7, 0644);
	write_file(scratch("world"), text, strlen(text), 0646);
	write_file(scratch("group"), text, strlen(text), 0664);
	write_text(scratch("good"), text);
	assert_int_equal(symlink(scratch("good"), scratch("link")), 0);
	assert_int_equal(mkfifo(scratch("fifo"), 0600), 0);
	refused("missing", scratch("none"), -ENOENT, ": No such file");
	refused("folder", scratch(""), -EPERM, "not a regular file");
	refused("fifo", scratch("fifo"), -EPERM, "not a regular file");
	refused("too big", scratch("big"), -EFBIG, ": longer than");
	refused("NUL", scratch("nul"), -EINVAL, ": holds a NUL byte");
	refused("world", scratch("world"), -EPERM, ": not trusted");
	refused("group", scratch("group"), -EPERM, ": not trusted");
	refused("link", scratch("link"), -ELOOP, ": Too many levels");
}

static void not_ours(void **state)
{
	NEEDS(is_root(), "only root can give a file away");
	lf_conf_defaults(&builtin);
	write_text(scratch("good"), "log { level = DEBUG }\n");
	assert_int_equal(chown(scratch("good"), NOBODY, NOBODY), 0);
	refused("foreign", scratch("good"), -EPERM, "found uid 65534");
}

static void faults(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "nonsense", ":1:" },
		{ "\n\nnonsense = 1\n", ":3:" },
		{ "launch {\n\tdrain = 1\n}\n", ":2: no such option 'drain'" },
		{ "nolaunch {\n}\n", ":1: no such option 'nolaunch'" },
		{ "drain_seconds = 1\n", ":1: no such option" },
		{ "launch {\n\n\tdrain_seconds = 0\n}\n",
		  ":3: launch.drain_seconds: expected seconds, 1 to 300, "
		  "found '0'" },
		{ "log { level = DEBUG }\nlog { level = loud }\n",
		  ":2: log.level: expected" },
		/* One fault spoils all, also what was good before. */
		{ "log { level = DEBUG }\nlaunch { ports = 1-2 }\n", ":2:" },
		{ "launch {\n\tdrain_seconds =\n}\n", ":" },
		{ "launch {\n\tdrain_seconds\n}\n", ":" },
		{ "launch = 1\n", ":1:" },
		{ "launch {\n\tdrain_seconds += 1\n}\n", ":2:" },
		{ "launch {\n\tdrain_seconds = {1, 2}\n}\n", ":2:" },
		{ "}\n", ":1:" },
		{ "launch { } }\n", ":1:" },
		{ "} launch {\n", ":" },
		{ "launch {", ":1: section is not closed" },
		{ "launch {\n\tdrain_seconds = 9\n",
		  ":1: section is not closed: expected '}', found the end of "
		  "the file" },
		{ "log {\n}\nlaunch {\n\tdrain_seconds = 9\n", ":3: section" },
		{ "launch {\n# }\n", ":1: section is not closed" },
		{ "launch {\n// }\n", ":1: section is not closed" },
		{ "launch {\n/* } */\n", ":1: section is not closed" },
		{ "launch {\n/* }", ":1: section is not closed" },
		{ "log {\n\tdir = \"/a}\"\n", ":1: section is not closed" },
		{ "log {\n\tdir = '/a}'\n", ":1: section is not closed" },
		{ "log {\n\tdir = \"/a\\\"}\"\n", ":1: section is not closed" },
		{ "log {\n\tdir = \"/a }\n", ":" },
		{ "log {\n\tdir = \"/a\\nb\"\n}\n", ":2: log.dir" },
		{ "'' = 1\n", ":" },
		{ "launch { drain_seconds = 9 } \"\"\n", ":" },
		{ "include(\"/etc/passwd\")\n", ":1:" },
	};

	lf_conf_defaults(&builtin);
	for (size_t i = 0; i < COUNT(rows); i++) {
		write_text(scratch("conf"), rows[i].text);
		refused(rows[i].text, scratch("conf"), -EINVAL, rows[i].why);
	}
}

static void taken(void **state)
{
	static const struct {
		const char *text;
		enum lf_key_id key;
		const char *value;
		int line; /* 0: built-in */
	} rows[] = {
		{ "", LF_KEY_DRAIN_SECONDS, "15", 0 },
		{ "\n# nothing\n", LF_KEY_DRAIN_SECONDS, "15", 0 },
		{ "launch { }", LF_KEY_DRAIN_SECONDS, "15", 0 },
		{ "launch { drain_seconds = 9 }", LF_KEY_DRAIN_SECONDS, "9",
		  1 },
		{ "launch {\n\tdrain_seconds = 9\n}\n", LF_KEY_DRAIN_SECONDS,
		  "9", 2 },
		{ "/* a\n * b { \n */\nlaunch {\n\n\tdrain_seconds = 9 # {\n}",
		  LF_KEY_DRAIN_SECONDS, "9", 6 },
		{ "launch { drain_seconds = 9 }\nlaunch {\n"
		  "drain_seconds = 10 }",
		  LF_KEY_DRAIN_SECONDS, "10", 3 },
		{ "launch { ports = \"1-9\" }", LF_KEY_PORTS, "1-9", 1 },
		{ "launch { ports = 1-9 }", LF_KEY_PORTS, "1-9", 1 },
		{ "env { threads = no }", LF_KEY_THREADS, "no", 1 },
		{ "log { dir = \"/a # {b}\" }", LF_KEY_LOG_DIR, "/a # {b}", 1 },
		{ "log { dir = '/it\"s' }", LF_KEY_LOG_DIR, "/it\"s", 1 },
		{ "log { dir = /a/b }", LF_KEY_LOG_DIR, "/a/b", 1 },
		{ "log { dir = \"//a//b\" }", LF_KEY_LOG_DIR, "//a//b", 1 },
	};
	const char *path = scratch("conf");

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };
		char origin[LF_ORIGIN_MAX] = "built-in";

		if (rows[i].line)
			(void)snprintf(origin, sizeof(origin), "%s:%d", path,
				       rows[i].line);
		write_text(path, rows[i].text);
		check_int(rows[i].text, lf_conf_read(path, &conf, &e), 0);
		check_str(rows[i].text, conf.values.text[rows[i].key],
			  rows[i].value);
		check_str(rows[i].text, conf.origin[rows[i].key], origin);
	}
}

/* An environment of root's must not get into a value. */
static void no_variables(void **state)
{
	struct lf_err e;

	assert_int_equal(setenv("LF_UNIT", "/from/env", 1), 0);
	write_text(scratch("conf"), "log { dir = \"${LF_UNIT}\" }\n");
	if (lf_conf_read(scratch("conf"), &conf, &e) == 0)
		assert_string_not_equal(conf.values.text[LF_KEY_LOG_DIR],
					"/from/env");
}

static void shipped_file(void **state)
{
	const char *srcdir = getenv("srcdir");
	struct lf_err e = { "" };
	char text[16384], path[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/etc/loongforge.conf",
		       srcdir ? srcdir : ".");
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	(void)fclose(f);
	text[n] = '\0';
	write_text(scratch("conf"), text);
	check_int(e.text, lf_conf_read(scratch("conf"), &conf, &e), 0);
	/* Its comments show the built-in values: they hold when taken in. */
	for (char *p = text; (p = strstr(p, "\t# ")) != NULL;)
		p[1] = ' ';
	write_text(scratch("conf"), text);
	check_int(e.text, lf_conf_read(scratch("conf"), &conf, &e), 0);
	lf_conf_defaults(&builtin);
	for (int i = 0; i < LF_KEYS; i++) {
		check_str(lf_keys[i].name, conf.values.text[i],
			  builtin.values.text[i]);
		check_int(lf_keys[i].name, conf.values.given[i], true);
	}
}

static void overlay(void **state)
{
	struct lf_err e;

	lf_conf_defaults(&conf);
	assert_int_equal(lf_conf_overlay(&conf, "log.level=x", "LF_SET", &e),
			 -EINVAL);
	check_has("refused", e.text, "LF_SET: log.level: expected");
	assert_int_equal(
		lf_conf_overlay(&conf, "log.level=DEBUG", "LF_SET", &e), 0);
	assert_string_equal(conf.values.text[LF_KEY_LOG_LEVEL], "DEBUG");
	assert_string_equal(conf.origin[LF_KEY_LOG_LEVEL], "LF_SET");
	assert_string_equal(conf.origin[LF_KEY_LOG_DIR], "built-in");
}

MAIN(T(not_to_be_trusted), T(not_ours), T(faults), T(taken), T(no_variables),
     T(shipped_file), T(overlay))
