/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_fixture.h"

#define CA(name) "CA '" name "'\n\tCA type: MT4129\n\tNumber of ports: 1\n"
#define PORT(state, phys, rate)                                                \
	"\tPort 1:\n\t\tState: " state "\n\t\tPhysical state: " phys           \
	"\n\t\tRate: " rate "\n\t\tSM lid: 3\n\t\tLink layer: InfiniBand\n"

static const struct lf_hw_reader *const ibstat = &lf_hw_read_ibstat;

static void refused(void **state)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{ "", "0:1: no device is named" },
		{ "Port 1:\n", "1:6: a port before its device" },
		{ CA("mlx5_0"), "3:1: no port of mlx5_0" },
		{ "CA ''\n", "1:5: ''' names no device" },
		{ CA("mlx5_0") PORT("Activ", "LinkUp", "400"),
		  "5:10: State: 'Activ' is no state of a port" },
		{ CA("mlx5_0") PORT("Active", "LinkUq", "400"),
		  "6:19: Physical state: 'LinkUq' is no physical state" },
		{ CA("mlx5_0") PORT("Active", "LinkUp", "4oo"),
		  "7:9: Rate: '4oo' is no rate" },
		{ CA("mlx5_0") PORT("Active", "LinkUp", "99999999999"),
		  "7:9: Rate:" },
		{ CA("mlx5_0") "\tPort 999:\n", "4:7: '999:' is no port" },
		{ CA("mlx5_0") "\tPort 1:\n\t\tLink layer: Token Ring\n",
		  "5:15: Link layer: 'Token Ring' is no link layer" },
		{ "Infiniband device 'mlx5_0' bla\n", "1:31: '' is no port" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		must_fail(ibstat, rows[i].text, rows[i].error);
}

static void states(void **state)
{
	static const struct {
		const char *word;
		enum lf_hw_port state;
	} rows[] = {
		{ "Active", LF_PORT_ACTIVE },
		{ "Down", LF_PORT_DOWN },
		{ "Initializing", LF_PORT_INIT },
		{ "Armed", LF_PORT_ARMED },
		{ "4: ACTIVE", LF_PORT_ACTIVE },
		{ "2: INIT", LF_PORT_INIT },
		{ "PORT_DOWN (1)", LF_PORT_DOWN },
		{ "PORT_INIT (2)", LF_PORT_INIT },
		{ "<unknown>", LF_PORT_UNKNOWN },
		{ "...", LF_PORT_UNKNOWN },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		AUTOHW *hw = NULL;
		char text[256];

		(void)snprintf(text, sizeof(text),
			       CA("mlx5_0") "\tPort 1:\n\t\tState: %s\n",
			       rows[i].word);
		hw = must_read(ibstat, text);
		assert_int_equal(hw->nic[0].state, rows[i].state);
	}
}

static void physical_states(void **state)
{
	static const char *const rows[][2] = {
		{ "LinkUp", "LinkUp" },
		{ "5: LinkUp", "LinkUp" },
		{ "LINK_UP (5)", "LinkUp" },
		{ "DISABLED (3)", "Disabled" },
		{ "2: Polling", "Polling" },
		{ "PORT_CONFIGURATION_TRAINNING (4)",
		  "PortConfigurationTraining" },
		{ "LinkErrorRecovery", "LinkErrorRecovery" },
		{ "No state change", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		AUTOHW *hw = NULL;
		char text[256];

		(void)snprintf(text, sizeof(text),
			       CA("mlx5_0") "\tPort 1:\n\t\tphys_state: %s\n",
			       rows[i][0]);
		hw = must_read(ibstat, text);
		assert_string_equal(hw->nic[0].phys, rows[i][1]);
	}
}

/* The last line of a cut text is not believed: 40 may have been 400. */
static void cut(void **state)
{
	AUTOHW *hw = must_read(ibstat, CA("a") PORT("Active", "LinkUp", "400")
					       CA("b") "\tPort 1:\n"
						       "\t\tState: Active\n"
						       "\t\tRate: 40");
	AUTOHW *bare = must_read(ibstat,
				 CA("a") PORT("Down", "Polling", "10") CA("b"));

	assert_true(hw->partial);
	assert_int_equal(hw->nic[0].rate_mbps, 400000);
	assert_int_equal(hw->nic[1].state, LF_PORT_ACTIVE);
	assert_int_equal(hw->nic[1].rate_mbps, -1);
	assert_true(bare->partial);
}

static void devinfo(void **state)
{
	AUTOHW *hw =
		must_read(&lf_hw_read_ibv_devinfo,
			  "hca_id:\tmlx5_9\n\ttransport:\t\tInfiniBand (0)\n"
			  "\tnode_guid:\t\t0c42:a103:0065:0a1e\n"
			  "\tvendor_id:\t0x02c9\n\tvendor_part_id:\t4129\n"
			  "\t\tport:\t1\n\t\t\tstate:\tPORT_ACTIVE (4)\n"
			  "\t\t\tactive_width:\t2X (16)\n"
			  "\t\t\tactive_speed:\t100.0 Gbps (128)\n"
			  "\t\tport:\t2\n\t\t\tstate:\tPORT_DOWN (1)\n"
			  "\t\t\tactive_width:\t4X (2)\n"
			  "\t\t\tactive_speed:\tinvalid speed (0)\n");

	assert_int_equal(hw->nics, 2);
	assert_string_equal(hw->nic[0].type, "MT4129");
	assert_string_equal(hw->nic[1].guid, "0c42:a103:0065:0a1e");
	assert_int_equal(hw->nic[0].rate_mbps, 200000);
	assert_int_equal(hw->nic[1].port, 2);
	assert_int_equal(hw->nic[1].rate_mbps, -1);
	assert_false(hw->partial);
}

static void netdevs(void **state)
{
	const struct lf_hw_reader *r = &lf_hw_read_ibdev2netdev;
	AUTOHW *hw = must_read(r, "mlx5_0 port 1 ==> ib0 (Down)\n"
				  "0000:1b:00.0 mlx5_1 (MT4129 - NA) fw 28.3 "
				  "port 1 (ACTIVE) ==> ens1 (Up)\n");
	AUTOHW *torn = must_read(r, "mlx5_0 port 1 ==> ib0 (Up)\n"
				    "mlx5_1 port 1 ==> ib1 (U");

	assert_int_equal(hw->nic[0].netdev_up, 0);
	assert_int_equal(hw->nic[0].state, LF_PORT_UNKNOWN);
	assert_string_equal(hw->nic[0].alias, "ib0");
	assert_string_equal(hw->nic[1].bus, "0000:1b:00.0");
	assert_int_equal(hw->nic[1].state, LF_PORT_ACTIVE);
	assert_true(torn->partial);
	assert_int_equal(torn->nics, 1);
	must_fail(r, "mlx5_0 port 1 ==> ib0 (Sideways)\n", "1:23: '(Sid");
	must_fail(r, "mlx5_0 port 0 ==> ib0 (Up)\n", "1:13: '0' is no port");
	must_fail(r, "mlx5_0 ==> ib0 (Up)\n", "1:20: no 'DEVICE port N");
	must_fail(r, "", "0:1: no 'DEVICE port N");
}

/* Readers of one machine agree on what a NIC is. */
static void merged(void **state)
{
	static const char links[] = "mlx5_0 port 1 ==> ib0 (Down)\n";
	AUTOHW *hw =
		must_read(ibstat, CA("mlx5_0") PORT("Active", "LinkUp", "400"));

	assert_int_equal(
		lf_hw_read_ibdev2netdev.read(hw, links, strlen(links), NULL),
		0);
	assert_int_equal(hw->nics, 1);
	assert_int_equal(hw->nic[0].netdev_up, 0);
	assert_int_equal(hw->nic[0].state, LF_PORT_ACTIVE);
}

static const struct {
	const char *name;
	const struct lf_hw_reader *reader;
	int nics, active, down, ethernet, rate; /* sum, Gb/s */
} recorded[] = {
	{ "ibdev2netdev_h100_ipoib-down-trap", &lf_hw_read_ibdev2netdev, 12, 0,
	  0, 0, -1 },
	{ "ibdev2netdev_roce_bond0_2down", &lf_hw_read_ibdev2netdev, 12, 0, 0,
	  0, -1 },
	{ "ibstat_cori-gpu_mixed_EDR-FDR-eth10", &lf_hw_read_ibstat, 9, 9, 0, 2,
	  678 },
	{ "ibstat_cx7_Polling_rate10", &lf_hw_read_ibstat, 1, 0, 1, 0, 10 },
	{ "ibstat_h100_1Polling_1Disabled", &lf_hw_read_ibstat, 12, 10, 2, 12,
	  2880 },
	{ "ibstat_h100_8xNDR+bond200", &lf_hw_read_ibstat, 9, 9, 0, 1, 3400 },
	{ "ibstat_h100_8xNDR-ok_3xEthDisabled", &lf_hw_read_ibstat, 12, 9, 3, 4,
	  3420 },
	{ "ibstat_h100_8xRoCE400+4x100", &lf_hw_read_ibstat, 12, 12, 0, 12,
	  3600 },
	{ "ibstatus_a100_8xHDR+eth40", &lf_hw_read_ibstatus, 9, 9, 0, 1, 1640 },
	{ "ibstatus_hopper_5x-disabled", &lf_hw_read_ibstatus, 5, 0, 5, 1, 80 },
	{ "ibv_devinfo-vv_hdr_1active_1disabled", &lf_hw_read_ibv_devinfo, 2, 1,
	  1, 0, 199 },
};

static void fixtures(void **state)
{
	for (size_t i = 0; i < sizeof(recorded) / sizeof(*recorded); i++) {
		int active = 0, down = 0, ethernet = 0, mbps = 0;
		AUTOHW *hw = NULL;
		char name[128];
		const char *text;

		(void)snprintf(name, sizeof(name), "ib/%s.txt",
			       recorded[i].name);
		text = fixture(name);
		hw = must_read(recorded[i].reader, text);
		print_message("# %s\n", name);
		assert_int_equal(hw->nics, recorded[i].nics);
		for (int k = 0; k < hw->nics; k++) {
			const struct lf_hw_nic *n = &hw->nic[k];

			active += n->state == LF_PORT_ACTIVE;
			down += n->state == LF_PORT_DOWN;
			ethernet += n->layer == LF_LAYER_ETHERNET;
			mbps += n->rate_mbps < 0 ? -1000 : n->rate_mbps;
			assert_int_equal(n->port, 1);
		}
		assert_int_equal(active, recorded[i].active);
		assert_int_equal(down, recorded[i].down);
		assert_int_equal(ethernet, recorded[i].ethernet);
		if (recorded[i].rate >= 0)
			assert_int_equal(mbps, recorded[i].rate * 1000);
		assert_false(hw->partial);
		assert_int_equal(hw->conflicts, 0);
		assert_int_equal(recorded[i].reader->claims(text, strlen(text)),
				 80);
		survives_damage(recorded[i].reader, text);
	}
}

static void garbage(void **state)
{
	refuses_garbage(ibstat);
	refuses_garbage(&lf_hw_read_ibdev2netdev);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(refused),	   cmocka_unit_test(states),
		cmocka_unit_test(physical_states), cmocka_unit_test(cut),
		cmocka_unit_test(devinfo),	   cmocka_unit_test(netdevs),
		cmocka_unit_test(merged),	   cmocka_unit_test(fixtures),
		cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests_name("hw_ib", t, NULL, NULL);
}
