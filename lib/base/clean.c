/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/clean.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the character that stands at `s`, or 0.  The number of leading ones
 * of its first byte tells the length; an overlong form is none. */
static size_t shown(const unsigned char *s)
{
	static const uint32_t least[9] = { ' ', ~0U, 0xa0, 0x800, 0x10000,
					   ~0U, ~0U, ~0U,  ~0U };
	size_t ones = (size_t)__builtin_clz(~((uint32_t)*s << 24));
	uint32_t c = *s & (0x7fu >> ones);

	for (size_t i = 1; i < ones; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[ones] || c == 0x7f || c > 0x10ffff || c >> 11 == 0x1b)
		return 0; /* 0x1b: the surrogates */
	return ones ? ones : 1;
}

void lf_clean(char *text, const char *keep)
{
	for (char *s = text; *s;) {
		size_t n = shown((unsigned char *)s);

		if (n == 0 && !strchr(keep, *s))
			*s = '?';
		s += n ? n : 1;
	}
}
