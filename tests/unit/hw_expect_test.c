/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "hw/expect.h"

static int read_text(const char *text, struct lf_expect *x, struct lf_err *e)
{
	write_text(scratch("machine.conf"), text);
	return lf_expect_read(scratch("machine.conf"), x, e);
}

#define LONG                                                                   \
	"0123456789012345678901234567890123456789012345678901234567890123456"  \
	"89012345678901234567890123456789"

static void refused(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		/* what is no value */
		{ "gpus = 65\n", ":1: gpus: expected 0 to 64, found 65" },
		{ "gpus = -1\n", ":1: gpus: expected" },
		{ "gpus = 4294967304\n", ":1: gpus: expected" },
		{ "gpus = eight\n", ":1: " },
		{ "\nnvlinks = -2\n", ":2: nvlinks: expected -1 to 72" },
		{ "nvlinks = 73\n", ":1: nvlinks: expected" },
		{ "pair_nvlinks = -1\n", ":1: pair_nvlinks: expected 0 to" },
		{ "pcie_gen = 0\n", ":1: pcie_gen: expected 1 to 7" },
		{ "pcie_gen = 8\n", ":1: pcie_gen: expected" },
		{ "pcie_width = 12\n", ":1: pcie_width: expected 1, 2, 4, 8" },
		{ "pcie_width = 0\n", ":1: pcie_width: expected 1 to 16" },
		{ "pcie_width = 32\n", ":1: pcie_width: expected 1 to 16" },
		{ "nics = 129\n", ":1: nics: expected" },
		{ "nic_rate_gbps = -1\n", ":1: nic_rate_gbps: expected" },
		{ "nic_rate_gbps = 2147484\n", ":1: nic_rate_gbps: expected" },
		{ "near_nic = perhaps\n", ":1: " },
		{ "name = \"" LONG "\"\n", ":1: name: expected at most 95" },
		{ "nic_exclude = \"a, b\"\n",
		  ":1: nic_exclude: expected names" },
		{ "colour = \"red\"\n", ":1: " },
		{ "name = \"${HOME}\"\n", "variables" },
		/* what cannot hold together */
		{ "gpus = 8\nproduct = \"*\"\ngpus = 4\n",
		  ":3: gpus: given before, on line 1" },
		{ "nvlinks = 6\npair_nvlinks = 12\n",
		  ":2: pair_nvlinks is more than nvlinks" },
		{ "# upside down\n\npair_nvlinks = 12\nnvlinks = 6\n",
		  ":4: pair_nvlinks is more than nvlinks" },
		{ "nvlinks = -1\npair_nvlinks = 1\n",
		  ":2: pair_nvlinks, but nvlinks expects none" },
		{ "product = \"*H200*\"\ngpus = 1\npair_nvlinks = 18\n",
		  ":3: pair_nvlinks, but gpus is 1" },
		{ "name = \"x\"\ngpus = 8\n", ":2: gpus without product" },
		{ "nic_include = \"mlx5_0,mlx5_1\"\n"
		  "nic_exclude = \"mlx5_1,eth0\"\n",
		  ":2: nic_exclude takes out what nic_include names" },
		{ "nic_exclude = \"mlx5_*\"\n\nnic_include = \"mlx5_0\"\n",
		  ":3: nic_exclude takes out" },
		{ "nic_include = \"mlx5_*\"\nnic_exclude = \"*\"\n",
		  ":2: nic_exclude takes out" },
		{ "nics = 2\nnic_exclude = \"*\"\n",
		  ":2: nics, but nic_exclude takes out all" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_expect x = { .gpus = 7 };
		struct lf_err e = { "" };

		check_int(rows[i].text, read_text(rows[i].text, &x, &e),
			  -EINVAL);
		check_has(rows[i].text, e.text, "machine.conf");
		check_has(rows[i].text, e.text, rows[i].want);
		check_int("untouched", x.gpus, 7);
	}
}

static void taken(void **state)
{
	struct lf_expect x;
	struct lf_err e = { "" };

	check_int(e.text, read_text("", &x, &e), 0);
	check_int("gen", x.pcie_gen, 4);
	check_int("width", x.pcie_width, 16);
	check_int("near", x.affinity_any, false);
	check_int(e.text,
		  read_text("name = \"a\\tb\" /* one */\nproduct = \"*A100*\"\n"
			    "gpus = 8 # two\nnvlinks = 12\npair_nvlinks = 12\n"
			    "pcie_gen = 3\npcie_width = 8\nnics = 9\n"
			    "nic_rate_gbps = 200\nnic_include = \"mlx5_*\"\n"
			    "nic_exclude = \"mlx5_bond_0\"\nnear_nic = false\n",
			    &x, &e),
		  0);
	check_str("name", x.name, "a?b");
	check_str("product", x.product, "*A100*");
	check_int("gpus", x.gpus, 8);
	check_int("nvlinks", x.nvlinks, 12);
	check_int("pair", x.pair_nvlinks, 12);
	check_int("gen", x.pcie_gen, 3);
	check_int("width", x.pcie_width, 8);
	check_int("nics", x.nics, 9);
	check_int("rate", x.nic_rate_mbps, 200000);
	check_str("include", x.include, "mlx5_*");
	check_str("exclude", x.exclude, "mlx5_bond_0");
	check_int("near", x.affinity_any, true);
	/* what only looks like a contradiction */
	check_int(e.text, read_text("nvlinks = -1\npair_nvlinks = 0\n", &x, &e),
		  0);
	check_int(e.text, read_text("pair_nvlinks = 4\n", &x, &e), 0);
	check_int(e.text, read_text("nics = 1\nnic_exclude = \"?\"\n", &x, &e),
		  0);
	check_int(
		e.text,
		read_text("product = \"*\"\ngpus = 1\nnvlinks = 18\n", &x, &e),
		0);
}

/* Unknown NVLinks must not become "none are expected". */
static void learned(void **state)
{
	static const struct {
		const char *row;
		int gpus, links, pair;
		const char *has, *lacks;
	} rows[] = {
		{ "none", 0, -1, -1, "nics = 0", "gpus" },
		{ "unseen", 2, -1, -1, "gpus = 2", "nvlinks" },
		{ "no links", 2, 0, 0, "nvlinks = -1", "pair" },
		{ "no pair", 2, -1, 0, "nvlinks = -1", "pair" },
		{ "a pair", 2, -1, 4, "\npair_nvlinks = 4", "\nnvlinks" },
		{ "links", 2, 12, -1, "\nnvlinks = 12", "pair" },
		{ "one down", 2, 11, 12, "\npair_nvlinks = 11", "12" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_hw *hw = lf_hw_new();
		struct lf_expect x;
		struct lf_err e = { "" };
		char *text;

		for (int g = 0; g < rows[i].gpus; g++) {
			struct lf_hw_gpu *gpu = lf_hw_gpu(hw, g, NULL, NULL);

			lf_hw_set_text(hw, "", "name", gpu->name, "X");
			gpu->links_active = rows[i].links;
		}
		lf_hw_set_nvlink(hw, 0, 1, rows[i].pair);
		text = lf_expect_learn(hw);
		check_has(rows[i].row, text, rows[i].has);
		check_int(rows[i].row, strstr(text, rows[i].lacks) != NULL,
			  false);
		check_int(e.text, read_text(text, &x, &e), 0);
		free(text);
		lf_hw_free(hw);
	}
}

MAIN(T(refused), T(taken), T(learned))
