/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/live.h"

_Static_assert(sizeof(struct lf_nvml_pci) == 68, "as NVML has it");
_Static_assert(sizeof(struct lf_nvml_field) == 40, "as NVML has it");
_Static_assert(sizeof(struct lf_nvml_fabric_v) == 40, "as NVML has it");

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

void lf_nvml_set(struct lf_nvml *r, const struct lf_hw_gpu *g, const char *what,
		 int *field, int rc, unsigned value)
{
	if (rc == NVML_OK && value <= 1000000)
		lf_hw_set_int(r->hw, g->bus, what, field, (int)value);
}

struct lf_nvml_pci *lf_nvml_blank(struct lf_nvml_pci *pci)
{
	memset(pci, 0, sizeof(*pci));
	return pci;
}

/* The function of old drivers fills in the first 52 bytes only. */
void lf_nvml_bus(int rc, struct lf_nvml_pci *pci, char bus[LF_HW_TEXT])
{
	if (rc != NVML_OK)
		(void)lf_nvml_blank(pci);
	pci->bus_id[sizeof(pci->bus_id) - 1] = '\0';
	pci->old_bus[sizeof(pci->old_bus) - 1] = '\0';
	lf_hw_bus(pci->bus_id, bus);
	if (!*bus)
		lf_hw_bus(pci->old_bus, bus);
}

static void identify(struct lf_nvml *r, int index)
{
	struct lf_nvml_gpu *one = &r->one[index];
	struct lf_nvml_pci pci;
	char uuid[LF_HW_TEXT] = "", name[LF_HW_TEXT] = "";
	char bus[LF_HW_TEXT];
	struct lf_hw_gpu *g;
	unsigned minor = 0;
	int rc;

	lf_nvml_bus(CALL(r, pci, one->device, lf_nvml_blank(&pci)), &pci, bus);
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
	lf_nvml_set(r, g, "device minor", &g->minor, rc, minor);
}

/* NVML counts it, but it does not answer. */
static void lost(struct lf_nvml *r, int index)
{
	struct lf_hw_gpu *g = lf_hw_gpu(r->hw, index, NULL, NULL);

	if (g && g->xid <= 0)
		g->xid = LOST_XID;
}

static void find_gpus(struct lf_nvml *r)
{
	for (int i = 0; i < r->n; i++) {
		struct lf_nvml_gpu *one = &r->one[i];
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

static void read_gpus(struct lf_nvml *r)
{
	for (int i = 0; i < r->n; i++) {
		if (r->one[i].gpu < 0)
			continue;
		lf_nvml_read_gpu(r, &r->one[i]);
		lf_nvml_read_links(r, &r->one[i]);
	}
	lf_links_set(r->links, r->hw);
	for (int i = 0; i < r->n; i++)
		for (int j = 0; j < i; j++)
			if (r->one[i].gpu >= 0 && r->one[j].gpu >= 0)
				lf_nvml_read_peer(r, &r->one[i], &r->one[j]);
}

static void read_system(struct lf_nvml *r)
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

static int start(struct lf_nvml *r, struct lf_err *e)
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
	struct lf_nvml *r = calloc(1, sizeof(*r));
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
