/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge topo [--from FILE...] [--svg FILE] [--json]
 *
 * The matrix that people know from nvidia-smi topo -m, from any recording. */
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "hw/expect.h"
#include "hw/graph.h"
#include "machine.h"
#include "svg.h"

struct args {
	struct recordings from;
	const char *svg;
	bool json;
};

static const struct argp_option options[] = {
	RECORDINGS_OPTION,
	{ "svg", 's', "FILE", 0, "Draw it into FILE, faults in red", 0 },
	{ "json", 'j', NULL, 0, "As one JSON document", 0 },
	{ 0 }
};

static error_t parse_arg(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'f':
	case ARGP_KEY_ARG:
		recordings_add(&a->from, state, arg);
		return 0;
	case 's':
		a->svg = arg;
		return 0;
	case 'j':
		a->json = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *gpu_cell(const struct lf_hw *hw, int i, int k, char *buf,
			    size_t n)
{
	if (i != k && hw->nvlink[i][k] > 0)
		(void)snprintf(buf, n, "NV%d", hw->nvlink[i][k]);
	else
		(void)snprintf(buf, n, "%s", lf_hw_path_name(hw->path[i][k]));
	return buf;
}

static void print_row(const struct lf_hw *hw, int i)
{
	const struct lf_hw_gpu *g = &hw->gpu[i];
	char cell[16];

	(void)printf("GPU%-3d", g->index >= 0 ? g->index : i);
	for (int k = 0; k < hw->gpus; k++)
		(void)printf(" %-5s", gpu_cell(hw, i, k, cell, sizeof(cell)));
	for (int k = 0; k < hw->nics; k++)
		if (!hw->nic[k].is_virtual)
			(void)printf(" %-5s",
				     lf_hw_path_name(hw->nic_path[i][k]));
	if (g->numa >= 0)
		(void)printf("  %4d", g->numa);
	else
		(void)printf("  %4s", "?");
	(void)printf("  %-14s %s\n", *g->bus ? g->bus : "", g->name);
}

static void print_nics(const struct lf_hw *hw)
{
	static const char *const states[] = { "?", "down", "init", "armed",
					      "active" };

	for (int k = 0; k < hw->nics; k++) {
		const struct lf_hw_nic *n = &hw->nic[k];

		if (n->is_virtual)
			continue;
		(void)printf("NIC%-3d %-12s %-8s", k,
			     *n->name ? n->name : n->alias, states[n->state]);
		if (n->rate_mbps > 0)
			(void)printf(" %4d Gb/s", n->rate_mbps / 1000);
		if (n->numa >= 0)
			(void)printf("  NUMA %d", n->numa);
		(void)printf("  %s %s%s\n", n->bus, n->type,
			     n->gdr == 1   ? "  GPUDirect"
			     : n->gdr == 0 ? "  no GPUDirect"
					   : "");
	}
}

static void print_legend(void)
{
	(void)puts("\nX self; NV# that many NVLinks; PIX one PCIe switch, PXB "
		   "several; PHB a host bridge;\nNODE within a NUMA node; SYS "
		   "between NUMA nodes; ? not shown by what was read");
}

static void print_shape(const struct lf_hw *hw)
{
	static const char *const names[] = {
		"not known",	   "single GPU", "no NVLink", "islands",
		"contains a torus", "full mesh"
	};
	int a = 0, b = 0;
	enum lf_graph_shape shape = lf_graph_shape(hw, &a, &b);

	(void)printf("\nNVLink: %s", names[shape]);
	if (shape == LF_SHAPE_TORUS)
		(void)printf(" of %d x %d", a, b);
	(void)putchar('\n');
}

static void print(const struct lf_hw *hw)
{
	(void)printf("%-6s", "");
	for (int k = 0; k < hw->gpus; k++)
		(void)printf(" GPU%-2d",
			     hw->gpu[k].index >= 0 ? hw->gpu[k].index : k);
	for (int k = 0; k < hw->nics; k++)
		if (!hw->nic[k].is_virtual)
			(void)printf(" NIC%-2d", k);
	(void)puts("  NUMA");
	for (int i = 0; i < hw->gpus; i++)
		print_row(hw, i);
	if (hw->nics)
		(void)putchar('\n');
	print_nics(hw);
	print_shape(hw);
	if (hw->partial)
		(void)printf("partial: %s\n", hw->partial_why);
	print_legend();
}

static json_t *gpu_json(const struct lf_hw *hw, int i)
{
	const struct lf_hw_gpu *g = &hw->gpu[i];
	json_t *links = json_array(), *paths = json_array();
	char cell[16];

	for (int k = 0; k < hw->gpus; k++)
		(void)json_array_append_new(
			paths,
			json_string(gpu_cell(hw, i, k, cell, sizeof(cell))));
	for (int k = 0; k < hw->nics; k++)
		(void)json_array_append_new(
			links, json_string(lf_hw_path_name(
				       hw->nic_path[i][k])));
	return json_pack("{s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:o, s:o}",
			 "index", g->index, "bus", g->bus, "uuid", g->uuid,
			 "name", g->name, "numa", g->numa, "pcie_gen",
			 g->pcie.gen, "pcie_width", g->pcie.width, "nvlinks",
			 g->links_active, "gpus", paths, "nics", links);
}

static void print_json(const struct lf_hw *hw)
{
	json_t *gpus = json_array(), *nics = json_array(), *doc;

	for (int i = 0; i < hw->gpus; i++)
		(void)json_array_append_new(gpus, gpu_json(hw, i));
	for (int k = 0; k < hw->nics; k++) {
		const struct lf_hw_nic *n = &hw->nic[k];

		(void)json_array_append_new(
			nics, json_pack("{s:s, s:s, s:i, s:i, s:i, s:b}",
					"name", n->name, "bus", n->bus, "numa",
					n->numa, "rate_mbps", n->rate_mbps,
					"gpudirect", n->gdr, "virtual",
					n->is_virtual));
	}
	doc = json_pack("{s:o, s:o, s:b}", "gpus", gpus, "nics", nics,
			"partial", hw->partial);
	(void)json_dumpf(doc, stdout, JSON_INDENT(2));
	(void)putchar('\n');
	json_decref(doc);
}

static int draw(struct lf_hw *hw, const char *path, struct lf_err *e)
{
	static struct lf_report report;
	struct lf_expect x;
	int rc = lf_expect_choose(LF_HARDWAREDIR, hw, &x, e);

	if (rc < 0)
		return rc;
	lf_judge(hw, &x, &report);
	return svg_write(path, hw, &report, e);
}

int cli_topo(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse_arg, "[FILE...]",
		"Shows how GPUs and NICs of a machine are connected.", NULL,
		NULL, NULL
	};
	struct args a = { 0 };
	struct lf_hw *hw = NULL;
	struct lf_err e;
	int rc;

	(void)argp_parse(&argp, argc, argv, 0, NULL, &a);
	rc = machine_read(&a.from, &hw, &e);
	if (rc == 0) {
		lf_graph_close(hw);
		if (a.svg)
			rc = draw(hw, a.svg, &e);
		else if (a.json)
			print_json(hw);
		else
			print(hw);
	}
	if (rc < 0)
		(void)fprintf(stderr, "loongforge: %s\n", e.text);
	lf_hw_free(hw);
	return rc < 0;
}
