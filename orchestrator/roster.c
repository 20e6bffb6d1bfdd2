/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "roster.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clean.h"
#include "base/log.h"

enum {
	VERDICT_MAX = 256, /* bytes that are kept of one */
	VERDICTS = 16, /* different ones; nodes of a cluster are mostly alike */
	NONE = VERDICTS,
	TOLD_MAX = 2 /* differences in the line for the user */
};

struct roster {
	const struct start *start;
	struct facts own;
	struct facts_count count;
	char verdict[VERDICTS][VERDICT_MAX];
	int verdicts;
	unsigned char *of; /* by node: which verdict, NONE */
	int told, untold;
	char findings[LF_ERR_MAX * TOLD_MAX];
};

static void keep_verdict(struct roster *r, uint32_t node, const char *text)
{
	char line[VERDICT_MAX];
	int v = 0;

	(void)snprintf(line, sizeof(line), "%s", text);
	lf_clean(line, "");
	while (v < r->verdicts && strcmp(r->verdict[v], line) != 0)
		v++;
	if (!*line || v == VERDICTS)
		return;
	if (v == r->verdicts) {
		memcpy(r->verdict[v], line, sizeof(line));
		r->verdicts++;
	}
	r->of[node] = (unsigned char)v;
}

struct roster *roster_open(const struct start *s, const char *leader)
{
	struct roster *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->start = s;
	r->of = malloc(s->nodes);
	if (!r->of) {
		free(r);
		return NULL;
	}
	memset(r->of, NONE, s->nodes);
	facts_gather(&r->own, s, leader);
	keep_verdict(r, s->nodeid, s->verdict);
	facts_count(&r->count, s->nodeid, &r->own, 0);
	return r;
}

void roster_free(struct roster *r)
{
	if (!r)
		return;
	free(r->of);
	free(r);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void roster_add_to(struct roster *r, struct lf_msg *m)
{
	/* Not earlier: a leader that starts late would find all others slow. */
	r->own.clock_ms = now_ms();
	facts_add_to(&r->own, m);
	lf_msg_add(m, "verdict", r->start->verdict);
}

void roster_take(struct roster *r, uint32_t node, const struct lf_msg *m)
{
	struct facts f;

	facts_take(&f, m);
	facts_count(&r->count, node, &f, now_ms());
	keep_verdict(r, node, lf_msg_get(m, "verdict"));
}

const char *roster_verdict(const struct roster *r, uint32_t node)
{
	return r->of[node] == NONE ? "" : r->verdict[r->of[node]];
}

/* What facts_differ calls back with. */
struct telling {
	struct roster *roster;
	facts_name_f *name;
	void *arg;
};

static const char *on_name(void *arg, uint32_t node)
{
	const struct telling *t = arg;

	return t->name(t->arg, node);
}

static void on_differ(void *arg, const char *line, const char *code)
{
	struct roster *r = ((const struct telling *)arg)->roster;
	size_t n = strlen(r->findings);

	lf_log(LF_LOG_WARN, "group", "%s (%s)", line, code);
	if (r->told == TOLD_MAX) {
		r->untold++;
		return;
	}
	r->told++;
	(void)snprintf(r->findings + n, sizeof(r->findings) - n, "%s%s (%s)",
		       n ? "; " : "", line, code);
}

void roster_judge(struct roster *r, facts_name_f *name, void *arg)
{
	struct telling t = { r, name, arg };
	const struct facts_calls calls = { on_name, on_differ, &t };
	size_t len;

	for (uint32_t i = 0; i < r->start->nodes; i++)
		lf_log(LF_LOG_INFO, "group", "%s: hardware: %s", name(arg, i),
		       *roster_verdict(r, i) ? roster_verdict(r, i)
					     : "unknown");
	(void)facts_differ(&r->count, &calls);
	len = strlen(r->findings);
	if (r->untold)
		(void)snprintf(r->findings + len, sizeof(r->findings) - len,
			       "; %d more in the log", r->untold);
}

const char *roster_findings(const struct roster *r)
{
	return r->findings;
}
