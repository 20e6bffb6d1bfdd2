/* SPDX-License-Identifier: Apache-2.0 */
/* No cell of the matrix holds a blank, so runs of blanks separate cells whether
 * tabs survived or not. */
#include "config.h"

#include "hw/recorded/topo.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int lf_topo_cell(const char *s)
{
	/* SOC and PSB: drivers before 2017.  NS of -p2p may be said of atomics
	 * or NVLink alone, since the table does not tell what was asked. */
	static const struct {
		const char *text;
		int value;
	} words[] = {
		{ "X", PATH + LF_PATH_SELF },
		{ "SYS", PATH + LF_PATH_SYS },
		{ "SOC", PATH + LF_PATH_SYS },
		{ "NODE", PATH + LF_PATH_NODE },
		{ "PHB", PATH + LF_PATH_PHB },
		{ "PXB", PATH + LF_PATH_PXB },
		{ "PIX", PATH + LF_PATH_PIX },
		{ "PSB", PATH + LF_PATH_PIX },
		{ "N/A", MISSING },
		{ "OK", P2P_OK },
		{ "CNS", P2P_NO },
		{ "GNS", P2P_NO },
		{ "TNS", P2P_NO },
		{ "DR", P2P_NO },
		{ "NS", P2P_UNCLEAR },
		{ "U", P2P_UNCLEAR },
	};
	int links;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(s, words[i].text) == 0)
			return words[i].value;
	if (strncmp(s, "NV", 2) == 0 && isdigit((unsigned char)s[2]) &&
	    lf_text_int(s + 2, 1, LF_HW_LINKS, &links))
		return NVLINKS + links;
	return CELL_NONE;
}

bool lf_topo_header(const char *text)
{
	char line[LF_TEXT_LINE], *cell[2];
	int n, index;

	(void)snprintf(line, sizeof(line), "%s", text);
	n = lf_text_cells(line, cell, 2);
	if (n < 1 || !lf_text_gpu(cell[0], &index))
		return false;
	return n == 1 || (isalpha((unsigned char)*cell[1]) &&
			  lf_topo_cell(cell[1]) == CELL_NONE);
}

bool lf_topo_glued(const char *line)
{
	const char *p = lf_text_after(line, "GPU0");

	return p && (strncmp(p, "GPU1", 4) == 0 || strncmp(p, "X", 1) == 0) &&
	       (p[-1] == '0');
}

static int find_header(struct lf_text *t, struct lf_err *e)
{
	while (lf_text_line(t)) {
		if (lf_topo_header(t->line))
			return 0;
		if (lf_topo_glued(t->line))
			return lf_text_err(e, t, strstr(t->line, "GPU0") + 4,
					   "columns run together: the tabs "
					   "are lost");
	}
	return lf_text_err(e, t, t->line, "no line with GPU0, GPU1, ...");
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	return n > 0 && n < NAME && !s[n];
}

static int column_of(const struct matrix *m, const char *name)
{
	for (int c = 0; c < m->n; c++)
		if (strcmp(m->name[c], name) == 0)
			return c;
	return -1;
}

static int add_column(struct matrix *m, const struct lf_text *t, char *name,
		      struct lf_err *e)
{
	int gpus = 0;

	if (!is_name(name))
		return lf_text_err(e, t, name, "'%.20s' names no device", name);
	if (column_of(m, name) >= 0)
		return lf_text_err(e, t, name, "column %s stands twice", name);
	for (int c = 0; c < m->n; c++)
		gpus += m->gpu[c] >= 0;
	if (!lf_text_gpu(name, &m->gpu[m->n]))
		m->gpu[m->n] = -1;
	if (gpus + (m->gpu[m->n] >= 0) > LF_HW_GPUS ||
	    m->n + 1 - gpus > LF_HW_NICS + 1 || m->n == COLS)
		return lf_text_err(e, t, name, "more than %d GPUs or %d NICs",
				   LF_HW_GPUS, LF_HW_NICS);
	(void)snprintf(m->name[m->n], NAME, "%s", name);
	m->numa[m->n++] = -1;
	return 0;
}

static bool words(char *const *cell, int left, const char *a, const char *b)
{
	return left >= 2 && strcasecmp(cell[0], a) == 0 &&
	       strcasecmp(cell[1], b) == 0;
}

static int read_header(struct matrix *m, struct lf_text *t, struct lf_err *e)
{
	char *cell[CELLS];
	int rc, n = lf_text_cells(t->line, cell, CELLS);

	for (int i = 0; i < n; i++) {
		if (words(cell + i, n - i, "CPU", "Affinity")) {
			m->has_cpu = true;
			i++;
		} else if (words(cell + i, n - i, "NUMA", "Affinity")) {
			m->has_numa = true;
			i++;
		} else if (n - i >= 3 && strcmp(cell[i], "GPU") == 0 &&
			   words(cell + i + 1, n - i - 1, "NUMA", "ID")) {
			m->has_gpu_numa = true;
			i += 2;
		} else if (m->has_cpu || m->has_numa || m->has_gpu_numa) {
			return lf_text_err(e, t, cell[i],
					   "unknown column '%.20s'", cell[i]);
		} else {
			rc = add_column(m, t, cell[i], e);
			if (rc)
				return rc;
		}
	}
	return t->cut ? lf_text_err(e, t, t->line, "nothing after the header")
		      : 0;
}

/* Whether the tab-separated cell right after this one is empty. */
static bool next_is_empty(const char *cell, const char *next)
{
	int tabs = 0;

	for (const char *p = cell + strlen(cell) + 1; p < next; p++)
		tabs += *p == '\t';
	/* " X " ends in a blank, which lf_text_cells has cut; others lost a
	 * tab there. */
	return tabs >= (strcmp(cell, "X") == 0 ? 2 : 1);
}

static int read_affinity(struct matrix *m, struct lf_text *t, char **cell,
			 int left, int row)
{
	int i = 0;

	if (m->has_cpu && left > 0) {
		size_t n = strspn(cell[0], "0123456789,-");

		if (strcmp(cell[0], "N/A") != 0 && (cell[0][n] || !n))
			return i;
		if (n)
			(void)snprintf(m->cpus[row], LF_HW_TEXT, "%s", cell[0]);
		i++;
	}
	if (m->has_numa && left > i) {
		/* Several nodes ("0-1") are no single one: unknown. */
		if (strcmp(cell[i], "N/A") != 0 &&
		    cell[i][strspn(cell[i], "0123456789,-")])
			return i;
		(void)lf_text_int(cell[i], 0, LF_HW_NUMA - 1, &m->numa[row]);
	}
	return -1;
}

/* In a line that was cut off, the last cell may be half a cell; the very last
 * of the matrix is an X. */
static int whole_cells(const struct matrix *m, const struct lf_text *t, int n,
		       int row)
{
	return t->cut && !(n == 1 + m->n && row == m->n - 1) ? n - 1 : n;
}

static int read_cell(struct matrix *m, const struct lf_text *t,
		     const char *text, int row, int c, struct lf_err *e)
{
	int v = lf_topo_cell(text);

	if (v == CELL_NONE)
		return lf_text_err(e, t, text, "'%.20s' is no path", text);
	if ((v == PATH + LF_PATH_SELF) != (row == c))
		return lf_text_err(e, t, text, "%s to %s says '%s'",
				   m->name[row], m->name[c], text);
	m->cell[row][c] = (short)v;
	m->any_nv = m->any_nv || (v > NVLINKS && v < P2P);
	m->any_p2p = m->any_p2p || v >= P2P;
	return 0;
}

static int read_row(struct matrix *m, struct lf_text *t, char **cell, int n,
		    struct lf_err *e)
{
	int row = column_of(m, cell[0]), bad = -1, rc;
	int whole = whole_cells(m, t, n, row);

	if (m->seen[row])
		return lf_text_err(e, t, cell[0], "row %s stands twice",
				   cell[0]);
	m->seen[row] = true;
	m->rows++;
	m->last = row;
	for (int c = 0; c < m->n && c + 1 < whole; c++) {
		rc = read_cell(m, t, cell[c + 1], row, c, e);
		if (rc)
			return rc;
	}
	if (n < 1 + m->n && !t->cut)
		return lf_text_err(e, t, cell[n - 1] + strlen(cell[n - 1]),
				   "row %s has %d cells of %d", m->name[row],
				   n - 1, m->n);
	if (whole <= 1 + m->n)
		return 0;
	if (n > 1 + m->n + m->has_cpu + m->has_numa + m->has_gpu_numa)
		bad = n - 1;
	else if (m->gpu[row] >= 0 &&
		 !next_is_empty(cell[m->n], cell[m->n + 1])) {
		bad = read_affinity(m, t, cell + 1 + m->n, whole - 1 - m->n,
				    row);
		bad = bad >= 0 ? bad + 1 + m->n : -1;
	}
	if (bad >= 0)
		return lf_text_err(e, t, cell[bad],
				   "'%.20s' fits no column of the header",
				   cell[bad]);
	return 0;
}

/* All rows; stops in the first line after them. */
static int read_rows(struct matrix *m, struct lf_text *t, struct lf_err *e)
{
	while (m->rows < m->n && lf_text_line(t)) {
		char *cell[CELLS];
		int n, rc;

		if (lf_text_dots(t->line))
			m->dots = true;
		if (lf_text_blank(t->line) || lf_text_dots(t->line))
			continue;
		if (m->dots && strstr(t->line, "Legend"))
			return 0;
		n = lf_text_cells(t->line, cell, CELLS);
		if (column_of(m, cell[0]) < 0 && t->cut)
			break;
		if (column_of(m, cell[0]) < 0)
			return lf_text_err(e, t, cell[0],
					   "'%.20s' is no row: %d of %d rows "
					   "were read",
					   cell[0], m->rows, m->n);
		rc = read_row(m, t, cell, n, e);
		if (rc)
			return rc;
	}
	if (m->rows == 0)
		return lf_text_err(e, t, t->line, "no row after the header");
	return 0;
}

static void read_legends(struct matrix *m, struct lf_text *t)
{
	m->bare = !t->cut;
	do {
		const char *nv = lf_text_after(t->line, "NV#");
		char *value, *key;
		int c;

		if (nv && *nv == '=')
			m->nv_legend = true;
		key = lf_text_pair(t->line, ":", &value);
		c = key ? column_of(m, key) : -1;
		/* The end of a cut line may be half a name. */
		if (c >= 0 && m->gpu[c] < 0 && is_name(value) && !t->cut)
			(void)snprintf(m->real[c], NAME, "%s", value);
		m->bare = m->bare && t->at == t->end;
	} while (lf_text_line(t));
}

int lf_topo_parse(struct matrix *m, struct lf_text *t, struct lf_err *e)
{
	int rc = find_header(t, e);

	if (rc == 0)
		rc = read_header(m, t, e);
	if (rc == 0)
		rc = read_rows(m, t, e);
	if (rc == 0)
		read_legends(m, t);
	return rc;
}
