/* SPDX-License-Identifier: Apache-2.0 */
/* `nvidia-smi topo -m`, `-mp` and `-p2p X`.
 *
 * One matrix of devices by devices, with up to three columns on affinity and
 * One matrix of devices by devices, with up to three columns on affinity and
 * one or two legends.  The legend decides what a plain path means: `topo -mp`
 * hides NVLinks and has no "NV#" line.  A matrix with nothing after it is taken
 * for `topo -m`, which nearly everybody runs; one whose legend is cut says
 * nothing on NVLinks unless it shows some.
 */
#include "config.h"

#include "hw/recorded/topo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mark(struct lf_hw *hw, const struct matrix *m)
{
	char why[LF_HW_TEXT];

	if (m->dots)
		(void)snprintf(why, sizeof(why),
			       "the author left rows out of the matrix");
	else if (m->rows < m->n)
		(void)snprintf(why, sizeof(why),
			       "the matrix ends in row %s, before %s",
			       m->name[m->last], m->name[m->n - 1]);
	else
		return;
	lf_hw_mark_partial(hw, why);
}

/* Columns into the model; at[c] is the number of its GPU or NIC there. */
static int add_devices(struct lf_hw *hw, const struct matrix *m, int *at,
		       struct lf_err *e)
{
	int gpus = 0;

	for (int c = 0; c < m->n; c++) {
		const char *name = *m->real[c] ? m->real[c] : m->name[c];
		struct lf_hw_gpu *g;
		struct lf_hw_nic *n;

		if (m->gpu[c] < 0) {
			n = lf_hw_nic(hw, name, -1, NULL);
			if (!n)
				return lf_err(e, -ENOSPC, "1:1: too many NICs");
			if (!*n->alias && *m->real[c])
				(void)snprintf(n->alias, sizeof(n->alias), "%s",
					       m->name[c]);
			if (strncmp(name, "mlx", 3) == 0)
				n->vendor = LF_VENDOR_NVIDIA;
			at[c] = lf_hw_nic_number(hw, n);
			hw->nics_shown = true;
			continue;
		}
		g = lf_hw_gpu(hw, m->gpu[c], NULL, NULL);
		if (!g)
			return lf_err(e, -ENOSPC, "1:1: too many GPUs");
		g->vendor = LF_VENDOR_NVIDIA;
		lf_hw_set_text(hw, m->name[c], "CPU affinity", g->cpus,
			       m->cpus[c]);
		lf_hw_set_int(hw, m->name[c], "NUMA node", &g->numa,
			      m->numa[c]);
		at[c] = lf_hw_gpu_number(hw, g);
		gpus++;
	}
	lf_hw_set_int(hw, "node", "GPUs", &hw->node.gpus_attached, gpus);
	return 0;
}

static void set_pair(struct lf_hw *hw, int a, int b, int v, bool nv_shown)
{
	if (v >= P2P) {
		if (v != P2P_UNCLEAR)
			lf_hw_set_p2p(hw, a, b, v == P2P_OK);
	} else if (v > NVLINKS) {
		lf_hw_set_path(hw, a, b, LF_PATH_NVLINK);
		lf_hw_set_nvlink(hw, a, b, v - NVLINKS);
	} else if (v > PATH) {
		lf_hw_set_path(hw, a, b, (enum lf_hw_path)(v - PATH));
		if (nv_shown)
			lf_hw_set_nvlink(hw, a, b, 0);
	}
}

static void add_pairs(struct lf_hw *hw, const struct matrix *m, const int *at,
		      bool nv_shown)
{
	for (int r = 0; r < m->n; r++)
		for (int c = 0; c < m->n; c++) {
			int v = m->cell[r][c];

			if (r == c || v == MISSING)
				continue;
			if (m->gpu[r] >= 0 && m->gpu[c] >= 0)
				set_pair(hw, at[r], at[c], v, nv_shown);
			else if (m->gpu[r] >= 0 && v > PATH && v < NVLINKS)
				lf_hw_set_nic_path(hw, at[r], at[c],
						   (enum lf_hw_path)(v - PATH));
			else if (m->gpu[c] >= 0 && v > PATH && v < NVLINKS)
				lf_hw_set_nic_path(hw, at[c], at[r],
						   (enum lf_hw_path)(v - PATH));
		}
}

static int read_into(struct lf_hw *hw, struct lf_text *t, struct matrix *m,
		     struct lf_err *e)
{
	int at[COLS] = { 0 }, rc = lf_topo_parse(m, t, e);
	bool whole, nv_shown;

	if (rc == 0)
		rc = add_devices(hw, m, at, e);
	if (rc)
		return rc;
	whole = m->rows == m->n && !m->dots;
	nv_shown = !m->any_p2p &&
		   (m->any_nv || m->nv_legend || (whole && m->bare));
	hw->nvlink_shown = hw->nvlink_shown || nv_shown;
	add_pairs(hw, m, at, nv_shown);
	mark(hw, m);
	return 0;
}

static int read_matrix(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	struct matrix *m = calloc(1, sizeof(*m));
	int rc = m ? read_into(hw, t, m, e)
		   : lf_err(e, -ENOMEM, "no memory for a matrix");

	free(m);
	return rc;
}

static int read_topo(struct lf_hw *hw, const char *text, size_t n,
		     struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_matrix, e);
}

static bool shows_header(const char *line)
{
	return lf_topo_header(line) || lf_topo_glued(line);
}

/* The value of the first cell of a row "GPU0 X GNS" that is no "X", or
 * CELL_NONE. */
static int row_value(const char *text)
{
	char line[LF_TEXT_LINE], *cell[CELLS];
	int n, index, v = CELL_NONE;

	(void)snprintf(line, sizeof(line), "%s", text);
	n = lf_text_cells(line, cell, CELLS);
	if (n < 2 || !lf_text_gpu(cell[0], &index))
		return CELL_NONE;
	for (int i = 1; i < n; i++) {
		v = lf_topo_cell(cell[i]);
		if (v != PATH + LF_PATH_SELF)
			break;
	}
	return v;
}

static bool shows_row(const char *line)
{
	return row_value(line) != CELL_NONE || lf_topo_glued(line);
}

static bool shows_p2p(const char *line)
{
	return row_value(line) >= P2P;
}

static int claims_topo(const char *text, size_t n)
{
	if (!lf_text_any(text, n, shows_header))
		return 0;
	return lf_text_any(text, n, shows_row) ? 80 : 30;
}

static int claims_p2p(const char *text, size_t n)
{
	return claims_topo(text, n) && lf_text_any(text, n, shows_p2p) ? 90 : 0;
}

const struct lf_hw_reader lf_hw_read_topo = { "nvidia-smi topo -m", claims_topo,
					      read_topo };
const struct lf_hw_reader lf_hw_read_topo_p2p = { "nvidia-smi topo -p2p",
						  claims_p2p, read_topo };
