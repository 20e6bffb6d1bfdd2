/* SPDX-License-Identifier: Apache-2.0 */
/* `nvidia-smi -q -x`.  The schemas v10 to v13 differ in what they have, hardly
 * in where it stands; elements are told by their path below <gpu>. */
#include "config.h"

#include "hw/recorded/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hw/recorded/xml.h"

struct reading {
	struct lf_hw *hw;
	struct lf_hw_gpu *g; /* of the <gpu> that is open */
	char subject[LF_HW_TEXT];
	char path[256]; /* below <gpu>: "/pci/pci_device_id" */
	int depth;
	int attached, gpus; /* said, and counted beforehand */
	int at;		    /* number of the open one */
	int64_t ecc;	    /* sum, -1 */
	int fabric_ok;	    /* the worst, -1 */
	bool any;
};

static bool none(const char *text)
{
	return !*text || strcasecmp(text, "N/A") == 0 ||
	       strcasecmp(text, "[N/A]") == 0;
}

static void set_int(struct reading *r, const char *what, int *field,
		    const char *text, int max)
{
	lf_hw_set_int(r->hw, r->subject, what, field, lf_xml_int(text, max));
}

/* Yes/Enabled, No/Disabled. */
static int yes_no(const char *text)
{
	if (strcasecmp(text, "Yes") == 0 || strcasecmp(text, "Enabled") == 0)
		return 1;
	if (strcasecmp(text, "No") == 0 || strcasecmp(text, "Disabled") == 0)
		return 0;
	return -1;
}

static void name(struct reading *r, const char *text)
{
	if (!none(text))
		lf_hw_set_text(r->hw, r->subject, "name", r->g->name, text);
}

static void uuid(struct reading *r, const char *text)
{
	if (strncmp(text, "GPU-", 4) == 0)
		lf_hw_set_text(r->hw, r->subject, "UUID", r->g->uuid, text);
}

static void minor_number(struct reading *r, const char *text)
{
	set_int(r, "device minor", &r->g->minor, text, 1 << 20);
}

/* "20B210DE": device id, vendor id. */
static void device_id(struct reading *r, const char *text)
{
	unsigned id;

	if (sscanf(text, "%8x", &id) == 1 && (id & 0xffff) == 0x10de)
		lf_hw_set_int(r->hw, r->subject, "PCI device id",
			      &r->g->device_id, (int)(id >> 16));
}

static void gen(struct reading *r, const char *text)
{
	lf_hw_set_gen(r->hw, r->subject, &r->g->pcie, lf_xml_int(text, 9));
}

static void max_gen(struct reading *r, const char *text)
{
	set_int(r, "greatest PCIe generation", &r->g->pcie.max_gen, text, 9);
}

static void device_gen(struct reading *r, const char *text)
{
	set_int(r, "PCIe generation of the device", &r->g->pcie.device_max_gen,
		text, 9);
}

static void host_gen(struct reading *r, const char *text)
{
	set_int(r, "PCIe generation of the host", &r->g->pcie.host_max_gen,
		text, 9);
}

static void width(struct reading *r, const char *text)
{
	set_int(r, "PCIe width", &r->g->pcie.width, text, 32);
}

static void max_width(struct reading *r, const char *text)
{
	set_int(r, "greatest PCIe width", &r->g->pcie.max_width, text, 32);
}

static void pstate(struct reading *r, const char *text)
{
	if (*text == 'P')
		lf_hw_set_pstate(r->g, lf_xml_int(text + 1, 15));
}

static void mig(struct reading *r, const char *text)
{
	/* N/A: a part that has no MIG. */
	lf_hw_set_int(r->hw, r->subject, "MIG", &r->g->mig,
		      none(text) ? 0 : yes_no(text));
}

static void ecc(struct reading *r, const char *text)
{
	int n = lf_xml_int(text, 999999999);

	if (n >= 0)
		r->ecc = (r->ecc < 0 ? 0 : r->ecc) + n;
}

static void pending(struct reading *r, const char *text)
{
	lf_hw_set_high(r->hw, r->subject, "row remap pending",
		       &r->g->remap_pending, yes_no(text));
}

static void failed(struct reading *r, const char *text)
{
	lf_hw_set_high(r->hw, r->subject, "row remap failed",
		       &r->g->remap_failed, yes_no(text));
}

static void fabric_state(struct reading *r, const char *text)
{
	static const struct {
		const char *text;
		enum lf_hw_fabric state;
	} states[] = { { "N/A", LF_FABRIC_NONE },
		       { "Not Supported", LF_FABRIC_NONE },
		       { "Not Started", LF_FABRIC_NOT_STARTED },
		       { "In Progress", LF_FABRIC_IN_PROGRESS },
		       { "Completed", LF_FABRIC_COMPLETED } };

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (strcasecmp(text, states[i].text) == 0)
			lf_hw_set_fabric(r->hw, r->g, states[i].state);
}

static void fabric_status(struct reading *r, const char *text)
{
	if (!none(text) && r->fabric_ok != 0)
		r->fabric_ok = strcasecmp(text, "Success") == 0;
}

static void fabric_health(struct reading *r, const char *text)
{
	if (!none(text) && strcasecmp(text, "Healthy") != 0)
		r->fabric_ok = 0;
}

static void clique(struct reading *r, const char *text)
{
	if (!none(text) && !strchr(r->g->clique, '.'))
		(void)snprintf(r->g->clique, LF_HW_TEXT, ".%.20s", text);
}

/* Comes after the clique's number, which then stands alone. */
static void cluster(struct reading *r, const char *text)
{
	char number[LF_HW_TEXT];

	if (none(text) || r->g->clique[0] != '.')
		return;
	memcpy(number, r->g->clique, sizeof(number));
	/* All zero: one machine, not part of a larger domain. */
	if (strspn(text, "0-") == strlen(text))
		r->g->clique[0] = '\0';
	else
		(void)snprintf(r->g->clique, LF_HW_TEXT, "%.60s%.30s", text,
			       number);
}

static const struct {
	const char *path;
	void (*set)(struct reading *r, const char *text);
} leaves[] = {
	{ "/product_name", name },
	{ "/uuid", uuid },
	{ "/minor_number", minor_number },
	{ "/pci/pci_device_id", device_id },
	{ "/pci/pci_gpu_link_info/pcie_gen/current_link_gen", gen },
	{ "/pci/pci_gpu_link_info/pcie_gen/max_link_gen", max_gen },
	{ "/pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", device_gen },
	{ "/pci/pci_gpu_link_info/pcie_gen/max_host_link_gen", host_gen },
	{ "/pci/pci_gpu_link_info/link_widths/current_link_width", width },
	{ "/pci/pci_gpu_link_info/link_widths/max_link_width", max_width },
	{ "/performance_state", pstate },
	{ "/mig_mode/current_mig", mig },
	{ "/ecc_errors/volatile/sram_uncorrectable", ecc },
	{ "/ecc_errors/volatile/sram_uncorrectable_parity", ecc },
	{ "/ecc_errors/volatile/sram_uncorrectable_secded", ecc },
	{ "/ecc_errors/volatile/dram_uncorrectable", ecc },
	{ "/ecc_errors/volatile/double_bit/total", ecc }, /* before Turing */
	{ "/remapped_rows/remapped_row_pending", pending },
	{ "/remapped_rows/remapped_row_failure", failed },
	{ "/fabric/state", fabric_state },
	{ "/fabric/status", fabric_status },
	{ "/fabric/health/summary", fabric_health },
	{ "/fabric/cliqueId", clique },
	{ "/fabric/clusterUuid", cluster },
};

static int open_gpu(struct lf_xml *x, struct reading *r, const char **attr)
{
	const char *bus = lf_xml_attr(attr, "id");
	char id[LF_HW_TEXT];

	lf_hw_bus(bus, id);
	if (!*id)
		return lf_xml_fail(x, -EINVAL,
				   "<gpu> without a PCI address as its id");
	/* Numbers are known only if none was left out. */
	r->g = lf_hw_gpu(r->hw, r->attached == r->gpus ? r->at : -1, bus, NULL);
	r->at++;
	if (!r->g)
		return lf_xml_fail(x, -E2BIG, "more than %d GPUs", LF_HW_GPUS);
	r->g->vendor = LF_VENDOR_NVIDIA;
	r->any = true;
	r->ecc = r->fabric_ok = -1;
	memcpy(r->subject, id, sizeof(id));
	return 0;
}

static int on_open(struct lf_xml *x, void *arg, const char *tag,
		   const char **attr)
{
	struct reading *r = arg;
	size_t n = strlen(r->path);

	r->depth++;
	if (r->depth == 1 && strcmp(tag, "nvidia_smi_log") != 0)
		return lf_xml_fail(x, -EINVAL, "<%.40s>, not <nvidia_smi_log>",
				   tag);
	if (r->depth == 2 && strcmp(tag, "gpu") == 0)
		return open_gpu(x, r, attr);
	if (r->g && n + strlen(tag) + 2 < sizeof(r->path))
		(void)snprintf(r->path + n, sizeof(r->path) - n, "/%s", tag);
	return 0;
}

static void of_node(struct reading *r, const char *tag, const char *text)
{
	struct lf_hw_node *node = &r->hw->node;

	if (none(text))
		return;
	if (strcmp(tag, "driver_version") == 0)
		lf_hw_set_text(r->hw, "node", "driver", node->driver, text);
	else if (strcmp(tag, "cuda_version") == 0)
		lf_hw_set_text(r->hw, "node", "CUDA", node->cuda, text);
	else if (strcmp(tag, "attached_gpus") == 0)
		r->attached = lf_xml_int(text, 1024);
}

static void close_gpu(struct reading *r)
{
	lf_hw_set_ecc(r->hw, r->subject, r->g, r->ecc);
	lf_hw_set_int(r->hw, r->subject, "status of the NVLink fabric",
		      &r->g->fabric_ok, r->fabric_ok);
	if (r->g->clique[0] == '.')
		r->g->clique[0] = '\0';
	r->g = NULL;
	r->path[0] = '\0';
}

static void close_leaf(struct reading *r, const char *tag, const char *text)
{
	char *last = strrchr(r->path, '/');

	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++)
		if (strcmp(r->path, leaves[i].path) == 0)
			leaves[i].set(r, text);
	if (last && strcmp(last + 1, tag) == 0)
		*last = '\0';
}

static int on_close(struct lf_xml *x, void *arg, const char *tag,
		    const char *text)
{
	struct reading *r = arg;

	if (r->g && r->depth == 2)
		close_gpu(r);
	else if (r->g)
		close_leaf(r, tag, text);
	else if (r->depth == 2)
		of_node(r, tag, text);
	r->depth--;
	return 0;
}

static int count_gpus(const char *text, size_t n)
{
	const char *end = text + n, *s = text;
	int count = 0;

	while ((s = memmem(s, (size_t)(end - s), "<gpu ", 5)) != NULL) {
		count++;
		s++;
	}
	return count;
}

static bool any(void *arg)
{
	return ((struct reading *)arg)->any;
}

static int read_smi(struct lf_hw *hw, const char *text, size_t n,
		    struct lf_err *e)
{
	static const struct lf_xml_events events = { on_open, on_close, any };
	struct reading r = {
		.hw = hw, .attached = -1, .gpus = count_gpus(text, n), .ecc = -1
	};
	int rc = lf_xml_read_part(hw, text, n, &events, &r, e);
	char why[64];

	if (rc < 0)
		return rc;
	if (r.g) { /* cut within it: more errors may have followed */
		r.ecc = r.ecc > 0 ? r.ecc : -1;
		close_gpu(&r);
	}
	lf_hw_set_int(hw, "node", "GPUs attached", &hw->node.gpus_attached,
		      r.attached);
	if (r.attached <= r.at)
		return 0;
	(void)snprintf(why, sizeof(why), "%d GPUs attached, %d shown",
		       r.attached, r.at);
	lf_hw_mark_partial(hw, why);
	return 0;
}

static int claims(const char *text, size_t n)
{
	return lf_xml_root(text, n, "nvidia_smi_log") ? 100 : 0;
}

const struct lf_hw_reader lf_hw_read_smi_xml = { "nvidia-smi -q -x", claims,
						 read_smi };
