/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "find/find.h"

void lf_find_print(FILE *to, const struct lf_finding *f, const char *node)
{
	char line[1024];

	lf_find_line(f, node, line, sizeof(line));
	(void)fprintf(to, "%s\n", line);
	lf_find_hint(f, line, sizeof(line));
	if (*line)
		(void)fprintf(to, "%s\n", line);
}
