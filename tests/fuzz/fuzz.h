/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz - a target takes any bytes and must neither crash, hang nor lie.
 *
 * `make fuzz` links each target with libFuzzer, `make check` with replay.c,
 * which feeds it tests/fuzz/corpus/NAME.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "config.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A property that must hold whatever the input was; also without asserts. */
#define MUST(condition)                                                        \
	do {                                                                   \
		if (!(condition))                                              \
			abort();                                               \
	} while (0)

/* The bytes as a string of their own, so that reading past it is seen; ends at
 * the first NUL.  Caller frees. */
static inline char *fuzz_text(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 1);

	MUST(text);
	if (n)
		memcpy(text, data, n);
	text[n] = '\0';
	return text;
}

#endif
