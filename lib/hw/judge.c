/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judge.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hw/graph.h"
#include "hw/parts.h"

const char *const lf_clause_names[LF_CLAUSES] = {
	"gpus",	  "nvlink", "pcie", "rdma", "affinity",
	"fabric", "health", "gdr",  "host", "model"
};
const char *const lf_result_names[] = { "n/a", "pass", "unknown", "warn",
					"fail" };

struct judging {
	const struct lf_hw *hw;
	const struct lf_expect *x;
	struct lf_report *r;
	enum lf_clause_id clause;
};

static void worsen(struct judging *j, enum lf_result result)
{
	if (result > j->r->clause[j->clause])
		j->r->clause[j->clause] = result;
}

/* Adds a finding and returns it for its expected and found texts. */
__attribute__((format(printf, 4, 5))) static struct lf_hw_finding *find(
	struct judging *j, const char *code, enum lf_result result,
	const char *subject, ...)
{
	static struct lf_hw_finding nowhere;
	struct lf_report *r = j->r;
	struct lf_hw_finding *f = &nowhere;
	va_list ap;

	worsen(j, result);
	if (r->findings == LF_REPORT_FINDINGS)
		r->dropped++;
	else
		f = &r->finding[r->findings++];
	*f = (struct lf_hw_finding){ .code = code,
				     .clause = j->clause,
				     .result = result };
	va_start(ap, subject);
	(void)vsnprintf(f->subject, sizeof(f->subject), subject, ap);
	va_end(ap);
	return f;
}

#define SAY(field, ...) (void)snprintf((field), sizeof(field), __VA_ARGS__)

static const char *gpu_label(const struct lf_hw *hw, int i, char *buf, size_t n)
{
	const struct lf_hw_gpu *g = &hw->gpu[i];

	if (*g->bus)
		(void)snprintf(buf, n, "GPU%d (%s)",
			       g->index >= 0 ? g->index : i, g->bus);
	else
		(void)snprintf(buf, n, "GPU%d", g->index >= 0 ? g->index : i);
	return buf;
}

/* A finding about one GPU: "GPU3 (0000:17:00.0): WHAT". */
static struct lf_hw_finding *find_gpu(struct judging *j, const char *code,
				      enum lf_result result, int i,
				      const char *what)
{
	char label[LF_HW_TEXT];
	struct lf_hw_finding *f =
		find(j, code, result, "%s: %s",
		     gpu_label(j->hw, i, label, sizeof(label)), what);

	f->gpus = UINT64_C(1) << i;
	return f;
}

static bool other_vendor(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		if (hw->gpu[i].vendor == LF_VENDOR_OTHER)
			return true;
	return false;
}

static bool any_mig(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		if (hw->gpu[i].mig == 1)
			return true;
	return false;
}

static void judge_gpus(struct judging *j)
{
	struct lf_hw_finding *f;

	if (j->x->gpus == 0)
		return;
	if (j->hw->gpus < j->x->gpus && j->hw->partial) {
		worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	worsen(j, LF_RESULT_PASS);
	if (j->hw->gpus >= j->x->gpus)
		return;
	f = find(j, "LF-GPU-01", LF_RESULT_FAIL, "GPUs of the node");
	SAY(f->expected, "%d", j->x->gpus);
	SAY(f->found, "%d", j->hw->gpus);
	f->remedy = "a GPU has fallen off the bus: reset or replace it";
}

/* A part with fewer links up than it has when whole. */
static void judge_link_counts(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++) {
		const struct lf_hw_gpu *g = &j->hw->gpu[i];
		struct lf_hw_finding *f;
		int bridged, want = lf_part_nvlinks(g->name, &bridged);

		if (j->x->nvlinks > 0)
			want = j->x->nvlinks;
		if (want < 0 || g->links_active < 0 ||
		    g->links_active >= want || (bridged && !g->links_active))
			continue;
		f = find_gpu(j, "LF-NVL-03", LF_RESULT_FAIL, i, "NVLinks up");
		SAY(f->expected, "%d", want);
		SAY(f->found, "%d", g->links_active);
		f->remedy = "reseat the module or bridge; look at "
			    "nvidia-smi nvlink -s and -e";
	}
}

/* Parts that have no NVLink at all. */
static bool none_by_part(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++) {
		int bridged;

		if (lf_part_nvlinks(hw->gpu[i].name, &bridged) != 0)
			return false;
	}
	return hw->gpus > 1;
}

/* Every GPU shows as many links as its part has when whole. */
static bool all_links_up(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++) {
		int bridged;
		int want = lf_part_nvlinks(hw->gpu[i].name, &bridged);

		if (want <= 0 || hw->gpu[i].links_active < want)
			return false;
	}
	return hw->gpus > 0;
}

static void judge_pairs(struct judging *j)
{
	for (int a = 0; a < j->hw->gpus; a++)
		for (int b = a + 1; b < j->hw->gpus; b++) {
			struct lf_hw_finding *f;

			if (j->hw->nvlink[a][b] < 0 ||
			    j->hw->nvlink[a][b] >= j->x->pair_nvlinks)
				continue;
			f = find(j, "LF-NVL-02", LF_RESULT_FAIL,
				 "GPU%d-GPU%d: NVLinks", a, b);
			f->gpus = UINT64_C(1) << a | UINT64_C(1) << b;
			SAY(f->expected, "%d", j->x->pair_nvlinks);
			SAY(f->found, "%d", j->hw->nvlink[a][b]);
		}
}

static void no_shape(struct judging *j, const char *found)
{
	struct lf_hw_finding *f;

	if (j->hw->partial) {
		worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	f = find(j, "LF-NVL-01", LF_RESULT_FAIL, "NVLink graph");
	SAY(f->expected, "a full mesh or a 2D torus of %d GPUs", j->hw->gpus);
	SAY(f->found, "%s", found);
	f->remedy = "jobs over several GPUs will be bound by PCIe here";
}

static void judge_shape(struct judging *j)
{
	int a = 0, b = 0;

	switch (lf_graph_shape(j->hw, &a, &b)) {
	case LF_SHAPE_MESH:
	case LF_SHAPE_TORUS: /* of those GPUs that are in sight */
		worsen(j, j->hw->partial ? LF_RESULT_UNKNOWN : LF_RESULT_PASS);
		break;
	case LF_SHAPE_SINGLE:
		break;
	case LF_SHAPE_UNKNOWN:
		worsen(j, all_links_up(j->hw) && !j->hw->partial
				  ? LF_RESULT_PASS
				  : LF_RESULT_UNKNOWN);
		break;
	case LF_SHAPE_NONE:
		no_shape(j, "no NVLink");
		break;
	case LF_SHAPE_ISLANDS:
		no_shape(j, "NVLinks that are neither");
		break;
	}
}

static void judge_nvlink(struct judging *j)
{
	const struct lf_hw *hw = j->hw;
	bool single = hw->gpus == 1 && hw->node.gpus_attached <= 1;

	if (hw->gpus == 0 || any_mig(hw))
		return;
	if (j->x->nvlinks < 0) { /* none expected: bridges must be whole */
		judge_link_counts(j);
		return;
	}
	if (single && !hw->partial && hw->gpu[0].links_active <= 0)
		return; /* a single GPU needs no link */
	if (none_by_part(hw)) {
		no_shape(j, "parts without NVLink");
		return;
	}
	if (!hw->nvlink_shown) {
		worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	judge_link_counts(j);
	if (j->x->pair_nvlinks > 0)
		judge_pairs(j);
	judge_shape(j);
	if (hw->gpus == 1)
		worsen(j,
		       all_links_up(hw) ? LF_RESULT_PASS : LF_RESULT_UNKNOWN);
}

static int least(int a, int b)
{
	if (a < 0)
		return b;
	return b >= 0 && b < a ? b : a;
}

/* What the slot allows; an idle GPU's present generation says nothing. */
static int slot_gen(const struct lf_hw_gpu *g)
{
	int gen = least(least(g->pcie.max_gen, g->pcie.device_max_gen),
			least(g->pcie.host_max_gen, lf_part_gen(g->name)));

	if (gen < 0 && (g->pstate == 0 || g->pcie.gen >= 4))
		gen = g->pcie.gen;
	return gen;
}

static int slot_width(const struct lf_hw_gpu *g)
{
	/* Unlike the generation, width stays when idle in every recording. */
	return least(g->pcie.width, g->pcie.max_width);
}

static void judge_slot(struct judging *j, int i)
{
	const struct lf_hw_gpu *g = &j->hw->gpu[i];
	int gen = slot_gen(g), width = slot_width(g);
	int want_gen = j->x->pcie_gen ? j->x->pcie_gen : 4;
	int want_width = j->x->pcie_width ? j->x->pcie_width : 16;
	struct lf_hw_finding *f;

	if (gen < 0 || width < 0)
		worsen(j, LF_RESULT_UNKNOWN);
	else
		worsen(j, LF_RESULT_PASS);
	if (gen >= 0 && gen < want_gen) {
		f = find_gpu(j, "LF-PCI-01", LF_RESULT_FAIL, i,
			     "PCIe generation");
		SAY(f->expected, "%d", want_gen);
		SAY(f->found, "%d", gen);
		f->remedy = "a slower slot, riser or BIOS setting, or an older "
			    "part";
	}
	if (width >= 0 && width < want_width) {
		f = find_gpu(j, "LF-PCI-02", LF_RESULT_FAIL, i, "PCIe width");
		SAY(f->expected, "x%d", want_width);
		SAY(f->found, "x%d", width);
		f->remedy = "reseat the card; look at the slot's wiring";
	}
	if (g->pcie.path_gen >= 0 && g->pcie.path_gen < want_gen &&
	    gen >= want_gen) {
		f = find_gpu(j, "LF-PCI-03", LF_RESULT_WARN, i,
			     "a port above it says generation");
		SAY(f->expected, "%d", want_gen);
		SAY(f->found, "%d", g->pcie.path_gen);
		f->remedy = "often an idle or bogus reading of a switch port: "
			    "read it again under load";
	}
}

static void judge_pcie(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++)
		judge_slot(j, i);
}

/* Whether a name is on a list "mlx5_0,mlx5_bond_*". */
static bool listed(const char *list, const char *name)
{
	char copy[LF_HW_TEXT], *cursor = copy, *item;

	(void)snprintf(copy, sizeof(copy), "%s", list);
	while ((item = strsep(&cursor, ",")) != NULL)
		if (*item && fnmatch(item, name, 0) == 0)
			return true;
	return false;
}

static bool judged_nic(const struct lf_expect *x, const struct lf_hw_nic *n)
{
	/* Sockets' interfaces (eno1, 1 Gb/s) are no RDMA ports. */
	if (n->is_virtual || listed(x->exclude, n->name) ||
	    (n->layer == LF_LAYER_ETHERNET && n->port < 0 && !*n->type &&
	     !*n->guid && n->rate_mbps > 0 && n->rate_mbps < 10000))
		return false;
	return !*x->include || listed(x->include, n->name);
}

static void judge_port_state(struct judging *j, const struct lf_hw_nic *n)
{
	static const char *const names[] = { "?", "down", "init", "armed",
					     "active" };
	struct lf_hw_finding *f;

	if (n->state == LF_PORT_UNKNOWN || n->state == LF_PORT_ACTIVE)
		return;
	f = find(j, "LF-NIC-01", LF_RESULT_FAIL, "%s: port state", n->name);
	SAY(f->expected, "active");
	SAY(f->found, "%s%s%s", names[n->state], *n->phys ? ", " : "", n->phys);
	f->remedy = n->state == LF_PORT_INIT
			    ? "no subnet manager has configured it: look at "
			      "opensm or UFM"
			    : "cable, switch port, or a port that should be on "
			      "the exclude list";
}

static void judge_port_rate(struct judging *j, const struct lf_hw_nic *n)
{
	int full = lf_part_rate(n->type);
	struct lf_hw_finding *f;

	if (j->x->nic_rate_mbps > 0)
		full = j->x->nic_rate_mbps;
	/* Azure's front-end Ethernet shows 40 and is healthy. */
	if (n->layer == LF_LAYER_ETHERNET && j->x->nic_rate_mbps == 0 &&
	    n->rate_mbps == 40000)
		return;
	if (full < 0 || n->rate_mbps < 0 || n->rate_mbps >= full ||
	    n->state == LF_PORT_DOWN || n->state == LF_PORT_INIT)
		return;
	f = find(j, "LF-NIC-02", LF_RESULT_FAIL, "%s: rate", n->name);
	SAY(f->expected, "%d Gb/s", full / 1000);
	SAY(f->found, "%d Gb/s", n->rate_mbps / 1000);
	f->remedy = "cable or switch port below the card's rate";
}

static void judge_rdma(struct judging *j)
{
	int active = 0;
	struct lf_hw_finding *f;

	if (j->hw->gpus > 0 && !j->hw->nics_shown)
		worsen(j, LF_RESULT_UNKNOWN);
	for (int i = 0; i < j->hw->nics; i++) {
		const struct lf_hw_nic *n = &j->hw->nic[i];

		if (!judged_nic(j->x, n))
			continue;
		active += n->state == LF_PORT_ACTIVE;
		worsen(j, n->state == LF_PORT_ACTIVE || n->rate_mbps > 0
				  ? LF_RESULT_PASS
				  : LF_RESULT_UNKNOWN);
		judge_port_state(j, n);
		judge_port_rate(j, n);
	}
	if (j->x->nics == 0 || active >= j->x->nics)
		return;
	if (!j->hw->nics_shown || j->hw->partial) {
		worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	f = find(j, "LF-NIC-03", LF_RESULT_FAIL, "active RDMA ports");
	SAY(f->expected, "%d", j->x->nics);
	SAY(f->found, "%d", active);
}

/* 1: a NIC within the GPU's NUMA node; 0: none; -1: cannot tell. */
static int near_nic(const struct lf_hw *hw, const struct lf_expect *x, int gpu)
{
	bool unclear = false;

	for (int i = 0; i < hw->nics; i++) {
		enum lf_hw_path p = hw->nic_path[gpu][i];

		if (!judged_nic(x, &hw->nic[i]))
			continue;
		if ((p >= LF_PATH_PIX && p <= LF_PATH_NODE) ||
		    (p == LF_PATH_UNKNOWN && hw->gpu[gpu].numa >= 0 &&
		     hw->gpu[gpu].numa == hw->nic[i].numa))
			return 1;
		if (p == LF_PATH_UNKNOWN &&
		    (hw->gpu[gpu].numa < 0 || hw->nic[i].numa < 0))
			unclear = true;
	}
	return unclear ? -1 : 0;
}

static int judged_nics(const struct lf_hw *hw, const struct lf_expect *x)
{
	int n = 0;

	for (int i = 0; i < hw->nics; i++)
		n += judged_nic(x, &hw->nic[i]);
	return n;
}

static void judge_affinity(struct judging *j)
{
	const struct lf_hw *hw = j->hw;

	if (hw->gpus == 0 || j->x->affinity_any)
		return;
	if (judged_nics(hw, j->x) == 0) {
		worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	for (int i = 0; i < hw->gpus; i++) {
		int near = near_nic(hw, j->x, i);
		struct lf_hw_finding *f;

		if (near != 0) {
			worsen(j,
			       near > 0 ? LF_RESULT_PASS : LF_RESULT_UNKNOWN);
			continue;
		}
		f = find_gpu(j, "LF-AFF-01", LF_RESULT_FAIL, i, "nearest NIC");
		SAY(f->expected, "on its own NUMA node");
		SAY(f->found, "on another");
		f->remedy = "its traffic crosses the sockets' link";
	}
}

static void judge_fabric(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++) {
		const struct lf_hw_gpu *g = &j->hw->gpu[i];
		struct lf_hw_finding *f;

		if (g->fabric == LF_FABRIC_UNKNOWN ||
		    g->fabric == LF_FABRIC_NONE)
			continue;
		worsen(j, LF_RESULT_PASS);
		if (g->fabric == LF_FABRIC_COMPLETED && g->fabric_ok != 0)
			continue;
		f = find_gpu(j, "LF-FAB-01", LF_RESULT_FAIL, i,
			     "NVLink fabric");
		SAY(f->expected, "completed, success");
		SAY(f->found, "%s",
		    g->fabric == LF_FABRIC_COMPLETED ? "completed, but failed"
						     : "not completed");
		f->remedy = "look at nvidia-fabricmanager and its log";
	}
}

static void judge_one_health(struct judging *j, int i)
{
	const struct lf_hw_gpu *g = &j->hw->gpu[i];
	const struct {
		const char *code;
		enum lf_result result;
		const char *what;
		bool bad, known;
		const char *remedy;
	} checks[] = {
		{ "LF-ECC-01", LF_RESULT_WARN, "uncorrected ECC errors",
		  g->ecc_uncorrected > 0, g->ecc_uncorrected >= 0,
		  "reset the GPU when idle; replace it if they come back" },
		{ "LF-ECC-02", LF_RESULT_WARN, "row remap pending",
		  g->remap_pending == 1, g->remap_pending >= 0,
		  "reset the GPU when idle" },
		{ "LF-ECC-03", LF_RESULT_FAIL, "row remap failed",
		  g->remap_failed == 1, g->remap_failed >= 0,
		  "replace the GPU" },
		{ "LF-XID-01", LF_RESULT_FAIL, "hardware XID since boot",
		  g->xid > 0, g->xid >= 0, "see NVIDIA's XID catalogue" },
	};

	for (size_t c = 0; c < sizeof(checks) / sizeof(*checks); c++) {
		struct lf_hw_finding *f;

		if (checks[c].known)
			worsen(j, LF_RESULT_PASS);
		if (!checks[c].bad)
			continue;
		f = find_gpu(j, checks[c].code, checks[c].result, i,
			     checks[c].what);
		SAY(f->expected, "none");
		SAY(f->found, "some");
		f->remedy = checks[c].remedy;
	}
}

static void judge_health(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++)
		judge_one_health(j, i);
}

static void judge_gdr(struct judging *j)
{
	const struct lf_hw_node *n = &j->hw->node;
	struct lf_hw_finding *f;

	if (j->hw->gpus == 0 || judged_nics(j->hw, j->x) == 0)
		return;
	if (n->peermem == 1 || n->dmabuf == 1) {
		worsen(j, LF_RESULT_PASS);
		return;
	}
	if (n->peermem < 0 || n->dmabuf < 0) {
		worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	f = find(j, "LF-GDR-01", LF_RESULT_WARN, "GPUDirect RDMA");
	SAY(f->expected, "nvidia_peermem, or dma-buf support");
	SAY(f->found, "neither");
	f->remedy = "modprobe nvidia_peermem";
}

static void judge_host(struct judging *j)
{
	const struct lf_hw_node *n = &j->hw->node;
	struct lf_hw_finding *f;

	if (n->memlock_kib >= 0 && n->memlock_kib < 1024 * 1024) {
		f = find(j, "LF-MEM-02", LF_RESULT_WARN, "locked memory");
		SAY(f->expected, "unlimited");
		SAY(f->found, "%lld KiB", (long long)n->memlock_kib);
		f->remedy = "LimitMEMLOCK=infinity in slurmd's unit";
	}
	if (n->iommu == 1 && n->acs == 1) {
		f = find(j, "LF-ACS-01", LF_RESULT_WARN, "ACS with IOMMU");
		SAY(f->expected, "peer traffic within PCIe switches");
		SAY(f->found, "redirected through the root");
		f->remedy = "turn ACS off on the switches, or the IOMMU to "
			    "pass-through";
	}
	if (n->memlock_kib != -1 || n->iommu >= 0)
		worsen(j, LF_RESULT_PASS);
}

static void judge_model(struct judging *j)
{
	for (int i = 0; i < j->hw->conflicts; i++) {
		const struct lf_hw_conflict *c = &j->hw->conflict[i];
		struct lf_hw_finding *f = find(j, "LF-REC-01", LF_RESULT_WARN,
					       "%.40s: %.40s: recordings "
					       "contradict each other",
					       c->subject, c->what);

		SAY(f->expected, "%s", c->first);
		SAY(f->found, "%s", c->second);
		f->remedy = "are they of one machine, and of one time?";
	}
}

void lf_expect_default(struct lf_expect *e)
{
	*e = (struct lf_expect){ .pcie_gen = 4, .pcie_width = 16 };
}

void lf_judge(struct lf_hw *hw, const struct lf_expect *expect,
	      struct lf_report *report)
{
	static void (*const judges[LF_CLAUSES])(struct judging *) = {
		judge_gpus,	judge_nvlink, judge_pcie,   judge_rdma,
		judge_affinity, judge_fabric, judge_health, judge_gdr,
		judge_host,	judge_model
	};
	struct judging j = { hw, expect, report, LF_CLAUSE_GPUS };

	memset(report, 0, sizeof(*report));
	lf_graph_close(hw);
	for (int c = 0; c < LF_CLAUSES && !other_vendor(hw); c++) {
		j.clause = (enum lf_clause_id)c;
		judges[c](&j);
	}
	for (int c = 0; c < LF_CLAUSES; c++)
		if (report->clause[c] != LF_RESULT_UNKNOWN &&
		    report->clause[c] > report->verdict)
			report->verdict = report->clause[c];
}
