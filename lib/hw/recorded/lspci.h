/* SPDX-License-Identifier: Apache-2.0 */
/* lspci - the devices of one listing, and what follows from where they stand.
 * Private to lspci.c, which reads them, and lspci_model.c. */
#ifndef LF_HW_RECORDED_LSPCI_H
#define LF_HW_RECORDED_LSPCI_H

#include "hw/recorded/text.h"

enum kind {
	OTHER,
	GPU,
	FOREIGN_GPU,
	NIC,
	BRIDGE
};

struct link {
	int gen, width; /* -1 unknown */
};

struct device {
	enum kind kind;
	char bus[LF_HW_TEXT];
	unsigned domain, number; /* number: of its bus */
	int secondary;		 /* bus below a bridge, -1 */
	bool is_root;
	int id; /* PCI device id, -1 */
	int mt; /* Mellanox card type, -1 */
	int numa;
	int redirects;	/* ACS sends peers' traffic up: 1, 0, -1 */
	bool no_driver; /* bound to another driver than nvidia */
	struct link cap, now;
};

struct list {
	int n, size;
	struct device *d;
	bool nameless; /* link lines without a device */
	bool partial;
};

/* The list into the model; at[] holds a number for each device of it. */
int lf_lspci_add(struct lf_hw *hw, const struct list *l, int *at,
		 struct lf_err *e);

#endif
