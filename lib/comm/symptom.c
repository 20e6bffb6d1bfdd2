/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/symptom.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/match.h"

#define ANY "LF-LOG-10" /* whatever NCCL warns of */

enum {
	QUOTE = 150 /* bytes of a line that are shown */
};

struct seen {
	uint64_t lines, first; /* how many, and the number of the first */
	char quote[QUOTE];
};

struct lf_symptom_log {
	struct lf_match match;
	uint16_t state;
	uint64_t line; /* number of the current one, from 1 */
	size_t len;
	char text[LF_SYMPTOM_LINE + 1];
	uint8_t same[LF_SYMPTOM_ROWS];	/* the first row of the same text */
	bool hit[LF_SYMPTOM_ROWS], any; /* by such rows */
	struct seen seen[LF_SYMPTOM_ROWS];
};

static const char *text_of(int row)
{
	return lf_symptoms[row].find;
}

static void find_same(struct lf_symptom_log *log)
{
	log->line = 1;
	for (int i = 0; i < lf_symptoms_count; i++) {
		int first = 0;

		while (strcmp(text_of(first), text_of(i)) != 0)
			first++;
		log->same[i] = (uint8_t)first;
	}
}

struct lf_symptom_log *lf_symptom_open(void)
{
	struct lf_symptom_log *log = calloc(1, sizeof(*log));

	if (log && (lf_symptoms_count > LF_SYMPTOM_ROWS ||
		    lf_match_build(&log->match, text_of, lf_symptoms_count))) {
		free(log);
		return NULL;
	}
	if (log)
		find_same(log);
	return log;
}

void lf_symptom_close(struct lf_symptom_log *log)
{
	free(log);
}

static void see(struct lf_symptom_log *log, struct seen *s)
{
	if (s->lines++ > 0)
		return;
	s->first = log->line;
	(void)snprintf(s->quote, sizeof(s->quote), "%.*s", QUOTE - 1,
		       log->text);
	s->quote[strcspn(s->quote, "\r\n")] = '\0';
}

/* A NUL ends no line: conditions look past it. */
static void fold(struct lf_symptom_log *log, char *low)
{
	for (size_t i = 0; i < log->len; i++) {
		if (!log->text[i])
			log->text[i] = '?';
		low[i] = (char)tolower((unsigned char)log->text[i]);
	}
	log->text[log->len] = low[log->len] = '\0';
}

static bool holds(const struct lf_symptom *s, const char *low)
{
	return (!s->also || strstr(low, s->also)) && (!s->is || s->is(low));
}

static void judge_line(struct lf_symptom_log *log)
{
	static _Thread_local char low[LF_SYMPTOM_LINE + 1];
	bool told = false;

	fold(log, low);
	for (int i = 0; i < lf_symptoms_count; i++)
		if (log->hit[log->same[i]] && !lf_symptoms[i].code)
			return; /* harmless, whatever else it resembles */
	for (int i = 0; i < lf_symptoms_count && !told; i++) {
		if (!log->hit[log->same[i]] || !holds(&lf_symptoms[i], low))
			continue;
		see(log, &log->seen[i]);
		told = true;
	}
}

static void end_line(struct lf_symptom_log *log)
{
	if (log->any)
		judge_line(log);
	log->any = false;
	log->state = 0;
	log->len = 0;
	memset(log->hit, 0, sizeof(log->hit));
}

static void note_hits(struct lf_symptom_log *log)
{
	const struct lf_match *m = &log->match;

	for (uint16_t s = log->state; s; s = m->shorter[s])
		if (m->text[s] >= 0)
			log->hit[m->text[s]] = log->any = true;
}

void lf_symptom_feed(struct lf_symptom_log *log, const char *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (data[i] == '\n' || data[i] == '\r') {
			end_line(log);
			log->line += data[i] == '\n';
			continue;
		}
		if (log->len == LF_SYMPTOM_LINE)
			end_line(log);
		log->text[log->len++] = data[i];
		log->state = lf_match_step(&log->match, log->state,
					   (unsigned char)data[i]);
		if (log->match.text[log->state] >= 0 ||
		    log->match.shorter[log->state])
			note_hits(log);
	}
}

static void tell(const struct seen *s, const char *name, const char *code,
		 const char *what, const char *cure, struct lf_notes *notes)
{
	struct lf_note *n = lf_note(notes, code, "%.96s:%llu: %.120s", name,
				    (unsigned long long)s->first, what);

	if (s->lines > 1)
		(void)snprintf(n->what + strlen(n->what),
			       sizeof(n->what) - strlen(n->what),
			       " (%llu lines)", (unsigned long long)s->lines);
	lf_note_remedy(n, "%s", cure);
	lf_note_found(n, "%s", s->quote);
}

/* The untold symptom with the earliest line, or -1. */
static int next_seen(const struct lf_symptom_log *log, uint64_t after,
		     int after_row)
{
	int best = -1;

	for (int i = 0; i < lf_symptoms_count; i++) {
		const struct seen *s = &log->seen[i];
		uint64_t least = lf_symptoms[i].least;

		if (s->lines == 0 || s->lines < least || s->first < after ||
		    (s->first == after && i <= after_row))
			continue;
		if (best < 0 || s->first < log->seen[best].first)
			best = i;
	}
	return best;
}

/* Whether a line of NCCL's has a symptom of its own. */
static bool nccl_told(const struct lf_symptom_log *log)
{
	for (int i = 0; i < lf_symptoms_count; i++)
		if (log->seen[i].lines && strcmp(lf_symptoms[i].code, ANY) &&
		    strcasestr(log->seen[i].quote, "nccl"))
			return true;
	return false;
}

void lf_symptom_end(struct lf_symptom_log *log, const char *name,
		    struct lf_notes *notes)
{
	int row = -1;

	end_line(log);
	while ((row = next_seen(log, row < 0 ? 0 : log->seen[row].first,
				row)) >= 0) {
		const struct lf_symptom *s = &lf_symptoms[row];

		if (strcmp(s->code, ANY) != 0 || !nccl_told(log))
			tell(&log->seen[row], name, s->code, s->what, s->cure,
			     notes);
	}
}
