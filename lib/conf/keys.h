/* SPDX-License-Identifier: Apache-2.0 */
/* keys - the one table of configuration keys, and a set of values for it.
 *
 * Refusals of options, loongforge.conf, `loongforge config` and the manual page
 * all come from this table.  A value is text, checked against its key when
 * it is set, so that readers need no second check; words are kept as the table
 * spells them, whatever their case was.  libc only.
 */
#ifndef LF_KEYS_H
#define LF_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum lf_key_id {
	LF_KEY_DRAIN_SECONDS,
	LF_KEY_HELLO_SECONDS,
	LF_KEY_PORTS,
	LF_KEY_MEMLOCK,
	LF_KEY_MEMORY_POLICY,
	LF_KEY_RENDEZVOUS,
	LF_KEY_THREADS,
	LF_KEY_RECORDER,
	LF_KEY_PYTHON,
	LF_KEY_LOG_LEVEL,
	LF_KEY_LOG_DIR,
	LF_KEY_GATE_JOBS,
	LF_KEY_GATE_ENFORCE,
	LF_KEY_GATE_STRICT,
	LF_KEY_GATE_MAX_AGE,
	LF_KEY_GATE_MACHINE,
	LF_KEY_GATE_RECORDING,
	LF_KEY_GATE_SLURM,
	LF_KEY_BREAKER_NODES,
	LF_KEY_BREAKER_PERCENT,
	LF_KEY_BREAKER_MINUTES,
	LF_KEY_CHECKS, /* the first check.CLAUSE; all after it are such */
	LF_KEYS = LF_KEY_CHECKS + 12
};

struct lf_key {
	const char *name; /* "section.key" */
	const char *value; /* built-in */
	bool user; /* a user may set it; else only the administrator */
	int (*check)(const struct lf_key *k, const char *text);
	uint64_t min, max; /* for numbers */
	const char *expected; /* what a value looks like, for people */
	const char *help;
};

extern const struct lf_key lf_keys[LF_KEYS];

enum {
	LF_VALUE_MAX = 512
};

struct lf_values {
	char text[LF_KEYS][LF_VALUE_MAX];
	bool given[LF_KEYS]; /* set since lf_keys_defaults */
};

/* The key's number, or -ENOENT. */
int lf_keys_find(const char *name);
void lf_keys_defaults(struct lf_values *v);
/* -ENOENT unknown key, -EPERM not a user's, -EINVAL bad value; v unchanged. */
int lf_keys_set(struct lf_values *v, const char *name, const char *value,
		bool as_user, struct lf_err *e);
/* "K=V;K=V": all or nothing, the last of equal keys wins. */
int lf_keys_set_list(struct lf_values *v, const char *list, struct lf_err *e);
uint64_t lf_keys_number(const struct lf_values *v, enum lf_key_id id);
bool lf_keys_bool(const struct lf_values *v, enum lf_key_id id);

#endif
