/* SPDX-License-Identifier: Apache-2.0 */
/* pci - the tree of bridges above GPUs and NICs, as far as it is known, and
 * what follows from it: how near two devices are, the narrowest port above one.
 *
 * Readers put in what they see (sysfs, lspci, NCCL, hwloc); a device without a
 * parent is one whose way up is not known.  Pure; bounded by LF_PCI_MAX.
 */
#ifndef LF_HW_PCI_H
#define LF_HW_PCI_H

#include "hw/model.h"

enum {
	LF_PCI_MAX = 2048 /* GPUs, NICs and what is above them; 300 seen */
};

enum lf_pci_kind {
	LF_PCI_DEVICE,
	LF_PCI_BRIDGE,
	LF_PCI_HOST
};

struct lf_pci_dev {
	char bus[LF_HW_TEXT];
	enum lf_pci_kind kind;
	int parent;	/* place in dev, -1 unknown or none */
	int gen, width; /* of the link, -1 */
	int numa;
	int class; /* three bytes, 0x030200; -1 */
	int vendor, device;
};

struct lf_pci {
	int devs;
	bool hosts; /* host bridges are shown, so their absence is one */
	struct lf_pci_dev dev[LF_PCI_MAX];
};

/* Finds or adds; `bus` is normalised, or taken as it is for a host bridge.
 * -1 when full or without a bus id. */
int lf_pci_add(struct lf_pci *p, enum lf_pci_kind kind, const char *bus,
	       int parent);
/* Paths between all GPUs and NICs, and the narrowest port above each. */
void lf_pci_paths(const struct lf_pci *p, struct lf_hw *hw);

/* "16.0 GT/s PCIe" -> 4, or -1. */
int lf_pci_gen(const char *speed);
/* Hex with or without 0x -> number, or -1. */
int lf_pci_hex(const char *text);
/* An accelerator or display of NVIDIA's, or somebody else's accelerator. */
bool lf_pci_is_gpu(const struct lf_pci_dev *d);
/* An Ethernet or InfiniBand controller. */
bool lf_pci_is_nic(const struct lf_pci_dev *d);
enum lf_hw_vendor lf_pci_gpu_vendor(const struct lf_pci_dev *d);
/* What the device says of a GPU or NIC: vendor, id, NUMA node, card. */
void lf_pci_to_gpu(struct lf_hw *hw, struct lf_hw_gpu *g,
		   const struct lf_pci_dev *d);
void lf_pci_to_nic(struct lf_hw *hw, struct lf_hw_nic *n,
		   const struct lf_pci_dev *d);
/* Gives the GPUs the numbers of nvidia-smi, which is their order on the bus;
 * only if none has one yet.  For recordings that show all GPUs. */
void lf_pci_number(struct lf_hw *hw);

#endif
