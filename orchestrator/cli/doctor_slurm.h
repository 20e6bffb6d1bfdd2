/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_slurm - what plugstack.conf and Slurm's configuration say of us. */
#ifndef LF_DOCTOR_SLURM_H
#define LF_DOCTOR_SLURM_H

#include "doctor.h"

struct site {
	char config[PATH_MAX], run[PATH_MAX]; /* as plugstack.conf has them */
	bool listed;
};

/* Fills `site` also where there is no Slurm. */
void doctor_slurm(struct doctor *d, struct site *site);

#endif
