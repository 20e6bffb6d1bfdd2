/* SPDX-License-Identifier: Apache-2.0 */
/* slurm - the three commands of Slurm that the gate runs, on its way to a
 * drained node only.  Each has LF_SCONTROL_MS; none is needed for a job that
 * may start. */
#ifndef PROBE_SLURM_H
#define PROBE_SLURM_H

#include <stdint.h>
#include <time.h>

#include "base/err.h"

/* A partition as one sinfo shows it. */
struct slurm_nodes {
	int nodes; /* of the partition */
	int ours; /* drained by us since then */
	char reason[256]; /* of this node, "" none */
};

/* Lines "NODE TIME REASON...", TIME as sinfo's %H, in UTC.  Pure. */
void slurm_count(char *text, const char *node, time_t since,
		 struct slurm_nodes *out);

struct slurm {
	const char *dir; /* of the commands; "" looks for them */
	const char *node;
};

int slurm_look(const struct slurm *s, const char *partition, time_t since,
	       struct slurm_nodes *out, struct lf_err *e);
int slurm_drain(const struct slurm *s, const char *reason, struct lf_err *e);
int slurm_resume(const struct slurm *s, struct lf_err *e);
/* A batch job goes back to the queue, and is not held; others stay. */
int slurm_requeue(const struct slurm *s, uint32_t job, struct lf_err *e);

#endif
