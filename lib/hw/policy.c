/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"

const char *const lf_action_names[] = { "off", "warn", "reject", "drain" };

static int key_of(int clause)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "check.%s", lf_clause_names[clause]);
	return lf_keys_find(name);
}

/* A value that keys.c has checked, hence one of the names. */
static enum lf_action action_of(const struct lf_values *v, int clause)
{
	int key = key_of(clause);

	for (int a = LF_ACTION_DRAIN; key >= 0 && a > LF_ACTION_OFF; a--)
		if (strcmp(v->text[key], lf_action_names[a]) == 0)
			return (enum lf_action)a;
	return LF_ACTION_OFF;
}

void lf_policy_from(const struct lf_values *v, struct lf_policy *p)
{
	p->enforce = strcmp(v->text[LF_KEY_GATE_ENFORCE], "on") == 0;
	p->strict = lf_keys_bool(v, LF_KEY_GATE_STRICT);
	for (int c = 0; c < LF_CLAUSES; c++)
		p->check[c] = action_of(v, c);
}

static enum lf_action least(enum lf_action a, enum lf_action b)
{
	return a < b ? a : b;
}

void lf_policy_of_user(const struct lf_values *user, struct lf_policy *p)
{
	for (int c = 0; c < LF_CLAUSES; c++) {
		enum lf_action his = LF_ACTION_OFF;

		if (user->given[key_of(c)])
			his = least(action_of(user, c), LF_ACTION_REJECT);
		p->check[c] = least(p->check[c], LF_ACTION_WARN);
		if (his > p->check[c])
			p->check[c] = his;
	}
	p->enforce = true;
	p->strict = false;
}

uint64_t lf_policy_gpus(const char *list)
{
	uint64_t bits = 0;
	char copy[1024], *cursor = copy, *item;

	(void)snprintf(copy, sizeof(copy), "%s", list ? list : "");
	while ((item = strsep(&cursor, ",")) != NULL) {
		char *end = strchr(item, '-');
		uint64_t low, high;

		if (end)
			*end++ = '\0';
		if (lf_parse_u64(item, 0, 63, &low) < 0 ||
		    lf_parse_u64(end ? end : item, low, 63, &high) < 0)
			continue;
		for (uint64_t i = low; i <= high; i++)
			bits |= UINT64_C(1) << i;
	}
	return bits;
}

enum lf_action lf_policy_finding(const struct lf_policy *p,
				 const struct lf_verdict_finding *f,
				 uint64_t job)
{
	enum lf_action a = p->check[f->clause];

	if (f->result != LF_RESULT_WARN && f->result != LF_RESULT_FAIL)
		return LF_ACTION_OFF;
	if (!p->enforce || f->result == LF_RESULT_WARN)
		a = least(a, LF_ACTION_WARN);
	if (a < LF_ACTION_DRAIN && f->gpus && !(f->gpus & job))
		return LF_ACTION_OFF; /* GPUs of others */
	return a;
}

/* What could not be looked at, as a finding. */
static void unknown(const struct lf_verdict *v, int clause,
		    struct lf_verdict_finding *f)
{
	*f = (struct lf_verdict_finding){ .code = "LF-GATE-02",
					  .clause = (enum lf_clause_id)clause,
					  .result = LF_RESULT_FAIL };
	(void)snprintf(f->subject, sizeof(f->subject), "%s",
		       lf_clause_names[clause]);
	(void)snprintf(f->expected, sizeof(f->expected), "to be seen");
	(void)snprintf(f->found, sizeof(f->found), "%.90s",
		       *v->unseen ? v->unseen : "unknown");
}

enum lf_action lf_policy_decide(const struct lf_policy *p,
				const struct lf_verdict *v, uint64_t job,
				struct lf_verdict_finding *why)
{
	enum lf_action most = LF_ACTION_OFF;

	for (int i = 0; i < v->findings + LF_CLAUSES; i++) {
		struct lf_verdict_finding f;
		enum lf_action a;

		if (i < v->findings)
			f = v->finding[i];
		else if (p->strict &&
			 v->clause[i - v->findings] == LF_RESULT_UNKNOWN)
			unknown(v, i - v->findings, &f);
		else
			continue;
		a = lf_policy_finding(p, &f, job);
		if (a > most) {
			most = a;
			*why = f;
		}
	}
	return most;
}
