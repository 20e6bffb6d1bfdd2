/* SPDX-License-Identifier: Apache-2.0 */
/* symptom - lines of a job's log that tell what went wrong.
 *
 * Fed in pieces of any size; memory is constant, time linear in the input, and
 * no byte is refused.  A line ends at '\n' or '\r'; one longer than
 * LF_SYMPTOM_LINE is looked at in parts.
 */
#ifndef LF_COMM_SYMPTOM_H
#define LF_COMM_SYMPTOM_H

#include <stddef.h>
#include <stdint.h>

#include "comm/note.h"

enum {
	LF_SYMPTOM_LINE = 8192,
	LF_SYMPTOM_ROWS = 128
};

struct lf_symptom {
	const char *code; /* NULL: harmless, though it reads like a fault */
	const char *find; /* lower case, in the line; 4 letters at least */
	const char *also; /* in the line too, or NULL */
	/* Whether the (lower-case) line is meant; may be NULL. */
	int (*is)(const char *line);
	int least; /* lines from which on it is told; 0 is 1 */
	const char *what, *cure;
};

extern const struct lf_symptom lf_symptoms[];
extern const int lf_symptoms_count;

struct lf_symptom_log;

/* NULL without memory; lf_symptom_close takes NULL. */
struct lf_symptom_log *lf_symptom_open(void);
void lf_symptom_feed(struct lf_symptom_log *log, const char *data, size_t n);
/* Ends the last line and appends a note for each symptom, first seen first. */
void lf_symptom_end(struct lf_symptom_log *log, const char *name,
		    struct lf_notes *notes);
void lf_symptom_close(struct lf_symptom_log *log);

#endif
