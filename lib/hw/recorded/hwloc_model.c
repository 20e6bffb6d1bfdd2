/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/recorded/hwloc_xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What NVML or CUDA says of the GPU at a place of the tree, or NULL. */
static const struct device *said_of(const struct reading *r, int pci)
{
	for (int i = 0; i < r->gpus; i++)
		if (r->gpu[i].pci == pci)
			return &r->gpu[i];
	return NULL;
}

/* The number that NVML gives it, -1 without. */
static int nvml_index(const struct reading *r, int pci)
{
	const struct device *said = said_of(r, pci);

	return said && strncmp(said->name, "nvml", 4) == 0
		       ? lf_xml_int(said->name + 4, LF_HW_GPUS - 1)
		       : -1;
}

static void add_gpu(struct reading *r, int pci)
{
	const struct lf_pci_dev *d = &r->tree->dev[pci];
	const struct device *said = said_of(r, pci);
	struct lf_hw_gpu *g =
		lf_hw_gpu(r->hw, nvml_index(r, pci), d->bus, NULL);

	if (!g) {
		lf_hw_mark_partial(r->hw, "more than 64 GPUs");
		return;
	}
	lf_pci_to_gpu(r->hw, g, d);
	lf_hw_set_gen(r->hw, d->bus, &g->pcie, d->gen);
	lf_hw_set_int(r->hw, d->bus, "PCIe width", &g->pcie.width, d->width);
	if (said)
		lf_hw_set_text(r->hw, d->bus, "name", g->name, said->model);
	if (said && strncmp(said->uuid, "GPU-", 4) == 0)
		lf_hw_set_text(r->hw, d->bus, "UUID", g->uuid, said->uuid);
}

static void add_port(struct reading *r, const struct device *n, int port)
{
	static const enum lf_hw_port states[] = { LF_PORT_UNKNOWN, LF_PORT_DOWN,
						  LF_PORT_INIT, LF_PORT_ARMED,
						  LF_PORT_ACTIVE };
	const struct lf_pci_dev *d = n->pci < 0 ? NULL : &r->tree->dev[n->pci];
	struct lf_hw_nic *to =
		lf_hw_nic(r->hw, n->name, port, d ? d->bus : NULL);
	int state = port > 0 ? n->state[port - 1] : 0;

	if (!to)
		return;
	if (state > 0 && state <= 4)
		lf_hw_set_port(r->hw, to, states[state]);
	lf_hw_set_text(r->hw, n->name, "GUID", to->guid, n->guid);
	if (!d)
		return;
	lf_pci_to_nic(r->hw, to, d);
	lf_hw_set_gen(r->hw, n->name, &to->pcie, d->gen);
	lf_hw_set_int(r->hw, n->name, "PCIe width", &to->pcie.width, d->width);
}

/* MB/s of one NVLink, by generation: hwloc multiplies by the links that are up.
 * NVLink 1 (P100) 20000, 5 (Blackwell) 50000, all others 25000. */
static int link_mbps(const struct lf_hw_gpu *g)
{
	if (g->device_id >= 0x15f0 && g->device_id <= 0x15ff)
		return 20000;
	if ((g->device_id >= 0x2900 && g->device_id <= 0x29ff) ||
	    (g->device_id >= 0x3100 && g->device_id <= 0x32ff))
		return 50000;
	return 25000;
}

struct node {
	int gpu, nvswitch; /* number, -1 */
};

static void name_nodes(const struct reading *r, struct lf_links *l,
		       struct node node[MATRIX_MAX])
{
	for (int i = 0; i < r->matrix.rows; i++) {
		node[i] = (struct node){ -1, -1 };
		for (int o = 0; o < r->objects; o++) {
			const struct object *ob = &r->object[o];
			const char *bus = r->tree->dev[ob->pci].bus;

			if (ob->gp != r->matrix.gp[i] || ob->gp == 0)
				continue;
			if (ob->nvswitch)
				node[i].nvswitch = lf_links_switch(l, bus);
			for (int g = 0; !ob->nvswitch && g < r->hw->gpus; g++)
				if (strcmp(r->hw->gpu[g].bus, bus) == 0)
					node[i].gpu = g;
		}
	}
}

static void add_cell(struct reading *r, struct lf_links *l,
		     const struct node *from, const struct node *to, long mbps)
{
	struct lf_hw_gpu *g;
	int count;

	if (from->nvswitch >= 0 && to->nvswitch >= 0 && mbps > 0)
		lf_links_join(l, from->nvswitch, to->nvswitch);
	if (from->gpu < 0)
		return;
	g = &r->hw->gpu[from->gpu];
	count = mbps > 0 && mbps <= 10000000 ? (int)(mbps / link_mbps(g)) : 0;
	if (to->nvswitch >= 0)
		l->into[from->gpu][to->nvswitch] += count;
	else if (to->gpu >= 0)
		l->direct[from->gpu][to->gpu] += count;
	else
		l->elsewhere[from->gpu] += count;
}

static void set_links(struct reading *r, struct lf_links *l)
{
	const struct matrix *m = &r->matrix;
	struct node node[MATRIX_MAX];

	name_nodes(r, l, node);
	for (int i = 0; i < m->rows; i++) {
		if (node[i].gpu >= 0)
			l->seen[node[i].gpu] = true;
		for (int j = 0; j < m->rows; j++)
			if (i != j)
				add_cell(r, l, &node[i], &node[j],
					 m->cell[i * m->rows + j]);
	}
	r->hw->nvlink_shown = true;
	lf_links_set(l, r->hw);
}

/* Since 2.5 hwloc writes the matrix if NVML shows a single NVLink. */
static void set_no_links(struct reading *r, struct lf_links *l)
{
	bool could = r->major > 2 || (r->major == 2 && r->minor >= 5);

	if (!r->nvml || !could || r->gpus == 0 || r->hw->partial)
		return;
	for (int i = 0; i < r->gpus; i++)
		for (int g = 0; g < r->hw->gpus; g++)
			if (strcmp(r->hw->gpu[g].bus,
				   r->tree->dev[r->gpu[i].pci].bus) == 0)
				l->seen[g] = true;
	r->hw->nvlink_shown = true;
	lf_links_set(l, r->hw);
}

/* In NVML's order first, then those that it does not know. */
static void add_gpus(struct reading *r)
{
	for (int index = 0; index <= LF_HW_GPUS; index++)
		for (int i = 0; i < r->tree->devs; i++) {
			const struct lf_pci_dev *d = &r->tree->dev[i];
			int want = index < LF_HW_GPUS ? index : -1;

			if (d->kind == LF_PCI_DEVICE &&
			    (lf_pci_is_gpu(d) || said_of(r, i)) &&
			    nvml_index(r, i) == want)
				add_gpu(r, i);
		}
}

void lf_hwloc_finish(struct reading *r, struct lf_links *l)
{
	lf_hw_set_text(r->hw, "node", "product", r->hw->node.product,
		       r->product);
	lf_hw_set_int(r->hw, "node", "NUMA nodes", &r->hw->node.numa_nodes,
		      r->numa_nodes > 0 ? r->numa_nodes : -1);
	add_gpus(r);
	for (int i = 0; i < r->tree->devs; i++)
		if (r->tree->dev[i].kind == LF_PCI_DEVICE &&
		    lf_pci_is_nic(&r->tree->dev[i]))
			r->hw->nics_shown = true;
	for (int i = 0; i < r->nics; i++) {
		for (int p = 1; p <= r->nic[i].ports; p++)
			add_port(r, &r->nic[i], p);
		if (r->nic[i].ports == 0)
			add_port(r, &r->nic[i], -1);
		r->hw->nics_shown = true;
	}
	if (!r->hw->partial)
		lf_pci_number(r->hw);
	if (r->matrix_read)
		set_links(r, l);
	else
		set_no_links(r, l);
	lf_pci_paths(r->tree, r->hw);
}
