/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

/* Length of the first name of the list, brackets taken as a whole. */
static size_t item_length(const char *s)
{
	size_t n = 0;
	int depth = 0;

	for (; s[n] && (s[n] != ',' || depth > 0); n++) {
		if (s[n] == '[')
			depth++;
		else if (s[n] == ']')
			depth--;
	}
	return n;
}

struct range {
	unsigned long low, high;
	int width; /* digits, for leading zeros */
};

/* One range of "1-3,007]": returns the characters used, 0 when malformed. */
static int next_range(const char *s, struct range *r)
{
	int low_end = 0, high_end = 0;

	if (sscanf(s, "%9lu%n", &r->low, &low_end) != 1 || s[0] == '-')
		return 0;
	r->width = low_end;
	r->high = r->low;
	if (s[low_end] == '-' &&
	    (sscanf(s + low_end + 1, "%9lu%n", &r->high, &high_end) != 1 ||
	     r->high < r->low || r->high - r->low >= LF_NODES_MAX))
		return 0;
	return low_end + (high_end ? high_end + 1 : 0);
}

/* Element `*index` of the bracket that starts at s; *count is its size. */
static int bracket(const char *s, uint64_t index, uint64_t *count, char *text,
		   size_t n)
{
	const char *p = s + 1;
	uint64_t seen = 0;

	for (;;) {
		struct range r;
		int used = next_range(p, &r);
		uint64_t size = r.high - r.low + 1;

		if (used == 0)
			return -EINVAL;
		if (index >= seen && index < seen + size)
			(void)snprintf(text, n, "%0*lu", r.width,
				       r.low + (unsigned long)(index - seen));
		seen += size;
		p += used;
		if (*p == ']')
			break;
		if (*p++ != ',')
			return -EINVAL;
	}
	*count = seen;
	return 0;
}

/* How many names one item stands for; with `name`, also name number `index`. */
static int expand(const char *s, size_t len, uint64_t index, uint64_t *count,
		  char *name, size_t n)
{
	char part[16], tail[LF_NODE_NAME_MAX];
	const char *open = memchr(s, '[', len), *close;
	uint64_t here, rest = 1;
	int rc;

	if (!open) {
		*count = 1;
		if (len == 0 || len >= n || memchr(s, ']', len))
			return -EINVAL;
		(void)snprintf(name, n, "%.*s", (int)len, s);
		return 0;
	}
	close = memchr(open, ']', len - (size_t)(open - s));
	if (!close)
		return -EINVAL;
	tail[0] = '\0';
	if (close + 1 < s + len) {
		rc = expand(close + 1, (size_t)(s + len - close - 1), 0, &rest,
			    tail, sizeof(tail));
		if (rc == 0 && rest > 1)
			rc = expand(close + 1, (size_t)(s + len - close - 1),
				    index % rest, &rest, tail, sizeof(tail));
		if (rc < 0 || rest == 0)
			return rc < 0 ? rc : -EINVAL;
	}
	rc = bracket(open, index / rest, &here, part, sizeof(part));
	if (rc < 0)
		return rc;
	*count = here * rest;
	if (index < *count && snprintf(name, n, "%.*s%s%s", (int)(open - s), s,
				       part, tail) >= (int)n)
		return -EINVAL;
	return 0;
}

int lf_hostlist_at(const char *list, uint32_t index, char *name, size_t n)
{
	char found[LF_NODE_NAME_MAX];
	uint64_t left = index;

	while (list && *list) {
		size_t len = item_length(list);
		uint64_t count = 0;
		int rc = expand(list, len, left, &count, found, sizeof(found));

		if (rc < 0)
			return rc;
		if (left < count)
			return snprintf(name, n, "%s", found) < (int)n ?
				       0 :
				       -EINVAL;
		left -= count;
		list += len;
		if (*list == ',')
			list++;
	}
	return -ERANGE;
}
