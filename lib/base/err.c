/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int lf_err(struct lf_err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	return code;
}

int lf_err_wrap(struct lf_err *e, int code, const char *fmt, ...)
{
	struct lf_err old;
	va_list ap;
	size_t n;

	if (!e)
		return code;
	old = *e;
	va_start(ap, fmt);
	(void)vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	(void)snprintf(e->text + n, sizeof(e->text) - n, ": %s", old.text);
	return code;
}
