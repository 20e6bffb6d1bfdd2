/* SPDX-License-Identifier: Apache-2.0 */
/* cred - a short text that only the job's user can have made and can read.
 *
 * By munge, limited to the user's uid; on sites without munge sealed with the
 * step's secret (libsodium's secretbox), which srun sent as an option and no
 * environment ever holds. */
#ifndef LF_CRED_H
#define LF_CRED_H

#include <stddef.h>

#include "base/err.h"

/* `secret`: 64 hex digits, or "" for munge. */
int cred_open(const char *secret, struct lf_err *e);
/* Caller frees *out. */
int cred_seal(const char *text, char **out, struct lf_err *e);
/* -EACCES for one that somebody else made, or that is damaged, or seen
 * before (munge). */
int cred_unseal(const char *sealed, char *text, size_t n, struct lf_err *e);

#endif
