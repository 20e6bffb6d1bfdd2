/* SPDX-License-Identifier: Apache-2.0 */
/* NVLinks are brackets above the row, each on a lane of its own, so that any of
 * them can be followed.  Where more than four GPUs are all joined, one bar
 * stands for what is between them: 28 brackets say less than "all to all". */
#include "config.h"

#include "svg_layout.h"

#include <stdlib.h>

#include "hw/graph.h"

static int gpu_slot(const struct lf_hw *hw, int i)
{
	int numa = hw->gpu[i].numa;

	return numa >= 0 && numa < LF_HW_NUMA ? numa : LF_HW_NUMA;
}

static bool is_near(enum lf_hw_path p)
{
	return p >= LF_PATH_PIX && p <= LF_PATH_NODE;
}

int layout_nic_slot(const struct lf_hw *hw, int k)
{
	int numa = hw->nic[k].numa;

	if (numa >= 0 && numa < LF_HW_NUMA)
		return numa;
	for (int i = 0; i < hw->gpus; i++)
		if (is_near(hw->nic_path[i][k]))
			return gpu_slot(hw, i);
	return LF_HW_NUMA;
}

int layout_gpus_in(const struct lf_hw *hw, int slot)
{
	int n = 0;

	for (int i = 0; i < hw->gpus; i++)
		n += gpu_slot(hw, i) == slot;
	return n;
}

static int nics_in(const struct lf_hw *hw, int slot)
{
	int n = 0;

	for (int k = 0; k < hw->nics; k++)
		n += !hw->nic[k].is_virtual && layout_nic_slot(hw, k) == slot;
	return n;
}

/* The path by which the NIC is nearest to any GPU of its box. */
enum lf_hw_path layout_nearest(const struct lf_hw *hw, int k)
{
	enum lf_hw_path best = LF_PATH_UNKNOWN;

	for (int i = 0; i < hw->gpus; i++) {
		enum lf_hw_path p = hw->nic_path[i][k];

		if (is_near(p) && gpu_slot(hw, i) == layout_nic_slot(hw, k) &&
		    (best == LF_PATH_UNKNOWN || p < best))
			best = p;
	}
	return best;
}

/* Puts NIC k below the least laden GPU of those that are nearest to it. */
static void place_nic(struct layout *l, int k, int laden[LF_HW_GPUS])
{
	enum lf_hw_path best = layout_nearest(l->hw, k);
	int slot = layout_nic_slot(l->hw, k), at = -1;

	for (int i = 0; i < l->hw->gpus; i++)
		if (gpu_slot(l->hw, i) == slot &&
		    (best == LF_PATH_UNKNOWN ||
		     l->hw->nic_path[i][k] == best) &&
		    (at < 0 || laden[i] < laden[at]))
			at = i;
	if (at < 0)
		return;
	l->nic_x[k] = l->gpu_x[at];
	l->nic_row[k] = laden[at]++;
}

/* A box without GPUs: NICs side by side, `wide` in a row. */
static void place_alone(struct layout *l, int slot, int wide)
{
	int n = 0;

	for (int k = 0; k < l->hw->nics; k++) {
		if (l->hw->nic[k].is_virtual ||
		    layout_nic_slot(l->hw, k) != slot)
			continue;
		l->nic_x[k] = l->slot_x[slot] + GAP + n % wide * (BOX_W + GAP);
		l->nic_row[k] = n++ / wide;
	}
}

static void place_with_gpus(struct layout *l, int slot)
{
	int laden[LF_HW_GPUS] = { 0 }, n = 0;

	for (int i = 0; i < l->hw->gpus; i++)
		if (gpu_slot(l->hw, i) == slot)
			l->gpu_x[i] =
				l->slot_x[slot] + GAP + n++ * (BOX_W + GAP);
	for (int far = 0; far <= 1; far++) /* those behind a switch first */
		for (int k = 0; k < l->hw->nics; k++) {
			enum lf_hw_path p = layout_nearest(l->hw, k);
			bool close = p == LF_PATH_PIX || p == LF_PATH_PXB;

			if (!l->hw->nic[k].is_virtual && close != far &&
			    layout_nic_slot(l->hw, k) == slot)
				place_nic(l, k, laden);
		}
}

static void place_slot(struct layout *l, int slot)
{
	int gpus = layout_gpus_in(l->hw, slot), nics = nics_in(l->hw, slot);
	int most = l->hw->gpus ? 2 : 6, wide = gpus;

	if (l->slot_w[slot] || gpus + nics == 0)
		return;
	if (gpus == 0)
		wide = nics < most ? nics : most;
	l->slot_x[slot] = l->width;
	l->slot_w[slot] = wide * (BOX_W + GAP) + GAP;
	l->width += l->slot_w[slot] + GAP;
	if (gpus == 0)
		place_alone(l, slot, wide);
	else
		place_with_gpus(l, slot);
}

/* GPUs left to right by number, so the boxes come in the order of their first
 * GPU; those with NICs only come last. */
static void place(struct layout *l)
{
	l->width = MARGIN;
	for (int i = 0; i < l->hw->gpus; i++)
		place_slot(l, gpu_slot(l->hw, i));
	for (int slot = 0; slot < SLOTS; slot++)
		place_slot(l, slot);
	for (int k = 0; k < l->hw->nics; k++)
		if (!l->hw->nic[k].is_virtual && l->nic_row[k] >= l->rows)
			l->rows = l->nic_row[k] + 1;
	l->width += MARGIN - GAP;
}

static int by_span(const void *x, const void *y)
{
	const struct wire *a = x, *b = y;

	return (a->xb - a->xa) - (b->xb - b->xa);
}

static void find_wires(struct layout *l)
{
	for (int i = 0; i < l->hw->gpus; i++)
		for (int k = 0; k < l->hw->gpus; k++) {
			int links = l->hw->nvlink[i][k];

			if (i == k || links <= 0 || l->wires == WIRES ||
			    l->gpu_x[i] >= l->gpu_x[k])
				continue;
			l->wire[l->wires++] = (struct wire){
				.a = i,
				.b = k,
				.links = links,
				.xa = l->gpu_x[i],
				.xb = l->gpu_x[k],
			};
		}
	qsort(l->wire, (size_t)l->wires, sizeof(*l->wire), by_span);
}

/* Where a GPU's wires leave it: those to the left on the left, the shortest
 * outermost on either side, so that no two wires of one GPU cross. */
static void spread(struct layout *l, int gpu)
{
	int left = 0, degree = 0, n = 0;

	for (int w = 0; w < l->wires; w++) {
		left += l->wire[w].b == gpu;
		degree += l->wire[w].a == gpu || l->wire[w].b == gpu;
	}
	for (int w = 0; w < l->wires; w++)
		if (l->wire[w].b == gpu)
			l->wire[w].xb += BOX_W * ++n / (degree + 1);
	n = degree + 1;
	for (int w = 0; w < l->wires; w++)
		if (l->wire[w].a == gpu)
			l->wire[w].xa += BOX_W * --n / (degree + 1);
}

static bool lane_free(const struct layout *l, int before, int lane)
{
	const struct wire *w = &l->wire[before];

	for (int i = 0; i < before; i++)
		if (l->wire[i].lane == lane && l->wire[i].xa < w->xb + 8 &&
		    w->xa < l->wire[i].xb + 8)
			return false;
	return true;
}

static void route(struct layout *l)
{
	struct lf_graph g;

	lf_graph_of(l->hw, &g);
	l->bar = l->hw->gpus > 4 && lf_graph_mesh(&g);
	if (l->bar)
		return;
	find_wires(l);
	for (int i = 0; i < l->hw->gpus; i++)
		spread(l, i);
	for (int w = 0; w < l->wires; w++) {
		while (!lane_free(l, w, l->wire[w].lane))
			l->wire[w].lane++;
		if (l->wire[w].lane >= l->lanes)
			l->lanes = l->wire[w].lane + 1;
	}
}

static void measure(struct layout *l)
{
	int links = l->bar ? 70 : l->lanes ? l->lanes * LANE + 16 : 30;
	int nic_y;

	l->gpu_y = TOP + links + GAP;
	nic_y = l->gpu_y + (l->hw->gpus ? BOX_H + GAP : 0);
	l->bottom = nic_y + l->rows * (NIC_H + GAP) + 22;
	l->height = l->bottom + 150;
	l->height += 18 * (l->r->findings < SHOWN ? l->r->findings : SHOWN);
	if (l->width < WIDTH_MIN)
		l->width = WIDTH_MIN;
}

void layout_make(struct layout *l, const struct lf_hw *hw,
		 const struct lf_report *r)
{
	*l = (struct layout){ .hw = hw, .r = r };
	place(l);
	route(l);
	measure(l);
}
