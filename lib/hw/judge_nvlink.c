/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

#include "hw/graph.h"
#include "hw/parts.h"

/* NVLinks that a GPU should have up, or -1; *bridged: none is healthy, too. */
static int wanted(const struct judging *j, const struct lf_hw_gpu *g,
		  int *bridged)
{
	int links = lf_part_nvlinks(g->name, bridged);

	if (j->x->nvlinks != 0) /* what is stated holds, also of none */
		*bridged = j->x->nvlinks < 0;
	return j->x->nvlinks > 0 ? j->x->nvlinks : links;
}

static bool without(const struct lf_hw_gpu *g)
{
	int bridged;

	return lf_part_nvlinks(g->name, &bridged) == 0;
}

/* A part without NVLink has none up, whether or not somebody looked. */
static int links_up(const struct lf_hw_gpu *g)
{
	return g->links_active < 0 && without(g) ? 0 : g->links_active;
}

static void judge_link_counts(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++) {
		const struct lf_hw_gpu *g = &j->hw->gpu[i];
		struct lf_hw_finding *f;
		int bridged, want = wanted(j, g, &bridged);

		if (want < 0 || links_up(g) < 0 || links_up(g) >= want ||
		    (bridged && !links_up(g)))
			continue;
		f = lf_finding_gpu(j, "LF-NVL-03", LF_RESULT_FAIL, i,
				   "NVLinks up");
		SAY(f->expected, "%d", want);
		SAY(f->found, "%d%s", links_up(g),
		    without(g)	       ? ", a part without NVLink"
		    : j->hw->gpus == 1 ? ", on a single GPU"
				       : "");
		f->remedy = without(g) ? "another machine, or nvlinks = -1 in "
					 "its file"
				       : "reseat the module or bridge; look at "
					 "nvidia-smi nvlink -s and -e";
	}
}

/* Parts that have no NVLink at all. */
static bool none_by_part(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		if (!without(&hw->gpu[i]))
			return false;
	return hw->gpus > 0;
}

/* Every GPU shows as many links as it should have. */
static bool all_links_up(const struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++) {
		int bridged, want = wanted(j, &j->hw->gpu[i], &bridged);

		if (want <= 0 || links_up(&j->hw->gpu[i]) < want)
			return false;
	}
	return j->hw->gpus > 0;
}

static void judge_pairs(struct judging *j)
{
	for (int a = 0; a < j->hw->gpus; a++)
		for (int b = a + 1; b < j->hw->gpus; b++) {
			struct lf_hw_finding *f;

			if (j->hw->nvlink[a][b] < 0 ||
			    j->hw->nvlink[a][b] >= j->x->pair_nvlinks)
				continue;
			f = lf_finding(j, "LF-NVL-02", LF_RESULT_FAIL,
				       "GPU%d-GPU%d: NVLinks", a, b);
			f->gpus = UINT64_C(1) << a | UINT64_C(1) << b;
			SAY(f->expected, "%d", j->x->pair_nvlinks);
			SAY(f->found, "%d", j->hw->nvlink[a][b]);
		}
}

static void no_shape(struct judging *j, const char *found)
{
	struct lf_hw_finding *f;

	if (j->hw->partial || j->hw->gpus < 2) {
		lf_worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	f = lf_finding(j, "LF-NVL-01", LF_RESULT_FAIL, "NVLink graph");
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
		lf_worsen(j,
			  j->hw->partial ? LF_RESULT_UNKNOWN : LF_RESULT_PASS);
		break;
	case LF_SHAPE_SINGLE:
		break;
	case LF_SHAPE_UNKNOWN:
		lf_worsen(j, all_links_up(j) && !j->hw->partial
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

/* A single GPU needs no link, unless its machine's file asks for some. */
static bool needs_none(const struct judging *j)
{
	const struct lf_hw *hw = j->hw;

	return hw->gpus == 1 && hw->node.gpus_attached <= 1 && !hw->partial &&
	       links_up(&hw->gpu[0]) <= 0 && j->x->nvlinks == 0;
}

void lf_judge_nvlink(struct judging *j)
{
	const struct lf_hw *hw = j->hw;

	if (hw->gpus == 0 || lf_any_mig(hw) || needs_none(j))
		return;
	judge_link_counts(j);
	if (j->x->nvlinks < 0) /* none expected; bridges must be whole */
		return;
	if (none_by_part(hw)) {
		if (j->x->nvlinks == 0)
			no_shape(j, "parts without NVLink");
		return;
	}
	if (!hw->nvlink_shown) {
		lf_worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	if (j->x->pair_nvlinks > 0)
		judge_pairs(j);
	judge_shape(j);
	if (hw->gpus == 1)
		lf_worsen(j,
			  all_links_up(j) ? LF_RESULT_PASS : LF_RESULT_UNKNOWN);
}

void lf_judge_fabric(struct judging *j)
{
	for (int i = 0; i < j->hw->gpus; i++) {
		const struct lf_hw_gpu *g = &j->hw->gpu[i];
		struct lf_hw_finding *f;

		if (g->fabric == LF_FABRIC_UNKNOWN ||
		    g->fabric == LF_FABRIC_NONE)
			continue;
		lf_worsen(j, LF_RESULT_PASS);
		if (g->fabric == LF_FABRIC_COMPLETED && g->fabric_ok != 0)
			continue;
		f = lf_finding_gpu(j, "LF-FAB-01", LF_RESULT_FAIL, i,
				   "NVLink fabric");
		SAY(f->expected, "completed, success");
		SAY(f->found, "%s",
		    g->fabric == LF_FABRIC_COMPLETED ? "completed, but failed"
						     : "not completed");
		f->remedy = "look at nvidia-fabricmanager and its log";
	}
}
