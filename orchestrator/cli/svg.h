/* SPDX-License-Identifier: Apache-2.0 */
/* svg - a picture of a machine: NUMA nodes as boxes, GPUs and NICs in them,
 * NVLinks as lines (through a switch as a bus), findings in red. */
#ifndef LF_SVG_H
#define LF_SVG_H

#include "hw/judge.h"

int svg_write(const char *path, const struct lf_hw *hw,
	      const struct lf_report *r, struct lf_err *e);

#endif
