/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>

#include "base/clean.h"
#include "find/find.h"

void lf_find_line(const struct lf_finding *f, const char *node, char *line,
		  size_t n)
{
	(void)snprintf(line, n, "loongforge: %s%s%s%s%s%s%s (%s)",
		       node ? node : "", node ? ": " : "", f->what,
		       f->expected ? ": expected " : "",
		       f->expected ? f->expected : "",
		       f->expected ? ", found " : "",
		       f->expected ? f->found : "", f->code);
	lf_clean(line, "");
}

void lf_find_hint(const struct lf_finding *f, char *line, size_t n)
{
	(void)snprintf(line, n, "%s%s",
		       f->remedy ? "loongforge: hint: " : "",
		       f->remedy ? f->remedy : "");
	lf_clean(line, "");
}
