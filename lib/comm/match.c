/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/match.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static int add_letter(struct lf_match *m, unsigned char c)
{
	if (m->class_of[c])
		return 0;
	if (m->classes == LF_MATCH_CLASSES)
		return -E2BIG;
	m->class_of[c] = (uint8_t)m->classes;
	m->class_of[toupper(c)] = (uint8_t)m->classes++;
	return 0;
}

static int add_text(struct lf_match *m, const char *text, int id)
{
	int at = 0;

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		uint16_t *to;

		if (add_letter(m, c) < 0)
			return -E2BIG;
		to = &m->next[at][m->class_of[c]];
		if (!*to && m->states == LF_MATCH_STATES)
			return -E2BIG;
		if (!*to)
			*to = (uint16_t)m->states++;
		at = *to;
	}
	if (m->text[at] < 0) /* of two alike the first */
		m->text[at] = (int16_t)id;
	return 0;
}

/* Breadth first: a state's fail is known before its children's. */
static void link_states(struct lf_match *m)
{
	static _Thread_local uint16_t queue[LF_MATCH_STATES];
	int head = 0, tail = 0;

	for (int c = 0; c < m->classes; c++)
		if (m->next[0][c])
			queue[tail++] = m->next[0][c];
	while (head < tail) {
		uint16_t s = queue[head++], f = m->fail[s];

		m->shorter[s] = m->text[f] >= 0 ? f : m->shorter[f];
		for (int c = 0; c < m->classes; c++) {
			uint16_t to = m->next[s][c];

			if (!to) {
				m->next[s][c] = m->next[f][c];
				continue;
			}
			m->fail[to] = m->next[f][c];
			queue[tail++] = to;
		}
	}
}

int lf_match_build(struct lf_match *m, const char *(*text)(int), int count)
{
	memset(m, 0, sizeof(*m));
	memset(m->text, 0xff, sizeof(m->text));
	m->states = m->classes = 1;
	for (int i = 0; i < count; i++)
		if (add_text(m, text(i), i) < 0)
			return -E2BIG;
	link_states(m);
	return 0;
}
