/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

#include <fnmatch.h>
#include <string.h>

#include "hw/parts.h"

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
	struct lf_hw_finding *f;

	if (n->state == LF_PORT_UNKNOWN || n->state == LF_PORT_ACTIVE)
		return;
	f = lf_finding(j, "LF-NIC-01", LF_RESULT_FAIL, "%s: port state",
		       n->name);
	SAY(f->expected, "active");
	SAY(f->found, "%s%s%s", lf_hw_port_names[n->state], *n->phys ? ", " : "", n->phys);
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
	f = lf_finding(j, "LF-NIC-02", LF_RESULT_FAIL, "%s: rate", n->name);
	SAY(f->expected, "%d Gb/s", full / 1000);
	SAY(f->found, "%d Gb/s", n->rate_mbps / 1000);
	f->remedy = "cable or switch port below the card's rate";
}

void lf_judge_rdma(struct judging *j)
{
	int active = 0;
	struct lf_hw_finding *f;

	if (j->hw->gpus > 0 && !j->hw->nics_shown)
		lf_worsen(j, LF_RESULT_UNKNOWN);
	for (int i = 0; i < j->hw->nics; i++) {
		const struct lf_hw_nic *n = &j->hw->nic[i];

		if (!judged_nic(j->x, n))
			continue;
		active += n->state == LF_PORT_ACTIVE;
		lf_worsen(j, n->state == LF_PORT_ACTIVE || n->rate_mbps > 0
				     ? LF_RESULT_PASS
				     : LF_RESULT_UNKNOWN);
		judge_port_state(j, n);
		judge_port_rate(j, n);
	}
	if (j->x->nics == 0 || active >= j->x->nics)
		return;
	if (!j->hw->nics_shown || j->hw->partial) {
		lf_worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	f = lf_finding(j, "LF-NIC-03", LF_RESULT_FAIL, "active RDMA ports");
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

void lf_judge_affinity(struct judging *j)
{
	const struct lf_hw *hw = j->hw;

	if (hw->gpus == 0 || j->x->affinity_any)
		return;
	if (judged_nics(hw, j->x) == 0) {
		lf_worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	for (int i = 0; i < hw->gpus; i++) {
		int near = near_nic(hw, j->x, i);
		struct lf_hw_finding *f;

		if (near != 0) {
			lf_worsen(j, near > 0 ? LF_RESULT_PASS
					      : LF_RESULT_UNKNOWN);
			continue;
		}
		f = lf_finding_gpu(j, "LF-AFF-01", LF_RESULT_FAIL, i,
				   "nearest NIC");
		SAY(f->expected, "on its own NUMA node");
		SAY(f->found, "on another");
		f->remedy = "its traffic crosses the sockets' link";
	}
}

void lf_judge_gdr(struct judging *j)
{
	const struct lf_hw_node *n = &j->hw->node;
	struct lf_hw_finding *f;

	if (j->hw->gpus == 0 || judged_nics(j->hw, j->x) == 0)
		return;
	if (n->peermem == 1 || n->dmabuf == 1) {
		lf_worsen(j, LF_RESULT_PASS);
		return;
	}
	if (n->peermem < 0 || n->dmabuf < 0) {
		lf_worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	f = lf_finding(j, "LF-GDR-01", LF_RESULT_WARN, "GPUDirect RDMA");
	SAY(f->expected, "nvidia_peermem, or dma-buf support");
	SAY(f->found, "neither");
	f->remedy = "modprobe nvidia_peermem";
}
