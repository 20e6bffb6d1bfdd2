/* SPDX-License-Identifier: Apache-2.0 */
/* find - a finding: what is not as it should be, and what to do about it.
 *
 * Everything that LoongForge tells a person about a node goes through this
 * shape.  Codes are stable ("LF-OPT-01"); spank_loongforge(8) lists them.
 * Strings are borrowed.
 */
#ifndef LF_FIND_H
#define LF_FIND_H

#include <stddef.h>
#include <stdio.h>

struct lf_finding {
	const char *code;
	const char *what;
	const char *expected; /* NULL: `what` says it all */
	const char *found;
	const char *remedy; /* NULL: none known */
};

/* "loongforge: NODE: WHAT: expected X, found Y (CODE)"; without node the part
 * is left out. */
void lf_find_line(const struct lf_finding *f, const char *node, char *line,
		  size_t n);
/* "loongforge: hint: REMEDY", or "" without a remedy. */
void lf_find_hint(const struct lf_finding *f, char *line, size_t n);
/* Both, each a line.  print.c */
void lf_find_print(FILE *to, const struct lf_finding *f, const char *node);

#endif
