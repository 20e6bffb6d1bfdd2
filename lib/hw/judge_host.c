/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

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
			lf_worsen(j, LF_RESULT_PASS);
		if (!checks[c].bad)
			continue;
		f = lf_finding_gpu(j, checks[c].code, checks[c].result, i,
				   checks[c].what);
		SAY(f->expected, "none");
		SAY(f->found, "some");
		f->remedy = checks[c].remedy;
	}
}

void lf_judge_health(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++)
		judge_one_health(j, i);
}

void lf_judge_host(struct judging *j)
{
	const struct lf_hw_node *n = &j->hw->node;
	struct lf_hw_finding *f;

	if (n->memlock_kib >= 0 && n->memlock_kib < 1024 * 1024) {
		f = lf_finding(j, "LF-MEM-02", LF_RESULT_WARN, "locked memory");
		SAY(f->expected, "unlimited");
		SAY(f->found, "%lld KiB", (long long)n->memlock_kib);
		f->remedy = "LimitMEMLOCK=infinity in slurmd's unit";
	}
	if (n->iommu == 1 && n->acs == 1) {
		f = lf_finding(j, "LF-ACS-01", LF_RESULT_WARN,
			       "ACS with IOMMU");
		SAY(f->expected, "peer traffic within PCIe switches");
		SAY(f->found, "redirected through the root");
		f->remedy = "turn ACS off on the switches, or the IOMMU to "
			    "pass-through";
	}
	if (n->memlock_kib != -1 || n->iommu >= 0)
		lf_worsen(j, LF_RESULT_PASS);
}
