/* SPDX-License-Identifier: Apache-2.0 */
/* software - sets of driver, CUDA and NCCL versions that are known to be good.
 *
 * A set gives each of them a range: "LOW-HIGH", "LOW-", "-HIGH", one version,
 * or "" for any.  Versions compare number by number; one version and HIGH hold
 * what continues them: 2.30 holds 2.30.7, and 580 holds 580.159.03.  Pure, but
 * for the reader of etc/software.conf.
 */
#ifndef LF_HW_SOFTWARE_H
#define LF_HW_SOFTWARE_H

#include "hw/model.h"

enum lf_software_part {
	LF_SOFTWARE_DRIVER,
	LF_SOFTWARE_CUDA, /* what the driver offers, not a job's toolkit */
	LF_SOFTWARE_NCCL,
	LF_SOFTWARE_PARTS
};

enum {
	LF_SOFTWARE_SETS = 16
};

struct lf_software {
	int sets;
	struct lf_software_set {
		char name[LF_HW_TEXT];
		char range[LF_SOFTWARE_PARTS][LF_HW_TEXT];
	} set[LF_SOFTWARE_SETS];
};

extern const char *const lf_software_names[LF_SOFTWARE_PARTS];

bool lf_range_valid(const char *range);
/* Whether a version is in a valid range; what is no version ("") is. */
bool lf_range_holds(const char *range, const char *version);

/* -EINVAL: "PATH:LINE: what"; -ENOENT: there is no such file. */
int lf_software_read(const char *path, struct lf_software *s, struct lf_err *e);

#endif
