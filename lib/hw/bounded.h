/* SPDX-License-Identifier: Apache-2.0 */
/* bounded - a reader of live hardware in a child of its own, for so long only.
 *
 * A sick driver hangs inside a system call, or its library crashes, and both
 * take their caller along.  The child shares the model with its parent.  For a
 * process without threads. */
#ifndef LF_HW_BOUNDED_H
#define LF_HW_BOUNDED_H

#include "hw/model.h"

struct lf_hw_bounded {
	int (*read)(struct lf_hw *hw, const void *arg, struct lf_err *e);
	const void *arg;
	const char *device; /* whose driver it is: "GPU" */
	int ms;
};

/* What `read` returns; -ETIMEDOUT when it was killed, -EIO when it crashed.
 * `hw` changes on success only. */
int lf_hw_bounded(struct lf_hw *hw, const struct lf_hw_bounded *b,
		  struct lf_err *e);

#endif
