/* SPDX-License-Identifier: Apache-2.0 */
/* end - sees the orchestrator of a batch step out.
 *
 * A client of the step started it, so slurmstepd has no lifeline to it and
 * knows nothing but the name of its socket. */
#ifndef END_H
#define END_H

#include <stdbool.h>
#include <stdint.h>

/* Returns when nobody serves `socket` any more; who still does after `ms` is
 * killed: true.  Somebody else's socket is nobody's. */
bool end_wait(const char *socket, uint64_t ms);

#endif
