/* SPDX-License-Identifier: Apache-2.0 */
/* nvml - one reading of NVML.  Private to nvml.c (the library, and which GPUs
 * there are), nvml_gpu.c and nvml_links.c.
 *
 * Every function may be missing or refuse, and a GPU may be lost between two
 * calls: what was not answered stays unknown.  A call may also hang for minutes
 * on a sick GPU; the caller's deadline ends the process then.
 */
#ifndef LF_HW_NVML_H
#define LF_HW_NVML_H

#include "hw/links.h"
#include "hw/nvml_api.h"

enum {
	LOST_XID = 79 /* "fallen off the bus", what a lost GPU is in the log */
};

struct lf_nvml_gpu {
	lf_nvml_device device;
	int gpu;   /* place in the model, -1 */
	int links; /* that are up */
};

struct lf_nvml {
	struct lf_hw *hw;
	struct lf_links *links;
	struct lf_nvml_api api;
	int n; /* GPUs that NVML counts */
	struct lf_nvml_gpu one[LF_HW_GPUS];
};

/* Like a function that refuses. */
/* Like a function that refuses. */
#define CALL(r, member, ...)                                                   \
	((r)->api.member ? (r)->api.member(__VA_ARGS__)                        \
			 : NVML_FUNCTION_NOT_FOUND)

/* nvml.c */
/* Into the model, unless `rc` is a refusal or the value cannot be. */
void lf_nvml_set(struct lf_nvml *r, const struct lf_hw_gpu *g, const char *what,
		 int *field, int rc, unsigned value);
/* The address in the answer `rc` of a call that was given a blank one; "" if it
 * was refused. */
struct lf_nvml_pci *lf_nvml_blank(struct lf_nvml_pci *pci);
void lf_nvml_bus(int rc, struct lf_nvml_pci *pci, char bus[LF_HW_TEXT]);

/* nvml_gpu.c: PCIe, state, place and fabric of one GPU. */
void lf_nvml_read_gpu(struct lf_nvml *r, const struct lf_nvml_gpu *one);

/* nvml_links.c */
/* Of one GPU into r->links. */
void lf_nvml_read_links(struct lf_nvml *r, struct lf_nvml_gpu *one);
/* Path and peer access of two, once r->links are in the model. */
void lf_nvml_read_peer(struct lf_nvml *r, const struct lf_nvml_gpu *a,
		       const struct lf_nvml_gpu *b);

#endif
