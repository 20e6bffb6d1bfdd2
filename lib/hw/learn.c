/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/expect.h"

#include "base/buf.h"
#include "base/limits.h"

static int common(const struct lf_hw *hw,
		  int (*value)(const struct lf_hw_gpu *))
{
	int least = -1;

	for (int i = 0; i < hw->gpus; i++) {
		int v = value(&hw->gpu[i]);

		if (least < 0 || (v >= 0 && v < least))
			least = v;
	}
	return least;
}

static int links_of(const struct lf_hw_gpu *g)
{
	return g->links_active;
}

static int gen_of(const struct lf_hw_gpu *g)
{
	return g->pcie.max_gen > g->pcie.gen ? g->pcie.max_gen : g->pcie.gen;
}

static int width_of(const struct lf_hw_gpu *g)
{
	return g->pcie.width;
}

static int active_nics(const struct lf_hw *hw, int *rate)
{
	int n = 0;

	*rate = -1;
	for (int i = 0; i < hw->nics; i++) {
		const struct lf_hw_nic *c = &hw->nic[i];

		if (c->is_virtual || c->state != LF_PORT_ACTIVE)
			continue;
		n++;
		if (*rate < 0 || (c->rate_mbps > 0 && c->rate_mbps < *rate))
			*rate = c->rate_mbps;
	}
	return n;
}

static int least_pair(const struct lf_hw *hw)
{
	int pair = -1;

	for (int i = 0; i < hw->gpus; i++)
		for (int j = 0; j < i; j++)
			if (pair < 0 || hw->nvlink[i][j] < pair)
				pair = hw->nvlink[i][j];
	return pair;
}

/* Nothing where nobody saw them: that is not to expect none. */
static void add_links(const struct lf_hw *hw, struct lf_buf *b)
{
	int links = common(hw, links_of), pair = least_pair(hw);

	if (links > 0)
		lf_buf_add(b, "nvlinks = %d\n", links);
	if (links > 0 && pair > links) /* some were down */
		pair = links;
	if (pair > 0)
		lf_buf_add(b, "pair_nvlinks = %d\n", pair);
	if (links <= 0 && pair <= 0 && (links == 0 || pair == 0))
		lf_buf_add(b, "nvlinks = -1\n");
}

char *lf_expect_learn(const struct lf_hw *hw)
{
	struct lf_buf b = LF_BUF(LF_CONF_MAX);
	int rate, nics = active_nics(hw, &rate);

	lf_buf_add(&b, "name = \"learned\"\n");
	if (hw->gpus > 0 && *hw->gpu[0].name)
		lf_buf_add(&b, "product = \"%s\"\ngpus = %d\n", hw->gpu[0].name,
			   hw->gpus);
	add_links(hw, &b);
	if (common(hw, gen_of) > 0)
		lf_buf_add(&b, "pcie_gen = %d\n", common(hw, gen_of));
	if (common(hw, width_of) > 0)
		lf_buf_add(&b, "pcie_width = %d\n", common(hw, width_of));
	lf_buf_add(&b, "nics = %d\n", nics);
	if (rate > 0)
		lf_buf_add(&b, "nic_rate_gbps = %d\n", rate / 1000);
	return b.text;
}
