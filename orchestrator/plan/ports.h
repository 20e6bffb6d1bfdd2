/* SPDX-License-Identifier: Apache-2.0 */
/* ports - which TCP ports a step uses, computed alike on every node.
 *
 * Ports that Slurm reserved for the step come first; otherwise they are hashed
 * from cluster, job and step into the configured range, so that nobody has to
 * tell anybody.  Pure, but for ports_free.
 */
#ifndef PORTS_H
#define PORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"

struct ports {
	uint16_t master; /* the tasks' rendezvous */
	uint16_t candidate[LF_PORT_CANDIDATES]; /* the orchestrators' */
};

/* `reserved`: SLURM_STEP_RESV_PORTS or NULL; with fewer than 1 +
 * LF_PORT_CANDIDATES ports it serves the rendezvous only.  `range`:
 * launch.ports.  -EINVAL when the range is malformed or too small. */
int ports_of(const char *reserved, const char *range, const char *cluster,
		uint32_t job, uint32_t step, struct ports *out);
/* Binds and lets go.  When taken, *holder is the pid or 0 if unknown. */
bool ports_free(uint16_t port, pid_t *holder);

#endif
