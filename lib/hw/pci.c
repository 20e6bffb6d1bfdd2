/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/pci.h"

#include <stdio.h>
#include <string.h>

enum {
	NVIDIA = 0x10de,
	MELLANOX = 0x15b3,
	AMD = 0x1002,
	INTEL = 0x8086,
	DEPTH_MAX = 32 /* bridges above a device; 8 seen */
};

static int find(const struct lf_pci *p, const char *bus)
{
	for (int i = 0; i < p->devs; i++)
		if (strcmp(p->dev[i].bus, bus) == 0)
			return i;
	return -1;
}

int lf_pci_add(struct lf_pci *p, enum lf_pci_kind kind, const char *bus,
	       int parent)
{
	char id[LF_HW_TEXT];
	int i;

	if (kind == LF_PCI_HOST)
		(void)snprintf(id, sizeof(id), "%s", bus ? bus : "");
	else
		lf_hw_bus(bus, id);
	if (!*id)
		return -1;
	i = find(p, id);
	if (i >= 0)
		return i;
	if (p->devs == LF_PCI_MAX)
		return -1;
	i = p->devs++;
	p->dev[i] = (struct lf_pci_dev){ .kind = kind,
					 .parent = parent,
					 .gen = -1,
					 .width = -1,
					 .numa = -1,
					 .class = -1,
					 .vendor = -1,
					 .device = -1 };
	memcpy(p->dev[i].bus, id, sizeof(id));
	return i;
}

/* The device and what is above it, nearest first.  A parent always stands
 * before its child, so there is no cycle. */
static int way_up(const struct lf_pci *p, int i, int up[DEPTH_MAX])
{
	int n = 0;

	while (i >= 0 && n < DEPTH_MAX) {
		up[n++] = i;
		i = p->dev[i].parent;
	}
	return n;
}

static enum lf_hw_path apart(const struct lf_pci *p, int a, int b)
{
	int x = p->dev[a].numa, y = p->dev[b].numa;

	if (x < 0 || y < 0)
		return LF_PATH_UNKNOWN;
	if (x != y)
		return LF_PATH_SYS;
	/* Without host bridges this may as well be one of them. */
	return p->hosts && p->dev[a].parent >= 0 && p->dev[b].parent >= 0
		       ? LF_PATH_NODE
		       : LF_PATH_UNKNOWN;
}

static enum lf_hw_path path(const struct lf_pci *p, int a, int b)
{
	int up[DEPTH_MAX], down[DEPTH_MAX];
	int n = way_up(p, a, up), m = way_up(p, b, down);

	for (int i = 0; i < n; i++)
		for (int j = 0; j < m; j++) {
			if (up[i] != down[j])
				continue;
			if (p->dev[up[i]].kind == LF_PCI_HOST)
				return LF_PATH_PHB;
			/* One switch is its upstream port, which both share,
			 * and a downstream port for each. */
			return i <= 2 && j <= 2 ? LF_PATH_PIX : LF_PATH_PXB;
		}
	return apart(p, a, b);
}

static long bandwidth(int gen, int width)
{
	return gen > 0 && width > 0 ? ((long)width << gen) : -1;
}

static void narrowest(const struct lf_pci *p, int i, struct lf_hw *hw,
		      const char *subject, struct lf_hw_pcie *pcie)
{
	long least = -1;
	int up[DEPTH_MAX], n = way_up(p, i, up), at = -1;

	for (int k = 1; k < n; k++) {
		const struct lf_pci_dev *d = &p->dev[up[k]];
		long bw = bandwidth(d->gen, d->width);

		if (bw < 0 || (least >= 0 && bw >= least))
			continue;
		least = bw;
		at = up[k];
	}
	if (at < 0)
		return;
	lf_hw_set_int(hw, subject, "PCIe generation of the path",
		      &pcie->path_gen, p->dev[at].gen);
	lf_hw_set_int(hw, subject, "PCIe width of the path", &pcie->path_width,
		      p->dev[at].width);
}

static void gpu_paths(const struct lf_pci *p, struct lf_hw *hw, int gpu, int at,
		      const int nic_at[LF_HW_NICS])
{
	for (int b = 0; b < gpu; b++) {
		int other = find(p, hw->gpu[b].bus);

		if (other >= 0)
			lf_hw_set_path(hw, gpu, b, path(p, at, other));
	}
	for (int n = 0; n < hw->nics; n++)
		if (nic_at[n] >= 0)
			lf_hw_set_nic_path(hw, gpu, n, path(p, at, nic_at[n]));
}

void lf_pci_paths(const struct lf_pci *p, struct lf_hw *hw)
{
	int nic_at[LF_HW_NICS] = { 0 };

	for (int n = 0; n < hw->nics; n++) {
		struct lf_hw_nic *nic = &hw->nic[n];

		nic_at[n] = *nic->bus ? find(p, nic->bus) : -1;
		if (nic_at[n] >= 0)
			narrowest(p, nic_at[n], hw, nic->name, &nic->pcie);
	}
	for (int i = 0; i < hw->gpus; i++) {
		struct lf_hw_gpu *g = &hw->gpu[i];
		int at = *g->bus ? find(p, g->bus) : -1;

		if (at < 0)
			continue;
		narrowest(p, at, hw, g->bus, &g->pcie);
		gpu_paths(p, hw, i, at, nic_at);
	}
}

int lf_pci_gen(const char *speed)
{
	static const int rates[] = { 2, 5, 8, 16, 32, 64, 128 };
	int rate = 0, n = 0;

	if (!speed || sscanf(speed, "%4d%n", &rate, &n) != 1)
		return -1;
	if (rate == 2 && strncmp(speed + n, ".5", 2) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (rates[i] == rate)
			return (int)i + 1;
	return -1;
}

int lf_pci_hex(const char *text)
{
	unsigned v;

	return text && sscanf(text, "%8x", &v) == 1 && v <= 0xffffff ? (int)v
								     : -1;
}

bool lf_pci_is_gpu(const struct lf_pci_dev *d)
{
	int class = d->class >> 8;

	if (d->class < 0)
		return false;
	if (d->vendor == NVIDIA)
		return class == 0x0300 || class == 0x0302;
	if (d->vendor < 0) /* files made by hand leave it out */
		return class == 0x0302;
	return (d->vendor == AMD || d->vendor == INTEL) &&
	       (class == 0x0302 || class == 0x0380 || class == 0x1200);
}

bool lf_pci_is_nic(const struct lf_pci_dev *d)
{
	int class = d->class >> 8;

	return d->class >= 0 &&
	       (class == 0x0200 || class == 0x0207 || class == 0x0280);
}

enum lf_hw_vendor lf_pci_gpu_vendor(const struct lf_pci_dev *d)
{
	if (d->vendor < 0)
		return LF_VENDOR_UNKNOWN;
	return d->vendor == NVIDIA ? LF_VENDOR_NVIDIA : LF_VENDOR_OTHER;
}

void lf_pci_to_gpu(struct lf_hw *hw, struct lf_hw_gpu *g,
		   const struct lf_pci_dev *d)
{
	if (g->vendor == LF_VENDOR_UNKNOWN)
		g->vendor = lf_pci_gpu_vendor(d);
	lf_hw_set_int(hw, d->bus, "PCI device id", &g->device_id, d->device);
	lf_hw_set_int(hw, d->bus, "NUMA node", &g->numa, d->numa);
}

void lf_pci_to_nic(struct lf_hw *hw, struct lf_hw_nic *n,
		   const struct lf_pci_dev *d)
{
	char card[16];

	lf_hw_set_int(hw, d->bus, "NUMA node", &n->numa, d->numa);
	if (n->layer == LF_LAYER_UNKNOWN && d->class >> 8 == 0x0207)
		n->layer = LF_LAYER_IB;
	if (d->vendor != MELLANOX || d->device < 0)
		return;
	n->vendor = LF_VENDOR_NVIDIA;
	/* The name that the driver gives is the PCI id in decimal. */
	(void)snprintf(card, sizeof(card), "MT%d", d->device);
	lf_hw_set_text(hw, d->bus, "card", n->type, card);
}

void lf_pci_number(struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		if (hw->gpu[i].index >= 0 || !*hw->gpu[i].bus ||
		    hw->gpu[i].vendor == LF_VENDOR_OTHER)
			return;
	for (int i = 0; i < hw->gpus; i++) {
		int before = 0;

		for (int j = 0; j < hw->gpus; j++)
			before += strcmp(hw->gpu[j].bus, hw->gpu[i].bus) < 0;
		hw->gpu[i].index = before;
	}
}
