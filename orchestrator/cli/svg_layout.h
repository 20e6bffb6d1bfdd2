/* SPDX-License-Identifier: Apache-2.0 */
/* svg_layout - where things stand in a machine's picture.
 *
 * Top to bottom: NVLinks, then one box a NUMA node, its GPUs in a row and its
 * NICs below the GPU that is nearest, then findings and legend.  A NIC whose
 * NUMA node is not shown stands where its nearest GPU is.  Pure.
 */
#ifndef SVG_LAYOUT_H
#define SVG_LAYOUT_H

#include "hw/judge.h"

struct lf_buf;

enum {
	BOX_W = 136,
	BOX_H = 76,
	NIC_H = 58,
	GAP = 12,
	MARGIN = 24,
	LANE = 20,
	TOP = 74,		/* below the two lines of the title */
	SLOTS = LF_HW_NUMA + 1, /* last: NUMA node not known */
	WIRES = 512,
	SHOWN = 12,	 /* findings */
	PART_LINKS = 18, /* no GPU has more */
	WIDTH_MIN = 900
};

/* Links between two GPUs, the left one first. */
struct wire {
	int a, b, links, xa, xb, lane;
};

struct layout {
	const struct lf_hw *hw;
	const struct lf_report *r;
	struct lf_buf *out;		  /* for those who draw */
	int slot_x[SLOTS], slot_w[SLOTS]; /* width 0: nobody there */
	int gpu_x[LF_HW_GPUS];
	int nic_x[LF_HW_NICS], nic_row[LF_HW_NICS];
	int wires, lanes, rows;
	struct wire wire[WIRES];
	bool bar;
	int gpu_y, bottom, width, height;
};

/* Fills all but `out`. */
void layout_make(struct layout *l, const struct lf_hw *hw,
		 const struct lf_report *r);

/* Of the NIC: its NUMA box, and the path by which it is nearest to a GPU in
 * there. */
int layout_nic_slot(const struct lf_hw *hw, int nic);
int layout_gpus_in(const struct lf_hw *hw, int slot);
enum lf_hw_path layout_nearest(const struct lf_hw *hw, int nic);

#endif
