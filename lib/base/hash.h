/* SPDX-License-Identifier: Apache-2.0 */
/* hash - FNV-1a, 64 bits: tells whether something changed, never who did it.
 * Constants: Fowler, Noll, Vo, draft-eastlake-fnv.  Pure. */
#ifndef LF_HASH_H
#define LF_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LF_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t lf_hash(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* With its end, so that "ab","c" is not "a","bc". */
static inline uint64_t lf_hash_text(uint64_t h, const char *text)
{
	return lf_hash(h, text, strlen(text) + 1);
}

#endif
