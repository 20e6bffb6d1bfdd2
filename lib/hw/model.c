/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clean.h"

static const struct lf_hw_pcie no_pcie = { -1, -1, -1, -1, -1, -1, -1, -1 };

struct lf_hw *lf_hw_new(void)
{
	struct lf_hw *hw = calloc(1, sizeof(*hw));

	if (!hw)
		return NULL;
	for (int a = 0; a < LF_HW_GPUS; a++)
		for (int b = 0; b < LF_HW_GPUS; b++)
			hw->nvlink[a][b] = hw->p2p[a][b] = -1;
	hw->node.numa_nodes = hw->node.peermem = hw->node.dmabuf = -1;
	hw->node.acs = hw->node.iommu = hw->node.gpus_attached = -1;
	hw->node.memlock_kib = hw->node.shm_mib = hw->node.shm_free_mib = -1;
	return hw;
}

void lf_hw_free(struct lf_hw *hw)
{
	free(hw);
}

void lf_hw_bus(const char *text, char out[LF_HW_TEXT])
{
	unsigned domain = 0, bus, device, function = 0;

	out[0] = '\0';
	if (!text)
		return;
	if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) <
	    3) {
		domain = 0;
		if (sscanf(text, "%2x:%2x.%1x", &bus, &device, &function) < 3)
			return;
	}
	(void)snprintf(out, LF_HW_TEXT, "%04x:%02x:%02x.%x", domain, bus,
		       device, function);
}

static struct lf_hw_gpu *add_gpu(struct lf_hw *hw)
{
	struct lf_hw_gpu *g;

	if (hw->gpus == LF_HW_GPUS)
		return NULL;
	g = &hw->gpu[hw->gpus];
	*g = (struct lf_hw_gpu){ .index = -1,
				 .minor = -1,
				 .device_id = -1,
				 .numa = -1,
				 .pcie = no_pcie,
				 .pstate = -1,
				 .mig = -1,
				 .links_active = -1,
				 .links_inactive = -1,
				 .link_mbps = -1,
				 .switch_links = -1,
				 .fabric_ok = -1,
				 .ecc_uncorrected = -1,
				 .remap_pending = -1,
				 .remap_failed = -1,
				 .xid = -1 };
	hw->path[hw->gpus][hw->gpus] = LF_PATH_SELF;
	hw->gpus++;
	return g;
}

/* Of others: names, too, reach terminals. */
static const char *fit(const char *text, char out[LF_HW_TEXT])
{
	(void)snprintf(out, LF_HW_TEXT, "%s", text ? text : "");
	lf_clean(out, "");
	return out;
}

static bool same(const char *a, const char *b)
{
	return *a && *b && strcasecmp(a, b) == 0;
}

struct lf_hw_gpu *lf_hw_gpu(struct lf_hw *hw, int index, const char *bus,
			    const char *uuid)
{
	struct lf_hw_gpu *g = NULL;
	char id[LF_HW_TEXT], text[LF_HW_TEXT];

	lf_hw_bus(bus, id);
	uuid = fit(uuid, text);
	if (index < 0 && !*id && !*uuid)
		return NULL;
	for (int i = 0; i < hw->gpus && !g; i++)
		if (same(hw->gpu[i].uuid, uuid) || same(hw->gpu[i].bus, id))
			g = &hw->gpu[i];
	for (int i = 0; i < hw->gpus && !g; i++)
		if (index >= 0 && hw->gpu[i].index == index &&
		    !(*hw->gpu[i].bus && *id) && !(*hw->gpu[i].uuid && *uuid))
			g = &hw->gpu[i];
	if (!g)
		g = add_gpu(hw);
	if (!g)
		return NULL;
	if (index >= 0 && g->index < 0)
		g->index = index;
	if (*id && !*g->bus)
		(void)snprintf(g->bus, sizeof(g->bus), "%s", id);
	if (*uuid && !*g->uuid)
		(void)snprintf(g->uuid, sizeof(g->uuid), "%s", uuid);
	return g;
}

static struct lf_hw_nic *add_nic(struct lf_hw *hw)
{
	struct lf_hw_nic *n;

	if (hw->nics == LF_HW_NICS)
		return NULL;
	n = &hw->nic[hw->nics++];
	*n = (struct lf_hw_nic){ .port = -1,
				 .numa = -1,
				 .rate_mbps = -1,
				 .sm_lid = -1,
				 .netdev_up = -1,
				 .gdr = -1,
				 .pcie = no_pcie };
	return n;
}

struct lf_hw_nic *lf_hw_nic(struct lf_hw *hw, const char *name, int port,
			    const char *bus)
{
	struct lf_hw_nic *n = NULL;
	char id[LF_HW_TEXT], text[LF_HW_TEXT];

	lf_hw_bus(bus, id);
	name = fit(name, text);
	if (!*name && !*id)
		return NULL;
	for (int i = 0; i < hw->nics && !n; i++) {
		struct lf_hw_nic *o = &hw->nic[i];

		if ((same(o->name, name) || same(o->alias, name) ||
		     (!(*name && *o->name) && same(o->bus, id))) &&
		    (port < 0 || o->port < 0 || o->port == port))
			n = o;
	}
	if (!n)
		n = add_nic(hw);
	if (!n)
		return NULL;
	if (*name && !*n->name)
		(void)snprintf(n->name, sizeof(n->name), "%s", name);
	if (*id && !*n->bus)
		(void)snprintf(n->bus, sizeof(n->bus), "%s", id);
	if (port >= 0 && n->port < 0)
		n->port = port;
	return n;
}

int lf_hw_gpu_number(const struct lf_hw *hw, const struct lf_hw_gpu *g)
{
	return (int)(g - hw->gpu);
}

int lf_hw_nic_number(const struct lf_hw *hw, const struct lf_hw_nic *n)
{
	return (int)(n - hw->nic);
}

void lf_hw_mark_partial(struct lf_hw *hw, const char *why)
{
	if (!hw->partial)
		(void)snprintf(hw->partial_why, sizeof(hw->partial_why), "%s",
			       why);
	hw->partial = true;
}

const char *lf_hw_path_name(enum lf_hw_path p)
{
	static const char *const names[] = { "?",   "X",   "NV",   "PIX",
					     "PXB", "PHB", "NODE", "SYS" };

	return names[p];
}
