/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's topology: what NCCL_TOPO_DUMP_FILE wrote, and the files that clouds
 * ship for NCCL_TOPO_FILE.  A dump holds <gpu>, <nic> and <nvlink>; a shipped
 * file often only PCI classes, and says what its author believed.  link_speed
 * is the greatest of device and port, not the present one.  An element counts
 * once it is closed, so that a cut file shows no half GPU. */
#include "config.h"

#include "hw/recorded/read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/links.h"
#include "hw/pci.h"
#include "hw/recorded/xml.h"

struct link {
	char target[LF_HW_TEXT];
	int count;
	int class; /* of the target, -1 */
};

struct gpu {
	int pci; /* place in the tree */
	int dev; /* NVML's number, -1 */
	const char *bus;
	bool listed;  /* has a <gpu>, not only a PCI class */
	bool foreign; /* AMD: xgmi, gcn */
	int links;
	struct link link[LF_HW_LINKS];
};

struct nic {
	char name[LF_HW_TEXT]; /* "" of a shipped file */
	int pci;	       /* -1 */
	int numa, speed, gdr;
	bool by_socket; /* port 0: an interface, not an RDMA port */
};

struct reading {
	struct lf_hw *hw;
	struct lf_pci *tree;
	int numa;	       /* of the <cpu> that is open */
	char host[LF_HW_TEXT]; /* host_hash of the first */
	bool foreign_host;     /* the open <cpu> is of another host */
	int pci[LF_XML_DEPTH]; /* the <pci> that are open */
	int pci_depth, depth;
	bool leaf;	 /* no <gpu> or <nic> in the innermost <pci> */
	struct gpu open; /* the <gpu> that is open */
	bool any, nvlinks;
	int gpus, nics;
	struct gpu gpu[LF_HW_GPUS];
	struct nic nic[LF_HW_NICS];
};

static int at_pci(const struct reading *r)
{
	return r->pci_depth > 0 ? r->pci[r->pci_depth - 1] : -1;
}

static int class_of(const char *text)
{
	int class = lf_pci_hex(text);

	/* Old files leave out the interface byte. */
	return class >= 0 && text && strlen(text) <= 6 ? class << 8 : class;
}

static int open_cpu(struct reading *r, const char **attr)
{
	const char *host = lf_xml_attr(attr, "host_hash");

	r->numa = lf_xml_int(lf_xml_attr(attr, "numaid"), LF_HW_NUMA * 16);
	host = host ? host : "";
	if (!*r->host)
		(void)snprintf(r->host, sizeof(r->host), "%s", host);
	r->foreign_host = strncmp(r->host, host, sizeof(r->host) - 1) != 0;
	if (r->foreign_host)
		lf_hw_mark_partial(r->hw, "a dump of several hosts: only the "
					  "first was read");
	return 0;
}

static int open_pci(struct lf_xml *x, struct reading *r, const char **attr)
{
	const char *bus = lf_xml_attr(attr, "busid");
	int class = class_of(lf_xml_attr(attr, "class")), i;
	struct lf_pci_dev *d;

	i = lf_pci_add(r->tree,
		       class >> 16 == 0x06 ? LF_PCI_BRIDGE : LF_PCI_DEVICE, bus,
		       at_pci(r));
	if (i < 0)
		return lf_xml_fail(x, -EINVAL,
				   "<pci> with the busid \"%.40s\", expected "
				   "a PCI address (or more than %d devices)",
				   bus ? bus : "", LF_PCI_MAX);
	d = &r->tree->dev[i];
	d->class = class;
	d->vendor = lf_pci_hex(lf_xml_attr(attr, "vendor"));
	d->device = lf_pci_hex(lf_xml_attr(attr, "device"));
	d->gen = lf_pci_gen(lf_xml_attr(attr, "link_speed"));
	d->width = lf_xml_int(lf_xml_attr(attr, "link_width"), 32);
	d->width = d->width > 0 ? d->width : -1;
	d->numa = r->numa;
	r->pci[r->pci_depth++] = i;
	r->leaf = true;
	return 0;
}

static int open_gpu(struct lf_xml *x, struct reading *r, const char **attr)
{
	if (at_pci(r) < 0)
		return lf_xml_fail(x, -EINVAL, "<gpu> outside of a <pci>");
	r->leaf = false;
	r->open = (struct gpu){ .pci = at_pci(r),
				.dev = lf_xml_int(lf_xml_attr(attr, "dev"),
						  LF_HW_GPUS - 1),
				.listed = true,
				.foreign = lf_xml_attr(attr, "gcn") != NULL };
	return 0;
}

static int open_link(struct lf_xml *x, struct reading *r, const char **attr)
{
	const char *target = lf_xml_attr(attr, "target");
	const char *count = lf_xml_attr(attr, "count");
	struct link *l;

	if (r->open.links == LF_HW_LINKS)
		return lf_xml_fail(x, -E2BIG, "more than %d <nvlink> of a GPU",
				   LF_HW_LINKS);
	l = &r->open.link[r->open.links];
	l->count = lf_xml_int(count, LF_HW_LINKS);
	l->class = class_of(lf_xml_attr(attr, "tclass"));
	lf_hw_bus(target, l->target);
	if (l->count < 0 || !*l->target)
		return lf_xml_fail(x, -EINVAL,
				   "<nvlink> with target \"%.40s\", count "
				   "\"%.20s\"",
				   target ? target : "", count ? count : "");
	r->open.links++;
	r->nvlinks = true;
	return 0;
}

static int open_net(struct lf_xml *x, struct reading *r, const char **attr)
{
	const char *name = lf_xml_attr(attr, "name");
	struct nic *n;

	if (r->nics == LF_HW_NICS) {
		lf_hw_mark_partial(r->hw, "more than 128 NICs");
		return 0;
	}
	n = &r->nic[r->nics++];
	*n = (struct nic){
		.pci = at_pci(r),
		.numa = r->numa,
		.speed = lf_xml_int(lf_xml_attr(attr, "speed"), 10000000),
		.gdr = lf_xml_int(lf_xml_attr(attr, "gdr"), 1),
		.by_socket = lf_xml_int(lf_xml_attr(attr, "port"), 0) == 0
	};
	(void)snprintf(n->name, sizeof(n->name), "%s", name ? name : "");
	r->any = true;
	return 0;
}

static int on_open(struct lf_xml *x, void *arg, const char *tag,
		   const char **attr)
{
	struct reading *r = arg;

	r->depth++;
	if (r->depth == 1 && strcmp(tag, "system") != 0)
		return lf_xml_fail(x, -EINVAL, "<%.40s>, not <system>", tag);
	if (strcmp(tag, "cpu") == 0)
		return open_cpu(r, attr);
	if (r->foreign_host)
		return 0;
	if (strcmp(tag, "pci") == 0)
		return open_pci(x, r, attr);
	if (strcmp(tag, "gpu") == 0)
		return open_gpu(x, r, attr);
	if (strcmp(tag, "nvlink") == 0)
		return open_link(x, r, attr);
	if (strcmp(tag, "xgmi") == 0)
		r->open.foreign = true;
	if (strcmp(tag, "nic") == 0)
		r->leaf = false;
	if (strcmp(tag, "net") == 0)
		return open_net(x, r, attr);
	return 0;
}

static int keep_gpu(struct lf_xml *x, struct reading *r, const struct gpu *g)
{
	for (int i = 0; i < r->gpus; i++)
		if (r->gpu[i].pci == g->pci)
			return lf_xml_fail(x, -EINVAL, "a second GPU at %s",
					   r->tree->dev[g->pci].bus);
	if (r->gpus == LF_HW_GPUS)
		return lf_xml_fail(x, -E2BIG, "more than %d GPUs", LF_HW_GPUS);
	r->gpu[r->gpus] = *g;
	r->gpu[r->gpus++].bus = r->tree->dev[g->pci].bus;
	r->any = true;
	return 0;
}

/* A device of which only the PCI class tells what it is. */
static int keep_leaf(struct lf_xml *x, struct reading *r, int pci)
{
	const struct lf_pci_dev *d = &r->tree->dev[pci];

	if (lf_pci_is_gpu(d))
		return keep_gpu(x, r, &(struct gpu){ .pci = pci, .dev = -1 });
	if (!lf_pci_is_nic(d) || r->nics == LF_HW_NICS)
		return 0;
	r->nic[r->nics++] = (struct nic){
		.pci = pci, .numa = r->numa, .speed = -1, .gdr = -1
	};
	r->any = true;
	return 0;
}

static int close_pci(struct lf_xml *x, struct reading *r)
{
	int pci = at_pci(r), rc = 0;

	if (r->leaf && pci >= 0)
		rc = keep_leaf(x, r, pci);
	r->leaf = false; /* the one around it is a bridge */
	if (r->pci_depth > 0)
		r->pci_depth--;
	return rc;
}

static int on_close(struct lf_xml *x, void *arg, const char *tag,
		    const char *text)
{
	struct reading *r = arg;

	r->depth--;
	if (strcmp(tag, "cpu") == 0) {
		r->foreign_host = false;
		r->numa = -1;
	}
	if (r->foreign_host)
		return 0;
	if (strcmp(tag, "pci") == 0)
		return close_pci(x, r);
	if (strcmp(tag, "gpu") == 0)
		return keep_gpu(x, r, &r->open);
	return 0;
}

static void set_slot(struct lf_hw *hw, const struct lf_pci_dev *d,
		     struct lf_hw_pcie *pcie)
{
	lf_hw_set_int(hw, d->bus, "greatest PCIe generation", &pcie->max_gen,
		      d->gen);
	lf_hw_set_int(hw, d->bus, "greatest PCIe width", &pcie->max_width,
		      d->width);
}

static int add_gpu(struct reading *r, const struct gpu *g)
{
	const struct lf_pci_dev *d = &r->tree->dev[g->pci];
	struct lf_hw_gpu *to = lf_hw_gpu(r->hw, g->dev, d->bus, NULL);

	if (!to)
		return -1;
	if (g->foreign)
		to->vendor = LF_VENDOR_OTHER;
	lf_pci_to_gpu(r->hw, to, d);
	set_slot(r->hw, d, &to->pcie);
	return lf_hw_gpu_number(r->hw, to);
}

/* Interfaces that are no hardware. */
static bool made_up(const char *name)
{
	static const char *const begins[] = { "veth",  "br-",	"docker",
					      "virbr", "cni",	"flannel",
					      "cali",  "vxlan", "tun",
					      "tap",   "dummy" };

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return strcmp(name, "lo") == 0;
}

/* NULL without one: in virtual machines a host bridge stands for it. */
static const struct lf_pci_dev *nic_device(const struct reading *r,
					   const struct nic *n)
{
	const struct lf_pci_dev *d = n->pci < 0 ? NULL : &r->tree->dev[n->pci];

	return d && d->kind == LF_PCI_DEVICE ? d : NULL;
}

static void add_nic(struct reading *r, const struct nic *n, const char *name,
		    bool merged)
{
	const struct lf_pci_dev *d = nic_device(r, n);
	/* NCCL counts ports of a PCI device over its functions: its number is
	 * not that of the RDMA device's port. */
	struct lf_hw_nic *to = lf_hw_nic(r->hw, name, -1, d ? d->bus : NULL);

	if (!to)
		return;
	lf_hw_set_int(r->hw, name, "NUMA node", &to->numa, n->numa);
	lf_hw_set_int(r->hw, name, "GPUDirect RDMA", &to->gdr, n->gdr);
	if (!merged) /* of several ports together: no rate of one */
		lf_hw_set_int(r->hw, name, "rate", &to->rate_mbps,
			      n->speed > 0 ? n->speed : -1);
	to->is_virtual = to->is_virtual || made_up(name);
	if (n->by_socket && *name && to->layer == LF_LAYER_UNKNOWN)
		to->layer = LF_LAYER_ETHERNET;
	if (!d)
		return;
	lf_pci_to_nic(r->hw, to, d);
	set_slot(r->hw, d, &to->pcie);
}

/* "mlx5_0+mlx5_1": two ports that NCCL uses as one. */
static void add_nics(struct reading *r, const struct nic *n)
{
	char names[LF_HW_TEXT], *cursor = names, *name;
	bool merged = strchr(n->name, '+') != NULL;

	(void)snprintf(names, sizeof(names), "%s", n->name);
	if (!merged)
		add_nic(r, n, n->name, false);
	while (merged && (name = strsep(&cursor, "+")) != NULL)
		if (*name)
			add_nic(r, n, name, true);
}

static int gpu_at(const struct lf_hw *hw, const char *bus)
{
	for (int i = 0; i < hw->gpus; i++)
		if (strcmp(hw->gpu[i].bus, bus) == 0)
			return i;
	return -1;
}

/* Returns false for a GPU that the file does not hold: one rank's view. */
static bool add_link(struct lf_links *l, struct lf_hw *hw, int gpu,
		     const struct link *link)
{
	int other = gpu_at(hw, link->target), s;

	if (other == gpu)
		return true; /* a loop joins nothing */
	if (other >= 0 && link->class == 0x068000) {
		l->through[gpu][other] = link->count;
	} else if (other >= 0) {
		l->direct[gpu][other] += link->count;
	} else if (link->class == 0x068000 || link->class < 0) {
		s = lf_links_switch(l, link->target);
		if (s >= 0)
			l->into[gpu][s] += link->count;
	} else {
		l->elsewhere[gpu] += link->count;
		return link->class >> 16 != 0x03;
	}
	return true;
}

/* A dump that NCCL wrote would show NVLinks if there were any; it also writes
 * each GPU's PCI ids, which people leave out. */
static bool shows_nvlinks(const struct reading *r)
{
	if (r->nvlinks)
		return true;
	for (int i = 0; i < r->gpus; i++) {
		const struct gpu *g = &r->gpu[i];

		if (!g->listed || g->foreign || r->tree->dev[g->pci].device < 0)
			return false;
	}
	return r->gpus > 0;
}

static void set_links(struct reading *r, struct lf_links *l,
		      const int number[LF_HW_GPUS])
{
	for (int i = 0; i < r->gpus; i++) {
		const struct gpu *g = &r->gpu[i];

		if (number[i] < 0 || !g->listed)
			continue;
		l->seen[number[i]] = true;
		for (int k = 0; k < g->links; k++)
			if (!add_link(l, r->hw, number[i], &g->link[k]))
				lf_hw_mark_partial(r->hw,
						   "one rank's view: a GPU at "
						   "the end of an NVLink is "
						   "not in the file");
	}
	r->hw->nvlink_shown = true;
	lf_links_set(l, r->hw);
}

/* As nvidia-smi lists them. */
static int in_order(const void *a, const void *b)
{
	const struct gpu *x = a, *y = b;

	return x->dev != y->dev ? x->dev - y->dev : strcmp(x->bus, y->bus);
}

static int finish(struct reading *r, struct lf_err *e)
{
	struct lf_links *l = calloc(1, sizeof(*l));
	int number[LF_HW_GPUS] = { 0 };
	bool named = false;

	if (!l)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	qsort(r->gpu, (size_t)r->gpus, sizeof(*r->gpu), in_order);
	for (int i = 0; i < r->gpus; i++) {
		number[i] = add_gpu(r, &r->gpu[i]);
		named = named || r->gpu[i].listed;
	}
	for (int i = 0; i < r->nics; i++)
		add_nics(r, &r->nic[i]);
	r->hw->nics_shown = r->hw->nics_shown || r->nics > 0 || !r->hw->partial;
	if (!named && !r->hw->partial)
		lf_pci_number(r->hw);
	if (shows_nvlinks(r))
		set_links(r, l, number);
	lf_pci_paths(r->tree, r->hw);
	free(l);
	return 0;
}

static bool any(void *arg)
{
	return ((struct reading *)arg)->any;
}

static int read_nccl(struct lf_hw *hw, const char *text, size_t n,
		     struct lf_err *e)
{
	static const struct lf_xml_events events = { on_open, on_close, any };
	struct reading *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	if (r)
		r->tree = calloc(1, sizeof(*r->tree));
	if (r && r->tree) {
		r->hw = hw;
		r->numa = -1;
		rc = lf_xml_read_part(hw, text, n, &events, r, e);
		if (rc == 0)
			rc = finish(r, e);
		free(r->tree);
	} else {
		(void)lf_err(e, rc, "1:1: no memory");
	}
	free(r);
	return rc;
}

static int claims(const char *text, size_t n)
{
	return lf_xml_root(text, n, "system") ? 90 : 0;
}

const struct lf_hw_reader lf_hw_read_nccl_xml = { "NCCL topology XML", claims,
						  read_nccl };
