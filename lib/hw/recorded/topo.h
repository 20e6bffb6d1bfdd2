/* SPDX-License-Identifier: Apache-2.0 */
/* topo - the matrix that `nvidia-smi topo` prints, before it becomes a model.
 * Private to topo_matrix.c, which reads it, and topo.c.
 *
 * A cell is MISSING (cut off, or says nothing), a path, a number of NVLinks or
 * a status of -p2p, each in a range of its own; CELL_NONE is no cell of these
 * tools.
 */
#ifndef LF_HW_RECORDED_TOPO_H
#define LF_HW_RECORDED_TOPO_H

#include "hw/recorded/text.h"

enum {
	COLS = LF_HW_GPUS + LF_HW_NICS,
	CELLS = COLS + 8, /* name, affinity in several words */
	NAME = 32,
	CELL_NONE = -1,
	MISSING = 0,
	PATH = 100,    /* + enum lf_hw_path */
	NVLINKS = 200, /* + count */
	P2P = 300,     /* + status */
	P2P_UNCLEAR = P2P,
	P2P_NO,
	P2P_OK
};

struct matrix {
	int n, rows;
	int last; /* row read last */
	bool has_cpu, has_numa, has_gpu_numa;
	bool dots, nv_legend, any_nv, any_p2p;
	bool bare; /* nothing follows the matrix, not even a cut legend */
	char name[COLS][NAME], real[COLS][NAME]; /* real: by the NIC legend */
	int gpu[COLS];				 /* its index, or -1: a NIC */
	bool seen[COLS];
	short cell[COLS][COLS];
	char cpus[COLS][LF_HW_TEXT];
	int numa[COLS];
};

int lf_topo_cell(const char *s);
/* The header line: "GPU0", then no cell of a row. */
bool lf_topo_header(const char *line);
/* "GPU0GPU1...": a paste that lost its tabs altogether. */
bool lf_topo_glued(const char *line);
/* The matrix and its legends; `m` is all zero before. */
int lf_topo_parse(struct matrix *m, struct lf_text *t, struct lf_err *e);

#endif
