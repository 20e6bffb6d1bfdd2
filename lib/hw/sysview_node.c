/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for the node: IOMMU, ACS, NUMA, modules. */
#include "config.h"

#include "hw/sysread.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool exists(struct lf_sysread *r, const char *path)
{
	return r->v->list(r->v, path, r->names);
}

/* Translation makes peer transfers go through the root. */
void lf_sys_set_iommu(struct lf_sysread *r)
{
	int on = -1;
	char buf[VALUE];

	if (exists(r, "/sys/kernel/iommu_groups"))
		on = r->names->n == 0 ? 0 : -1;
	for (int i = 0; i < r->hw->gpus && on < 1; i++) {
		if (lf_sys_get(r, buf, sizeof(buf), PCI "/%s/iommu_group/type",
			       r->hw->gpu[i].bus) <= 0)
			continue;
		on = strncmp(buf, "DMA", 3) == 0    ? 1
		     : strcmp(buf, "identity") == 0 ? 0
						    : on;
	}
	lf_hw_set_high(r->hw, "node", "IOMMU", &r->hw->node.iommu, on);
}

static unsigned word(const char *config, int at)
{
	unsigned char b[4];

	memcpy(b, config + at, 4);
	return b[0] | (unsigned)b[1] << 8 | (unsigned)b[2] << 16 |
	       (unsigned)b[3] << 24;
}

/* 1: the port sends requests or completions between peers up to the root; 0: it
 * does not; -1: not readable, which takes root.  Access control services are
 * extended capability 0x000d, P2P redirects its control bits 2 and 3. */
static int redirects(const struct lf_sysread *r, const char *bus)
{
	char config[CONFIG + 1];
	char path[PATH];
	int at = 0x100, n;

	(void)snprintf(path, sizeof(path), PCI "/%s/config", bus);
	n = r->v->get(r->v, path, config, sizeof(config));

	if (n < CONFIG)
		return -1;
	for (int steps = 0; at >= 0x100 && at <= n - 8 && steps < 48; steps++) {
		unsigned head = word(config, at);

		if ((head & 0xffff) == 0x000d)
			return (word(config, at + 4) >> 16 & 0x0c) != 0;
		at = (int)(head >> 20) & ~3;
	}
	return 0;
}

/* Of the switch ports above GPUs: they stand below another bridge. */
void lf_sys_set_acs(struct lf_sysread *r)
{
	int acs = -1;
	const struct lf_pci *t = r->tree;

	for (int i = 0; i < t->devs; i++) {
		const struct lf_pci_dev *d = &t->dev[i];
		int one;

		if (d->kind != LF_PCI_BRIDGE || d->parent < 0 ||
		    t->dev[d->parent].kind != LF_PCI_BRIDGE)
			continue;
		one = redirects(r, d->bus);
		acs = one > acs ? one : acs;
	}
	lf_hw_set_high(r->hw, "node", "ACS", &r->hw->node.acs, acs);
}

void lf_sys_set_numa(struct lf_sysread *r)
{
	const char *const folder = "/sys/devices/system/node";
	struct lf_sys_names *names = r->names;
	int nodes = 0;

	if (!exists(r, folder))
		return;
	for (int i = 0; i < names->n; i++) {
		char buf[VALUE];
		const char *name = names->name[i];
		int n;

		if (strncmp(name, "node", 4) != 0 || lf_sys_whole(name + 4) < 0)
			continue;
		n = lf_sys_get(r, buf, sizeof(buf), "%s/%s/cpulist", folder,
			       name);
		nodes += n != 0; /* none: memory, of a GPU for example */
	}
	lf_hw_set_int(r->hw, "node", "NUMA nodes", &r->hw->node.numa_nodes,
		      nodes > 0 ? nodes : -1);
	/* The kernel gives no number where there is only one. */
	for (int i = 0; nodes == 1 && i < r->tree->devs; i++)
		if (r->tree->dev[i].numa < 0)
			r->tree->dev[i].numa = 0;
	for (int i = 0; nodes == 1 && i < r->hw->gpus; i++)
		if (r->hw->gpu[i].numa < 0)
			r->hw->gpu[i].numa = 0;
	for (int i = 0; nodes == 1 && i < r->hw->nics; i++)
		if (r->hw->nic[i].numa < 0 && *r->hw->nic[i].bus)
			r->hw->nic[i].numa = 0;
}

/* Where NCCL looks for it, and under its first name. */
static bool has_peermem(struct lf_sysread *r)
{
	static const char *const places[] = {
		"/sys/module/nvidia_peermem", "/sys/module/nv_peer_mem",
		"/sys/kernel/mm/memory_peers/nv_mem",
		"/sys/kernel/mm/memory_peers/nv_mem_nc"
	};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (exists(r, places[i]))
			return true;
	return false;
}

void lf_sys_set_node(struct lf_sysread *r)
{
	struct lf_hw_node *node = &r->hw->node;
	char buf[VALUE];

	if (lf_sys_get(r, buf, sizeof(buf), "/sys/class/dmi/id/product_name") >
	    0)
		lf_hw_set_text(r->hw, "node", "product", node->product, buf);
	if (lf_sys_get(r, buf, sizeof(buf), "/sys/module/nvidia/version") > 0)
		lf_hw_set_text(r->hw, "node", "driver", node->driver, buf);
	/* Only a folder that has the driver would have its helper. */
	if (exists(r, "/sys/module/nvidia"))
		lf_hw_set_int(r->hw, "node", "peer memory module",
			      &node->peermem, has_peermem(r));
	if (exists(r, "/proc/driver/nvidia/gpus"))
		lf_hw_set_int(r->hw, "node", "GPUs attached",
			      &node->gpus_attached, r->names->n);
}
