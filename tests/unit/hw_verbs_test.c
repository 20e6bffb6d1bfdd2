/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#include "base/clock.h"
#include "fake/verbs.h"
#include "hw/verbs.h"

enum {
	MELLANOX = 0x02c9,
	OTHER = 0x1d0f
};

static char root[64]; /* of /proc/driver/nvidia/version */

/* The driver's own first line; NULL: no driver. */
static void gpu_driver(const char *version)
{
	char path[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/proc/driver/nvidia/version",
		       root);
	(void)unlink(path);
	if (!version)
		return;
	f = fopen(path, "we");
	assert_non_null(f);
	(void)fputs(version, f);
	assert_int_equal(fclose(f), 0);
}

static const char folders[][32] = { "/proc", "/proc/driver",
				    "/proc/driver/nvidia" };

static int setup(void **state)
{
	char path[256];

	(void)snprintf(root, sizeof(root), "/tmp/lf-hw-verbs-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < COUNT(folders); i++) {
		(void)snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		if (mkdir(path, 0755) < 0)
			return -1;
	}
	return 0;
}

static int teardown(void **state)
{
	char path[256];

	gpu_driver(NULL);
	for (size_t i = COUNT(folders); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		(void)rmdir(path);
	}
	return rmdir(root);
}

static const char open_driver[] =
	"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  "
	"Release Build  (x@)  \nGCC version:  gcc version 15.3.0 (GCC) \n";
static const char closed_driver[] =
	"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug "
	"19 01:15:15 UTC 2023\nGCC version:  gcc version 12.2.0\n";

/* Every case starts without devices and drivers. */
static int begin(void **state)
{
	fake_reset();
	gpu_driver(NULL);
	return 0;
}

/* An NDR port, 4X, of a ConnectX-7. */
static struct fake_hca *add(const char *name)
{
	struct fake_hca *h = &fake->hca[fake->hcas++];

	*h = (struct fake_hca){ .name = name,
				.vendor = MELLANOX,
				.part = 4129,
				.guid = 0xb83fd20300c1a2f4,
				.dmabuf = EBADF,
				.ports = 1 };
	h->port[0] =
		(struct ibv_port_attr){ .state = IBV_PORT_ACTIVE,
					.phys_state = 5,
					.active_speed = 128,
					.active_width = 2,
					.link_layer = IBV_LINK_LAYER_INFINIBAND,
					.sm_lid = 7 };
	return h;
}

static void look(struct lf_hw *hw)
{
	struct lf_err e = { "" };

	if (lf_hw_verbs(hw, root, 10000, &e) != 0)
		fail_msg("%s", e.text);
	assert_int_equal(fake->held, 0);
}

static void no_devices(void **state)
{
	struct lf_hw *hw = lf_hw_new(), *before = lf_hw_new();

	gpu_driver(open_driver);
	hw->node.peermem = before->node.peermem = 1;
	for (int none = 0; none < 2; none++) {
		fake->none = none;
		look(hw);
		assert_memory_equal(hw, before, sizeof(*hw));
	}
	lf_hw_free(hw);
	lf_hw_free(before);
}

/* Neither the command nor what it knows goes down with a driver. */
static void a_driver_that_is_sick(void **state)
{
	struct lf_hw *hw = lf_hw_new(), *before = lf_hw_new();
	struct lf_err e = { "" };
	uint64_t begun = lf_clock_ms();

	(void)add("mlx5_0");
	add("mlx5_1")->mood = FAKE_HANGS;
	assert_int_equal(lf_hw_verbs(hw, root, 300, &e), -ETIMEDOUT);
	assert_string_equal(e.text,
			    "this machine: expected its NIC driver to answer "
			    "within 0.3 s, found it hanging: look at dmesg; a "
			    "reset of the NIC or a reboot helps");
	assert_in_range(lf_clock_ms() - begun, 300, 5000);
	fake->hca[1].mood = FAKE_CRASHES;
	assert_int_equal(lf_hw_verbs(hw, root, 10000, &e), -EIO);
	has(e.text, "its NIC driver says, found its library ended by signal 9");
	assert_memory_equal(hw, before, sizeof(*hw));
	lf_hw_free(hw);
	lf_hw_free(before);
}

static void a_port(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	const struct lf_hw_nic *n = hw->nic;

	(void)add("mlx5_0");
	look(hw);
	assert_int_equal(hw->nics, 1);
	assert_string_equal(n->name, "mlx5_0");
	assert_string_equal(n->type, "MT4129");
	assert_string_equal(n->guid, "b83f:d203:00c1:a2f4");
	assert_string_equal(n->phys, "LinkUp");
	assert_int_equal(n->port, 1);
	assert_int_equal(n->state, LF_PORT_ACTIVE);
	assert_int_equal(n->layer, LF_LAYER_IB);
	assert_int_equal(n->rate_mbps, 400000);
	assert_int_equal(n->sm_lid, 7);
	assert_int_equal(n->vendor, LF_VENDOR_NVIDIA);
	/* Whether the GPU's driver takes part is not known. */
	assert_int_equal(n->gdr, -1);
	assert_int_equal(hw->node.dmabuf, -1);
	lf_hw_free(hw);
}

static void rates(void **state)
{
	static const struct {
		uint8_t speed, width;
		int mbps;
	} rows[] = {
		{ 1, 1, 2500 },	     { 1, 2, 10000 },	 { 2, 2, 20000 },
		{ 4, 2, 40000 },     { 8, 2, 40000 },	 { 16, 2, 56000 },
		{ 32, 2, 100000 },   { 64, 2, 200000 },	 { 128, 2, 400000 },
		{ 128, 16, 200000 }, { 128, 4, 800000 }, { 64, 8, 600000 },
		{ 0, 2, -1 },	     { 128, 0, -1 },	 { 3, 2, -1 },
		{ 128, 3, -1 },	     { 128, 32, -1 },	 { 255, 255, -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_hw *hw = lf_hw_new();
		struct fake_hca *h;
		char row[32];

		(void)snprintf(row, sizeof(row), "speed %d, width %d",
			       rows[i].speed, rows[i].width);
		fake_reset();
		h = add("mlx5_0");
		h->port[0].active_speed = rows[i].speed;
		h->port[0].active_width = rows[i].width;
		look(hw);
		same(row, "rate", hw->nic[0].rate_mbps, rows[i].mbps);
		lf_hw_free(hw);
	}
}

static void states(void **state)
{
	static const struct {
		int state, phys, layer;
		enum lf_hw_port want;
		const char *want_phys;
		enum lf_hw_layer want_layer;
	} rows[] = {
		{ 0, 0, 0, LF_PORT_UNKNOWN, "", LF_LAYER_UNKNOWN },
		{ 1, 2, 1, LF_PORT_DOWN, "Polling", LF_LAYER_IB },
		{ 1, 3, 2, LF_PORT_DOWN, "Disabled", LF_LAYER_ETHERNET },
		{ 2, 5, 1, LF_PORT_INIT, "LinkUp", LF_LAYER_IB },
		{ 3, 5, 1, LF_PORT_ARMED, "LinkUp", LF_LAYER_IB },
		{ 4, 7, 2, LF_PORT_ACTIVE, "PhyTest", LF_LAYER_ETHERNET },
		{ 5, 8, 3, LF_PORT_UNKNOWN, "", LF_LAYER_UNKNOWN },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_hw *hw = lf_hw_new();
		struct fake_hca *h;
		char row[32];

		(void)snprintf(row, sizeof(row), "row %zu", i);
		fake_reset();
		h = add("mlx5_0");
		h->port[0].state = (enum ibv_port_state)rows[i].state;
		h->port[0].phys_state = (uint8_t)rows[i].phys;
		h->port[0].link_layer = (uint8_t)rows[i].layer;
		look(hw);
		same(row, "state", hw->nic[0].state, rows[i].want);
		same(row, "layer", hw->nic[0].layer, rows[i].want_layer);
		assert_string_equal(hw->nic[0].phys, rows[i].want_phys);
		lf_hw_free(hw);
	}
}

/* sysfs was first, and a library may be older than the speeds it reports. */
static void what_sysfs_knows_stays(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_hw_nic *n = lf_hw_nic(hw, "mlx5_0", 1, "0000:18:00.0");

	(void)add("mlx5_0");
	n->state = LF_PORT_INIT;
	n->rate_mbps = 800000;
	(void)snprintf(n->phys, sizeof(n->phys), "Polling");
	look(hw);
	assert_int_equal(hw->nics, 1);
	assert_int_equal(hw->conflicts, 0);
	assert_int_equal(n->state, LF_PORT_INIT);
	assert_int_equal(n->rate_mbps, 800000);
	assert_string_equal(n->phys, "Polling");
	assert_string_equal(n->bus, "0000:18:00.0");
	assert_int_equal(n->sm_lid, 7);
	lf_hw_free(hw);
}

static void shut_and_two_ports(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	struct fake_hca *h;

	add("mlx5_0")->mood = FAKE_SHUT;
	h = add("mlx5_1");
	h->ports = 2;
	h->port[1] = h->port[0];
	h->port[1].state = IBV_PORT_DOWN;
	look(hw);
	assert_int_equal(hw->nics, 2);
	assert_string_equal(hw->nic[0].name, "mlx5_1");
	assert_int_equal(hw->nic[0].state, LF_PORT_ACTIVE);
	assert_string_equal(hw->nic[1].name, "mlx5_1");
	assert_int_equal(hw->nic[1].port, 2);
	assert_int_equal(hw->nic[1].state, LF_PORT_DOWN);
	lf_hw_free(hw);
}

static void gpudirect(void **state)
{
	static const struct {
		const char *name, *driver; /* of the GPU */
		uint32_t vendor;
		int peermem, error; /* of the NIC's driver */
		int dmabuf, gdr;
	} rows[] = {
		{ "both take dma-buf", open_driver, MELLANOX, 0, EBADF, 1, 1 },
		{ "a card of others", open_driver, OTHER, 0, EBADF, 1, 1 },
		{ "old kernel", open_driver, MELLANOX, 0, EOPNOTSUPP, 0, 0 },
		{ "old NIC driver", open_driver, MELLANOX, 0, EPROTONOSUPPORT,
		  0, 0 },
		{ "no answer", open_driver, MELLANOX, 0, ENOMEM, -1, -1 },
		{ "closed GPU driver", closed_driver, MELLANOX, 0, EBADF, 0,
		  0 },
		{ "module", closed_driver, MELLANOX, 1, EBADF, 0, 1 },
		{ "module, old kernel", open_driver, MELLANOX, 1, EOPNOTSUPP, 0,
		  1 },
		{ "others may have their own", closed_driver, OTHER, 0, EBADF,
		  0, -1 },
		{ "no GPU driver", NULL, MELLANOX, -1, EBADF, -1, -1 },
		{ "no GPU driver, old kernel", NULL, MELLANOX, -1, EOPNOTSUPP,
		  0, -1 },
		{ "module not seen", open_driver, MELLANOX, -1, EOPNOTSUPP, 0,
		  -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_hw *hw = lf_hw_new();
		struct fake_hca *h;

		fake_reset();
		h = add("mlx5_0");
		h->vendor = rows[i].vendor;
		h->dmabuf = rows[i].error;
		gpu_driver(rows[i].driver);
		hw->node.peermem = rows[i].peermem;
		look(hw);
		same(rows[i].name, "dma-buf", hw->node.dmabuf, rows[i].dmabuf);
		same(rows[i].name, "GPUDirect", hw->nic[0].gdr, rows[i].gdr);
		same(rows[i].name, "module", hw->node.peermem, rows[i].peermem);
		lf_hw_free(hw);
	}
}

/* Soft RDMA says nothing about the machine. */
static void virtual_devices(void **state)
{
	struct lf_hw *hw = lf_hw_new();

	gpu_driver(open_driver);
	lf_hw_nic(hw, "rxe0", 1, NULL)->is_virtual = true;
	add("rxe0")->vendor = 0;
	look(hw);
	assert_int_equal(hw->nics, 1);
	assert_int_equal(hw->nic[0].gdr, -1);
	assert_int_equal(hw->node.dmabuf, -1);
	assert_string_equal(hw->nic[0].type, "");
	lf_hw_free(hw);
}

#define C(f) cmocka_unit_test_setup(f, begin)

int main(void)
{
	const struct CMUnitTest all[] = {
		C(no_devices),	   C(a_driver_that_is_sick),
		C(a_port),	   C(rates),
		C(states),	   C(what_sysfs_knows_stays),
		C(gpudirect),	   C(shut_and_two_ports),
		C(virtual_devices)
	};

	(void)alarm(240);
	return cmocka_run_group_tests_name(__BASE_FILE__, all, setup, teardown);
}
