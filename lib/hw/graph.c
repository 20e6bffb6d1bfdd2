/* SPDX-License-Identifier: Apache-2.0 */
/* The search places GPUs on the a x b grid cell by cell, row by row.  A cell's
 * GPU must be joined to its left and upper neighbours, and in the last column
 * and row also to the first ones (the cycles close).  Cell 0 holds GPU 0: a
 * torus looks the same from everywhere.  Real machines have at most 16 GPUs and
 * either few edges (each step leaves few choices) or a mesh (found at once);
 * STEPS_MAX ends what a made-up graph could prolong. */
#include "config.h"

#include "hw/graph.h"

#include <string.h>

enum {
	STEPS_MAX = 2000000 /* 10 ms; the worst real graph needs 400 */
};

struct search {
	const struct lf_graph *g;
	int a, b; /* rows, columns */
	int cell[LF_HW_GPUS];
	uint64_t used;
	long steps;
};

void lf_graph_close(struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		for (int j = 0; j < i; j++) {
			int x = hw->gpu[i].switch_links;
			int y = hw->gpu[j].switch_links;

			if (x > 0 && y > 0 && hw->nvlink[i][j] <= 0)
				lf_hw_set_nvlink(hw, i, j, x < y ? x : y);
		}
}

void lf_graph_of(const struct lf_hw *hw, struct lf_graph *g)
{
	memset(g, 0, sizeof(*g));
	g->nodes = hw->gpus;
	for (int i = 0; i < hw->gpus; i++)
		for (int j = 0; j < hw->gpus; j++)
			if (i != j && hw->nvlink[i][j] > 0)
				g->edge[i] |= UINT64_C(1) << j;
}

static uint64_t bit(int i)
{
	return UINT64_C(1) << i;
}

static uint64_t all_of(int n)
{
	return n >= 64 ? ~UINT64_C(0) : bit(n) - 1;
}

bool lf_graph_mesh(const struct lf_graph *g)
{
	for (int i = 0; i < g->nodes; i++)
		if ((g->edge[i] | bit(i)) != all_of(g->nodes))
			return false;
	return g->nodes >= 2;
}

/* GPUs that may stand in cell `n`. */
static uint64_t choices(const struct search *s, int n)
{
	int row = n / s->b, column = n % s->b;
	uint64_t free = all_of(s->g->nodes) & ~s->used;

	if (column > 0)
		free &= s->g->edge[s->cell[n - 1]];
	if (row > 0)
		free &= s->g->edge[s->cell[n - s->b]];
	if (column == s->b - 1)
		free &= s->g->edge[s->cell[n - column]];
	if (row == s->a - 1)
		free &= s->g->edge[s->cell[column]];
	return free;
}

static bool place(struct search *s, int n)
{
	uint64_t open;

	if (n == s->g->nodes)
		return true;
	open = choices(s, n);
	while (open && s->steps++ < STEPS_MAX) {
		int gpu = __builtin_ctzll(open);

		open &= open - 1;
		s->cell[n] = gpu;
		s->used |= bit(gpu);
		if (place(s, n + 1))
			return true;
		s->used &= ~bit(gpu);
	}
	return false;
}

bool lf_graph_torus(const struct lf_graph *g, int *a, int *b)
{
	int rows = 2;

	while ((rows + 1) * (rows + 1) <= g->nodes)
		rows++;
	for (; rows >= 2; rows--) { /* the squarest first */
		struct search s = { .g = g, .a = rows, .b = g->nodes / rows };

		if (g->nodes % rows != 0 || g->nodes < 4)
			continue;
		s.cell[0] = 0;
		s.used = bit(0);
		if (place(&s, 1)) {
			*a = s.a;
			*b = s.b;
			return true;
		}
	}
	return false;
}

static bool any_unknown(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		for (int j = 0; j < i; j++)
			if (hw->nvlink[i][j] < 0)
				return true;
	return false;
}

enum lf_graph_shape lf_graph_shape(const struct lf_hw *hw, int *a, int *b)
{
	struct lf_graph g;
	bool linked = false;

	lf_graph_of(hw, &g);
	for (int i = 0; i < g.nodes; i++)
		linked = linked || g.edge[i];
	if (g.nodes < 2)
		return LF_SHAPE_SINGLE;
	if (lf_graph_mesh(&g))
		return LF_SHAPE_MESH;
	if (lf_graph_torus(&g, a, b))
		return LF_SHAPE_TORUS;
	if (any_unknown(hw))
		return LF_SHAPE_UNKNOWN;
	return linked ? LF_SHAPE_ISLANDS : LF_SHAPE_NONE;
}
