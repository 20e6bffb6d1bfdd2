/* SPDX-License-Identifier: Apache-2.0 */
/* verbs - RDMA ports and GPUDirect as a process of the user's has them.
 *
 * sysfs shows devices that a container or a job may not open; libibverbs opens
 * them.  Of each port what sysfs left unknown is filled in, and whether memory
 * of a GPU can be registered, which NCCL finds out in the same two ways: a
 * peer-memory module, or dma-buf, of GPU driver, RDMA driver and kernel.
 */
#ifndef LF_HW_VERBS_H
#define LF_HW_VERBS_H

#include "hw/model.h"

/* In a child of its own, see bounded.h.  `root` is before /proc.  No device, or
 * none that can be opened, is no error and changes nothing. */
int lf_hw_verbs(struct lf_hw *hw, const char *root, int deadline_ms,
		struct lf_err *e);

#endif
