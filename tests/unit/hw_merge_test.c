/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "hw/model.h"

static struct lf_hw *hw;
static struct lf_hw_gpu *gpu; /* GPU 1 of 2 */
static struct lf_hw_nic *nic;

static void anew(void)
{
	lf_hw_free(hw);
	hw = lf_hw_new();
	assert_non_null(hw);
	assert_non_null(lf_hw_gpu(hw, 0, "17:00.0", NULL));
	gpu = lf_hw_gpu(hw, 1, "27:00.0", NULL);
	nic = lf_hw_nic(hw, "mlx5_0", 1, NULL);
	assert_non_null(gpu);
	assert_non_null(nic);
}

#define INT(name, member)                                                      \
	static void set_##name(int v)                                          \
	{                                                                      \
		lf_hw_set_int(hw, "who", #name, &(member), v);                 \
	}                                                                      \
	static int get_##name(void)                                            \
	{                                                                      \
		return (int)(member);                                          \
	}
#define OTHER(name, member, set)                                               \
	static void set_##name(int v)                                          \
	{                                                                      \
		set;                                                           \
	}                                                                      \
	static int get_##name(void)                                            \
	{                                                                      \
		return (int)(member);                                          \
	}
#define ROW(name) #name, set_##name, get_##name

INT(width, gpu->pcie.width)
INT(max_gen, gpu->pcie.max_gen)
INT(links, gpu->links_active)
INT(fabric_ok, gpu->fabric_ok)
INT(rate, nic->rate_mbps)
INT(peermem, hw->node.peermem)
OTHER(pending, gpu->remap_pending,
      lf_hw_set_high(hw, "who", "x", &gpu->remap_pending, v))
OTHER(acs, hw->node.acs, lf_hw_set_high(hw, "node", "ACS", &hw->node.acs, v))
OTHER(ecc, gpu->ecc_uncorrected, lf_hw_set_ecc(hw, "who", gpu, v))
OTHER(gen, gpu->pcie.gen, lf_hw_set_gen(hw, "who", &gpu->pcie, v))
OTHER(pstate, gpu->pstate, lf_hw_set_pstate(gpu, v))
OTHER(port, nic->state, lf_hw_set_port(hw, nic, (enum lf_hw_port)v))
OTHER(fabric, gpu->fabric, lf_hw_set_fabric(hw, gpu, (enum lf_hw_fabric)v))
OTHER(nvlink, hw->nvlink[0][1], lf_hw_set_nvlink(hw, 1, 0, v))
OTHER(p2p, hw->p2p[1][0], lf_hw_set_p2p(hw, 0, 1, v))
OTHER(path, hw->nic_path[1][0],
      lf_hw_set_nic_path(hw, 1, 0, (enum lf_hw_path)v))

/* Whichever is read first, and also a third time, the worse one holds. */
static void the_worse_holds(void **state)
{
	static const struct {
		const char *name;
		void (*set)(int v);
		int (*get)(void);
		int worse, better;
		uint64_t gpus; /* of the conflict */
		bool quiet;    /* a value that changes by itself */
	} rows[] = {
		{ ROW(width), 8, 16, 2 },
		{ ROW(max_gen), 3, 4, 2 },
		{ ROW(links), 17, 18, 2 },
		{ ROW(links), 0, 18, 2 },
		{ ROW(fabric_ok), 0, 1, 2 },
		{ ROW(rate), 100000, 200000, 0 },
		{ ROW(peermem), 0, 1, 0 },
		{ ROW(pending), 1, 0, 2 },
		{ ROW(acs), 1, 0, 0 },
		{ ROW(ecc), 7, 0, 2 },
		{ ROW(gen), 3, 4, 2 },
		{ ROW(gen), 5, 1, 0, true }, /* one was idle */
		{ ROW(pstate), 0, 8, 0, true },
		{ ROW(port), LF_PORT_INIT, LF_PORT_ACTIVE, 0 },
		{ ROW(port), LF_PORT_DOWN, LF_PORT_INIT, 0 },
		{ ROW(fabric), LF_FABRIC_IN_PROGRESS, LF_FABRIC_COMPLETED, 2 },
		{ ROW(fabric), LF_FABRIC_COMPLETED, LF_FABRIC_NONE, 2 },
		{ ROW(nvlink), 0, 12, 3 },
		{ ROW(p2p), 0, 1, 3 },
		{ ROW(path), LF_PATH_SYS, LF_PATH_PIX, 2 },
	};

	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		bool worse_first = i % 2;
		int worse = rows[i / 2].worse, better = rows[i / 2].better;
		const char *name = rows[i / 2].name;

		anew();
		rows[i / 2].set(worse_first ? worse : better);
		check_int(name, rows[i / 2].get(),
			  worse_first ? worse : better);
		check_int(name, hw->conflicts, 0);
		rows[i / 2].set(worse_first ? better : worse);
		rows[i / 2].set(worse_first ? better : worse);
		check_int(name, rows[i / 2].get(), worse);
		check_int(name, hw->conflicts, !rows[i / 2].quiet);
		check_int(name, (long long)hw->conflict[0].gpus,
			  (long long)rows[i / 2].gpus);
	}
}

static void unknown_says_nothing(void **state)
{
	static const struct {
		const char *name;
		void (*set)(int v);
		int (*get)(void);
		int unknown, value;
	} rows[] = {
		{ ROW(width), -1, 16 },
		{ ROW(pending), -1, 1 },
		{ ROW(ecc), -1, 0 },
		{ ROW(gen), -1, 1 },
		{ ROW(gen), -1, 4 },
		{ ROW(pstate), -1, 8 },
		{ ROW(port), LF_PORT_UNKNOWN, LF_PORT_ACTIVE },
		{ ROW(fabric), LF_FABRIC_UNKNOWN, LF_FABRIC_NONE },
		{ ROW(nvlink), -1, 0 },
		{ ROW(path), LF_PATH_UNKNOWN, LF_PATH_PIX },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		anew();
		rows[i].set(rows[i].unknown);
		check_int(rows[i].name, rows[i].get(), rows[i].unknown);
		rows[i].set(rows[i].value);
		rows[i].set(rows[i].unknown);
		check_int(rows[i].name, rows[i].get(), rows[i].value);
		check_int(rows[i].name, hw->conflicts, 0);
	}
}

static void words_and_names(void **state)
{
	anew();
	lf_hw_set_port(hw, nic, LF_PORT_ACTIVE);
	lf_hw_set_port(hw, nic, LF_PORT_DOWN);
	check_str("what", hw->conflict[0].what, "port state");
	check_str("first", hw->conflict[0].first, "active");
	check_str("second", hw->conflict[0].second, "down");
	lf_hw_set_text(hw, "GPU1", "name", gpu->name, "A100");
	lf_hw_set_text(hw, "GPU1", "name", gpu->name, "H100");
	check_str("the first name", gpu->name, "A100");
	check_int("whose", (long long)hw->conflict[1].gpus, 2);
	lf_hw_set_nvlink(hw, 0, 1, 4);
	lf_hw_set_nvlink(hw, 1, 0, 6);
	lf_hw_set_nvlink(hw, 0, 1, 6);
	check_int("a pair, once", hw->conflicts, 3);
	check_str("pair", hw->conflict[2].subject, "GPU0-GPU1");
	/* NVLink is beside PCIe */
	lf_hw_set_path(hw, 0, 1, LF_PATH_NVLINK);
	lf_hw_set_path(hw, 0, 1, LF_PATH_PIX);
	check_int("path", hw->path[1][0], LF_PATH_NVLINK);
	check_int("conflicts", hw->conflicts, 3);
}

static void more_than_are_kept(void **state)
{
	anew();
	gpu->pcie.width = 1000;
	for (int i = 0; i < LF_HW_CONFLICTS * 2; i++)
		set_width(999 - i);
	check_int("conflicts", hw->conflicts, LF_HW_CONFLICTS);
	check_int("width", gpu->pcie.width, 1000 - LF_HW_CONFLICTS * 2);
	lf_hw_free(hw);
	hw = NULL;
}

MAIN(T(the_worse_holds), T(unknown_says_nothing), T(words_and_names),
     T(more_than_are_kept))
