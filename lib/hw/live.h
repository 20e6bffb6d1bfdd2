/* SPDX-License-Identifier: Apache-2.0 */
/* live - this machine into the model: sysfs (root argument) and NVML (dlopen,
 * dlsym per function).  Root side: libc only.  Never in slurmd or slurmstepd.
 * A sick driver hangs, or takes its caller along: ask with lf_hw_live. */
#ifndef LF_HW_LIVE_H
#define LF_HW_LIVE_H

#include "hw/model.h"

/* Both of the two below, as bounded.h says.  No driver is no error.  live.c */
int lf_hw_live(struct lf_hw *hw, const char *library, int deadline_ms,
	       struct lf_err *e);
/* GPUs and NICs of ROOT/sys and ROOT/proc: PCIe, NUMA, InfiniBand ports,
 * modules, IOMMU, paths between devices by their PCI ancestors.  sysfs.c */
int lf_hw_live_sysfs(struct lf_hw *hw, const char *root, struct lf_err *e);
/* NVML of `library` (NULL: libnvidia-ml.so.1).  -ENOENT: no driver.  A missing
 * or refusing function leaves its fields unknown.  nvml.c */
int lf_hw_live_nvml(struct lf_hw *hw, const char *library, struct lf_err *e);

#endif
