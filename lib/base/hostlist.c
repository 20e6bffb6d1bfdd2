/* SPDX-License-Identifier: Apache-2.0 */
/* A list is items with commas between; an item is plain text and brackets in
 * turn; a bracket is ranges.  Nothing recurses and each part is read at most
 * three times, since the list may be anybody's. */
#include "config.h"

#include "base/hostlist.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

/* Length of the first item of the list, brackets taken as a whole. */
static size_t item_length(const char *s)
{
	size_t n = 0;
	int depth = 0;

	for (; s[n] && (s[n] != ',' || depth > 0); n++) {
		if (s[n] == '[')
			depth++;
		else if (s[n] == ']' && depth > 0)
			depth--;
	}
	return n;
}

struct range {
	unsigned long low, high;
	int width; /* digits, for leading zeros */
};

/* How many digits stand at s, nine at most; 0 where there is no number. */
static int number(const char *s, unsigned long *value)
{
	int n = 0;

	for (*value = 0; s[n] >= '0' && s[n] <= '9' && n < 9; n++)
		*value = 10 * *value + (unsigned long)(s[n] - '0');
	return n;
}

/* One range of "1-3,007]": returns the characters used, 0 when malformed. */
static int next_range(const char *s, struct range *r)
{
	int high_end;

	r->width = number(s, &r->low);
	r->high = r->low;
	if (r->width == 0 || s[r->width] != '-')
		return r->width;
	high_end = number(s + r->width + 1, &r->high);
	if (high_end == 0 || r->high < r->low ||
	    r->high - r->low >= LF_NODES_MAX)
		return 0;
	return r->width + 1 + high_end;
}

/* Element `index` of the bracket that starts at s; *count is its size.  Returns
 * the characters of the bracket, or -EINVAL. */
static int bracket(const char *s, uint64_t index, uint64_t *count, char *text,
		   size_t n)
{
	const char *p = s;

	*count = 0;
	do {
		struct range r = { 0, 0, 0 };
		int used = next_range(++p, &r);
		uint64_t size = r.high - r.low + 1;

		if (used == 0)
			return -EINVAL;
		if (index >= *count && index < *count + size)
			(void)snprintf(text, n, "%0*lu", r.width,
				       r.low + (unsigned long)(index - *count));
		*count += size;
		p += used;
	} while (*p == ',');
	return *p == ']' ? (int)(p + 1 - s) : -EINVAL;
}

/* How many names an item stands for: its brackets multiplied. */
static int count_names(const char *s, size_t len, uint64_t *count)
{
	const char *end = s + len;
	char unused[16];

	*count = 1;
	while ((s = memchr(s, '[', (size_t)(end - s))) != NULL) {
		uint64_t here;
		int used = bracket(s, 0, &here, unused, sizeof(unused));

		if (used < 0 || __builtin_mul_overflow(*count, here, count))
			return -EINVAL;
		s += used;
	}
	return 0;
}

/* Name number `index` of the `count` of an item; the last bracket is the
 * fastest. */
static int write_name(const char *s, size_t len, uint64_t index,
		      uint64_t count, char *name, size_t n)
{
	const char *end = s + len;
	size_t put = 0;

	while (s < end) {
		size_t plain = strcspn(s, "[]");
		char part[16] = "";
		uint64_t here;

		if (plain > (size_t)(end - s))
			plain = (size_t)(end - s);
		if (s + plain < end) {
			int used = bracket(s + plain, 0, &here, part,
					   sizeof(part));

			if (s[plain] != '[' || used < 0)
				return -EINVAL;
			count /= here;
			(void)bracket(s + plain, index / count, &here, part,
				      sizeof(part));
			index %= count;
			put += (size_t)snprintf(name + put, n - put, "%.*s%s",
						(int)plain, s, part);
			s += plain + (size_t)used;
		} else {
			put += (size_t)snprintf(name + put, n - put, "%.*s",
						(int)plain, s);
			s = end;
		}
		if (put >= n)
			return -EINVAL;
	}
	return len > 0 ? 0 : -EINVAL;
}

int lf_hostlist_at(const char *list, uint32_t index, char *name, size_t n)
{
	uint64_t left = index;

	while (list && *list) {
		size_t len = item_length(list);
		uint64_t count;

		if (len == 0 || count_names(list, len, &count) < 0)
			return -EINVAL;
		if (left < count)
			return write_name(list, len, left, count, name, n);
		left -= count;
		list += len;
		if (*list == ',')
			list++;
	}
	return -ERANGE;
}
