/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/parse.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

int lf_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!s || !*s)
		return -EINVAL;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -ERANGE;
	}
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int lf_parse_bool(const char *s, bool *out)
{
	/* No at even places, yes at odd ones. */
	static const char *const words[] = { "no",    "yes",  "off", "on",
					     "false", "true", "0",   "1" };

	for (size_t i = 0; s && i < sizeof(words) / sizeof(*words); i++)
		if (strcasecmp(s, words[i]) == 0) {
			*out = i % 2;
			return 0;
		}
	return -EINVAL;
}

int lf_parse_pair(char **cursor, char sep, char **key, char **value)
{
	char *piece = *cursor, *end, *eq;

	while (*piece == sep)
		piece++;
	if (!*piece)
		return 0;
	end = strchr(piece, sep);
	if (end)
		*end = '\0';
	*cursor = end ? end + 1 : piece + strlen(piece);
	*key = piece;
	eq = strchr(piece, '=');
	if (!eq || eq == piece)
		return -EINVAL;
	*eq = '\0';
	*value = eq + 1;
	return 1;
}
