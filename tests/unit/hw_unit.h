/* SPDX-License-Identifier: Apache-2.0 */
/* hw_unit - what the tests of hardware readers start with. */
#ifndef HW_UNIT_H
#define HW_UNIT_H

#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hw/model.h"
#include "hw/recorded/read.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define T(f)	 cmocka_unit_test(f)

#ifndef LF_SRCDIR
#define LF_SRCDIR "."
#endif

/* As assert_int_equal, but says which row failed. */
static inline void same(const char *row, const char *what, long got, long want)
{
	if (got != want)
		fail_msg("%s: %s: expected %ld, got %ld", row, what, want, got);
}

static inline void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" does not hold \"%s\"", text, part);
}

/* The text of a model's reader; the caller frees. */
static inline struct lf_hw *reads(const struct lf_hw_reader *reader,
				  const char *text)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_non_null(hw);
	if (reader->read(hw, text, strlen(text), &e) != 0)
		fail_msg("%s: %s", reader->name, e.text);
	return hw;
}

/* Fails unless the reader refuses with a text that begins "LINE:COLUMN: " and
 * holds `part`. */
static inline void refuses(const char *text, const char *place,
			   const char *part)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_hw *before = lf_hw_new();
	struct lf_err e = { "" };

	assert_non_null(hw);
	assert_non_null(before);
	assert_true(lf_hw_read_text(hw, text, strlen(text), NULL, &e) < 0);
	if (strncmp(e.text, place, strlen(place)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", e.text, place);
	has(e.text, part);
	assert_memory_equal(hw, before, sizeof(*hw));
	lf_hw_free(hw);
	lf_hw_free(before);
}

/* A path below data/topology of the shared folder, or NULL. */
static inline const char *shared(const char *name)
{
	static char path[4096];
	const char *base = getenv("LF_SHARED");

	if (base)
		(void)snprintf(path, sizeof(path), "%s/data/topology/%s", base,
			       name);
	else
		(void)snprintf(path, sizeof(path),
			       "%s/../shared/data/topology/%s", LF_SRCDIR,
			       name);
	return access(path, R_OK) == 0 ? path : NULL;
}

/* Skips the case, with the reason, where there is no shared folder. */
#define NEEDS_SHARED()                                                         \
	do {                                                                   \
		if (!shared("INDEX.md")) {                                     \
			print_message("# skipped: no recordings: set "         \
				      "LF_SHARED to the shared folder\n");     \
			skip();                                                \
		}                                                              \
	} while (0)

static inline struct lf_hw *recording(const char *name)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_non_null(hw);
	if (lf_hw_read_path(hw, shared(name), NULL, &e) != 0)
		fail_msg("%s: %s", name, e.text);
	same(name, "conflicts", hw->conflicts, 0);
	return hw;
}

#endif
