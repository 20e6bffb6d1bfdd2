/* SPDX-License-Identifier: Apache-2.0 */
/* gate - what a step's user is told of this node's verdict.
 *
 * The administrator's refusals are the prolog's; here are warnings, what the
 * user's own checks refuse, and the whole verdict for --loongforge=check.
 */
#ifndef PLAN_GATE_H
#define PLAN_GATE_H

#include "plan.h"

/* Reads RUN/NODE.verdict, writes lines.  False if the step is refused, or only
 * wanted to know. */
bool gate_write(struct plan *p, struct lf_buf *out);

#endif
