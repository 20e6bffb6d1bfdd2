/* SPDX-License-Identifier: Apache-2.0 */
/* hwloc_xml - what an lstopo file shows, before it becomes a model.  Private to
 * hwloc_xml.c, which reads it, and hwloc_model.c. */
#ifndef LF_HW_RECORDED_HWLOC_XML_H
#define LF_HW_RECORDED_HWLOC_XML_H

#include "hw/links.h"
#include "hw/pci.h"
#include "hw/recorded/xml.h"

enum {
	MATRIX_MAX = 128, /* rows; DGX-2 has 28 */
	PORTS_MAX = 4,	  /* of an RDMA device */
	OBJECTS_MAX = 512 /* that a matrix may speak of */
};

enum kind {
	OTHER,
	PCI,
	CUDA,
	NVML,
	RDMA
};

/* An object that is open. */
struct frame {
	enum kind kind;
	int pci;  /* nearest around it, -1 */
	int numa; /* by its set of nodes, -1 */
};

/* What a matrix may name by gp_index. */
struct object {
	unsigned long gp;
	int pci;
	bool nvswitch;
};

struct device {
	char name[LF_HW_TEXT], uuid[LF_HW_TEXT], model[LF_HW_TEXT];
	char guid[LF_HW_TEXT];
	int pci;
	int ports, state[PORTS_MAX], lid;
};

struct matrix {
	int rows, named, values;
	bool active, hetero;
	unsigned long gp[MATRIX_MAX];
	long cell[MATRIX_MAX * MATRIX_MAX];
};

struct reading {
	struct lf_hw *hw;
	struct lf_pci *tree;
	struct frame stack[LF_XML_DEPTH + 1];
	int depth, objects_open, hosts, numa_nodes;
	struct device open; /* the OSDev that is open */
	int gpus, nics, objects;
	struct device gpu[LF_HW_GPUS], nic[LF_HW_NICS];
	struct object object[OBJECTS_MAX];
	struct matrix matrix;
	char product[LF_HW_TEXT];
	int major, minor; /* of the hwloc that wrote it */
	bool any, nvml, matrix_read;
};

/* All of it into r->hw; `l` is empty. */
void lf_hwloc_finish(struct reading *r, struct lf_links *l);

#endif
