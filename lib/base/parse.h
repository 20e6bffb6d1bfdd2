/* SPDX-License-Identifier: Apache-2.0 */
/* parse - text to values, strictly: the whole text must be the value.
 *
 * Each returns 0 and sets *out, or -EINVAL (malformed) or -ERANGE and leaves
 * *out alone.  No locale, no leading space, no sign where none is meant.
 */
#ifndef LF_PARSE_H
#define LF_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int lf_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);
/* yes|no|on|off|true|false|1|0, in any case */
int lf_parse_bool(const char *s, bool *out);

/* Walks "key=value" pieces of a writable text that are separated by `sep`.
 * Returns 1 with *key and *value set, 0 at the end, -EINVAL for a piece without
 * "=" or with an empty key (*key is then the piece).  Empty pieces are passed
 * over.  *cursor starts as the text; it is cut up. */
int lf_parse_pair(char **cursor, char sep, char **key, char **value);

#endif
