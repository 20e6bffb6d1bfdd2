/* SPDX-License-Identifier: Apache-2.0 */
/* unit - what every unit test starts with: cmocka, and a few helpers.
 *
 * A test file is a list of cases, abuse first, mostly tables.  Nothing here
 * needs root; a case that does says NEEDS(is_root(), ...).
 */
#ifndef UNIT_H
#define UNIT_H

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
#include <sys/types.h>
#include <unistd.h>

#include <cmocka.h>

enum {
	NOBODY = 65534 /* a uid that is not ours and owns nothing */
};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define T(f)	 cmocka_unit_test(f)

#define MAIN(...)                                                              \
	int main(void)                                                         \
	{                                                                      \
		const struct CMUnitTest all[] = { __VA_ARGS__ };               \
                                                                               \
		(void)alarm(240); /* nothing hangs for ever */                 \
		return cmocka_run_group_tests_name(__BASE_FILE__, all, NULL,   \
						   NULL);                      \
	}

/* Skips the case, with the reason in the log. */
#define NEEDS(condition, reason)                                               \
	do {                                                                   \
		if (!(condition)) {                                            \
			print_message("# skipped: %s\n", reason);              \
			skip();                                                \
		}                                                              \
	} while (0)

bool is_root(void);
/* As assert_int_equal and assert_string_equal, but say which row failed. */
void check_int(const char *row, long long got, long long want);
void check_str(const char *row, const char *got, const char *want);
/* Fails unless `text` holds `part`. */
void check_has(const char *row, const char *text, const char *part);

/* A path in a folder of this process's own, which is removed at exit; the
 * string is good for the next seven calls. */
const char *scratch(const char *name);
void write_file(const char *path, const void *data, size_t n, mode_t mode);
void write_text(const char *path, const char *text);

/* Runs fn in a fork, for a minute at most: its result (0 .. 255), or -N if
 * signal N ended it.  In fn no cmocka assertion may be used. */
int in_child(int (*fn)(void *arg), void *arg);
int open_fds(void);
/* Whether a process is there and not a zombie. */
bool runs(pid_t pid);
/* Milliseconds from here to there. */
uint64_t elapsed_ms(uint64_t since);

#endif
