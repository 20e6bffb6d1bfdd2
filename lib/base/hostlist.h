/* SPDX-License-Identifier: Apache-2.0 */
/* hostlist - Slurm's "n[1-3,007-9],login" one name at a time. */
#ifndef LF_HOSTLIST_H
#define LF_HOSTLIST_H

#include <stddef.h>
#include <stdint.h>

/* Name number `index` (from 0) of the list, in its order.  -ERANGE past the
 * end, -EINVAL for a malformed list or a name longer than n - 1 bytes.  Several
 * brackets in one name multiply, the last one fastest. */
int lf_hostlist_at(const char *list, uint32_t index, char *name, size_t n);

#endif
