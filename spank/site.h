/* SPDX-License-Identifier: Apache-2.0 */
/* site - where this node's administrator put things, and what is in force.
 *
 * Paths come from the plugstack line (config=FILE, run=DIR) or from configure.
 * loongforge.conf itself is read by loongforge-probe only; it leaves a flat
 * settings file for the plugin, root-owned, one per node name.
 */
#ifndef LF_SITE_H
#define LF_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

void site_open(int ac, char **av); /* before all others; borrows av */
const char *site_run(void);
/* The administrator's switch, FILE's neighbour `off`: empty turns everything
 * off, the word "gate" only the gate. */
bool site_off(bool gate);
/* The node's value of a key, or `none` where there is no settings file that
 * can be trusted. */
void site_setting(const char *node, const char *key, const char *none,
		  char *buf, size_t n);
/* Runs loongforge-probe; its first line, if any, is in *e.  Its exit status
 * (3: it has drained the node), or -errno when it did not end by itself. */
int site_probe(const char *mode, const char *node, struct lf_err *e);

#endif
