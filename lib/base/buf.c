/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static bool reserve(struct lf_buf *b, size_t more)
{
	size_t size = b->size ? b->size : 128;
	char *text;

	if (more >= b->bound || b->len + more + 1 > b->bound)
		return false;
	while (size < b->len + more + 1)
		size *= 2;
	if (size == b->size)
		return true;
	text = realloc(b->text, size);
	if (!text)
		return false;
	b->text = text;
	b->size = size;
	return true;
}

void lf_buf_add(struct lf_buf *b, const char *fmt, ...)
{
	va_list ap, measure;
	int n;

	va_start(ap, fmt);
	va_copy(measure, ap);
	n = vsnprintf(NULL, 0, fmt, measure);
	va_end(measure);
	if (b->failed || n < 0 || !reserve(b, (size_t)n))
		b->failed = true;
	else
		b->len += (size_t)vsnprintf(b->text + b->len, (size_t)n + 1,
					    fmt, ap);
	va_end(ap);
}

bool lf_buf_ok(const struct lf_buf *b)
{
	return !b->failed;
}

const char *lf_buf_text(const struct lf_buf *b)
{
	return b->text ? b->text : "";
}

void lf_buf_free(struct lf_buf *b)
{
	free(b->text);
	*b = (struct lf_buf){ .bound = b->bound };
}
