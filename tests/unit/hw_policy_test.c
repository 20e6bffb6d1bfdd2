/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "hw/policy.h"

static struct lf_values values;
static struct lf_policy policy;
static struct lf_verdict verdict;

static void give(const char *list)
{
	struct lf_err e = { "" };

	lf_keys_defaults(&values);
	for (int i = 0; i < LF_KEYS; i++)
		if (strstr(list, lf_keys[i].name)) {
			char copy[256], *at, *end;

			(void)snprintf(copy, sizeof(copy), "%s", list);
			at = strstr(copy, lf_keys[i].name) +
			     strlen(lf_keys[i].name) + 1;
			end = at + strcspn(at, ";");
			*end = '\0';
			check_int(e.text,
				  lf_keys_set(&values, lf_keys[i].name, at,
					      false, &e),
				  0);
		}
}

static void finding(enum lf_clause_id clause, enum lf_result result,
		    uint64_t gpus)
{
	memset(&verdict, 0, sizeof(verdict));
	verdict.findings = 1;
	verdict.finding[0] = (struct lf_verdict_finding){
		.code = "LF-X-01", .clause = clause, .result = result,
		.gpus = gpus
	};
	verdict.clause[clause] = result;
}

static void every_clause_has_a_key(void **state)
{
	for (int c = 0; c < LF_CLAUSES; c++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "check.%s",
			       lf_clause_names[c]);
		check_int(name, lf_keys_find(name) >= LF_KEY_CHECKS, 1);
	}
}

static void decisions(void **state)
{
	static const struct {
		const char *set;
		enum lf_result result;
		uint64_t gpus, job;
		enum lf_action want;
	} rows[] = {
		/* nothing is blocked unless it is enforced */
		{ "", LF_RESULT_FAIL, 0, 1, LF_ACTION_WARN },
		{ "check.nvlink=off", LF_RESULT_FAIL, 0, 1, LF_ACTION_OFF },
		{ "check.nvlink=reject", LF_RESULT_FAIL, 0, 1, LF_ACTION_WARN },
		{ "gate.enforce=on", LF_RESULT_FAIL, 0, 1, LF_ACTION_DRAIN },
		{ "gate.enforce=on", LF_RESULT_WARN, 0, 1, LF_ACTION_WARN },
		{ "gate.enforce=on", LF_RESULT_PASS, 0, 1, LF_ACTION_OFF },
		{ "gate.enforce=on;check.nvlink=off", LF_RESULT_FAIL, 0, 1,
		  LF_ACTION_OFF },
		{ "gate.enforce=on;check.nvlink=warn", LF_RESULT_FAIL, 0, 1,
		  LF_ACTION_WARN },
		{ "gate.enforce=on;check.nvlink=reject", LF_RESULT_FAIL, 0, 1,
		  LF_ACTION_REJECT },
		/* drain looks at all GPUs, reject at the job's */
		{ "gate.enforce=on", LF_RESULT_FAIL, 8, 1, LF_ACTION_DRAIN },
		{ "gate.enforce=on;check.nvlink=reject", LF_RESULT_FAIL, 8, 1,
		  LF_ACTION_OFF },
		{ "gate.enforce=on;check.nvlink=reject", LF_RESULT_FAIL, 8, 9,
		  LF_ACTION_REJECT },
		{ "gate.enforce=on;check.nvlink=reject", LF_RESULT_FAIL, 8, 0,
		  LF_ACTION_OFF },
		/* what could not be seen */
		{ "gate.enforce=on", LF_RESULT_UNKNOWN, 0, 1, LF_ACTION_OFF },
		{ "gate.enforce=on;gate.strict=yes", LF_RESULT_UNKNOWN, 0, 1,
		  LF_ACTION_DRAIN },
		{ "gate.strict=yes", LF_RESULT_UNKNOWN, 0, 1, LF_ACTION_WARN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct lf_verdict_finding why = { "" };

		give(rows[i].set);
		lf_policy_from(&values, &policy);
		finding(LF_CLAUSE_NVLINK, rows[i].result, rows[i].gpus);
		if (rows[i].result == LF_RESULT_UNKNOWN)
			verdict.findings = 0;
		check_int(rows[i].set,
			  lf_policy_decide(&policy, &verdict, rows[i].job,
					   &why),
			  rows[i].want);
		check_int("why", *why.code != '\0',
			  rows[i].want != LF_ACTION_OFF);
	}
}

/* The administrator's list, then the user's. */
static void a_user_only_tightens(void **state)
{
	static const struct {
		const char *site, *user;
		enum lf_action want;
	} rows[] = {
		{ "", "", LF_ACTION_WARN },
		{ "", "check.nvlink=off", LF_ACTION_WARN },
		{ "", "check.nvlink=reject", LF_ACTION_REJECT },
		{ "", "check.nvlink=drain", LF_ACTION_REJECT },
		{ "check.nvlink=off", "check.nvlink=warn", LF_ACTION_WARN },
		{ "check.nvlink=off", "", LF_ACTION_OFF },
		/* the prolog has decided what is the administrator's */
		{ "gate.enforce=on;check.nvlink=reject", "", LF_ACTION_WARN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct lf_verdict_finding why;

		give(rows[i].site);
		lf_policy_from(&values, &policy);
		give(rows[i].user);
		lf_policy_of_user(&values, &policy);
		finding(LF_CLAUSE_NVLINK, LF_RESULT_FAIL, 0);
		check_int(rows[i].user,
			  lf_policy_decide(&policy, &verdict, 1, &why),
			  rows[i].want);
	}
}

MAIN(T(every_clause_has_a_key), T(decisions), T(a_user_only_tightens))
