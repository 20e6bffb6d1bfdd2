/* SPDX-License-Identifier: Apache-2.0 */
/* confuse - a file as libconfuse reads it, made strict.
 *
 * Comments do not shift the lines, variables are refused, and so is a file cut
 * inside a section, which libconfuse takes for complete.  The file must belong
 * to root or the caller and be writable by nobody else.  Any fault is one line,
 * "PATH:LINE: what", also one that a validator tells by cfg_error.  Not
 * reentrant.
 */
#ifndef LF_CONFUSE_H
#define LF_CONFUSE_H

#include <confuse.h>

#include "base/err.h"

/* Parses into `cfg`, which the caller has made and frees.  -ENOENT, -EPERM,
 * -EINVAL. */
int lf_confuse_read(const char *path, cfg_t *cfg, struct lf_err *e);

#endif
