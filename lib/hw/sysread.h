/* SPDX-License-Identifier: Apache-2.0 */
/* sysread - one reading of a sysfs, from whatever shows it.  Private to
 * sysview.c (PCI and GPUs), sysview_rdma.c and sysview_node.c. */
#ifndef LF_HW_SYSREAD_H
#define LF_HW_SYSREAD_H

#include "hw/pci.h"
#include "hw/sysview.h"

#define PCI "/sys/bus/pci/devices"
#define IB  "/sys/class/infiniband"

enum {
	PATH = 512,
	VALUE = 256,
	CONFIG = 4096 /* PCI configuration space */
};

struct lf_sysread {
	struct lf_hw *hw;
	const struct lf_sysview *v;
	struct lf_pci *tree;
	struct lf_sys_names *devices; /* of PCI */
	struct lf_sys_names *names;   /* of whatever is looked at */
	bool rdma_class;	      /* /sys/class/infiniband is there */
	bool classes;		      /* PCI classes are told */
};

/* sysview.c */
/* A file of the tree, cleaned; its length, or -1. */
int lf_sys_get(const struct lf_sysread *r, char *buf, size_t n, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));
/* Without control characters. */
bool lf_sys_printable(const char *name);
/* A text that is a whole number, else -1. */
int lf_sys_whole(const char *text);
/* "0000:17:00.0" */
bool lf_sys_is_address(const char *name);
/* The device and the bridges above it; its place in the tree, or -1. */
int lf_sys_add_chain(struct lf_sysread *r, const char *bus);
void lf_sys_set_pcie(struct lf_sysread *r, const struct lf_pci_dev *d,
		     struct lf_hw_pcie *pcie);
/* A virtual function, which belongs to the device that lends it. */
bool lf_sys_lent(const struct lf_sysread *r, const char *bus);

/* sysview_rdma.c */
void lf_sys_rdma_by_class(struct lf_sysread *r);
void lf_sys_rdma_by_device(struct lf_sysread *r);

/* sysview_node.c */
void lf_sys_set_iommu(struct lf_sysread *r);
void lf_sys_set_acs(struct lf_sysread *r);
void lf_sys_set_numa(struct lf_sysread *r);
void lf_sys_set_node(struct lf_sysread *r);

#endif
