/* SPDX-License-Identifier: Apache-2.0 */
/* addrs - addresses of nodes whose names do not resolve, asked once by srun. */
#ifndef ADDRS_H
#define ADDRS_H

#include "base/buf.h"

/* Writes "n1=10.0.0.1,n2=10.0.0.2", or nothing when the first name of the list
 * resolves or the controller does not say. */
void addrs_write(const char *nodelist, struct lf_buf *out);

#endif
