/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#include <fcntl.h>
#include <ftw.h>

#include "hw/live.h"

#define PCI "sys/bus/pci/devices/"
#define TOP "sys/devices/pci0000:10/0000:10:01.0/"
#define UP  TOP "0000:11:00.0/"

static char root[64];

static int away(const char *path, const struct stat *st, int flag,
		struct FTW *ftw)
{
	return remove(path);
}

static int make_root(void **state)
{
	(void)snprintf(root, sizeof(root), "/tmp/lf-hw-sysfs-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	return nftw(root, away, 16, FTW_DEPTH | FTW_PHYS);
}

/* root/name, with the folders above it. */
static const char *in_root(const char *name)
{
	static char path[512];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s/", root);

	for (const char *s = name; *s; s++) {
		if (*s == '/') {
			path[n] = '\0';
			(void)mkdir(path, 0755);
		}
		path[n++] = *s;
	}
	path[n] = '\0';
	return path;
}

static void put_bytes(const char *name, const void *data, size_t n)
{
	int fd = open(in_root(name), O_CREAT | O_TRUNC | O_WRONLY, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	(void)close(fd);
}

static void put(const char *folder, const char *name, const char *text)
{
	char path[256], line[256];

	(void)snprintf(path, sizeof(path), "%s%s", folder, name);
	(void)snprintf(line, sizeof(line), "%s\n", text);
	put_bytes(path, line, strlen(line));
}

static void put_link(const char *name, const char *target)
{
	assert_int_equal(symlink(target, in_root(name)), 0);
}

/* A device at the end of `chain` below sys/devices/pci0000:10. */
static void put_device(const char *chain, const char *class, const char *vendor,
		       const char *device, const char *speed, const char *width)
{
	char folder[256], name[128], target[256];
	const char *bus = strrchr(chain, '/') ? strrchr(chain, '/') + 1 : chain;

	(void)snprintf(folder, sizeof(folder), "sys/devices/pci0000:10/%s/",
		       chain);
	put(folder, "class", class);
	put(folder, "vendor", vendor);
	put(folder, "device", device);
	put(folder, "current_link_speed", speed);
	put(folder, "current_link_width", width);
	put(folder, "max_link_speed", "32.0 GT/s PCIe");
	put(folder, "max_link_width", "16");
	put(folder, "numa_node", "1");
	(void)snprintf(name, sizeof(name), PCI "%s", bus);
	(void)snprintf(target, sizeof(target), "../../../devices/pci0000:10/%s",
		       chain);
	put_link(name, target);
}

static void put_port(const char *folder, const char *state, const char *rate)
{
	put(folder, "state", state);
	put(folder, "phys_state", "5: LinkUp");
	put(folder, "rate", rate);
	put(folder, "link_layer", "InfiniBand");
	put(folder, "sm_lid", "0x2a");
}

/* One switch with a GPU and a NIC below it, a GPU at another root port, a
 * board's display, and a virtual function. */
static void put_machine(void)
{
	put_device("0000:10:01.0", "0x060400", "0x8086", "0x352a",
		   "32.0 GT/s PCIe", "16");
	put_device("0000:10:01.0/0000:11:00.0", "0x060400", "0x1000", "0xc030",
		   "16.0 GT/s PCIe", "16");
	put_device("0000:10:01.0/0000:11:00.0/0000:12:00.0", "0x060400",
		   "0x1000", "0xc030", "32.0 GT/s PCIe", "16");
	put_device("0000:10:01.0/0000:11:00.0/0000:12:00.0/0000:13:00.0",
		   "0x030200", "0x10de", "0x2330", "2.5 GT/s PCIe", "16");
	put_device("0000:10:01.0/0000:11:00.0/0000:12:01.0", "0x060400",
		   "0x1000", "0xc030", "32.0 GT/s PCIe", "16");
	put_device("0000:10:01.0/0000:11:00.0/0000:12:01.0/0000:14:00.0",
		   "0x020700", "0x15b3", "0x1021", "32.0 GT/s PCIe", "16");
	put_device("0000:10:02.0", "0x060400", "0x8086", "0x352a",
		   "16.0 GT/s PCIe", "8");
	put_device("0000:10:02.0/0000:20:00.0", "0x030200", "0x10de", "0x2330",
		   "16.0 GT/s PCIe", "8");
	put_device("0000:10:03.0", "0x030000", "0x1a03", "0x2000", "Unknown",
		   "255");
	put_device("0000:10:04.0", "0x030200", "0x10de", "0x2330", "Unknown",
		   "0");
	put_link("sys/devices/pci0000:10/0000:10:04.0/physfn",
		 "../0000:10:02.0");

	put(UP "0000:12:01.0/0000:14:00.0/infiniband/mlx5_0/", "hca_type",
	    "MT4129");
	put_port(UP "0000:12:01.0/0000:14:00.0/infiniband/mlx5_0/ports/1/",
		 "4: ACTIVE", "400 Gb/sec (4X NDR)");
	put_port(UP "0000:12:01.0/0000:14:00.0/infiniband/mlx5_0/ports/2/",
		 "2: INIT", "2.5 Gb/sec (1X SDR)");
	put(UP "0000:12:01.0/0000:14:00.0/net/ib0/", "dev_port", "0");
	put(UP "0000:12:01.0/0000:14:00.0/net/ib0/", "operstate", "down");
	put(UP "0000:12:01.0/0000:14:00.0/net/ib1/", "dev_port", "1");
	put(UP "0000:12:01.0/0000:14:00.0/net/ib1/", "operstate", "up");
	put_link("sys/class/infiniband/mlx5_0",
		 "../../devices/pci0000:10/0000:10:01.0/0000:11:00.0/"
		 "0000:12:01.0/0000:14:00.0/infiniband/mlx5_0");
	put("sys/devices/virtual/infiniband/rxe0/ports/1/", "state",
	    "4: ACTIVE");
	put_link("sys/class/infiniband/rxe0",
		 "../../devices/virtual/infiniband/rxe0");

	put("sys/devices/system/node/node0/", "cpulist", "0-3");
	put("sys/devices/system/node/node1/", "cpulist", "4-7");
	put("sys/devices/system/node/node252/", "cpulist", "");
	put("sys/module/nvidia/", "version", "550.54.15");
	put("sys/module/nvidia_peermem/", "refcnt", "0");
	put("sys/class/dmi/id/", "product_name", "A Box");
	put("sys/kernel/iommu_groups/1/", "type", "DMA-FQ");
	put_link(UP "0000:12:00.0/0000:13:00.0/iommu_group",
		 "../../../../../../kernel/iommu_groups/1");
	put("proc/driver/nvidia/gpus/0000:13:00.0/", "information",
	    "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\n"
	    "GPU UUID: \t GPU-0123\nDevice Minor: \t 3");
}

/* PCI configuration space with access control at 0x148. */
static void put_acs(const char *folder, unsigned char control)
{
	unsigned char config[4096] = { 0 };
	char name[256];

	memcpy(config + 0x100, "\x01\x00\x81\x14", 4); /* next: 0x148 */
	memcpy(config + 0x148, "\x0d\x00\x01\x00", 4);
	config[0x148 + 6] = control;
	(void)snprintf(name, sizeof(name), "%sconfig", folder);
	put_bytes(name, config, sizeof(config));
}

static struct lf_hw *live(void)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_non_null(hw);
	if (lf_hw_live_sysfs(hw, root, &e) != 0)
		fail_msg("%s", e.text);
	return hw;
}

static void not_a_sysfs(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_int_equal(lf_hw_live_sysfs(hw, root, &e), -ENOENT);
	has(e.text, "no sysfs");
	put("sys/class/net/", "readme", "");
	assert_int_equal(lf_hw_live_sysfs(hw, root, &e), -ENOENT);
	has(e.text, "neither /sys/bus/pci/devices nor");
	assert_int_equal(lf_hw_live_sysfs(hw, "/nonexistent", &e), -ENOENT);
	lf_hw_free(hw);
}

/* A FIFO must not hang, nonsense must not be believed. */
static void nonsense(void **state)
{
	struct lf_hw *hw;

	put_device("0000:10:01.0", "0x030200", "0x10de", "0x2330", "fast",
		   "-16");
	assert_int_equal(
		remove(in_root(
			"sys/devices/pci0000:10/0000:10:01.0/numa_node")),
		0);
	assert_int_equal(
		mkfifo(in_root("sys/devices/pci0000:10/0000:10:01.0/numa_node"),
		       0600),
		0);
	put_link(PCI "0000:99:00.0", "0000:99:00.0"); /* to itself */
	put(PCI "not-a-device/", "class", "0x030200");
	put("sys/class/infiniband/mlx\033[2J/ports/1/", "state", "4: ACTIVE");
	put_port("sys/class/infiniband/odd/ports/1/", "9: BROKEN", "fast");
	put("sys/class/infiniband/odd/ports/1/", "phys_state", "\033[31m: x");
	hw = live();
	assert_int_equal(hw->gpus, 1);
	assert_int_equal(hw->gpu[0].pcie.gen, -1);
	assert_int_equal(hw->gpu[0].pcie.width, -1);
	assert_int_equal(hw->gpu[0].numa, -1);
	assert_int_equal(hw->nics, 1);
	assert_int_equal(hw->nic[0].state, LF_PORT_UNKNOWN);
	assert_int_equal(hw->nic[0].rate_mbps, -1);
	lf_hw_free(hw);
}

static void gpus(void **state)
{
	struct lf_hw *hw;
	const struct lf_hw_gpu *g;

	put_machine();
	hw = live();
	g = hw->gpu;
	assert_false(hw->partial);
	assert_int_equal(hw->gpus, 2);
	assert_string_equal(g->bus, "0000:13:00.0");
	assert_string_equal(g->name, "NVIDIA H100 80GB HBM3");
	assert_string_equal(g->uuid, "GPU-0123");
	assert_int_equal(g->minor, 3);
	assert_int_equal(g->index, 0);
	assert_int_equal(g->device_id, 0x2330);
	assert_int_equal(g->numa, 1);
	assert_int_equal(g->pcie.gen, 1); /* idle */
	assert_int_equal(g->pcie.width, 16);
	assert_int_equal(g->pcie.max_gen, 5);
	assert_int_equal(g->pcie.max_width, 16);
	assert_int_equal(g->pcie.path_gen, 4);
	assert_int_equal(g[1].pcie.width, 8);
	assert_int_equal(g[1].pcie.path_width, 8);
	assert_int_equal(hw->path[0][1], LF_PATH_PHB);
	assert_false(hw->nvlink_shown);
	lf_hw_free(hw);
}

static void ports(void **state)
{
	struct lf_hw *hw;
	const struct lf_hw_nic *n;

	put_machine();
	hw = live();
	n = hw->nic;
	assert_true(hw->nics_shown);
	assert_int_equal(hw->nics, 3);
	assert_string_equal(n->name, "mlx5_0");
	assert_string_equal(n->type, "MT4129");
	assert_string_equal(n->bus, "0000:14:00.0");
	assert_string_equal(n->phys, "LinkUp");
	assert_int_equal(n->port, 1);
	assert_int_equal(n->state, LF_PORT_ACTIVE);
	assert_int_equal(n->rate_mbps, 400000);
	assert_int_equal(n->layer, LF_LAYER_IB);
	assert_int_equal(n->sm_lid, 0x2a);
	assert_int_equal(n->netdev_up, 0);
	assert_int_equal(n->numa, 1);
	assert_int_equal(hw->nic_path[0][0], LF_PATH_PIX);
	assert_int_equal(hw->nic_path[1][0], LF_PATH_PHB);
	assert_int_equal(n[1].port, 2);
	assert_int_equal(n[1].state, LF_PORT_INIT);
	assert_int_equal(n[1].rate_mbps, 2500);
	assert_int_equal(n[1].netdev_up, 1);
	assert_string_equal(n[2].name, "rxe0");
	assert_true(n[2].is_virtual);
	lf_hw_free(hw);
}

static void node(void **state)
{
	struct lf_hw *hw;

	put_machine();
	hw = live();
	assert_string_equal(hw->node.product, "A Box");
	assert_string_equal(hw->node.driver, "550.54.15");
	assert_int_equal(hw->node.numa_nodes, 2);
	assert_int_equal(hw->node.peermem, 1);
	assert_int_equal(hw->node.iommu, 1);
	assert_int_equal(hw->node.acs, -1); /* no configuration space */
	assert_int_equal(hw->node.gpus_attached, 1);
	lf_hw_free(hw);
}

/* In each of its places; without the driver nothing is known of it. */
static void peer_memory(void **state)
{
	static const char *const places[] = {
		"sys/module/nvidia_peermem/", "sys/module/nv_peer_mem/",
		"sys/kernel/mm/memory_peers/nv_mem/",
		"sys/kernel/mm/memory_peers/nv_mem_nc/"
	};
	struct lf_hw *hw;

	put_device("0000:10:01.0", "0x030200", "0x10de", "0x2330", "16.0",
		   "16");
	for (size_t i = 0; i < COUNT(places); i++) {
		char file[96], folder[96];

		put(places[i], "version", "1");
		(void)snprintf(file, sizeof(file), "%sversion", places[i]);
		(void)snprintf(folder, sizeof(folder), "%s", places[i]);
		for (int driver = 0; driver < 2; driver++) {
			if (driver)
				put("sys/module/nvidia/", "version", "550");
			hw = live();
			same(places[i], "module", hw->node.peermem,
			     driver ? 1 : -1);
			lf_hw_free(hw);
		}
		assert_int_equal(remove(in_root(file)), 0);
		assert_int_equal(remove(in_root(folder)), 0);
		hw = live();
		same(places[i], "none", hw->node.peermem, 0);
		lf_hw_free(hw);
		assert_int_equal(remove(in_root("sys/module/nvidia/version")),
				 0);
		assert_int_equal(remove(in_root("sys/module/nvidia")), 0);
	}
}

static void acs(void **state)
{
	struct lf_hw *hw;

	put_machine();
	put_acs(TOP, 0x1f); /* of a root port: no matter */
	put_acs(UP, 0);
	put_acs(UP "0000:12:00.0/", 0x01);
	put_acs(UP "0000:12:01.0/", 0x00);
	hw = live();
	assert_int_equal(hw->node.acs, 0);
	lf_hw_free(hw);
	put_acs(UP "0000:12:01.0/", 0x0c);
	hw = live();
	assert_int_equal(hw->node.acs, 1);
	lf_hw_free(hw);
}

static void parts_of_a_tree(void **state)
{
	struct lf_hw *hw;

	put_port("mlx5_0/ports/1/", "4: ACTIVE", "200 Gb/sec (4X HDR)");
	hw = live(); /* what was /sys/class/infiniband */
	assert_int_equal(hw->nics, 1);
	assert_int_equal(hw->nic[0].rate_mbps, 200000);
	assert_true(hw->partial);
	lf_hw_free(hw);
	put_port("class/infiniband/mlx5_1/ports/1/", "1: DOWN",
		 "10 Gb/sec (4X SDR)");
	hw = live(); /* what was /sys */
	assert_int_equal(hw->nics, 1);
	assert_string_equal(hw->nic[0].name, "mlx5_1");
	assert_int_equal(hw->nic[0].state, LF_PORT_DOWN);
	lf_hw_free(hw);
}

static void json_damage(void **state)
{
	refuses("{ \"/sys/a\": \"b\", }", "1:", "expected near");
	refuses("{\n\"/sys/a\": 7 }", "1:1: ", "\"/sys/a\": expected text");
	refuses("{ \"/sys/a\": \"b\" }", "1:1: ", "no sysfs");
	refuses("[ \"/sys/a\" ]", "1:1: ", "expected an object");
	refuses("{ \"/sys/a\": \"b\", \"/sys/a\": \"c\" }", "1:", "duplicate");
	refuses("{}", "1:1: ", "no sysfs");
}

static void json(void **state)
{
	struct lf_hw *hw = reads(
		&lf_hw_read_sysfs_json,
		"{ \"/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/ports"
		"/1/state\": \"1: DOWN\\n\","
		"\"/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/ports"
		"/1/rate\": \"200 Gb/sec (4X HDR)\\n\","
		"\"/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/x\": "
		"\"\","
		"\"/sys/bus/pci/devices/0000:4b:00.0/infiniband/mlx5_2/"
		"hca_type\": \"hca_type\\n\","
		"\"/sys/bus/pci/devices/0000:4b:00.0/net/ib2/operstate\": "
		"\"down\\n\","
		"\"/sys/bus/pci/devices/0000:5b:00.0/class\": \"0x030200\\n\","
		"\"/sys/bus/pci/devices/0000:5b:00.0/vendor\": \"0x10de\\n\","
		"\"/sys/class/pci_bus/0000:5b/device/0000:5b:00.0/"
		"current_link_width\": \"16\\n\" }");

	assert_int_equal(hw->nics, 1);
	assert_string_equal(hw->nic[0].name, "mlx5_2");
	assert_string_equal(hw->nic[0].alias, "ib2");
	assert_string_equal(hw->nic[0].type, "");
	assert_string_equal(hw->nic[0].bus, "0000:4b:00.0");
	assert_int_equal(hw->nic[0].state, LF_PORT_DOWN);
	assert_int_equal(hw->nic[0].netdev_up, 0);
	assert_int_equal(hw->gpus, 1);
	assert_int_equal(hw->gpu[0].pcie.width, 16);
	assert_int_equal(hw->nic_path[0][0], LF_PATH_UNKNOWN);
	assert_false(hw->partial);
	lf_hw_free(hw);
}

static void recordings(void **state)
{
	static const struct {
		const char *file;
		int nics, active, up, gen, rate;
	} rows[] = {
		{ "sysfs/dgxa100_good.json", 8, 8, 8, 4, 200000 },
		{ "sysfs/dgxa100_2ports_INIT.json", 8, 6, 6, -1, 200000 },
		{ "sysfs/dgxa100_ib4-operstate-down.json", 8, 8, 7, -1,
		  200000 },
		{ "sysfs/h100_class-infiniband", 9, 9, 0, -1, 400000 },
	};

	NEEDS_SHARED();
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *f = rows[i].file;
		struct lf_hw *hw = recording(f);
		int active = 0, up = 0;

		for (int k = 0; k < hw->nics; k++) {
			active += hw->nic[k].state == LF_PORT_ACTIVE;
			up += hw->nic[k].netdev_up == 1;
			if (hw->nic[k].state != LF_PORT_ACTIVE)
				same(f, "state", (int)hw->nic[k].state,
				     LF_PORT_INIT);
		}
		same(f, "ports", hw->nics, rows[i].nics);
		same(f, "active", active, rows[i].active);
		same(f, "up", up, rows[i].up);
		same(f, "generation", hw->nic[0].pcie.gen, rows[i].gen);
		same(f, "rate", hw->nic[0].rate_mbps, rows[i].rate);
		same(f, "partial", hw->partial, true);
		lf_hw_free(hw);
	}
}

#define IN_ROOT(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest all[] = {
		IN_ROOT(not_a_sysfs),
		IN_ROOT(nonsense),
		IN_ROOT(gpus),
		IN_ROOT(ports),
		IN_ROOT(node),
		IN_ROOT(peer_memory),
		IN_ROOT(acs),
		IN_ROOT(parts_of_a_tree),
		T(json_damage),
		T(json),
		T(recordings),
	};

	return cmocka_run_group_tests_name("hw_sysfs", all, NULL, NULL);
}
