/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/sysview.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/parse.h"
#include "hw/pci.h"

#define PCI "/sys/bus/pci/devices"
#define IB  "/sys/class/infiniband"

enum {
	PATH = 512,
	VALUE = 256,
	CONFIG = 4096,	    /* PCI configuration space */
	MINOR_MAX = 1 << 20 /* of a device, in Linux */
};

struct reading {
	struct lf_hw *hw;
	const struct lf_sysview *v;
	struct lf_pci *tree;
	struct lf_sys_names *devices; /* of PCI */
	struct lf_sys_names *names;   /* of whatever is looked at */
	bool rdma_class;	      /* /sys/class/infiniband is there */
	bool classes;		      /* PCI classes are told */
};

__attribute__((format(printf, 4, 5))) static int get(const struct reading *r,
						     char *buf, size_t n,
						     const char *fmt, ...)
{
	char path[PATH];
	va_list ap;
	int len;

	va_start(ap, fmt);
	(void)vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	buf[0] = '\0';
	len = r->v->get(r->v, path, buf, n);
	/* A made-up copy may hold what a terminal would obey. */
	lf_clean(buf, "\n\t");
	return len;
}

static bool printable(const char *name)
{
	char clean[LF_SYS_NAME];

	(void)snprintf(clean, sizeof(clean), "%s", name);
	lf_clean(clean, "");
	return !strcmp(clean, name);
}

static int whole(const char *text)
{
	int v, n = 0;

	return sscanf(text, "%9d%n", &v, &n) == 1 && text[n] == '\0' ? v : -1;
}

/* An attribute of a PCI device; some copies hold it only below its bus. */
static bool pci_text(const struct reading *r, const char *bus, const char *name,
		     char buf[VALUE])
{
	if (get(r, buf, VALUE, PCI "/%s/%s", bus, name) > 0)
		return true;
	return strlen(bus) > 5 &&
	       get(r, buf, VALUE, "/sys/class/pci_bus/%.*s/device/%s/%s",
		   (int)(strlen(bus) - 5), bus, bus, name) > 0;
}

static int pci_number(const struct reading *r, const char *bus,
		      const char *name)
{
	char buf[VALUE];

	return pci_text(r, bus, name, buf) ? whole(buf) : -1;
}

static int pci_hex(const struct reading *r, const char *bus, const char *name)
{
	char buf[VALUE];

	return pci_text(r, bus, name, buf) ? lf_pci_hex(buf) : -1;
}

static int pci_speed(const struct reading *r, const char *bus, const char *name)
{
	char buf[VALUE];

	return pci_text(r, bus, name, buf) ? lf_pci_gen(buf) : -1;
}

/* Zero and 255 lanes are how the kernel says "no link" and "cannot read". */
static int pci_lanes(const struct reading *r, const char *bus, const char *name)
{
	int n = pci_number(r, bus, name);

	return n >= 1 && n <= 32 ? n : -1;
}

static bool is_address(const char *name)
{
	unsigned a, b, c, d;
	int n = 0;

	return sscanf(name, "%8x:%2x:%2x.%1x%n", &a, &b, &c, &d, &n) == 4 &&
	       name[n] == '\0';
}

static int add_device(struct reading *r, enum lf_pci_kind kind, const char *bus,
		      int parent)
{
	int i = lf_pci_add(r->tree, kind, bus, parent);
	struct lf_pci_dev *d = i < 0 ? NULL : &r->tree->dev[i];

	if (!d || d->class >= 0 || kind == LF_PCI_HOST)
		return i;
	d->class = pci_hex(r, bus, "class");
	d->vendor = pci_hex(r, bus, "vendor");
	d->device = pci_hex(r, bus, "device");
	d->gen = pci_speed(r, bus, "current_link_speed");
	d->width = pci_lanes(r, bus, "current_link_width");
	d->numa = pci_number(r, bus, "numa_node");
	return i;
}

/* The device and all that its link's text shows above it:
 * "../../../devices/pci0000:40/0000:40:03.0/0000:43:00.0". */
static int add_chain(struct reading *r, const char *bus)
{
	char path[PATH], text[PATH], *cursor = text, *part;
	int parent = -1;

	(void)snprintf(path, sizeof(path), PCI "/%s", bus);
	if (!r->v->link(r->v, path, text, sizeof(text)))
		return add_device(r, LF_PCI_DEVICE, bus, -1);
	while ((part = strsep(&cursor, "/")) != NULL) {
		if (strncmp(part, "pci", 3) == 0 && strchr(part, ':')) {
			parent = add_device(r, LF_PCI_HOST, part, -1);
			r->tree->hosts = true;
		} else if (is_address(part) && strcmp(part, bus) != 0) {
			parent = add_device(r, LF_PCI_BRIDGE, part, parent);
		}
	}
	return add_device(r, LF_PCI_DEVICE, bus, parent);
}

static int lesser(int a, int b)
{
	return a < 0 || b < 0 ? -1 : a < b ? a : b;
}

/* The link now, what the device can do, and what the port above it can. */
static void set_pcie(struct reading *r, const struct lf_pci_dev *d,
		     struct lf_hw_pcie *pcie)
{
	const struct lf_pci_dev *up =
		d->parent < 0 ? NULL : &r->tree->dev[d->parent];
	bool port = up && up->kind == LF_PCI_BRIDGE;
	int own = pci_speed(r, d->bus, "max_link_speed");
	int host = port ? pci_speed(r, up->bus, "max_link_speed") : -1;
	int lanes = pci_lanes(r, d->bus, "max_link_width");
	int wired = port ? pci_lanes(r, up->bus, "max_link_width") : -1;
	struct lf_hw *hw = r->hw;

	lf_hw_set_gen(hw, d->bus, pcie, d->gen);
	lf_hw_set_int(hw, d->bus, "PCIe width", &pcie->width, d->width);
	lf_hw_set_int(hw, d->bus, "PCIe generation of the device",
		      &pcie->device_max_gen, own);
	lf_hw_set_int(hw, d->bus, "PCIe generation of the host",
		      &pcie->host_max_gen, host);
	lf_hw_set_int(hw, d->bus, "greatest PCIe generation", &pcie->max_gen,
		      lesser(own, host));
	lf_hw_set_int(hw, d->bus, "greatest PCIe width", &pcie->max_width,
		      lesser(lanes, wired));
}

/* "Model: \t NVIDIA A100" */
static void proc_line(const char *text, const char *key, char out[LF_HW_TEXT])
{
	const char *s = strstr(text, key);
	size_t n;

	out[0] = '\0';
	if (!s)
		return;
	s += strlen(key);
	s += strspn(s, ": \t");
	n = strcspn(s, "\n");
	(void)snprintf(out, LF_HW_TEXT, "%.*s", (int)n, s);
}

static void gpu_proc(struct reading *r, struct lf_hw_gpu *g, const char *bus)
{
	char text[2048], value[LF_HW_TEXT];
	uint64_t minor;

	if (get(r, text, sizeof(text),
		"/proc/driver/nvidia/gpus/%s/information", bus) < 0)
		return;
	proc_line(text, "Model", value);
	lf_hw_set_text(r->hw, bus, "name", g->name, value);
	proc_line(text, "GPU UUID", value);
	if (strncmp(value, "GPU-", 4) == 0 && !strchr(value, '?'))
		lf_hw_set_text(r->hw, bus, "UUID", g->uuid, value);
	proc_line(text, "Device Minor", value);
	if (lf_parse_u64(value, 0, MINOR_MAX, &minor) == 0)
		lf_hw_set_int(r->hw, bus, "device minor", &g->minor,
			      (int)minor);
}

/* NVIDIA's driver has it: tells a GPU where a copy left out the vendor. */
static bool driven(const struct reading *r, const char *bus)
{
	char path[PATH];

	(void)snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%s", bus);
	return r->v->list(r->v, path, r->names);
}

static void add_gpu(struct reading *r, const char *bus)
{
	char cpus[VALUE];
	int i = add_chain(r, bus);
	struct lf_hw_gpu *g = i < 0 ? NULL : lf_hw_gpu(r->hw, -1, bus, NULL);
	const struct lf_pci_dev *d;

	if (!g) {
		lf_hw_mark_partial(r->hw, "more PCI devices or GPUs than 64");
		return;
	}
	d = &r->tree->dev[i];
	lf_pci_to_gpu(r->hw, g, d);
	if (g->vendor == LF_VENDOR_UNKNOWN && driven(r, bus))
		g->vendor = LF_VENDOR_NVIDIA;
	set_pcie(r, d, &g->pcie);
	gpu_proc(r, g, bus);
	if (!*g->cpus && pci_text(r, bus, "local_cpulist", cpus))
		(void)snprintf(g->cpus, sizeof(g->cpus), "%.*s", LF_HW_TEXT - 1,
			       cpus);
}

/* A virtual function belongs to the device that lends it. */
static bool lent(const struct reading *r, const char *bus)
{
	char path[PATH], text[PATH];

	(void)snprintf(path, sizeof(path), PCI "/%s/physfn", bus);
	return r->v->link(r->v, path, text, sizeof(text));
}

static void find_gpus(struct reading *r)
{
	for (int i = 0; i < r->devices->n; i++) {
		const char *bus = r->devices->name[i];
		struct lf_pci_dev d = { .class = pci_hex(r, bus, "class") };

		if (d.class < 0)
			continue;
		r->classes = true;
		if (d.class >> 16 != 0x03 && d.class >> 16 != 0x12)
			continue;
		d.vendor = pci_hex(r, bus, "vendor");
		if ((lf_pci_is_gpu(&d) || driven(r, bus)) && !lent(r, bus))
			add_gpu(r, bus);
	}
}

/* "4: ACTIVE" */
static enum lf_hw_port port_state(const char *text)
{
	return isdigit((unsigned char)text[0]) && text[1] == ':' &&
			       text[0] >= '1' && text[0] <= '4'
		       ? (enum lf_hw_port)(text[0] - '0')
		       : LF_PORT_UNKNOWN;
}

/* "200 Gb/sec (4X HDR)", "2.5 Gb/sec" */
static int port_rate(const char *text)
{
	int gbps = 0, tenth = 0;
	char unit[4] = "";

	if (sscanf(text, "%5d.%1d %3s", &gbps, &tenth, unit) != 3 &&
	    (tenth = 0, sscanf(text, "%5d %3s", &gbps, unit)) != 2)
		return -1;
	return strcmp(unit, "Gb/") == 0 ? gbps * 1000 + tenth * 100 : -1;
}

static void set_port(struct reading *r, struct lf_hw_nic *n, const char *base,
		     const char *port)
{
	char buf[VALUE];
	unsigned lid;

	if (get(r, buf, sizeof(buf), "%s/ports/%s/state", base, port) > 0)
		lf_hw_set_port(r->hw, n, port_state(buf));
	if (get(r, buf, sizeof(buf), "%s/ports/%s/phys_state", base, port) >
		    0 &&
	    strchr(buf, ':'))
		lf_hw_set_text(r->hw, n->name, "physical state", n->phys,
			       strchr(buf, ':') + 1 +
				       (strchr(buf, ':')[1] == ' '));
	if (get(r, buf, sizeof(buf), "%s/ports/%s/rate", base, port) > 0)
		lf_hw_set_int(r->hw, n->name, "rate", &n->rate_mbps,
			      port_rate(buf));
	if (get(r, buf, sizeof(buf), "%s/ports/%s/link_layer", base, port) > 0)
		lf_hw_set_layer(r->hw, n,
				strcmp(buf, "InfiniBand") == 0 ? LF_LAYER_IB
				: strcmp(buf, "Ethernet") == 0
					? LF_LAYER_ETHERNET
					: LF_LAYER_UNKNOWN);
	if (get(r, buf, sizeof(buf), "%s/ports/%s/sm_lid", base, port) > 0 &&
	    (sscanf(buf, "0x%4x", &lid) == 1))
		lf_hw_set_int(r->hw, n->name, "SM LID", &n->sm_lid, (int)lid);
}

/* The interface whose port it is: dev_port counts from 0. */
static void set_netdev(struct reading *r, struct lf_hw_nic *n, const char *bus)
{
	char path[PATH], buf[VALUE];
	struct lf_sys_names *names = r->names;

	(void)snprintf(path, sizeof(path), PCI "/%s/net", bus);
	if (!r->v->list(r->v, path, names))
		return;
	for (int i = 0; i < names->n; i++) {
		const char *net = names->name[i];

		if (names->n > 1 && n->port > 0 &&
		    get(r, buf, sizeof(buf), "%s/%s/dev_port", path, net) > 0 &&
		    whole(buf) != n->port - 1)
			continue;
		if (!*n->alias && printable(net))
			(void)snprintf(n->alias, sizeof(n->alias), "%s", net);
		if (get(r, buf, sizeof(buf), "%s/%s/operstate", path, net) > 0)
			lf_hw_set_int(r->hw, n->name, "interface up",
				      &n->netdev_up,
				      strcmp(buf, "up") == 0	 ? 1
				      : strcmp(buf, "down") == 0 ? 0
								 : -1);
		return;
	}
}

static void set_device(struct reading *r, struct lf_hw_nic *n, const char *base,
		       const char *bus)
{
	char buf[VALUE];
	int i = *bus ? add_chain(r, bus) : -1;

	if (get(r, buf, sizeof(buf), "%s/hca_type", base) > 0 &&
	    strncmp(buf, "MT", 2) == 0)
		lf_hw_set_text(r->hw, n->name, "card", n->type, buf);
	if (get(r, buf, sizeof(buf), "%s/node_guid", base) > 0 &&
	    strchr(buf, ':'))
		lf_hw_set_text(r->hw, n->name, "GUID", n->guid, buf);
	if (i < 0)
		return;
	if (!*n->type || r->tree->dev[i].device >= 0)
		lf_pci_to_nic(r->hw, n, &r->tree->dev[i]);
	set_pcie(r, &r->tree->dev[i], &n->pcie);
	set_netdev(r, n, bus);
	n->is_virtual = n->is_virtual || lent(r, bus);
}

static void add_port(struct reading *r, const char *base, const char *name,
		     const char *port, const char *bus)
{
	struct lf_hw_nic *n = lf_hw_nic(r->hw, name, port ? whole(port) : -1,
					*bus ? bus : NULL);

	if (!n) {
		lf_hw_mark_partial(r->hw, "more than 128 RDMA ports");
		return;
	}
	if (port)
		set_port(r, n, base, port);
	set_device(r, n, base, bus);
}

static void add_rdma(struct reading *r, const char *base, const char *name,
		     const char *bus)
{
	struct lf_sys_names *ports = calloc(1, sizeof(*ports));
	char path[PATH];

	(void)snprintf(path, sizeof(path), "%s/ports", base);
	if (!ports || !printable(name)) {
		free(ports);
		return;
	}
	if (!r->v->list(r->v, path, ports) || ports->n == 0)
		add_port(r, base, name, NULL, bus);
	for (int i = 0; i < ports->n; i++)
		if (whole(ports->name[i]) > 0)
			add_port(r, base, name, ports->name[i], bus);
	free(ports);
}

/* The last PCI address in a link's text, "" without. */
static void address_in(char *text, char out[LF_SYS_NAME])
{
	char *cursor = text, *part;

	out[0] = '\0';
	while ((part = strsep(&cursor, "/")) != NULL)
		if (is_address(part))
			(void)snprintf(out, LF_SYS_NAME, "%s", part);
}

/* By /sys/class/infiniband, whose links lead to the PCI devices. */
static void rdma_by_class(struct reading *r)
{
	struct lf_sys_names *list = calloc(1, sizeof(*list));

	r->rdma_class = list && r->v->list(r->v, IB, list);
	for (int i = 0; r->rdma_class && i < list->n; i++) {
		char path[PATH], text[PATH] = "", bus[LF_SYS_NAME];
		bool soft;

		(void)snprintf(path, sizeof(path), IB "/%s", list->name[i]);
		(void)r->v->link(r->v, path, text, sizeof(text));
		soft = strstr(text, "/virtual/") != NULL;
		address_in(text, bus);
		if (!*bus) {
			char device[PATH];

			(void)snprintf(device, sizeof(device), IB "/%s/device",
				       list->name[i]);
			if (r->v->link(r->v, device, text, sizeof(text)))
				address_in(text, bus);
		}
		add_rdma(r, path, list->name[i], soft ? "" : bus);
		/* rxe, siw: RDMA made by software. */
		for (int n = 0; soft && n < r->hw->nics; n++)
			if (strcmp(r->hw->nic[n].name, list->name[i]) == 0)
				r->hw->nic[n].is_virtual = true;
	}
	free(list);
}

/* By PCI device, where a copy has no /sys/class/infiniband. */
static void rdma_by_device(struct reading *r)
{
	struct lf_sys_names *list = calloc(1, sizeof(*list));

	for (int i = 0; list && i < r->devices->n; i++) {
		const char *bus = r->devices->name[i];
		char path[PATH];

		(void)snprintf(path, sizeof(path), PCI "/%s/infiniband", bus);
		if (!r->v->list(r->v, path, list))
			continue;
		for (int n = 0; n < list->n; n++) {
			char base[PATH + LF_SYS_NAME];

			(void)snprintf(base, sizeof(base), "%s/%s", path,
				       list->name[n]);
			add_rdma(r, base, list->name[n], bus);
		}
	}
	free(list);
}

static bool exists(struct reading *r, const char *path)
{
	return r->v->list(r->v, path, r->names);
}

/* Translation makes peer transfers go through the root. */
static void set_iommu(struct reading *r)
{
	int on = -1;
	char buf[VALUE];

	if (exists(r, "/sys/kernel/iommu_groups"))
		on = r->names->n == 0 ? 0 : -1;
	for (int i = 0; i < r->hw->gpus && on < 1; i++) {
		if (get(r, buf, sizeof(buf), PCI "/%s/iommu_group/type",
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
static int redirects(const struct reading *r, const char *bus)
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
static void set_acs(struct reading *r)
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

static void set_numa(struct reading *r)
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

		if (strncmp(name, "node", 4) != 0 || whole(name + 4) < 0)
			continue;
		n = get(r, buf, sizeof(buf), "%s/%s/cpulist", folder, name);
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
static bool has_peermem(struct reading *r)
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

static void set_node(struct reading *r)
{
	struct lf_hw_node *node = &r->hw->node;
	char buf[VALUE];

	if (get(r, buf, sizeof(buf), "/sys/class/dmi/id/product_name") > 0)
		lf_hw_set_text(r->hw, "node", "product", node->product, buf);
	if (get(r, buf, sizeof(buf), "/sys/module/nvidia/version") > 0)
		lf_hw_set_text(r->hw, "node", "driver", node->driver, buf);
	/* Only a folder that has the driver would have its helper. */
	if (exists(r, "/sys/module/nvidia"))
		lf_hw_set_int(r->hw, "node", "peer memory module",
			      &node->peermem, has_peermem(r));
	if (exists(r, "/proc/driver/nvidia/gpus"))
		lf_hw_set_int(r->hw, "node", "GPUs attached",
			      &node->gpus_attached, r->names->n);
}

static int read_all(struct reading *r, struct lf_err *e)
{
	bool pci = r->v->list(r->v, PCI, r->devices);

	find_gpus(r);
	rdma_by_class(r);
	if (!r->rdma_class)
		rdma_by_device(r);
	if (!pci && !r->rdma_class)
		return lf_err(e, -ENOENT,
			      "no sysfs: neither " PCI " nor " IB " is in it");
	r->hw->nics_shown = true;
	if (r->devices->more)
		lf_hw_mark_partial(r->hw, "more than 2048 PCI devices");
	if (!pci)
		lf_hw_mark_partial(r->hw, "no PCI devices are in it");
	else if (!r->classes)
		lf_hw_mark_partial(r->hw, "no PCI classes are in it: GPUs "
					  "cannot be told");
	set_node(r);
	set_numa(r);
	lf_pci_paths(r->tree, r->hw);
	set_iommu(r);
	set_acs(r);
	lf_pci_number(r->hw);
	return 0;
}

int lf_sysview_read(struct lf_hw *hw, const struct lf_sysview *v,
		    struct lf_err *e)
{
	struct reading r = { .hw = hw,
			     .v = v,
			     .tree = calloc(1, sizeof(*r.tree)),
			     .devices = calloc(1, sizeof(*r.devices)),
			     .names = calloc(1, sizeof(*r.names)) };
	int rc = r.tree && r.devices && r.names
			 ? read_all(&r, e)
			 : lf_err(e, -ENOMEM, "no memory");

	free(r.tree);
	free(r.devices);
	free(r.names);
	return rc;
}
