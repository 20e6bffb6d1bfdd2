/* SPDX-License-Identifier: Apache-2.0 */
/* Every function may be missing or refuse, and a GPU may be lost between two
 * calls: what was not answered stays unknown.  A call may also hang for minutes
 * on a sick GPU; the caller's deadline ends the process then. */
#include "config.h"

#include "hw/live.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hw/links.h"
#include "hw/nvml_api.h"

enum {
	CPUS = 4096,
	LOST_XID = 79, /* "fallen off the bus", what a lost GPU is in the log */
	WORD = 8 * sizeof(unsigned long)
};

_Static_assert(sizeof(struct lf_nvml_pci) == 68, "as NVML has it");
_Static_assert(sizeof(struct lf_nvml_field) == 40, "as NVML has it");
_Static_assert(sizeof(struct lf_nvml_fabric_v) == 40, "as NVML has it");

struct one {
	lf_nvml_device device;
	int gpu;   /* place in the model, -1 */
	int links; /* that are up */
};

struct reading {
	struct lf_hw *hw;
	struct lf_links *links;
	struct lf_nvml_api api;
	int n; /* GPUs that NVML counts */
	struct one one[LF_HW_GPUS];
};

/* Like a function that refuses. */
#define CALL(r, member, ...)                                                   \
	((r)->api.member ? (r)->api.member(__VA_ARGS__)                        \
			 : NVML_FUNCTION_NOT_FOUND)

static void look_up(void *library, struct lf_nvml_api *api)
{
	void *found;

	/* ISO C has no cast from an object's to a function's pointer. */
#define LOOK_UP(member, name, parameters)                                      \
	found = dlsym(library, name);                                          \
	memcpy(&api->member, &found, sizeof(found));

	LF_NVML_FUNCTIONS(LOOK_UP)
	if (!api->pci) { /* the same but for a shorter bus id */
		found = dlsym(library, "nvmlDeviceGetPciInfo_v2");
		memcpy(&api->pci, &found, sizeof(found));
	}
#undef LOOK_UP
}

static void set(struct reading *r, const struct lf_hw_gpu *g, const char *what,
		int *field, int rc, unsigned value)
{
	if (rc == NVML_OK && value <= 1000000)
		lf_hw_set_int(r->hw, g->bus, what, field, (int)value);
}

static void read_pcie(struct reading *r, lf_nvml_device d, struct lf_hw_gpu *g)
{
	struct lf_hw_pcie *p = &g->pcie;
	unsigned v = 0;
	int rc;

	rc = CALL(r, gen, d, &v);
	if (rc == NVML_OK && v <= 9)
		lf_hw_set_gen(r->hw, g->bus, p, (int)v);
	rc = CALL(r, width, d, &v);
	set(r, g, "PCIe width", &p->width, rc, v);
	rc = CALL(r, max_gen, d, &v);
	set(r, g, "greatest PCIe generation", &p->max_gen, rc, v);
	rc = CALL(r, max_width, d, &v);
	set(r, g, "greatest PCIe width", &p->max_width, rc, v);
	rc = CALL(r, gpu_max_gen, d, &v);
	set(r, g, "PCIe generation of the device", &p->device_max_gen, rc, v);
}

static void read_state(struct reading *r, lf_nvml_device d, struct lf_hw_gpu *g)
{
	int pstate = -1;
	unsigned now = 0, later, corrected, uncorrected, pending, failed;
	unsigned long long errors = 0;
	int rc = CALL(r, pstate, d, &pstate);

	if (rc == NVML_OK && pstate >= 0 && pstate <= 15)
		lf_hw_set_pstate(g, pstate);
	rc = CALL(r, mig, d, &now, &later);
	/* A part without MIG does not have it on. */
	if (rc == NVML_NOT_SUPPORTED) {
		rc = NVML_OK;
		now = 0;
	}
	set(r, g, "MIG", &g->mig, rc, now);
	rc = CALL(r, ecc, d, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &errors);
	if (rc == NVML_OK && errors <= INT64_MAX)
		lf_hw_set_ecc(r->hw, g->bus, g, (int64_t)errors);
	rc = CALL(r, remap, d, &corrected, &uncorrected, &pending, &failed);
	if (rc != NVML_OK)
		return;
	lf_hw_set_high(r->hw, g->bus, "row remap pending", &g->remap_pending,
		       pending != 0);
	lf_hw_set_high(r->hw, g->bus, "row remap failed", &g->remap_failed,
		       failed != 0);
}

/* "0-23,96-119" */
static void mask_list(const unsigned long *mask, int bits, char out[LF_HW_TEXT])
{
	struct lf_buf b = LF_BUF(LF_HW_TEXT);

	for (int i = 0; i < bits; i++) {
		int first = i;

		while (i < bits && mask[i / WORD] >> (i % WORD) & 1)
			i++;
		if (i > first + 1)
			lf_buf_add(&b, "%s%d-%d", b.len ? "," : "", first,
				   i - 1);
		else if (i > first)
			lf_buf_add(&b, "%s%d", b.len ? "," : "", first);
	}
	if (lf_buf_ok(&b))
		(void)snprintf(out, LF_HW_TEXT, "%s", lf_buf_text(&b));
	lf_buf_free(&b);
}

static void read_place(struct reading *r, lf_nvml_device d, struct lf_hw_gpu *g)
{
	unsigned long nodes[1024 / WORD] = { 0 }, cpus[CPUS / WORD] = { 0 };
	int only = -1, bits = 0;

	if (CALL(r, memory_nodes, d, 1024 / WORD, nodes, NVML_SCOPE_NODE) ==
	    NVML_OK) {
		for (int i = 0; i < 1024; i++)
			if (nodes[i / WORD] >> (i % WORD) & 1) {
				only = i;
				bits++;
			}
		if (bits == 1)
			lf_hw_set_int(r->hw, g->bus, "NUMA node", &g->numa,
				      only);
	}
	if (!*g->cpus && CALL(r, cpus, d, CPUS / WORD, cpus) == NVML_OK)
		mask_list(cpus, CPUS, g->cpus);
}

/* Bits 0-7: bandwidth degraded, route recovery, route unhealthy, access
 * time-out recovery, two each, 1 for "yes"; 8-11: configuration, above 1 wrong.
 */
static bool mask_healthy(unsigned health)
{
	for (int shift = 0; shift < 8; shift += 2)
		if ((health >> shift & 3) == 1)
			return false;
	return (health >> 8 & 15) <= 1;
}

static void set_clique(struct lf_hw_gpu *g, const unsigned char *u,
		       unsigned clique)
{
	static const unsigned char nil[16];

	if (*g->clique || memcmp(u, nil, sizeof(nil)) == 0)
		return; /* one machine, not part of a larger domain */
	(void)snprintf(g->clique, sizeof(g->clique),
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		       "%02x%02x%02x%02x%02x%02x.%u",
		       u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8],
		       u[9], u[10], u[11], u[12], u[13], u[14], u[15], clique);
}

static bool ask_fabric(struct reading *r, lf_nvml_device d,
		       struct lf_nvml_fabric_v *f)
{
	struct lf_nvml_fabric old = { .state = 0 };

	*f = (struct lf_nvml_fabric_v){ .version = LF_NVML_FABRIC_V3 };
	if (CALL(r, fabric_v, d, f) == NVML_OK)
		return true;
	*f = (struct lf_nvml_fabric_v){ .version = LF_NVML_FABRIC_V2 };
	if (CALL(r, fabric_v, d, f) == NVML_OK)
		return true;
	if (CALL(r, fabric, d, &old) != NVML_OK)
		return false;
	*f = (struct lf_nvml_fabric_v){ .status = old.status,
					.clique = old.clique,
					.state = old.state };
	memcpy(f->cluster, old.cluster, sizeof(f->cluster));
	return true;
}

static void read_fabric(struct reading *r, lf_nvml_device d,
			struct lf_hw_gpu *g)
{
	static const enum lf_hw_fabric states[] = { LF_FABRIC_NONE,
						    LF_FABRIC_NOT_STARTED,
						    LF_FABRIC_IN_PROGRESS,
						    LF_FABRIC_COMPLETED };
	struct lf_nvml_fabric_v f;

	if (!ask_fabric(r, d, &f) || f.state > NVML_FABRIC_COMPLETED)
		return;
	lf_hw_set_fabric(r->hw, g, states[f.state]);
	if (f.state != NVML_FABRIC_COMPLETED)
		return;
	lf_hw_set_int(r->hw, g->bus, "status of the NVLink fabric",
		      &g->fabric_ok,
		      f.status == NVML_OK && mask_healthy(f.health) &&
			      f.summary <= NVML_FABRIC_HEALTHY);
	set_clique(g, f.cluster, f.clique);
}

static int field(struct reading *r, lf_nvml_device d, unsigned id,
		 unsigned scope)
{
	struct lf_nvml_field f = { .field = id, .scope = scope };

	if (CALL(r, fields, d, 1, &f) != NVML_OK || f.result != NVML_OK)
		return -1;
	if (f.type == NVML_VALUE_UINT && f.value.u <= 10000000)
		return (int)f.value.u;
	if ((f.type == NVML_VALUE_ULONG || f.type == NVML_VALUE_ULONGLONG) &&
	    f.value.ull <= 10000000)
		return (int)f.value.ull;
	if (f.type == NVML_VALUE_INT && f.value.i >= 0)
		return f.value.i;
	return -1;
}

static int gpu_at(const struct lf_hw *hw, const char *bus)
{
	for (int i = 0; i < hw->gpus; i++)
		if (*bus && strcmp(hw->gpu[i].bus, bus) == 0)
			return i;
	return -1;
}

static struct lf_nvml_pci *blank(struct lf_nvml_pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	return pci;
}

/* The address that was told, "" if the call was refused.  The function of old
 * drivers fills in the first 52 bytes only. */
static void ask_pci(int rc, struct lf_nvml_pci *pci, char bus[LF_HW_TEXT])
{
	if (rc != NVML_OK)
		(void)blank(pci);
	pci->bus_id[sizeof(pci->bus_id) - 1] = '\0';
	pci->old_bus[sizeof(pci->old_bus) - 1] = '\0';
	lf_hw_bus(pci->bus_id, bus);
	if (!*bus)
		lf_hw_bus(pci->old_bus, bus);
}

/* Where a link ends.  Virtual machines hide switches: what is neither a GPU of
 * ours nor named something else counts as one. */
static void add_end(struct reading *r, const struct one *one, unsigned link)
{
	struct lf_nvml_pci pci;
	int end = NVML_END_UNKNOWN, other, s;
	char bus[LF_HW_TEXT];

	ask_pci(CALL(r, link_pci, one->device, link, blank(&pci)), &pci, bus);
	other = gpu_at(r->hw, bus);
	if (CALL(r, link_end, one->device, link, &end) != NVML_OK)
		end = NVML_END_UNKNOWN;
	if (other == one->gpu)
		return; /* a loop */
	if (other >= 0 && end != NVML_END_SWITCH) {
		r->links->direct[one->gpu][other]++;
	} else if (end == NVML_END_SWITCH || end == NVML_END_UNKNOWN) {
		s = lf_links_switch(r->links, *bus ? bus : "hidden");
		if (s >= 0)
			r->links->into[one->gpu][s]++;
	} else {
		r->links->elsewhere[one->gpu]++;
	}
}

/* Counts links, and says where they end.  Returns NVML's refusal, if it did not
 * tell of all. */
static int count_links(struct reading *r, struct one *one, int *up, int *down,
		       int *first)
{
	int present = field(r, one->device, NVML_FI_LINK_COUNT, 0);
	unsigned most = present >= 0 && present < LF_HW_LINKS
				? (unsigned)present
				: LF_HW_LINKS;

	*up = *down = 0;
	*first = -1;
	if (!r->api.link_state)
		return NVML_FUNCTION_NOT_FOUND;
	for (unsigned link = 0; link < most; link++) {
		int on = 0, rc = CALL(r, link_state, one->device, link, &on);

		if (rc == NVML_INVALID_ARGUMENT || rc == NVML_NOT_SUPPORTED)
			break; /* the part has no more of them */
		if (rc != NVML_OK)
			return rc;
		*down += !on;
		*up += on != 0;
		if (!on)
			continue;
		*first = *first < 0 ? (int)link : *first;
		add_end(r, one, link);
	}
	return NVML_OK;
}

static void read_links(struct reading *r, struct one *one)
{
	struct lf_hw_gpu *g = &r->hw->gpu[one->gpu];
	int up, down, first, speed, rc;

	rc = count_links(r, one, &up, &down, &first);
	/* No link is a fact of a part; of a driver that refuses even to name
	 * the part it is none. */
	if (rc == NVML_OK && up + down == 0 && !*g->name)
		rc = NVML_NOT_SUPPORTED;
	if (rc == NVML_GPU_IS_LOST)
		g->xid = LOST_XID;
	if (rc != NVML_OK) {
		memset(r->links->into[one->gpu], 0,
		       sizeof(r->links->into[one->gpu]));
		return;
	}
	r->links->seen[one->gpu] = true;
	r->hw->nvlink_shown = true;
	one->links = up;
	lf_hw_set_high(r->hw, g->bus, "NVLinks down", &g->links_inactive, down);
	if (first < 0)
		return;
	speed = field(r, one->device, NVML_FI_LINK_SPEED, (unsigned)first);
	if (speed <= 0)
		speed = field(r, one->device, NVML_FI_LINK_SPEED_ALL, 0);
	lf_hw_set_int(r->hw, g->bus, "NVLink speed", &g->link_mbps,
		      speed > 0 ? speed : -1);
}

static enum lf_hw_path path_of(int level)
{
	switch (level) {
	case NVML_TOPO_INTERNAL:
	case NVML_TOPO_SINGLE:
		return LF_PATH_PIX;
	case NVML_TOPO_MULTIPLE:
		return LF_PATH_PXB;
	case NVML_TOPO_HOSTBRIDGE:
		return LF_PATH_PHB;
	case NVML_TOPO_NODE:
		return LF_PATH_NODE;
	case NVML_TOPO_SYSTEM:
		return LF_PATH_SYS;
	default:
		return LF_PATH_UNKNOWN;
	}
}

/* Peer access, also as a sign that links meet which end out of sight. */
static void read_peer(struct reading *r, const struct one *a,
		      const struct one *b)
{
	int level = -1, status = -1;
	int now = r->hw->nvlink[a->gpu][b->gpu];

	if (CALL(r, ancestor, a->device, b->device, &level) == NVML_OK)
		lf_hw_set_path(r->hw, a->gpu, b->gpu, path_of(level));
	if (CALL(r, p2p, a->device, b->device, NVML_P2P_READ, &status) ==
		    NVML_OK &&
	    status >= NVML_P2P_OK && status < NVML_P2P_UNKNOWN)
		lf_hw_set_p2p(r->hw, a->gpu, b->gpu, status == NVML_P2P_OK);
	if (now >= 0 || a->links <= 0 || b->links <= 0)
		return;
	if (CALL(r, p2p, a->device, b->device, NVML_P2P_NVLINK, &status) !=
		    NVML_OK ||
	    status != NVML_P2P_OK)
		return;
	lf_hw_set_nvlink(r->hw, a->gpu, b->gpu,
			 a->links < b->links ? a->links : b->links);
}

static void identify(struct reading *r, int index)
{
	struct one *one = &r->one[index];
	struct lf_nvml_pci pci;
	char uuid[LF_HW_TEXT] = "", name[LF_HW_TEXT] = "";
	char bus[LF_HW_TEXT];
	struct lf_hw_gpu *g;
	unsigned minor = 0;
	int rc;

	ask_pci(CALL(r, pci, one->device, blank(&pci)), &pci, bus);
	if (CALL(r, uuid, one->device, uuid, sizeof(uuid)) != NVML_OK)
		uuid[0] = '\0';
	g = lf_hw_gpu(r->hw, index, bus, uuid);
	if (!g)
		return;
	one->gpu = lf_hw_gpu_number(r->hw, g);
	g->vendor = LF_VENDOR_NVIDIA;
	if (pci.id != 0)
		lf_hw_set_int(r->hw, g->bus, "PCI device id", &g->device_id,
			      (int)(pci.id >> 16));
	if (CALL(r, name, one->device, name, sizeof(name)) == NVML_OK)
		lf_hw_set_text(r->hw, g->bus, "name", g->name, name);
	rc = CALL(r, minor, one->device, &minor);
	set(r, g, "device minor", &g->minor, rc, minor);
}

/* NVML counts it, but it does not answer. */
static void lost(struct reading *r, int index)
{
	struct lf_hw_gpu *g = lf_hw_gpu(r->hw, index, NULL, NULL);

	if (g && g->xid <= 0)
		g->xid = LOST_XID;
}

static void find_gpus(struct reading *r)
{
	for (int i = 0; i < r->n; i++) {
		struct one *one = &r->one[i];
		int rc = CALL(r, by_index, (unsigned)i, &one->device);

		one->gpu = -1;
		if (rc == NVML_OK)
			identify(r, i);
		else if (rc == NVML_GPU_IS_LOST)
			lost(r, i);
		else if (rc == NVML_NO_PERMISSION)
			continue; /* another job's; not ours to see */
		else
			lf_hw_mark_partial(r->hw, "NVML refused a GPU");
	}
}

static void read_gpus(struct reading *r)
{
	for (int i = 0; i < r->n; i++) {
		struct one *one = &r->one[i];
		struct lf_hw_gpu *g;

		if (one->gpu < 0)
			continue;
		g = &r->hw->gpu[one->gpu];
		read_pcie(r, one->device, g);
		read_state(r, one->device, g);
		read_place(r, one->device, g);
		read_fabric(r, one->device, g);
		read_links(r, one);
	}
	lf_links_set(r->links, r->hw);
	for (int i = 0; i < r->n; i++)
		for (int j = 0; j < i; j++)
			if (r->one[i].gpu >= 0 && r->one[j].gpu >= 0)
				read_peer(r, &r->one[i], &r->one[j]);
}

static void read_system(struct reading *r)
{
	struct lf_hw_node *node = &r->hw->node;
	char text[LF_HW_TEXT] = "";
	int cuda = 0;

	if (CALL(r, driver, text, sizeof(text)) == NVML_OK)
		lf_hw_set_text(r->hw, "node", "driver", node->driver, text);
	if (CALL(r, cuda, &cuda) == NVML_OK && cuda > 0) {
		(void)snprintf(text, sizeof(text), "%d.%d", cuda / 1000,
			       cuda % 1000 / 10);
		lf_hw_set_text(r->hw, "node", "CUDA", node->cuda, text);
	}
}

static int start(struct reading *r, struct lf_err *e)
{
	unsigned count = 0;
	int rc = CALL(r, init);

	if (rc == NVML_DRIVER_NOT_LOADED || rc == NVML_LIBRARY_NOT_FOUND)
		return lf_err(e, -ENOENT, "NVML: the driver is not loaded");
	if (rc == NVML_VERSION_MISMATCH)
		return lf_err(e, -EIO,
			      "NVML: the library and the kernel "
			      "module are of different drivers: reload the "
			      "module, or reboot");
	if (rc != NVML_OK)
		return lf_err(e, -EIO, "NVML: nvmlInit_v2 returned %d", rc);
	rc = CALL(r, count, &count);
	if (rc != NVML_OK) {
		(void)CALL(r, shutdown);
		return lf_err(e, -EIO,
			      "NVML: nvmlDeviceGetCount_v2 returned "
			      "%d",
			      rc);
	}
	if (count > LF_HW_GPUS)
		lf_hw_mark_partial(r->hw, "more than 64 GPUs");
	r->n = count > LF_HW_GPUS ? LF_HW_GPUS : (int)count;
	lf_hw_set_int(r->hw, "node", "GPUs attached",
		      &r->hw->node.gpus_attached, (int)count);
	return 0;
}

static int read_all(struct lf_hw *hw, void *library, struct lf_err *e)
{
	struct reading *r = calloc(1, sizeof(*r));
	int rc = -ENOMEM;

	if (r)
		r->links = calloc(1, sizeof(*r->links));
	if (r && r->links) {
		r->hw = hw;
		look_up(library, &r->api);
		rc = start(r, e);
		if (rc == 0) {
			read_system(r);
			find_gpus(r);
			read_gpus(r);
			(void)CALL(r, shutdown);
		}
		free(r->links);
	} else {
		(void)lf_err(e, rc, "NVML: no memory");
	}
	free(r);
	return rc;
}

int lf_hw_live_nvml(struct lf_hw *hw, const char *name, struct lf_err *e)
{
	void *library;
	int rc;

	name = name ? name : "libnvidia-ml.so.1";
	library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return lf_err(e, -ENOENT, "NVML: %s", dlerror());
	rc = read_all(hw, library, e);
	(void)dlclose(library);
	return rc;
}
