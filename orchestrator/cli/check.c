/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge check [--from FILE...] [--expect FILE] [--software FILE] [--learn]
 *                  [--policy FILE] [--json]
 *
 * Judges a machine; exit 0 when nothing fails, 3 when something does; with a
 * policy, 3 when that would reject a job or drain the node. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/buf.h"
#include "cli.h"
#include "conf/conf.h"
#include "find/find.h"
#include "hw/expect.h"
#include "hw/policy.h"
#include "machine.h"

enum {
	EXIT_FAULT = 3
};

struct args {
	struct recordings from;
	const char *expect, *software, *policy;
	bool learn, json, verdict;
};

static const struct argp_option options[] = {
	RECORDINGS_OPTION,
	{ "expect", 'e', "FILE", 0,
	  "What the machine should be (else by its GPUs)", 0 },
	{ "software", 's', "FILE", 0, "Known-good versions (else the site's)",
	  0 },
	{ "learn", 'l', NULL, 0, "Write such a file from this good machine",
	  0 },
	{ "json", 'j', NULL, 0, "As one JSON document", 0 },
	{ "policy", 'p', "FILE", 0,
	  "What this loongforge.conf would make of it", 0 },
	{ "verdict", 'v', NULL, OPTION_HIDDEN, "As loongforge-probe reads it",
	  0 },
	{ 0 }
};

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'f':
	case ARGP_KEY_ARG:
		recordings_add(&a->from, state, arg);
		return 0;
	case 'e':
		a->expect = arg;
		return 0;
	case 's':
		a->software = arg;
		return 0;
	case 'p':
		a->policy = arg;
		return 0;
	case 'l':
		a->learn = true;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	case 'v':
		a->verdict = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* To the probe by its own way: what it runs has no other. */
static int fault(const struct args *a, const struct lf_err *e)
{
	if (a->verdict)
		(void)printf("%s\n", e->text);
	else
		(void)fprintf(stderr, "loongforge: %s\n", e->text);
	return 1;
}

static json_t *finding_json(const struct lf_hw_finding *f)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?}", "code",
			 f->code, "clause", lf_clause_names[f->clause],
			 "result", lf_result_names[f->result], "subject",
			 f->subject, "expected", f->expected, "found", f->found,
			 "remedy", f->remedy);
}

/* What a policy makes of the report, for a job with all of the GPUs. */
struct outcome {
	bool asked;
	enum lf_action action;
	struct lf_verdict_finding why;
};

static void print_json(const struct lf_hw *hw, const struct lf_expect *x,
		       const struct lf_report *r, const struct outcome *o)
{
	json_t *clauses = json_object(), *findings = json_array();
	json_t *doc;

	for (int c = 0; c < LF_CLAUSES; c++)
		(void)json_object_set_new(
			clauses, lf_clause_names[c],
			json_string(lf_result_names[r->clause[c]]));
	for (int i = 0; i < r->findings; i++)
		(void)json_array_append_new(findings,
					    finding_json(&r->finding[i]));
	doc = json_pack("{s:s, s:s, s:i, s:i, s:b, s:o, s:o}", "verdict",
			lf_result_names[r->verdict], "expected",
			*x->name ? x->name : "default", "gpus", hw->gpus,
			"nics", hw->nics, "partial", hw->partial, "clauses",
			clauses, "findings", findings);
	if (o->asked)
		(void)json_object_set_new(doc, "policy",
					  json_pack("{s:s, s:s}", "action",
						    lf_action_names[o->action],
						    "code", o->why.code));
	(void)json_dumpf(doc, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(doc);
}

static void print_finding(const struct lf_hw_finding *f)
{
	struct lf_finding out = { .code = f->code,
				  .what = f->subject,
				  .expected = f->expected,
				  .found = f->found,
				  .remedy = f->remedy };

	lf_find_print(stdout, &out, lf_result_names[f->result]);
}

static void print(const struct lf_hw *hw, const struct lf_expect *x,
		  const struct lf_report *r, const struct outcome *o)
{
	(void)printf("%d GPUs, %d RDMA ports, against: %s%s%s\n", hw->gpus,
		     hw->nics, *x->name ? x->name : "the general rule",
		     hw->partial ? "; partial: " : "",
		     hw->partial ? hw->partial_why : "");
	for (int i = 0; i < r->findings; i++)
		print_finding(&r->finding[i]);
	for (int c = 0; c < LF_CLAUSES; c++)
		(void)printf("%s%s %s", c ? ", " : "", lf_clause_names[c],
			     lf_result_names[r->clause[c]]);
	(void)printf("\nverdict: %s\n", lf_result_names[r->verdict]);
	if (o->asked)
		(void)printf("policy: %s%s%s%s%s\n", lf_action_names[o->action],
			     *o->why.code ? ", for " : "", o->why.subject,
			     *o->why.code ? ": " : "", o->why.code);
}

static void decide(const struct lf_conf *c, const struct lf_verdict *v,
		   struct outcome *o)
{
	struct lf_policy policy;

	lf_policy_from(&c->values, &policy);
	o->asked = true;
	o->action = lf_policy_decide(&policy, v, UINT64_MAX, &o->why);
}

static void print_verdict(const struct lf_verdict *v)
{
	lf_autobuf struct lf_buf b = LF_BUF(LF_VERDICT_MAX);

	lf_verdict_write(v, &b);
	(void)fputs(lf_buf_text(&b), stdout);
}

static int judge(const struct args *a, struct lf_hw *hw, struct lf_err *e)
{
	static struct lf_report report;
	static struct lf_verdict verdict;
	static struct lf_conf conf;
	struct outcome outcome = { 0 };
	struct lf_expect x;
	int rc = a->policy ? lf_conf_read(a->policy, &conf, e) : 0;

	if (rc >= 0)
		rc = a->expect ? lf_expect_read(a->expect, &x, e)
			       : lf_expect_choose(LF_HARDWAREDIR, hw, &x, e);
	if (rc >= 0)
		rc = machine_software(a->software, &x, e);
	if (rc < 0)
		return fault(a, e);
	lf_judge(hw, &x, &report);
	lf_verdict_take(&verdict, hw, &x, &report);
	if (a->policy)
		decide(&conf, &verdict, &outcome);
	if (a->verdict) {
		print_verdict(&verdict);
		return 0;
	}
	if (a->json)
		print_json(hw, &x, &report, &outcome);
	else
		print(hw, &x, &report, &outcome);
	if (a->policy)
		return outcome.action >= LF_ACTION_REJECT ? EXIT_FAULT : 0;
	return report.verdict == LF_RESULT_FAIL ? EXIT_FAULT : 0;
}

static int learn(const struct args *a, const struct lf_hw *hw, struct lf_err *e)
{
	lf_autofree char *text = lf_expect_learn(hw);

	if (!text) {
		(void)lf_err(e, -ENOMEM, "no memory");
		return fault(a, e);
	}
	(void)fputs(text, stdout);
	return 0;
}

int cli_check(int argc, char **argv)
{
	static const struct argp argp = {
		options,
		parse_arg,
		"[FILE...]",
		"Judges a machine: this one, or the one that recordings show.",
		NULL,
		NULL,
		NULL
	};
	struct args a = { 0 };
	struct lf_hw *hw;
	struct lf_err e;
	int rc;

	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	if (machine_read(&a.from, &hw, &e) < 0)
		return fault(&a, &e);
	rc = a.learn ? learn(&a, hw, &e) : judge(&a, hw, &e);
	lf_hw_free(hw);
	return rc;
}
