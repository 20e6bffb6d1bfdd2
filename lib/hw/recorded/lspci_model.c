/* SPDX-License-Identifier: Apache-2.0 */
/* Devices are known with the buses of their bridges, so that the way from a GPU
 * to its root and to each NIC can be followed.  Only a way that reaches a root
 * port is believed; an excerpt shows parts of it.
 */
#include "config.h"

#include "hw/recorded/lspci.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	HOPS = 32 /* bridges above one device */
};

/* The bridge whose other side is this device's bus, or NULL. */
static const struct device *above(const struct list *l, const struct device *d)
{
	for (int i = 0; i < l->n; i++)
		if (l->d[i].kind == BRIDGE && l->d[i].domain == d->domain &&
		    &l->d[i] != d && l->d[i].secondary == (int)d->number)
			return &l->d[i];
	return NULL;
}

/* The bridges above a device, nearest first; 0 unless a root port is met. */
static int climb(const struct list *l, const struct device *d,
		 const struct device **way)
{
	for (int n = 0; n < HOPS; n++) {
		d = above(l, d);
		if (!d)
			return 0;
		way[n] = d;
		if (d->is_root)
			return n + 1;
	}
	return 0;
}

static int least(int a, int b)
{
	if (a < 0)
		return b;
	return b >= 0 && b < a ? b : a;
}

static void set_pcie(struct lf_hw *hw, const struct list *l,
		     const struct device *d, struct lf_hw_pcie *p)
{
	const struct device *way[HOPS], *port = above(l, d);
	int n = climb(l, d, way), gen = -1, width = -1;
	const char *who = *d->bus ? d->bus : "the GPU";

	lf_hw_set_gen(hw, who, p, d->now.gen);
	lf_hw_set_int(hw, who, "PCIe width", &p->width, d->now.width);
	lf_hw_set_int(hw, who, "PCIe generation of the device",
		      &p->device_max_gen, d->cap.gen);
	lf_hw_set_int(hw, who, "greatest PCIe width", &p->max_width,
		      least(d->cap.width, port ? port->cap.width : -1));
	if (port)
		lf_hw_set_int(hw, who, "greatest PCIe generation", &p->max_gen,
			      least(d->cap.gen, port->cap.gen));
	for (int i = 0; i < n; i++) {
		gen = least(gen, way[i]->now.gen);
		width = least(width, way[i]->now.width);
	}
	lf_hw_set_int(hw, who, "PCIe generation on the way", &p->path_gen, gen);
	lf_hw_set_int(hw, who, "PCIe width on the way", &p->path_width, width);
}

/* ACS counts where GPUs and NICs meet: in the ports above them. */
static int redirect_of(const struct list *l)
{
	const struct device *way[HOPS];
	int acs = -1;

	for (int i = 0; i < l->n; i++) {
		int n;

		if (l->d[i].kind != GPU && l->d[i].kind != NIC)
			continue;
		n = climb(l, &l->d[i], way);
		for (int k = 0; k < n; k++)
			if (way[k]->redirects > acs)
				acs = way[k]->redirects;
	}
	return acs;
}

static enum lf_hw_path path_by_numa(const struct device *a,
				    const struct device *b, bool same_possible)
{
	if (a->numa < 0 || b->numa < 0)
		return LF_PATH_UNKNOWN;
	if (a->numa != b->numa)
		return LF_PATH_SYS;
	return same_possible ? LF_PATH_UNKNOWN : LF_PATH_NODE;
}

/* How two devices meet: within one switch (port and upstream port above each),
 * above several, at a host bridge, in a NUMA node, or between two. */
static enum lf_hw_path path_between(const struct list *l,
				    const struct device *a,
				    const struct device *b)
{
	const struct device *up[HOPS], *down[HOPS];
	int n = climb(l, a, up), m = climb(l, b, down);

	if (!n || !m)
		return path_by_numa(a, b, true);
	for (int i = 0; i < n; i++)
		for (int k = 0; k < m; k++)
			if (up[i] == down[k])
				return i <= 1 && k <= 1 ? LF_PATH_PIX
							: LF_PATH_PXB;
	if (up[n - 1]->domain == down[m - 1]->domain &&
	    up[n - 1]->number == down[m - 1]->number)
		return LF_PATH_PHB;
	return path_by_numa(a, b, false);
}

/* nvidia-smi counts NVIDIA's GPUs by bus.  A listing of nothing but GPUs may
 * be of one GPU, and another driver hides a GPU from it. */
static bool shows_all(const struct list *l)
{
	bool others = false;

	for (int i = 0; i < l->n; i++) {
		others = others || l->d[i].kind == OTHER ||
			 l->d[i].kind == BRIDGE;
		if (l->d[i].kind == GPU && l->d[i].no_driver)
			return false;
	}
	return others && !l->nameless && !l->partial;
}

static int index_of(const struct list *l, const struct device *d)
{
	int n = 0;

	for (int i = 0; i < l->n; i++)
		n += l->d[i].kind == GPU && strcmp(l->d[i].bus, d->bus) < 0;
	return n;
}

static int add_gpu(struct lf_hw *hw, const struct list *l,
		   const struct device *d, int *at, struct lf_err *e)
{
	bool counted = d->kind == GPU && (l->nameless || shows_all(l));
	struct lf_hw_gpu *g = NULL;

	/* Link lines without a name can only be of the one GPU there is. */
	if (l->nameless && hw->gpus > 1)
		return lf_err(e, -EINVAL,
			      "1:1: which of %d GPUs has this "
			      "link is not said",
			      hw->gpus);
	if (l->nameless && hw->gpus == 1)
		g = &hw->gpu[0];
	else
		g = lf_hw_gpu(hw, counted ? index_of(l, d) : -1, d->bus, NULL);
	if (!g)
		return lf_err(e, -ENOSPC, "1:1: more than %d GPUs", LF_HW_GPUS);
	*at = lf_hw_gpu_number(hw, g);
	if (!l->nameless)
		g->vendor = d->kind == GPU ? LF_VENDOR_NVIDIA : LF_VENDOR_OTHER;
	lf_hw_set_int(hw, d->bus, "device id", &g->device_id, d->id);
	lf_hw_set_int(hw, d->bus, "NUMA node", &g->numa, d->numa);
	set_pcie(hw, l, d, &g->pcie);
	return 0;
}

static int add_nic(struct lf_hw *hw, const struct list *l,
		   const struct device *d, int *at, struct lf_err *e)
{
	struct lf_hw_nic *n = lf_hw_nic(hw, NULL, -1, d->bus);
	char type[16];

	if (!n)
		return lf_err(e, -ENOSPC, "1:1: more than %d NICs", LF_HW_NICS);
	*at = lf_hw_nic_number(hw, n);
	hw->nics_shown = true;
	if (d->mt > 0) {
		(void)snprintf(type, sizeof(type), "MT%d", d->mt);
		lf_hw_set_text(hw, d->bus, "type", n->type, type);
		n->vendor = LF_VENDOR_NVIDIA;
	}
	lf_hw_set_int(hw, d->bus, "NUMA node", &n->numa, d->numa);
	set_pcie(hw, l, d, &n->pcie);
	return 0;
}

static void add_paths(struct lf_hw *hw, const struct list *l, const int *at)
{
	for (int i = 0; i < l->n; i++) {
		if (l->d[i].kind != GPU)
			continue;
		for (int k = 0; k < l->n; k++) {
			enum lf_hw_path p;

			if (k == i ||
			    (l->d[k].kind != NIC && l->d[k].kind != GPU))
				continue;
			p = path_between(l, &l->d[i], &l->d[k]);
			if (l->d[k].kind == GPU)
				lf_hw_set_path(hw, at[i], at[k], p);
			else
				lf_hw_set_nic_path(hw, at[i], at[k], p);
		}
	}
}

int lf_lspci_add(struct lf_hw *hw, const struct list *l, int *at,
		 struct lf_err *e)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < l->n; i++) {
		const struct device *d = &l->d[i];

		if (d->kind == GPU || d->kind == FOREIGN_GPU)
			rc = add_gpu(hw, l, d, &at[i], e);
		else if (d->kind == NIC)
			rc = add_nic(hw, l, d, &at[i], e);
	}
	if (rc)
		return rc;
	add_paths(hw, l, at);
	lf_hw_set_high(hw, "node", "ACS", &hw->node.acs, redirect_of(l));
	if (l->nameless)
		lf_hw_mark_partial(hw, "a link without a device's name was "
				       "taken for a GPU's");
	if (l->partial)
		lf_hw_mark_partial(hw, "the text ends in the middle, or parts "
				       "were left out");
	return 0;
}
