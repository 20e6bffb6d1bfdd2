/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/sysread.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/parse.h"

enum {
	MINOR_MAX = 1 << 20 /* of a device, in Linux */
};

int lf_sys_get(const struct lf_sysread *r, char *buf, size_t n, const char *fmt,
	       ...)
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

bool lf_sys_printable(const char *name)
{
	char clean[LF_SYS_NAME];

	(void)snprintf(clean, sizeof(clean), "%s", name);
	lf_clean(clean, "");
	return !strcmp(clean, name);
}

int lf_sys_whole(const char *text)
{
	int v, n = 0;

	return sscanf(text, "%9d%n", &v, &n) == 1 && text[n] == '\0' ? v : -1;
}

/* An attribute of a PCI device; some copies hold it only below its bus. */
static bool pci_text(const struct lf_sysread *r, const char *bus,
		     const char *name, char buf[VALUE])
{
	if (lf_sys_get(r, buf, VALUE, PCI "/%s/%s", bus, name) > 0)
		return true;
	return strlen(bus) > 5 &&
	       lf_sys_get(r, buf, VALUE, "/sys/class/pci_bus/%.*s/device/%s/%s",
			  (int)(strlen(bus) - 5), bus, bus, name) > 0;
}

static int pci_number(const struct lf_sysread *r, const char *bus,
		      const char *name)
{
	char buf[VALUE];

	return pci_text(r, bus, name, buf) ? lf_sys_whole(buf) : -1;
}

static int pci_hex(const struct lf_sysread *r, const char *bus,
		   const char *name)
{
	char buf[VALUE];

	return pci_text(r, bus, name, buf) ? lf_pci_hex(buf) : -1;
}

static int pci_speed(const struct lf_sysread *r, const char *bus,
		     const char *name)
{
	char buf[VALUE];

	return pci_text(r, bus, name, buf) ? lf_pci_gen(buf) : -1;
}

/* Zero and 255 lanes are how the kernel says "no link" and "cannot read". */
static int pci_lanes(const struct lf_sysread *r, const char *bus,
		     const char *name)
{
	int n = pci_number(r, bus, name);

	return n >= 1 && n <= 32 ? n : -1;
}

bool lf_sys_is_address(const char *name)
{
	unsigned a, b, c, d;
	int n = 0;

	return sscanf(name, "%8x:%2x:%2x.%1x%n", &a, &b, &c, &d, &n) == 4 &&
	       name[n] == '\0';
}

static int add_device(struct lf_sysread *r, enum lf_pci_kind kind,
		      const char *bus, int parent)
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
int lf_sys_add_chain(struct lf_sysread *r, const char *bus)
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
		} else if (lf_sys_is_address(part) && strcmp(part, bus) != 0) {
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
void lf_sys_set_pcie(struct lf_sysread *r, const struct lf_pci_dev *d,
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

static void gpu_proc(struct lf_sysread *r, struct lf_hw_gpu *g, const char *bus)
{
	char text[2048], value[LF_HW_TEXT];
	uint64_t minor;

	if (lf_sys_get(r, text, sizeof(text),
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
static bool driven(const struct lf_sysread *r, const char *bus)
{
	char path[PATH];

	(void)snprintf(path, sizeof(path), "/proc/driver/nvidia/gpus/%s", bus);
	return r->v->list(r->v, path, r->names);
}

static void add_gpu(struct lf_sysread *r, const char *bus)
{
	char cpus[VALUE];
	int i = lf_sys_add_chain(r, bus);
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
	lf_sys_set_pcie(r, d, &g->pcie);
	gpu_proc(r, g, bus);
	if (!*g->cpus && pci_text(r, bus, "local_cpulist", cpus))
		(void)snprintf(g->cpus, sizeof(g->cpus), "%.*s", LF_HW_TEXT - 1,
			       cpus);
}

/* A virtual function belongs to the device that lends it. */
bool lf_sys_lent(const struct lf_sysread *r, const char *bus)
{
	char path[PATH], text[PATH];

	(void)snprintf(path, sizeof(path), PCI "/%s/physfn", bus);
	return r->v->link(r->v, path, text, sizeof(text));
}

static void find_gpus(struct lf_sysread *r)
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
		if ((lf_pci_is_gpu(&d) || driven(r, bus)) &&
		    !lf_sys_lent(r, bus))
			add_gpu(r, bus);
	}
}

static int read_all(struct lf_sysread *r, struct lf_err *e)
{
	bool pci = r->v->list(r->v, PCI, r->devices);

	find_gpus(r);
	lf_sys_rdma_by_class(r);
	if (!r->rdma_class)
		lf_sys_rdma_by_device(r);
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
	lf_sys_set_node(r);
	lf_sys_set_numa(r);
	lf_pci_paths(r->tree, r->hw);
	lf_sys_set_iommu(r);
	lf_sys_set_acs(r);
	lf_pci_number(r->hw);
	return 0;
}

int lf_sysview_read(struct lf_hw *hw, const struct lf_sysview *v,
		    struct lf_err *e)
{
	struct lf_sysread r = { .hw = hw,
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
