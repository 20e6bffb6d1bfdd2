/* SPDX-License-Identifier: Apache-2.0 */
/* record - the folder where a job's records lie, and the log in it.
 *
 * log.dir, else .loongforge/JOB in SLURM_SUBMIT_DIR or the working folder; the log is STEP.NODE.log.
 * A folder that cannot be made costs the log, never the job. */
#ifndef LF_RECORD_H
#define LF_RECORD_H

#include "start.h"

/* Opens the log.  Returns its path (static), or NULL with the reason. */
const char *record_open(const struct start *s, struct lf_err *e);
/* "0", "batch" or "interactive"; static. */
const char *record_step(const struct start *s);

#endif
