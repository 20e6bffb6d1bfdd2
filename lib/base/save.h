/* SPDX-License-Identifier: Apache-2.0 */
/* save - replaces a file in one step: temporary file, fsync, rename. */
#ifndef LF_SAVE_H
#define LF_SAVE_H

#include <sys/types.h>

#include "base/err.h"

int lf_save(const char *path, mode_t mode, const char *text, struct lf_err *e);

#endif
