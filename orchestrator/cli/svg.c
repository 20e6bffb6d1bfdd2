/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "svg.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "hw/graph.h"
#include "svg_layout.h"

enum {
	SVG_MAX = 4 << 20
};

/* Text of recordings is hostile here, too. */
__attribute__((format(printf, 5, 6))) static void text(struct lf_buf *b, int x,
						       int y, const char *style,
						       const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	lf_buf_add(b, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, style);
	for (const char *s = line; *s; s++)
		if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
			lf_buf_add(b, "&#%d;", *s);
		else if ((unsigned char)*s >= ' ' && (unsigned char)*s < 0x7f)
			lf_buf_add(b, "%c", *s);
	lf_buf_add(b, "</text>\n");
}

static void box(struct lf_buf *b, int x, int y, int w, int h, const char *style)
{
	lf_buf_add(
		b,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" "
		"class=\"%s\"/>\n",
		x, y, w, h, style);
}

/* Whether a finding speaks of this device, and of it alone: "GPU1 (...): ",
 * "mlx5_0: ", but not "GPU1-GPU2: ". */
static bool of_device(const struct lf_hw_finding *f, const char *name)
{
	size_t n = strlen(name);

	return n && strncmp(f->subject, name, n) == 0 &&
	       (f->subject[n] == ':' || f->subject[n] == ' ');
}

/* The style of a device, and the numbers of its findings. */
static const char *mark(const struct layout *l, const char *name, char *numbers,
			size_t size)
{
	enum lf_result worst = LF_RESULT_PASS;
	size_t at = 0;

	*numbers = '\0';
	for (int i = 0; i < l->r->findings; i++) {
		const struct lf_hw_finding *f = &l->r->finding[i];

		if (!of_device(f, name) || f->result < LF_RESULT_WARN)
			continue;
		if (f->result > worst)
			worst = f->result;
		if (i < SHOWN && at + 6 < size)
			at += (size_t)snprintf(numbers + at, size - at, "%s%d",
					       at ? "," : "#", i + 1);
	}
	return worst == LF_RESULT_FAIL	 ? "bad"
	       : worst == LF_RESULT_WARN ? "warn"
					 : "ok";
}

static const char *short_bus(const char *bus)
{
	return strncmp(bus, "0000:", 5) == 0 ? bus + 5 : bus;
}

static void gpu_name(const struct lf_hw *hw, int i, char *name, size_t n)
{
	int index = hw->gpu[i].index;

	(void)snprintf(name, n, "GPU%d", index >= 0 ? index : i);
}

/* What the links of a GPU add up to, -1 unknown. */
static int links_of(const struct lf_hw *hw, int i)
{
	int sum = 0;

	if (hw->gpu[i].links_active >= 0)
		return hw->gpu[i].links_active;
	for (int k = 0; k < hw->gpus; k++) {
		if (i != k && hw->nvlink[i][k] < 0)
			return -1;
		if (i != k)
			sum += hw->nvlink[i][k];
	}
	return sum <= PART_LINKS ? sum : -1; /* else through switches */
}

/* The most links to any other GPU. */
static int most_links(const struct lf_hw *hw, int i)
{
	int most = 0;

	for (int k = 0; k < hw->gpus; k++)
		if (i != k && hw->nvlink[i][k] > most)
			most = hw->nvlink[i][k];
	return most;
}

/* Fewer than another GPU has, where the NVLinks do not suffice. */
static bool lacks_links(const struct layout *l, int links)
{
	if (l->r->clause[LF_CLAUSE_NVLINK] != LF_RESULT_FAIL)
		return false;
	for (int i = 0; i < l->hw->gpus; i++)
		if (links_of(l->hw, i) > links)
			return true;
	return false;
}

static void pcie_line(const struct lf_hw_gpu *g, int x, int y,
		      struct lf_buf *out)
{
	int gen = g->pcie.max_gen > 0 ? g->pcie.max_gen : g->pcie.gen;
	char how[32] = "";

	if (gen > 0 && g->pcie.width > 0)
		(void)snprintf(how, sizeof(how), "gen%d x%d", gen,
			       g->pcie.width);
	else if (g->pcie.width > 0)
		(void)snprintf(how, sizeof(how), "x%d", g->pcie.width);
	text(out, x, y, "small", "%.12s %s", short_bus(g->bus), how);
}

static void draw_gpu(struct layout *l, int i)
{
	const struct lf_hw_gpu *g = &l->hw->gpu[i];
	const char *product = g->name;
	int x = l->gpu_x[i], y = l->gpu_y, links = links_of(l->hw, i);
	char name[24], numbers[40], style[16];

	gpu_name(l->hw, i, name, sizeof(name));
	(void)snprintf(style, sizeof(style), "gpu %s",
		       mark(l, name, numbers, sizeof(numbers)));
	box(l->out, x, y, BOX_W, BOX_H, style);
	text(l->out, x + 8, y + 18, "head", "%s", name);
	text(l->out, x + BOX_W - 8, y + 17, "number", "%s", numbers);
	if (strncmp(product, "NVIDIA ", 7) == 0)
		product += 7;
	text(l->out, x + 8, y + 35, "small", "%.18s", product);
	pcie_line(g, x + 8, y + 51, l->out);
	if (links > 0 && !l->bar)
		text(l->out, x + 8, y + 67,
		     lacks_links(l, links) ? "count cut" : "small",
		     "%d NVLinks", links);
	else if (g->mig == 1)
		text(l->out, x + 8, y + 67, "small", "MIG on");
}

/* "PXB to GPU0, GPU1": who is nearest. */
static void near_line(struct layout *l, int k, int x, int y)
{
	enum lf_hw_path best = layout_nearest(l->hw, k);
	char line[160] = "", name[24];
	size_t at = 0;
	int said = 0;

	for (int i = 0; best && i < l->hw->gpus; i++) {
		if (l->hw->nic_path[i][k] != best || said == 2)
			continue;
		gpu_name(l->hw, i, name, sizeof(name));
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s",
				       said++ ? ", " : "", name);
	}
	if (best == LF_PATH_PIX || best == LF_PATH_PXB)
		text(l->out, x, y, "small", "%s %s", lf_hw_path_name(best),
		     line);
	else if (best)
		text(l->out, x, y, "small", "%s", lf_hw_path_name(best));
}

static void draw_nic(struct layout *l, int k)
{
	static const char *const states[] = { "", "down ", "init ", "armed ",
					      "" };
	const struct lf_hw_nic *n = &l->hw->nic[k];
	const char *name = *n->name ? n->name : n->alias;
	int x = l->nic_x[k];
	int y = l->gpu_y + (l->hw->gpus ? BOX_H + GAP : 0) +
		l->nic_row[k] * (NIC_H + GAP);
	char numbers[40], style[16], rate[24] = "";

	(void)snprintf(style, sizeof(style), "nic %s",
		       mark(l, name, numbers, sizeof(numbers)));
	box(l->out, x, y, BOX_W, NIC_H, style);
	text(l->out, x + 8, y + 18, "head", "%.12s", name);
	text(l->out, x + BOX_W - 8, y + 17, "number", "%s", numbers);
	if (n->rate_mbps > 0 && n->state != LF_PORT_DOWN)
		(void)snprintf(rate, sizeof(rate), "%dG", n->rate_mbps / 1000);
	text(l->out, x + 8, y + 34, "small", "%s%s %.12s", states[n->state],
	     rate, short_bus(n->bus));
	near_line(l, k, x + 8, y + 50);
}

static void draw_slot(struct layout *l, int slot)
{
	int x = l->slot_x[slot];

	box(l->out, x, l->gpu_y - GAP, l->slot_w[slot],
	    l->bottom - l->gpu_y + GAP, "node");
	if (slot != LF_HW_NUMA)
		text(l->out, x + GAP, l->bottom - 8, "node-name",
		     "NUMA node %d", slot);
	else
		text(l->out, x + GAP, l->bottom - 8, "node-name", "%s",
		     layout_gpus_in(l->hw, slot) || l->hw->gpus == 0
			     ? "NUMA node not known"
			     : "NUMA node not known, no GPU near");
}

static void line(struct lf_buf *b, int x, int from, int to, const char *style,
		 int width)
{
	lf_buf_add(b,
		   "<path d=\"M%d %dV%d\" class=\"%s\" stroke-width=\"%d\"/>\n",
		   x, from, to, style, width);
}

static void draw_bar(struct layout *l)
{
	int y = TOP + 4, most = 0, first = l->gpu_x[0], last = l->gpu_x[0];

	for (int i = 0; i < l->hw->gpus; i++) {
		most = most_links(l->hw, i) > most ? most_links(l->hw, i)
						   : most;
		first = l->gpu_x[i] < first ? l->gpu_x[i] : first;
		last = l->gpu_x[i] > last ? l->gpu_x[i] : last;
	}
	box(l->out, first, y, last - first + BOX_W, 28, "switch");
	text(l->out, (first + last + BOX_W) / 2, y + 19, "head mid",
	     "NVLink: every GPU to every other");
	for (int i = 0; i < l->hw->gpus; i++) {
		int links = most_links(l->hw, i), x = l->gpu_x[i] + BOX_W / 2;

		line(l->out, x, y + 28, l->gpu_y,
		     links < most ? "link cut" : "link", 5);
		text(l->out, x + 9, y + 52,
		     links < most ? "count cut" : "count", "NV%d", links);
	}
}

/* A finding about the links of these two. */
static bool pair_fails(const struct layout *l, const struct wire *w)
{
	int low = w->a < w->b ? w->a : w->b, high = w->a + w->b - low;
	char name[40];

	(void)snprintf(name, sizeof(name), "GPU%d-GPU%d:", low, high);
	for (int i = 0; i < l->r->findings; i++)
		if (strncmp(l->r->finding[i].subject, name, strlen(name)) == 0)
			return true;
	return false;
}

/* Whether a label at x on the lane of wire w covers another wire's upright. */
static bool label_hides(const struct layout *l, const struct wire *w, int x)
{
	for (int i = 0; i < l->wires; i++)
		if (&l->wire[i] != w && l->wire[i].lane > w->lane &&
		    (abs(l->wire[i].xa - x) < 21 ||
		     abs(l->wire[i].xb - x) < 21))
			return true;
	return false;
}

static int label_x(const struct layout *l, const struct wire *w)
{
	int mid = (w->xa + w->xb) / 2;

	for (int off = 0; off < (w->xb - w->xa) / 2 - 18; off += 6) {
		if (!label_hides(l, w, mid - off))
			return mid - off;
		if (!label_hides(l, w, mid + off))
			return mid + off;
	}
	return mid;
}

static void draw_wires(struct layout *l)
{
	int base = l->gpu_y - GAP - 10;

	for (int i = 0; i < l->wires; i++) {
		const struct wire *w = &l->wire[i];

		lf_buf_add(l->out,
			   "<path d=\"M%d %dV%dH%dV%d\" class=\"link%s\" "
			   "stroke-width=\"%d\"/>\n",
			   w->xa, l->gpu_y, base - w->lane * LANE, w->xb,
			   l->gpu_y, pair_fails(l, w) ? " cut" : "",
			   w->links > 6 ? 4 : 1 + w->links / 2);
	}
	for (int i = 0; i < l->wires; i++) { /* above all lines */
		const struct wire *w = &l->wire[i];
		int x = label_x(l, w), y = base - w->lane * LANE;

		box(l->out, x - 19, y - 7, 38, 14, "plate");
		text(l->out, x, y + 4, "count mid", "NV%d", w->links);
	}
}

static void draw_links(struct layout *l)
{
	bool known = l->hw->nvlink_shown;

	if (l->bar)
		draw_bar(l);
	else if (l->wires)
		draw_wires(l);
	else if (l->hw->gpus > 1)
		text(l->out, MARGIN, TOP + 14, "small", "%s",
		     known ? "no NVLink between GPUs: they reach each other "
			     "over PCIe"
			   : "NVLinks: not shown by what was read");
}

static void draw_findings(struct layout *l)
{
	int y = l->bottom + 28, i;

	for (i = 0; i < l->r->findings && i < SHOWN; i++, y += 18) {
		const struct lf_hw_finding *f = &l->r->finding[i];

		text(l->out, MARGIN, y,
		     f->result == LF_RESULT_FAIL ? "bad-text" : "warn-text",
		     "#%d %s: %s: expected %s, found %s", i + 1, f->code,
		     f->subject, f->expected, f->found);
	}
	if (l->r->findings == 0)
		text(l->out, MARGIN, y, "small", "no finding");
	else if (i < l->r->findings)
		text(l->out, MARGIN, y, "small",
		     "and %d more: see loongforge check",
		     l->r->findings + l->r->dropped - i);
}

static void draw_legend(struct layout *l)
{
	static const struct {
		const char *style, *says;
		int room;
	} keys[] = {
		{ "gpu", "GPU", 70 },	      { "nic", "RDMA port", 110 },
		{ "node", "NUMA node", 112 }, { "bad", "fails", 74 },
		{ "warn", "warns", 80 },
	};
	int x = MARGIN, y = l->height - 66;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		box(l->out, x, y - 11, 20, 14, keys[i].style);
		text(l->out, x + 26, y, "small", "%s", keys[i].says);
		x += keys[i].room;
	}
	lf_buf_add(
		l->out,
		"<path d=\"M%d %dH%d\" class=\"link\" stroke-width=\"4\"/>\n",
		x, y - 4, x + 22);
	text(l->out, x + 28, y, "small",
	     "NVLink; NV4: four links together; #1: see finding 1");
	text(l->out, MARGIN, y + 22, "small",
	     "from a NIC to its nearest GPU: PIX one PCIe switch, PXB several, "
	     "PHB a host bridge, NODE within the NUMA node");
	text(l->out, MARGIN, y + 40, "small",
	     "gen5 x16: PCIe generation that the slot allows, and lanes in use "
	     "now; 200G: Gb/s");
}

static void draw_title(struct layout *l)
{
	static const char *const shapes[] = { "not known",
					      "single GPU",
					      "none",
					      "neither mesh nor torus",
					      "contains a torus",
					      "full mesh" };
	const struct lf_hw *hw = l->hw;
	int a = 0, b = 0, nics = 0;
	enum lf_graph_shape shape = lf_graph_shape(hw, &a, &b);

	for (int k = 0; k < hw->nics; k++)
		nics += !hw->nic[k].is_virtual;
	text(l->out, MARGIN, 28, "title", "%s",
	     *hw->node.product		    ? hw->node.product
	     : hw->gpus && *hw->gpu[0].name ? hw->gpu[0].name
					    : "Machine");
	if (hw->gpus == 0)
		text(l->out, MARGIN, 48, "small",
		     "no GPU, %d RDMA ports; verdict: %s", nics,
		     lf_result_names[l->r->verdict]);
	else if (shape == LF_SHAPE_TORUS)
		text(l->out, MARGIN, 48, "small",
		     "%d GPUs, %d RDMA ports; NVLink: contains a torus of "
		     "%d x %d; verdict: %s",
		     hw->gpus, nics, a, b, lf_result_names[l->r->verdict]);
	else
		text(l->out, MARGIN, 48, "small",
		     "%d GPUs, %d RDMA ports; NVLink: %s; verdict: %s",
		     hw->gpus, nics, shapes[shape],
		     lf_result_names[l->r->verdict]);
	if (hw->partial)
		text(l->out, MARGIN, 66, "warn-text", "partial: %s",
		     hw->partial_why);
}

static void draw_all(struct layout *l)
{
	draw_title(l);
	for (int slot = 0; slot < SLOTS; slot++)
		if (l->slot_w[slot])
			draw_slot(l, slot);
	draw_links(l);
	for (int i = 0; i < l->hw->gpus; i++)
		draw_gpu(l, i);
	for (int k = 0; k < l->hw->nics; k++)
		if (!l->hw->nic[k].is_virtual)
			draw_nic(l, k);
	draw_findings(l);
	draw_legend(l);
}

/* In place, as programs write output: FILE may be a pipe or /dev/stdout, which
 * a rename would replace. */
static int put(const char *path, const char *svg, struct lf_err *e)
{
	FILE *f = fopen(path, "we");
	int rc = f ? 0 : -errno;

	if (f && fputs(svg, f) == EOF)
		rc = -errno;
	if (f && fclose(f) == EOF && rc == 0)
		rc = -errno;
	return rc < 0 ? lf_err(e, rc, "%s: %s", path, strerror(-rc)) : 0;
}

int svg_write(const char *path, const struct lf_hw *hw,
	      const struct lf_report *r, struct lf_err *e)
{
	static const char style[] =
		"text{font-family:DejaVu Sans,Arial,sans-serif;fill:#1d2733}"
		".title{font-size:17px;font-weight:bold}"
		".head{font-size:13px;font-weight:bold}.small{font-size:11px}"
		".mid{text-anchor:middle}"
		".number{font-size:11px;font-weight:bold;text-anchor:end;"
		"fill:#a31812}"
		".count{font-size:11px;font-weight:bold;fill:#2f6f3e}"
		".count.cut{fill:#c0211b}.plate{fill:white}"
		".node{fill:#f2f4f7;stroke:#aab4c0}"
		".node-name{font-size:12px;fill:#5b6673}"
		".gpu{fill:#dff0d8;stroke:#4d8a3c}"
		".nic{fill:#dde9f7;stroke:#3f6fa3}"
		".switch{fill:#e8e0f3;stroke:#7a5aa6}"
		".link{fill:none;stroke:#4d8a3c}.link.cut{stroke:#c0211b}"
		".bad{fill:#f9d2d0;stroke:#c0211b;stroke-width:3}"
		".warn{fill:#fdebc8;stroke:#c98400;stroke-width:3}"
		".bad-text{font-size:12px;fill:#c0211b}"
		".warn-text{font-size:12px;fill:#8a5a00}";
	static struct layout l; /* 12 KB */
	lf_autobuf struct lf_buf out = LF_BUF(SVG_MAX);

	layout_make(&l, hw, r);
	l.out = &out;
	lf_buf_add(&out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		   "height=\"%d\"><style>%s</style>\n<rect width=\"100%%\" "
		   "height=\"100%%\" fill=\"white\"/>\n",
		   l.width, l.height, style);
	draw_all(&l);
	lf_buf_add(&out, "</svg>\n");
	if (!lf_buf_ok(&out))
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	return put(path, lf_buf_text(&out), e);
}
