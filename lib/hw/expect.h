/* SPDX-License-Identifier: Apache-2.0 */
/* expect - files that say what a machine should be (etc/hardware, NAME.conf).
 *
 * Matched by GPU product and count; written by `loongforge check --learn` from
 * a good machine.  A file that contradicts itself is refused with its line.
 */
#ifndef LF_HW_EXPECT_H
#define LF_HW_EXPECT_H

#include "hw/judge.h"

/* -EINVAL: "PATH:LINE: what". */
int lf_expect_read(const char *path, struct lf_expect *x, struct lf_err *e);
/* The file of `dir` that fits the model: *x is set and 1 returned, 0 when none
 * fits (*x is then lf_expect_default). */
int lf_expect_choose(const char *dir, const struct lf_hw *hw,
		     struct lf_expect *x, struct lf_err *e);
/* What a good machine shows, as such a file's text; caller frees. */
char *lf_expect_learn(const struct lf_hw *hw);

#endif
