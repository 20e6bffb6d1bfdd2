/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

/* Pairs of one kind, told together: a machine of 16 GPUs has 120. */
struct pairs {
	int n, a, b; /* how many, and the first */
	uint64_t gpus;
};

static void add(struct pairs *p, int a, int b)
{
	if (p->n++ == 0) {
		p->a = a;
		p->b = b;
	}
	p->gpus |= UINT64_C(1) << a | UINT64_C(1) << b;
}

static void tell(struct judging *j, const struct pairs *p, const char *code,
		 enum lf_result result, const char *remedy)
{
	struct lf_hw_finding *f;
	char more[32] = "";

	if (p->n == 0)
		return;
	if (p->n > 1)
		SAY(more, " and %d more", p->n - 1);
	f = lf_finding(j, code, result, "GPU%d-GPU%d%s: peer access%s", p->a,
		       p->b, more,
		       result == LF_RESULT_FAIL ? " over NVLink" : "");
	f->gpus = p->gpus;
	SAY(f->expected, "possible");
	SAY(f->found, "refused by the driver");
	f->remedy = remedy;
}

void lf_judge_peer(struct judging *j)
{
	const struct lf_hw *hw = j->hw;
	struct pairs linked = { 0 }, pcie = { 0 };

	if (lf_any_mig(hw))
		return;
	if (hw->gpus == 1 && hw->node.gpus_attached > 1)
		lf_worsen(j, LF_RESULT_UNKNOWN); /* peers are out of sight */
	for (int a = 0; a < hw->gpus; a++)
		for (int b = a + 1; b < hw->gpus; b++) {
			lf_worsen(j, hw->p2p[a][b] < 0 ? LF_RESULT_UNKNOWN
						       : LF_RESULT_PASS);
			if (hw->p2p[a][b] == 0)
				add(hw->nvlink[a][b] > 0 ? &linked : &pcie, a,
				    b);
		}
	tell(j, &linked, "LF-PEER-01", LF_RESULT_FAIL,
	     "look at nvidia-fabricmanager, the driver's registry keys, and "
	     "whether both GPUs belong to one virtual machine");
	/* Many a chipset and GeForce card never could. */
	tell(j, &pcie, "LF-PEER-02", LF_RESULT_WARN,
	     "if the parts and the chipset can do it: ACS off on the "
	     "switches, the IOMMU off or in pass-through; else traffic goes "
	     "through host memory");
}
