/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/note.h"

#include <stdarg.h>
#include <stdio.h>

#define SAY(field)                                                             \
	do {                                                                   \
		va_list ap;                                                    \
                                                                               \
		va_start(ap, fmt);                                             \
		(void)vsnprintf((field), sizeof(field), fmt, ap);              \
		va_end(ap);                                                    \
	} while (0)

struct lf_note *lf_note(struct lf_notes *n, const char *code, const char *fmt,
			...)
{
	static _Thread_local struct lf_note nowhere;
	struct lf_note *note = &nowhere;

	if (n->count == LF_NOTES)
		n->dropped++;
	else
		note = &n->note[n->count++];
	*note = (struct lf_note){ .code = code };
	SAY(note->what);
	return note;
}

void lf_note_expected(struct lf_note *n, const char *fmt, ...)
{
	SAY(n->expected);
}

void lf_note_found(struct lf_note *n, const char *fmt, ...)
{
	SAY(n->found);
}

void lf_note_remedy(struct lf_note *n, const char *fmt, ...)
{
	SAY(n->remedy);
}
