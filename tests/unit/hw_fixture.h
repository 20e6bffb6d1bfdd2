/* SPDX-License-Identifier: Apache-2.0 */
/* hw_fixture - what the tests of recorded readers share: models that are freed,
 * fixtures of ../shared, and damage done to a text. */
#ifndef HW_FIXTURE_H
#define HW_FIXTURE_H

#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hw/recorded/read.h"

#ifndef LF_SRCDIR
#define LF_SRCDIR "."
#endif

enum {
	FIXTURE_MAX = 1 << 20
};

static inline void free_hw(struct lf_hw **hw)
{
	lf_hw_free(*hw);
}

#define AUTOHW __attribute__((cleanup(free_hw))) struct lf_hw

/* Reads `text` into *hw with an exact copy, so that a sanitizer sees what is
 * read past its end. */
static inline int read_into(struct lf_hw *hw, const struct lf_hw_reader *r,
			    const char *text, size_t n, struct lf_err *e)
{
	char *copy = malloc(n + 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, n);
	copy[n] = '\0';
	rc = r->read(hw, copy, n, e);
	free(copy);
	return rc;
}

static inline struct lf_hw *must_read(const struct lf_hw_reader *r,
				      const char *text)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_non_null(hw);
	if (read_into(hw, r, text, strlen(text), &e) != 0)
		print_error("%s: %s\n", r->name, e.text);
	assert_string_equal(e.text, "");
	return hw;
}

/* Fails unless reading fails with a text that begins so; *hw must not change.
 */
static inline void must_fail(const struct lf_hw_reader *r, const char *text,
			     const char *error)
{
	AUTOHW *hw = lf_hw_new();
	AUTOHW *empty = lf_hw_new();
	struct lf_err e = { "" };
	int rc = read_into(hw, r, text, strlen(text), &e);

	if (rc >= 0 || strncmp(e.text, error, strlen(error)) != 0)
		print_error("expected '%s', found %d '%s'\n", error, rc,
			    e.text);
	assert_true(rc < 0);
	assert_memory_equal(e.text, error, strlen(error));
	assert_memory_equal(hw, empty, sizeof(*hw));
}

/* A fixture's text (static), or a skipped test. */
static inline const char *fixture(const char *name)
{
	static char text[FIXTURE_MAX];
	const char *shared = getenv("LF_SHARED");
	char path[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/data/topology/%s",
		       shared ? shared : LF_SRCDIR "/../shared", name);
	f = fopen(path, "re");
	if (!f) {
		print_message("# skipped: no %s (LF_SHARED names another "
			      "place)\n",
			      path);
		skip();
		return "";
	}
	n = fread(text, 1, sizeof(text) - 1, f);
	(void)fclose(f);
	text[n] = '\0';
	return text;
}

/* Whatever was done to a text: read, or refused with a place and no change. */
static inline void survives(const struct lf_hw_reader *r, const char *text,
			    size_t n)
{
	AUTOHW *hw = lf_hw_new();
	AUTOHW *empty = lf_hw_new();
	struct lf_err e = { "" };
	int line, column;
	int rc = read_into(hw, r, text, n, &e);

	(void)r->claims(text, n);
	if (rc == 0) {
		assert_string_equal(e.text, "");
		return;
	}
	if (sscanf(e.text, "%9d:%9d: ", &line, &column) != 2)
		print_error("no place: %s\n", e.text);
	assert_int_equal(sscanf(e.text, "%9d:%9d: ", &line, &column), 2);
	assert_memory_equal(hw, empty, sizeof(*hw));
}

static inline void survives_damage(const struct lf_hw_reader *r,
				   const char *text)
{
	size_t n = strlen(text), m = 0;
	char *d = malloc(n + 1);
	unsigned seed = 1;

	assert_non_null(d);
	for (size_t k = 0; k < 16; k++)
		survives(r, text, n * k / 16);
	for (int k = 0; k < 64; k++) {
		memcpy(d, text, n + 1);
		seed = seed * 1103515245u + 12345u;
		d[(seed >> 8) % n] ^= (char)(1 << (k % 8));
		d[(seed >> 4) % n] = (char)(k % 3 ? d[(seed >> 4) % n] : 0);
		survives(r, d, n);
	}
	for (size_t k = 0; k < n; k++)
		if (text[k] != '\t')
			d[m++] = text[k];
	survives(r, d, m);
	free(d);
}

static inline void refuses_garbage(const struct lf_hw_reader *r)
{
	size_t n = LF_HW_READ_MAX + 1;
	AUTOHW *hw = lf_hw_new();
	struct lf_err e = { "" };
	char *text = calloc(1, n + 1);

	assert_non_null(text);
	for (size_t k = 0; k < n; k++)
		text[k] = (char)(k * 2654435761u >> 13);
	assert_int_equal(r->read(hw, text, n, &e), -EFBIG);
	assert_int_equal(r->claims(text, n), 0);
	survives(r, text, 4096);
	survives(r, "", 0);
	free(text);
}

#endif
