/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

#include "hw/parts.h"

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
		lf_worsen(j, LF_RESULT_UNKNOWN);
	else
		lf_worsen(j, LF_RESULT_PASS);
	if (gen >= 0 && gen < want_gen) {
		f = lf_finding_gpu(j, "LF-PCI-01", LF_RESULT_FAIL, i,
				   "PCIe generation");
		SAY(f->expected, "%d", want_gen);
		SAY(f->found, "%d", gen);
		f->remedy = "a slower slot, riser or BIOS setting, or an older "
			    "part";
	}
	if (width >= 0 && width < want_width) {
		f = lf_finding_gpu(j, "LF-PCI-02", LF_RESULT_FAIL, i,
				   "PCIe width");
		SAY(f->expected, "x%d", want_width);
		SAY(f->found, "x%d", width);
		f->remedy = "reseat the card; look at the slot's wiring";
	}
	if (g->pcie.path_gen >= 0 && g->pcie.path_gen < want_gen &&
	    gen >= want_gen) {
		f = lf_finding_gpu(j, "LF-PCI-03", LF_RESULT_WARN, i,
				   "a port above it says generation");
		SAY(f->expected, "%d", want_gen);
		SAY(f->found, "%d", g->pcie.path_gen);
		f->remedy = "often an idle or bogus reading of a switch port: "
			    "read it again under load";
	}
}

void lf_judge_pcie(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++)
		judge_slot(j, i);
}
