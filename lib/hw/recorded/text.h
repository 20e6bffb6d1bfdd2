/* SPDX-License-Identifier: Apache-2.0 */
/* text - what every line-based reader needs: cleaned lines that know their
 * number, cells, small values, and reading that changes all or nothing.
 *
 * A cleaned line has no escapes, no carriage return, no byte order mark; tabs
 * stay, hard spaces become spaces, other control characters and NUL become '?',
 * and what is longer than the buffer is dropped.
 * Columns are bytes of the cleaned line, from 1.
 */
#ifndef LF_HW_TEXT_H
#define LF_HW_TEXT_H

#include "hw/recorded/read.h"

enum {
	LF_TEXT_LINE = 4096 /* bytes; topo -m of 192 devices has 1900 */
};

struct lf_text {
	const char *at, *end;
	int number; /* of the line, from 1 */
	bool cut;   /* the text ends in this line, without a newline */
	char line[LF_TEXT_LINE];
};

void lf_text_open(struct lf_text *t, const char *text, size_t n);
/* The next line into t->line; false at the end. */
bool lf_text_line(struct lf_text *t);
/* "LINE:COLUMN: ..." with code -EINVAL; `where` points into t->line. */
int lf_text_err(struct lf_err *e, const struct lf_text *t, const char *where,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Runs `body` on a copy of *hw, which replaces *hw only when it returns 0. */
int lf_text_read(struct lf_hw *hw, const char *text, size_t n,
		 int (*body)(struct lf_hw *, struct lf_text *, struct lf_err *),
		 struct lf_err *e);
/* Whether `is` holds for a line of the text's first 64 KiB; never for what
 * begins like XML or JSON. */
bool lf_text_any(const char *text, size_t n, bool (*is)(const char *line));

/* Cuts a line at runs of blanks; at most `max` cells are returned. */
int lf_text_cells(char *line, char **cell, int max);
/* What follows `prefix`, blanks before and after it skipped, or NULL. */
const char *lf_text_after(const char *s, const char *prefix);
/* Cuts "  key SEP value" in two, both trimmed; NULL when there is no SEP. */
char *lf_text_pair(char *line, const char *sep, char **value);
/* Only blanks, or only an author's "..." for what was left out. */
bool lf_text_blank(const char *line);
bool lf_text_dots(const char *line);
/* The whole text is a number, decimal or 0x.... */
bool lf_text_int(const char *s, int min, int max, int *out);
/* "26.562 GB/s" is 26562; *rest (may be NULL) is what follows, blanks
 * skipped.  False without a number or past 2^31. */
bool lf_text_milli(const char *s, int *milli, const char **rest);
/* "GPU12", nothing else. */
bool lf_text_gpu(const char *s, int *index);

#endif
