/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin beside a step: loaded, on the submit side, in prolog and epilog.
 * Loading is tried with the plugin itself. */
#include "plugin_host.h"

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void loads(void **state)
{
	void *m = load(built(".libs/spank_loongforge.so"));
	const char *name = dlsym(m, "plugin_name");
	const char *type = dlsym(m, "plugin_type");
	const unsigned *version = dlsym(m, "plugin_version");

	assert_string_equal(name, "loongforge");
	assert_string_equal(type, "spank");
	assert_int_equal(*version, SLURM_VERSION_NUMBER);
	assert_null(dlsym(m, "lf_err"));
	assert_null(dlsym(m, "step_begin"));
	(void)dlclose(m);
}

/* Ends the process at any call that opens, connects or starts something. */
static bool forbid_everything(void)
{
#define DENY(name)                                                             \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
#ifdef SYS_open
		DENY(open),
		DENY(fork),
		DENY(vfork),
#endif
		DENY(openat),
		DENY(socket),
		DENY(socketpair),
		DENY(clone),
		DENY(execve),
		DENY(pipe2),
		DENY(kill),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { COUNT(code), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static unsigned hash_env(void)
{
	unsigned h = 5381;

	for (char **e = environ; *e; e++)
		for (const char *p = *e; *p; p++)
			h = h * 33 + (unsigned char)*p;
	for (size_t i = 0; i < sizeof(fake->env); i++)
		h = h * 33 + (unsigned char)((char *)fake->env)[i];
	return h;
}

/* All hooks but prolog and epilog, which keep the node's settings fresh. */
static int idle(void *arg)
{
	unsigned before = hash_env();

	if (!forbid_everything())
		return 77;
	for (int h = 0; h < PROLOG; h++)
		if (call((enum hook)h) != 0)
			return 1 + h;
	if (*fake->said)
		return 20;
	return hash_env() == before ? 0 : 21;
}

static void nothing_without_the_option(void **state)
{
	static const spank_context_t contexts[] = {
		S_CTX_LOCAL, S_CTX_ALLOCATOR, S_CTX_REMOTE, S_CTX_SLURMD
	};

	for (size_t i = 0; i < COUNT(contexts); i++) {
		int rc;

		fake->context = contexts[i];
		rc = in_child(idle, NULL);
		NEEDS(rc != 77, "seccomp is not available");
		check_int("context", rc, 0);
	}
}

static void refused_options(void **state)
{
	static const struct {
		const char *twin, *twin_set, *mode, *set, *set2, *line;
	} rows[] = {
		{ NULL, NULL, "maybe", NULL, NULL,
		  "error: loongforge: --loongforge: expected on, check or off, "
		  "found "
		  "'maybe' (LF-OPT-01)\n" },
		{ NULL, NULL, "onn", NULL, NULL, "(LF-OPT-01)" },
		{ NULL, NULL, "2", NULL, NULL, "(LF-OPT-01)" },
		{ "maybe", NULL, NULL, NULL, NULL, "(LF-OPT-01)" },
		{ NULL, NULL, "on", "x", NULL,
		  "--loongforge-set: expected KEY=VALUE, found 'x' "
		  "(LF-OPT-03)" },
		{ NULL, NULL, "on", "x=1", NULL, "unknown key 'x'" },
		{ NULL, NULL, "on", "launch.ports=1-20", NULL,
		  "belongs to the administrator" },
		{ NULL, "x=1", NULL, NULL, NULL, "unknown key 'x'" },
		{ NULL, NULL, "on", "log.level=INFO", "log.level=DEBUG",
		  "log.level is given twice: INFO and DEBUG" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		(void)end(NULL);
		(void)begin(NULL);
		if (rows[i].twin)
			(void)setenv("LOONGFORGE", rows[i].twin, 1);
		if (rows[i].twin_set)
			(void)setenv("LOONGFORGE_SET", rows[i].twin_set, 1);
		check_int(rows[i].line,
			  submit(rows[i].mode, rows[i].set, rows[i].set2), -1);
		check_has(rows[i].line, fake->said, rows[i].line);
		check_int(rows[i].line, fake_lines(""), 1);
		check_int(rows[i].line, fake_lines("error: loongforge: "), 1);
	}
}

/* Told, not cut, on either way. */
static void a_list_too_long(void **state)
{
	static char list[9000];
	const char *want = "--loongforge-set: expected at most 8191 bytes, "
			   "found 8999 (LF-OPT-03)\n";

	memset(list, ';', sizeof(list) - 1);
	memcpy(list, "log.level=INFO", 14);
	assert_int_equal(submit("on", list, NULL), -1);
	check_has("option", fake->said, want);
	(void)end(NULL);
	(void)begin(NULL);
	(void)setenv("LOONGFORGE_SET", list, 1);
	assert_int_equal(submit("on", NULL, NULL), -1);
	check_has("twin", fake->said, want);
	assert_int_equal(fake_lines(""), 1);
}

static void contradicting_modes(void **state)
{
	assert_int_equal(submit("on", NULL, NULL), 0);
	assert_int_equal(fake_option("loongforge", "on", 0), 0);
	assert_int_equal(fake_option("loongforge", NULL, 0), 0);
	assert_int_equal(fake_option("loongforge", "(null)", 0), 0);
	assert_string_equal(fake->said, "");
	assert_int_equal(fake_option("loongforge", "off", 0), -1);
	assert_int_equal(fake_lines("error: "), 1);
	check_has("twice", fake->said, "LF-OPT-02");
}

static void is_env(const char *name, const char *want)
{
	const char *value = getenv(name);

	check_str(name, value ? value : "unset", want ? want : "unset");
}

static void settings_are_joined(void **state)
{
	assert_int_equal(submit("on", "log.level=DEBUG", "env.threads=no"), 0);
	assert_string_equal(fake->said, "");
	is_env("SLURM_LOONGFORGE_SET", "env.threads=no;log.level=DEBUG");
	is_env(CARRIER "_secret", NULL); /* no task ever sees it */
}

static void twins(void **state)
{
	(void)setenv("LOONGFORGE", "on", 1);
	(void)setenv("LOONGFORGE_SET", "log.level=DEBUG", 1);
	/* The command line wins over them, and that is no contradiction. */
	assert_int_equal(submit("off", "log.level=ERROR", NULL), 0);
	assert_string_equal(fake->said, "");
	is_env("SLURM_LOONGFORGE_SET", "log.level=DEBUG;log.level=ERROR");
}

static void no_program_on_the_submit_host(void **state)
{
	link_program("loongforge-plan", NULL);
	assert_int_equal(submit("on", "log.level=DEBUG", NULL), -1);
	check_has("text", fake->said, "cannot be run (LF-OPT-03)");
	assert_int_equal(fake_lines(""), 1);
}

/* As keys take them, on either way and on either side. */
static void words_for_on_and_off(void **state)
{
	static const struct {
		const char *word;
		bool on;
	} rows[] = { { "yes", true },	 { "1", true },	  { "True", true },
		     { "ON", true },	 { "no", false }, { "0", false },
		     { "FALSE", false }, { "Off", false } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].word;

		(void)end(NULL);
		(void)begin(NULL);
		(void)setenv("LOONGFORGE", row, 1);
		check_int(row, submit(rows[i].on ? "on" : "off", NULL, NULL),
			  0);
		check_int(row, fake_option("loongforge", row, 0), 0);
		check_str(row, fake->said, "");
		(void)end(NULL);
		(void)begin(NULL);
		step_begins(row, NULL);
		check_int(row, *listening() != '\0', rows[i].on);
		check_int(row, run_task(0), 0);
		check_int(row, step_ends(), 0);
	}
}

/* A fault is one line of it, whatever the faulty value holds: behind it there
 * are the built-in values. */
static void settings_tell_the_fault(const char *settings)
{
	char line[1024];
	FILE *f = fopen(settings, "re");

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_int_equal(strncmp(line, "error=", 6), 0);
	check_has("error", line, "loongforge.conf:1: log.dir: expected");
	assert_non_null(fgets(line, sizeof(line), f));
	check_str("second line", line, "launch.drain_seconds=15\n");
	(void)fclose(f);
}

static void prolog(void **state)
{
	const char *settings = scratch("run/n1.settings");

	fake->context = S_CTX_JOB_SCRIPT;
	write_text(scratch("etc/loongforge.conf"),
		   "log { dir = \"a\\nb=c\" }\n");
	assert_int_equal(call(PROLOG), 0);
	check_has("faulty", fake->said, "error: loongforge: n1: gate: ");
	check_has("faulty", fake->said, "(LF-GATE-01)\n");
	assert_int_equal(fake_lines(""), 1);
	settings_tell_the_fault(settings);
	fake_reset(S_CTX_JOB_SCRIPT);
	write_text(scratch("etc/loongforge.conf"), "log { level = WARN }\n");
	assert_int_equal(call(PROLOG), 0);
	assert_string_equal(fake->said, "");
	assert_int_equal(unlink(settings), 0);
	link_program("loongforge-probe", NULL);
	assert_int_equal(call(PROLOG), 0);
	check_has("no probe", fake->said, "cannot be run (LF-GATE-01)\n");
	assert_int_equal(fake_lines(""), 1);
	(void)unlink(scratch("etc/loongforge.conf"));
}

/* Slurm drains a node whose prolog fails: only a status of 3 may do that. */
static void only_a_drained_node_fails_the_prolog(void **state)
{
	static const struct {
		const char *script;
		int want;
		const char *said;
	} rows[] = {
		{ "#!/bin/sh\n", 0, "" },
		{ "#!/bin/sh\necho warn: n1: x\n", 0, "gate: warn: n1: x\n" },
		{ "#!/bin/sh\necho drained: n1: x; exit 3\n", -1,
		  "gate: drained: n1: x\n" },
		{ "#!/bin/sh\nexit 3\n", -1, "" },
		/* G7: what it says does not count */
		{ "#!/bin/sh\necho drained: n1: x; exit 1\n", 0,
		  "gate: drained: n1: x (LF-GATE-01)\n" },
		{ "#!/bin/sh\nexit 1\n", 0, "failed (LF-GATE-01)\n" },
		{ "#!/bin/sh\nkill -SEGV $$\n", 0, "failed (LF-GATE-01)\n" },
		{ "no program", 0, "cannot be run (LF-GATE-01)\n" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fake_reset(S_CTX_JOB_SCRIPT);
		scripted(scratch("probe"), rows[i].script);
		link_program("loongforge-probe", scratch("probe"));
		check_int(rows[i].script, call(PROLOG), rows[i].want);
		check_has(rows[i].script, fake->said, rows[i].said);
	}
	link_program("loongforge-probe", NULL);
}

static void epilog(void **state)
{
	static const char *const gone[] = { "7.0", "7.1", "7.2" };
	static const char *const kept[] = { "70.0", "17.0", "7", "8.0" };
	struct stat st;

	NEEDS(is_root(), "the folder of segments must be root's");
	fake->context = S_CTX_JOB_SCRIPT;
	fake->job = 7;
	write_text(scratch("outside"), "x");
	for (size_t i = 0; i < 7; i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "run/seg/%s",
			       i < 3 ? gone[i] : kept[i - 3]);
		assert_int_equal(mkdir(scratch(path), 0700), 0);
		assert_int_equal(chown(scratch(path), NOBODY, NOBODY), 0);
	}
	assert_int_equal(
		symlink(scratch("outside"), scratch("run/seg/7.0/link")), 0);
	assert_int_equal(symlink("/", scratch("run/seg/7.3")), 0);
	assert_int_equal(mkdir(scratch("run/seg/7.1/-rf"), 0700), 0);
	assert_int_equal(lchown(scratch("run/seg/7.1/-rf"), NOBODY, NOBODY), 0);
	assert_int_equal(call(EPILOG), 0);
	for (size_t i = 0; i < 7; i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "run/seg/%s",
			       i < 3 ? gone[i] : kept[i - 3]);
		check_int(path, lstat(scratch(path), &st), i < 3 ? -1 : 0);
		if (i >= 3)
			(void)rmdir(scratch(path));
	}
	assert_int_equal(stat(scratch("outside"), &st), 0);
	assert_string_equal(fake->said, "");
	(void)unlink(scratch("run/seg/7.3"));
}

MAIN(T(loads), C(nothing_without_the_option), C(refused_options),
     C(a_list_too_long), C(words_for_on_and_off), C(contradicting_modes),
     C(settings_are_joined), C(twins), C(no_program_on_the_submit_host),
     C(prolog), C(only_a_drained_node_fails_the_prolog), C(epilog))
