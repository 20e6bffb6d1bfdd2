/* SPDX-License-Identifier: Apache-2.0 */
/* match - many texts looked for at once (Aho and Corasick's automaton), so that
 * a log of gigabytes is read once whatever the number of symptoms.
 *
 * Texts are lower case; input bytes are folded.
 */
#ifndef LF_COMM_MATCH_H
#define LF_COMM_MATCH_H

#include <stddef.h>
#include <stdint.h>

enum {
	LF_MATCH_TEXTS = 128,
	LF_MATCH_STATES = 4096, /* letters of all texts together */
	LF_MATCH_CLASSES = 64	/* distinct letters */
};

struct lf_match {
	uint8_t class_of[256]; /* 0: in no text */
	int classes, states;
	uint16_t next[LF_MATCH_STATES][LF_MATCH_CLASSES];
	uint16_t fail[LF_MATCH_STATES];
	int16_t text[LF_MATCH_STATES];	   /* that ends here, or -1 */
	uint16_t shorter[LF_MATCH_STATES]; /* a state whose text ends too */
};

/* -E2BIG beyond the bounds. */
int lf_match_build(struct lf_match *m, const char *(*text)(int), int count);

static inline uint16_t lf_match_step(const struct lf_match *m, uint16_t state,
				     unsigned char byte)
{
	return m->next[state][m->class_of[byte]];
}

#endif
