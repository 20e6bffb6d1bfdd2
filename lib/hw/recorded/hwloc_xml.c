/* SPDX-License-Identifier: Apache-2.0 */
/* lstopo's XML, versions 2 and 3, read directly: libhwloc 2 refuses version 3
 * and names no line.  Of the objects only what matters here is kept: bridges,
 * PCI devices, NVML and OpenFabrics devices, NUMA nodes, and the matrix
 * NVLinkBandwidth.  pci_link_speed is the present bandwidth in GB/s of all
 * lanes together. */
#include "config.h"

#include "hw/recorded/read.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/recorded/hwloc_xml.h"

/* The only bit of a hwloc set ("0x00000004", "0x1,,0x0"), or -1. */
static int only_bit(const char *set)
{
	int words = 0, bit = -1;

	for (const char *s = set; s && *s; s++)
		words += *s == ',';
	for (const char *s = set; s && *s; words--) {
		unsigned v = 0;
		size_t n = strcspn(s, ",");

		if (n > 0 && sscanf(s, "%10x", &v) != 1)
			return -1;
		if (v != 0 && (bit >= 0 || (v & (v - 1)) != 0))
			return -1;
		if (v != 0)
			bit = words * 32 + __builtin_ctz(v);
		s += n + (s[n] == ',');
	}
	return bit;
}

/* Lanes and rate are not told apart: 31.5 GB/s is Gen4 x16 or Gen5 x8.  The
 * widest of them is taken, as 16 lanes are the rule for GPUs. */
static void split_speed(const char *text, struct lf_pci_dev *d)
{
	static const int lane_mbps[] = { 0,    250,  500,  985,
					 1969, 3938, 7877, 15754 };
	int whole = 0, part = 0, mbps;

	if (!text || sscanf(text, "%4d.%3d", &whole, &part) < 1)
		return;
	mbps = whole * 1000 + part;
	for (int width = 16; width >= 1; width /= 2)
		for (int gen = 1; gen <= 7; gen++) {
			int there = lane_mbps[gen] * width;

			if (mbps < there - width || mbps > there + width)
				continue;
			d->gen = gen;
			d->width = width;
			return;
		}
}

/* "0302 [10de:2330] [10de:16c0] a1" */
static void split_type(const char *text, struct lf_pci_dev *d)
{
	unsigned class, vendor, device;

	if (!text ||
	    sscanf(text, "%4x [%4x:%4x]", &class, &vendor, &device) != 3)
		return;
	/* sscanf takes a sign, too; vendor 0 could not be read */
	if ((class | vendor | device) > 0xffff || vendor == 0)
		return;
	d->class = (int)class << 8;
	d->vendor = (int)vendor;
	d->device = (int)device;
}

static int add_pci(struct lf_xml *x, struct reading *r, const char **attr,
		   enum lf_pci_kind kind, const struct frame *above)
{
	const char *bus = lf_xml_attr(attr, "pci_busid");
	char host[32];
	int i;

	if (kind == LF_PCI_BRIDGE && !bus) { /* from the host to PCI */
		kind = LF_PCI_HOST;
		(void)snprintf(host, sizeof(host), "host bridge %d",
			       r->hosts++);
		bus = host;
		r->tree->hosts = true;
	}
	i = lf_pci_add(r->tree, kind, bus, above->pci);
	if (i < 0)
		return lf_xml_fail(x, -EINVAL,
				   "pci_busid \"%.40s\" is no PCI address (or "
				   "more than %d devices)",
				   bus ? bus : "", LF_PCI_MAX);
	split_type(lf_xml_attr(attr, "pci_type"), &r->tree->dev[i]);
	split_speed(lf_xml_attr(attr, "pci_link_speed"), &r->tree->dev[i]);
	r->tree->dev[i].numa = above->numa;
	return i;
}

static void add_object(struct reading *r, const char **attr, int pci)
{
	const char *gp = lf_xml_attr(attr, "gp_index");
	const char *subtype = lf_xml_attr(attr, "subtype");

	if (!gp || pci < 0 || r->objects == OBJECTS_MAX)
		return;
	r->object[r->objects++] =
		(struct object){ .gp = strtoul(gp, NULL, 10),
				 .pci = pci,
				 .nvswitch = subtype &&
					     strcmp(subtype, "NVSwitch") == 0 };
}

static enum kind os_device(struct reading *r, const char **attr, int pci)
{
	const char *name = lf_xml_attr(attr, "name");
	int type = lf_xml_int(lf_xml_attr(attr, "osdev_type"), 1024);

	r->open = (struct device){ .pci = pci, .lid = -1 };
	(void)snprintf(r->open.name, sizeof(r->open.name), "%s",
		       name ? name : "");
	add_object(r, attr, pci);
	if (strncmp(r->open.name, "nvml", 4) == 0)
		return NVML;
	if (strncmp(r->open.name, "cuda", 4) == 0)
		return CUDA;
	/* Version 2 counts the types, version 3 has a bit for each. */
	return type == 3 || type == 32 ? RDMA : OTHER;
}

static int open_object(struct lf_xml *x, struct reading *r, const char **attr)
{
	const char *type = lf_xml_attr(attr, "type");
	const char *nodes = lf_xml_attr(attr, "nodeset");
	const struct frame *above = &r->stack[r->objects_open];
	struct frame f = *above;

	type = type ? type : "";
	f.kind = OTHER;
	if (nodes)
		f.numa = only_bit(nodes);
	if (strcmp(type, "Bridge") == 0) {
		f.pci = add_pci(x, r, attr, LF_PCI_BRIDGE, above);
	} else if (strcmp(type, "PCIDev") == 0) {
		f.pci = add_pci(x, r, attr, LF_PCI_DEVICE, above);
		f.kind = PCI;
		add_object(r, attr, f.pci);
	} else if (strcmp(type, "OSDev") == 0) {
		f.kind = os_device(r, attr, above->pci);
	} else if (strcmp(type, "NUMANode") == 0) {
		const char *cpus = lf_xml_attr(attr, "cpuset");

		/* A node without CPUs is memory, of a GPU for example. */
		r->numa_nodes += cpus && strspn(cpus, "0x,") < strlen(cpus);
	}
	r->stack[++r->objects_open] = f;
	return 0;
}

static void port_info(struct device *d, const char *name, const char *value)
{
	int port = 0, n = 0;

	if (sscanf(name, "Port%1d%n", &port, &n) != 1 || port < 1 ||
	    port > PORTS_MAX)
		return;
	if (strcmp(name + n, "State") == 0) {
		d->state[port - 1] = lf_xml_int(value, 9);
		d->ports = port > d->ports ? port : d->ports;
	}
}

static void copy(char to[LF_HW_TEXT], const char *value)
{
	(void)snprintf(to, LF_HW_TEXT, "%s", value);
}

static void device_info(struct reading *r, enum kind kind, const char *name,
			const char *value)
{
	struct device *d = &r->open;

	if (kind == NVML && strcmp(name, "NVIDIAUUID") == 0)
		copy(d->uuid, value);
	else if ((kind == NVML || kind == CUDA) &&
		 strcmp(name, "GPUModel") == 0)
		copy(d->model, value);
	else if (kind == RDMA && strcmp(name, "NodeGUID") == 0)
		copy(d->guid, value);
	else if (kind == RDMA)
		port_info(d, name, value);
}

static int open_info(struct reading *r, const char **attr)
{
	const char *name = lf_xml_attr(attr, "name");
	const char *value = lf_xml_attr(attr, "value");
	enum kind kind = r->stack[r->objects_open].kind;

	if (!name || !value)
		return 0;
	if (strcmp(name, "DMIProductName") == 0)
		copy(r->product, value);
	else if (strcmp(name, "hwlocVersion") == 0)
		(void)sscanf(value, "%4d.%4d", &r->major, &r->minor);
	else if (strcmp(name, "Backend") == 0 && strcmp(value, "NVML") == 0)
		r->nvml = true;
	else
		device_info(r, kind, name, value);
	return 0;
}

static int open_matrix(struct lf_xml *x, struct reading *r, const char *tag,
		       const char **attr)
{
	const char *name = lf_xml_attr(attr, "name");
	const char *rows = lf_xml_attr(attr, "nbobjs");

	if (!name || strcmp(name, "NVLinkBandwidth") != 0 || r->matrix_read)
		return 0;
	r->matrix =
		(struct matrix){ .active = true,
				 .hetero = strcmp(tag, "distances2hetero") == 0,
				 .rows = lf_xml_int(rows, MATRIX_MAX) };
	if (r->matrix.rows < 1)
		return lf_xml_fail(x, -EINVAL,
				   "a matrix of \"%.20s\" objects, expected 1 "
				   "to %d",
				   rows ? rows : "", MATRIX_MAX);
	return 0;
}

static int on_open(struct lf_xml *x, void *arg, const char *tag,
		   const char **attr)
{
	struct reading *r = arg;

	r->depth++;
	if (r->depth == 1 && strcmp(tag, "topology") != 0)
		return lf_xml_fail(x, -EINVAL, "<%.40s>, not <topology>", tag);
	if (strcmp(tag, "object") == 0)
		return open_object(x, r, attr);
	if (strcmp(tag, "info") == 0)
		return open_info(r, attr);
	if (strncmp(tag, "distances2", 10) == 0)
		return open_matrix(x, r, tag, attr);
	return 0;
}

/* "OSDev:802 PCIDev:449 Package:3", or "894 895" */
static int add_names(struct lf_xml *x, struct matrix *m, const char *text)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, " \n\t"), skip = strcspn(s, ":");
		bool package = strncmp(s, "OSDev", 5) != 0 &&
			       strncmp(s, "PCIDev", 6) != 0 && m->hetero;

		if (n > 0 && m->named == m->rows)
			return lf_xml_fail(x, -EINVAL,
					   "more names than the matrix's %d",
					   m->rows);
		if (n > 0)
			m->gp[m->named++] =
				package ? 0
					: strtoul(s + (skip < n ? skip + 1 : 0),
						  NULL, 10);
		s += n + (s[n] != '\0');
	}
	return 0;
}

static int add_values(struct lf_xml *x, struct matrix *m, const char *text)
{
	for (const char *s = text; *s;) {
		size_t n = strcspn(s, " \n\t");

		if (n > 0 && m->values == m->rows * m->rows)
			return lf_xml_fail(x, -EINVAL,
					   "more values than %d times %d",
					   m->rows, m->rows);
		if (n > 0 && !isdigit((unsigned char)*s))
			return lf_xml_fail(x, -EINVAL, "\"%.20s\" is no number",
					   s);
		if (n > 0)
			m->cell[m->values++] = strtol(s, NULL, 10);
		s += n + (s[n] != '\0');
	}
	return 0;
}

static int close_matrix(struct lf_xml *x, struct reading *r)
{
	struct matrix *m = &r->matrix;

	if (!m->active)
		return 0;
	m->active = false;
	if (m->named != m->rows || m->values != m->rows * m->rows)
		return lf_xml_fail(x, -EINVAL,
				   "NVLinkBandwidth of %d objects has %d "
				   "names and %d values",
				   m->rows, m->named, m->values);
	r->matrix_read = true;
	return 0;
}

/* NVML knows more of a GPU than CUDA, which may have come first. */
static void keep_gpu(struct reading *r, enum kind kind, int pci)
{
	for (int i = 0; i < r->gpus; i++) {
		if (r->gpu[i].pci != pci)
			continue;
		if (kind == NVML)
			r->gpu[i] = r->open;
		return;
	}
	if (pci >= 0 && r->gpus < LF_HW_GPUS)
		r->gpu[r->gpus++] = r->open;
}

static void close_object(struct reading *r)
{
	struct frame f = r->stack[r->objects_open--];

	if (f.kind == NVML || f.kind == CUDA)
		keep_gpu(r, f.kind, f.pci);
	if (f.kind == RDMA && r->nics < LF_HW_NICS)
		r->nic[r->nics++] = r->open;
	r->any = r->any || f.kind != OTHER;
}

static int on_close(struct lf_xml *x, void *arg, const char *tag,
		    const char *text)
{
	struct reading *r = arg;

	r->depth--;
	if (strcmp(tag, "object") == 0 && r->objects_open > 0)
		close_object(r);
	else if (strncmp(tag, "distances2", 10) == 0)
		return close_matrix(x, r);
	else if (r->matrix.active && strcmp(tag, "indexes") == 0)
		return add_names(x, &r->matrix, text);
	else if (r->matrix.active && strcmp(tag, "u64values") == 0)
		return add_values(x, &r->matrix, text);
	return 0;
}

static bool any(void *arg)
{
	return ((struct reading *)arg)->any;
}

static int read_hwloc(struct lf_hw *hw, const char *text, size_t n,
		      struct lf_err *e)
{
	static const struct lf_xml_events events = { on_open, on_close, any };
	struct reading *r = calloc(1, sizeof(*r));
	struct lf_pci *tree = calloc(1, sizeof(*tree));
	struct lf_links *links = calloc(1, sizeof(*links));
	int rc;

	if (r && tree && links) {
		r->hw = hw;
		r->tree = tree;
		r->stack[0] = (struct frame){ OTHER, -1, -1 };
		rc = lf_xml_read_part(hw, text, n, &events, r, e);
		if (rc == 0)
			lf_hwloc_finish(r, links);
	} else {
		rc = lf_err(e, -ENOMEM, "1:1: no memory");
	}
	free(links);
	free(tree);
	free(r);
	return rc;
}

static int claims(const char *text, size_t n)
{
	return lf_xml_root(text, n, "topology") ? 90 : 0;
}

const struct lf_hw_reader lf_hw_read_hwloc_xml = { "hwloc XML", claims,
						   read_hwloc };
