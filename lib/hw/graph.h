/* SPDX-License-Identifier: Apache-2.0 */
/* graph - the shape of a machine's NVLinks.
 *
 * A simple graph: self-loops and double edges count once.  Full mesh: every two
 * GPUs joined.  2D torus a x b (a, b >= 2): the product of two cycles, a cycle
 * of two being one edge, looked for as a spanning subgraph, so that a machine
 * with more links has it as well: 4 = C4, 8 = K2 x C4 (the cube), 16 = C4 x C4
 * or K2 x C8 (mathworld.wolfram.com/TorusGridGraph.html).  Pure.
 */
#ifndef LF_HW_GRAPH_H
#define LF_HW_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/model.h"

struct lf_graph {
	int nodes; /* at most LF_HW_GPUS */
	uint64_t edge[LF_HW_GPUS]; /* bit b of edge[a]: joined */
};

enum lf_graph_shape {
	LF_SHAPE_UNKNOWN, /* the model does not show all pairs */
	LF_SHAPE_SINGLE, /* one GPU, or none */
	LF_SHAPE_NONE, /* no link at all */
	LF_SHAPE_ISLANDS, /* links, but neither mesh nor torus */
	LF_SHAPE_TORUS,
	LF_SHAPE_MESH
};

/* Joins GPUs that have links into a switch with each other: nvlink of such a
 * pair becomes the smaller of their switch links where it is unknown; where it
 * is said to be 0, that is a contradiction. */
void lf_graph_close(struct lf_hw *hw);
void lf_graph_of(const struct lf_hw *hw, struct lf_graph *g);
bool lf_graph_mesh(const struct lf_graph *g);
/* On true *a and *b (a <= b) are the sides. */
bool lf_graph_torus(const struct lf_graph *g, int *a, int *b);
/* Shape of a closed model; for LF_SHAPE_TORUS sides in *a and *b. */
enum lf_graph_shape lf_graph_shape(const struct lf_hw *hw, int *a, int *b);

#endif
