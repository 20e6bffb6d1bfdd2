/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "options.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clean.h"
#include "base/limits.h"
#include "base/parse.h"
#include "spankapi.h"

/* Slurm takes an option's value from this variable, before the command line. */
#define CARRIER "SLURM_SPANK__SLURM_SPANK_OPTION_loongforge_loongforge"
#define MUNGE	"/run/munge/munge.socket.2" /* of every site with munge */

/* What an option was given: in the environment, then on the command line. */
struct given {
	const char *twin, *carrier;
	const char *joined; /* variable that hands all values on */
	char env[LF_SET_MAX], own[LF_SET_MAX];
};

static struct given mode = { .twin = "LOONGFORGE", .carrier = CARRIER };
static struct given sets = { .twin = "LOONGFORGE_SET",
			     .carrier = CARRIER "_set",
			     .joined = "SLURM_LOONGFORGE_SET" };
static struct given secret = { .carrier = CARRIER "_secret" };

__attribute__((format(printf, 2, 3))) static int refuse(const char *code,
							const char *fmt, ...)
{
	char what[LF_ERR_MAX + 32];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	lf_clean(what, "");
	slurm_error("loongforge: %s (%s)", what, code);
	return -1;
}

static int keep(char value[LF_SET_MAX], const char *arg)
{
	(void)snprintf(value, LF_SET_MAX, "%s", arg ? arg : "");
	return 0;
}

/* Where a value given on the submit side belongs.  Slurm hands over the
 * environment's first; it is only a default. */
static char *place(struct given *g, const char *arg)
{
	const char *env = getenv(g->carrier);

	return *g->env || *g->own || !env || strcmp(env, arg) ? g->own : g->env;
}

/* Keeps "on", "off" or "check", however that was said.  A flag without argument comes as
 * NULL, "" or "(null)". */
static int take_mode(int val, const char *arg, int remote)
{
	const char *text = !arg || !*arg || !strcmp(arg, "(null)") ? "on" : arg;
	char *value = remote ? mode.own : place(&mode, arg ? arg : "");
	bool on;

	if (lf_parse_bool(text, &on) == 0)
		text = on ? "on" : "off";
	else if (!remote && strcmp(text, "check") != 0) /* a node tells it by its plan */
		return refuse("LF-OPT-01",
			      "--loongforge: expected on, check or off, found "
			      "'%.64s'",
			      text);
	if (!remote && *value && strcmp(value, text) != 0)
		return refuse("LF-OPT-02",
			      "--loongforge is given twice, %s and %s; one "
			      "value holds for all components",
			      value, text);
	return keep(value, text);
}

/* loongforge-plan checks the list and joins it to what was given before. */
static int join(char had[LF_SET_MAX], const char *more)
{
	char out[LF_SET_MAX];
	char plan[] = LF_LIBEXECDIR "/loongforge-plan";
	char *argv[] = { plan, "join", had, (char *)more, NULL };
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = LF_SCONTROL_MS,
			      .out = out,
			      .size = sizeof(out) };
	struct lf_err e;

	if (lf_child_run(&c, &e) < 0)
		return refuse("LF-OPT-03", "--loongforge-set: %s", e.text);
	out[strcspn(out, "\n")] = '\0';
	return keep(had, out);
}

static int take_set(int val, const char *arg, int remote)
{
	if (remote) /* unchecked; 22.05 calls twice */
		return keep(sets.own, arg);
	return join(place(&sets, arg ? arg : ""), arg ? arg : "");
}

static int take_secret(int val, const char *arg, int remote)
{
	return keep(secret.own, arg);
}

static struct spank_option table[] = {
	{ "loongforge", "on|check|off",
	  "Start LoongForge's orchestrator around the tasks, or print what "
	  "the nodes' hardware is judged to be.", 2, 0,
	  take_mode },
	{ "loongforge-set", "KEY=VALUE",
	  "Set a key of loongforge.conf(5) for this job; repeatable, or several "
	  "with ';' between.",
	  1, 0, take_set },
	{ "loongforge-secret", "HEX", /* last: not where there is munge */
	  "Set by srun itself where there is no munge.", 1, 0, take_secret },
};

/* Behind the twin comes what the outer command was given, which wins. */
static void take_twin(struct given *g)
{
	const char *twin = getenv(g->twin), *outer = getenv(g->carrier);
	char both[8 * LF_SET_MAX]; /* too long is told, not cut */

	if (g->joined && getenv(g->joined))
		outer = getenv(g->joined);
	if (!twin || !*twin || (outer && !g->joined))
		twin = "";
	(void)snprintf(both, sizeof(both), "%s%s%s", twin,
		       *twin && outer ? ";" : "", outer ? outer : "");
	if (*both)
		(void)setenv(g->carrier, both, 1);
}

/* A key for the step's orchestrators, in no environment of a task. */
static void make_secret(void)
{
	unsigned char raw[32];
	char hex[2 * sizeof(raw) + 1];

	if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw))
		return;
	for (size_t i = 0; i < sizeof(raw); i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", raw[i]);
	(void)setenv(secret.carrier, hex, 1);
}

void options_register(spank_t sp, bool submit)
{
	bool munge = submit && access(MUNGE, F_OK) == 0;

	for (size_t i = 0; i + munge < sizeof(table) / sizeof(*table); i++)
		(void)spank_option_register(sp, &table[i]);
	if (!submit)
		return;
	take_twin(&mode);
	take_twin(&sets);
	if (!munge && spank_context() == S_CTX_LOCAL)
		make_secret();
}

static const char *join_sets(void)
{
	static char joined[2 * LF_SET_MAX];

	(void)snprintf(joined, sizeof(joined), "%s%s%s", sets.env,
		       *sets.env && *sets.own ? ";" : "", sets.own);
	return joined;
}

void options_publish(void)
{
	(void)unsetenv(secret.carrier); /* travels as an option by now */
	if (*join_sets())
		(void)setenv(sets.joined, join_sets(), 1);
}

bool options_on(void)
{
	const char *text = *mode.own ? mode.own : mode.env;

	return *text && strcmp(text, "off") != 0;
}

const char *options_mode(spank_t sp)
{
	/* 22.05 loses the batch step's option under --export=NONE. */
	if (!*mode.own &&
	    sp_getenv(sp, mode.carrier, mode.env, sizeof(mode.env)))
		(void)take_mode(0, mode.env, 1);
	return mode.own;
}

const char *options_set(spank_t sp)
{
	/* The option's value is the end of the list; once more does no harm. */
	(void)sp_getenv(sp, sets.joined, sets.env, sizeof(sets.env));
	return join_sets();
}

const char *options_secret(void)
{
	return secret.own;
}
