/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "print.h"

#include <stdio.h>

#include "find/find.h"

static void print_finding(const struct lf_verdict_finding *f)
{
	struct lf_finding out = { .code = f->code,
				  .what = f->subject,
				  .expected = f->expected,
				  .found = f->found,
				  .remedy = *f->remedy ? f->remedy : NULL };

	lf_find_print(stdout, &out, lf_result_names[f->result]);
}

void print_text(const struct lf_verdict *v)
{
	char line[512];

	for (int i = 0; i < v->findings; i++)
		print_finding(&v->finding[i]);
	lf_verdict_line(v, line, sizeof(line));
	(void)printf("%d GPUs, %d RDMA ports: %s%s%s%s\n", v->gpus, v->nics,
		     line, v->recorded ? " (recorded)" : "",
		     *v->unseen ? ": " : "", v->unseen);
}

static void text(const char *s)
{
	(void)putchar('"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\' || (unsigned char)*s < 0x20)
			(void)printf("\\u%04x", (unsigned char)*s);
		else
			(void)putchar(*s);
	(void)putchar('"');
}

static void member(const char *name, const char *value, const char *end)
{
	(void)printf("\"%s\": ", name);
	text(value);
	(void)fputs(end, stdout);
}

static void finding_json(const struct lf_verdict_finding *f)
{
	(void)fputs("    {", stdout);
	member("code", f->code, ", ");
	member("clause", lf_clause_names[f->clause], ", ");
	member("result", lf_result_names[f->result], ", ");
	member("subject", f->subject, ", ");
	member("expected", f->expected, ", ");
	member("found", f->found, ", ");
	member("remedy", f->remedy, "}");
}

void print_json(const struct lf_verdict *v)
{
	(void)fputs("{\n  ", stdout);
	member("verdict", lf_result_names[v->verdict], ",\n  ");
	member("expected", v->machine, ",\n  ");
	member("driver", v->driver, ",\n  ");
	member("unseen", v->unseen, ",\n  ");
	(void)printf("\"gpus\": %d,\n  \"nics\": %d,\n  \"recorded\": %s,\n",
		     v->gpus, v->nics, v->recorded ? "true" : "false");
	(void)fputs("  \"clauses\": {", stdout);
	for (int c = 0; c < LF_CLAUSES; c++)
		member(lf_clause_names[c], lf_result_names[v->clause[c]],
		       c + 1 < LF_CLAUSES ? ", " : "},\n");
	(void)fputs("  \"findings\": [", stdout);
	for (int i = 0; i < v->findings; i++) {
		(void)fputs(i ? ",\n" : "\n", stdout);
		finding_json(&v->finding[i]);
	}
	(void)fputs("]\n}\n", stdout);
}
