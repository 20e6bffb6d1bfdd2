/* SPDX-License-Identifier: Apache-2.0 */
/* print - a verdict for people, and as JSON (by hand: root links no parser). */
#ifndef PROBE_PRINT_H
#define PROBE_PRINT_H

#include "hw/verdict.h"

void print_text(const struct lf_verdict *v);
void print_json(const struct lf_verdict *v);

#endif
