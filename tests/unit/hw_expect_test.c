/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "hw/expect.h"

static int read_text(const char *text, struct lf_expect *x, struct lf_err *e)
{
	write_text(scratch("machine.conf"), text);
	return lf_expect_read(scratch("machine.conf"), x, e);
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

MAIN(T(learned))
