/* SPDX-License-Identifier: Apache-2.0 */
/* plan - what slurmstepd is to do for a step on this node, as text.
 *
 * Runs as the job's user, so that no string of a user's is parsed by root.
 * Lines of doc/formats/plan.md: findings to tell, a refusal, variables, memory
 * nodes, and behind "--" the start message of loongforged.
 */
#ifndef PLAN_H
#define PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "conf/keys.h"
#include "ports.h"

struct plan {
	uint32_t job, step, restart, nodeid, nodes, tasks, world, cpus;
	bool lazy; /* batch and interactive: no ranks, the client launches */
	const char *node, *cluster, *run, *socket;
	const char *mode, *set; /* the options' values */
	struct lf_values site, values; /* the administrator's; with the user's */
	char basis[20]; /* of the settings, see verdict.md */
	char verdict[LF_ERR_MAX]; /* of this node, for log and status */
	struct ports ports;
};

/* One line "KIND=CODE TEXT REMEDY" of plan.md. */
void plan_finding(struct lf_buf *out, const char *kind, const char *code,
		  const struct lf_err *e, const char *remedy);

/* "key=value" lines, cut up.  -EINVAL names the bad one. */
int plan_take(struct plan *p, char *words, struct lf_err *e);
/* Reads the job's environment and RUN/NODE.settings. */
void plan_write(struct plan *p, struct lf_buf *out);
/* Submit side: checks `more`, refuses what contradicts `had`, and writes both
 * joined.  Lists are "K=V;K=V". */
int plan_join(const char *had, const char *more, struct lf_buf *out,
	      struct lf_err *e);

#endif
