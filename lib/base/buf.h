/* SPDX-License-Identifier: Apache-2.0 */
/* buf - a string that grows up to a bound and remembers that it overflowed.
 *
 * Append freely, look once at the end: after a failed append (no memory, or
 * the bound) further appends do nothing and lf_buf_ok says false.  Initialise
 * with LF_BUF(bound in bytes); lf_buf_free may be called on any state.
 */
#ifndef LF_BUF_H
#define LF_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct lf_buf {
	char *text; /* NUL-terminated once anything was appended, else NULL */
	size_t len, size, bound;
	bool failed;
};

#define LF_BUF(max)            \
	{                      \
		.bound = (max) \
	}

void lf_buf_add(struct lf_buf *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
bool lf_buf_ok(const struct lf_buf *b);
/* The text, or "" when nothing was appended; borrowed. */
const char *lf_buf_text(const struct lf_buf *b);
void lf_buf_free(struct lf_buf *b);

#define lf_autobuf __attribute__((cleanup(lf_buf_free)))

#endif
