/* SPDX-License-Identifier: Apache-2.0 */
/* script - debug switches that a training script has left on. */
#ifndef LF_COMM_SCRIPT_H
#define LF_COMM_SCRIPT_H

#include "base/err.h"
#include "comm/note.h"

/* One note a switch and file (LF-ENV-19).  A line's comment is not looked at.
 * At most the first 4 MiB; -ENOENT and the like as such. */
int lf_script_lint(const char *path, struct lf_notes *notes, struct lf_err *e);

#endif
