/* SPDX-License-Identifier: Apache-2.0 */
/* note - a bounded list of findings with texts of their own.
 *
 * Texts that do not fit are cut; findings beyond the bound are counted.
 */
#ifndef LF_COMM_NOTE_H
#define LF_COMM_NOTE_H

enum {
	LF_NOTES = 128
};

struct lf_note {
	const char *code;			  /* static */
	char what[256], expected[96], found[160]; /* expected "": none */
	char remedy[256];			  /* "": none known */
};

struct lf_notes {
	int count, dropped;
	struct lf_note note[LF_NOTES];
};

/* Never NULL: beyond the bound, a place that nobody reads. */
struct lf_note *lf_note(struct lf_notes *n, const char *code, const char *fmt,
			...) __attribute__((format(printf, 3, 4)));
void lf_note_expected(struct lf_note *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void lf_note_found(struct lf_note *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void lf_note_remedy(struct lf_note *n, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
