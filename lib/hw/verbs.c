/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/verbs.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "base/auto.h"
#include "hw/bounded.h"

enum {
	MELLANOX = 0x02c9 /* its OUI, as vendor id */
};

/* What the device's driver says to dma-buf, and the GPU's: 1, 0, -1. */
struct look {
	struct lf_hw *hw;
	int gpu_dmabuf;
	int yes, no; /* RDMA devices of either answer */
};

/* What bit `bits` stands for, in units of the table; -1 for none of them. */
static int of_bit(unsigned bits, const int *table, size_t n)
{
	size_t i = bits ? (size_t)__builtin_ctz(bits) : n;

	return i < n && bits == 1u << i ? table[i] : -1;
}

/* Mb/s as sysfs counts: SDR 2.5, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR. */
static int rate_mbps(unsigned speed, unsigned width)
{
	static const int lane[] = { 2500,  5000,  10000,  10000, 14000,
				    25000, 50000, 100000, 200000 };
	static const int lanes[] = { 1, 4, 8, 12, 2 };
	int mbps = of_bit(speed, lane, sizeof(lane) / sizeof(*lane));
	int n = of_bit(width, lanes, sizeof(lanes) / sizeof(*lanes));

	return mbps > 0 && n > 0 ? mbps * n : -1;
}

static void fill_int(int *field, int value)
{
	if (*field < 0)
		*field = value;
}

static void fill_port(struct lf_hw_nic *n, const struct ibv_port_attr *p)
{
	static const char *const phys[] = { "",
					    "Sleep",
					    "Polling",
					    "Disabled",
					    "PortConfigurationTraining",
					    "LinkUp",
					    "LinkErrorRecovery",
					    "PhyTest" };

	if (n->state == LF_PORT_UNKNOWN && p->state <= IBV_PORT_ACTIVE)
		n->state = (enum lf_hw_port)p->state; /* the same numbers */
	if (!*n->phys && p->phys_state < sizeof(phys) / sizeof(*phys))
		(void)snprintf(n->phys, sizeof(n->phys), "%s",
			       phys[p->phys_state]);
	if (n->layer == LF_LAYER_UNKNOWN)
		n->layer = p->link_layer == IBV_LINK_LAYER_INFINIBAND
				   ? LF_LAYER_IB
			   : p->link_layer == IBV_LINK_LAYER_ETHERNET
				   ? LF_LAYER_ETHERNET
				   : LF_LAYER_UNKNOWN;
	fill_int(&n->rate_mbps, rate_mbps(p->active_speed, p->active_width));
	fill_int(&n->sm_lid, p->sm_lid);
}

/* As sysfs and ibv_devinfo have it: "MT4129", "fe00:0000:0000:0001". */
static void fill_card(struct lf_hw_nic *n, const struct ibv_device_attr *a)
{
	unsigned long long guid = be64toh(a->node_guid);

	if (a->vendor_id == MELLANOX)
		n->vendor = LF_VENDOR_NVIDIA;
	if (!*n->type && a->vendor_id == MELLANOX && a->vendor_part_id)
		(void)snprintf(n->type, sizeof(n->type), "MT%u",
			       a->vendor_part_id);
	if (!*n->guid && guid)
		(void)snprintf(n->guid, sizeof(n->guid),
			       "%04llx:%04llx:%04llx:%04llx", guid >> 48,
			       guid >> 32 & 0xffff, guid >> 16 & 0xffff,
			       guid & 0xffff);
}

/* Without memory of a GPU: a driver that knows dma-buf looks at the file
 * descriptor before anything else, and there is none. */
static int takes_dmabuf(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_mr *mr;
	int err;

	if (!pd)
		return -1;
	errno = 0;
	mr = ibv_reg_dmabuf_mr(pd, 0, 0, 0, -1, 0);
	err = errno;
	if (mr)
		(void)ibv_dereg_mr(mr);
	(void)ibv_dealloc_pd(pd);
	if (err == EBADF)
		return 1;
	return err == EOPNOTSUPP || err == EPROTONOSUPPORT ? 0 : -1;
}

static int both(int a, int b)
{
	if (a == 0 || b == 0)
		return 0;
	return a == 1 && b == 1 ? 1 : -1;
}

/* A peer-memory module serves NVIDIA's own cards; others may have theirs. */
static int gpudirect(const struct look *l, const struct lf_hw_nic *n,
		     int dmabuf)
{
	int peermem = n->vendor == LF_VENDOR_NVIDIA ? l->hw->node.peermem : -1;

	dmabuf = both(dmabuf, l->gpu_dmabuf);
	if (dmabuf == 1 || peermem == 1)
		return 1;
	return dmabuf == 0 && peermem == 0 ? 0 : -1;
}

static void look_at(struct look *l, struct ibv_context *ctx, const char *name)
{
	struct ibv_device_attr a = { .phys_port_cnt = 0 };
	int dmabuf = takes_dmabuf(ctx);

	if (ibv_query_device(ctx, &a) != 0)
		return;
	for (int port = 1; port <= a.phys_port_cnt; port++) {
		struct lf_hw_nic *n = lf_hw_nic(l->hw, name, port, NULL);
		struct ibv_port_attr p;

		if (!n)
			return; /* more than the model holds; sysfs said so */
		if (ibv_query_port(ctx, (uint8_t)port, &p) == 0)
			fill_port(n, &p);
		fill_card(n, &a);
		if (n->is_virtual)
			continue;
		fill_int(&n->gdr, gpudirect(l, n, dmabuf));
		l->yes += dmabuf == 1;
		l->no += dmabuf == 0;
	}
}

/* NVIDIA's driver exports dma-buf in its open flavour only.  CUDA knows as
 * well, after 200 ms a GPU. */
static int gpu_dmabuf(const char *root)
{
	char path[PATH_MAX], text[512];
	lf_autoclose int fd = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s/proc/driver/nvidia/version",
		       root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	return strstr(text, "Open Kernel Module") != NULL;
}

static void sum_up(struct look *l)
{
	if (l->yes + l->no > 0)
		fill_int(&l->hw->node.dmabuf, both(l->yes > 0, l->gpu_dmabuf));
}

/* libibverbs warns of drivers that are not installed, on stderr. */
static void be_silent(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)dup2(fd, STDERR_FILENO);
}

static int read_all(struct lf_hw *hw, const void *root, struct lf_err *e)
{
	struct look l = { .hw = hw };
	struct ibv_device **list;

	be_silent();
	list = ibv_get_device_list(NULL);
	l.gpu_dmabuf = gpu_dmabuf(root);
	for (int i = 0; list && list[i]; i++) {
		struct ibv_context *ctx = ibv_open_device(list[i]);

		if (!ctx) /* shut to us, or on its way out */
			continue;
		look_at(&l, ctx, ibv_get_device_name(list[i]));
		(void)ibv_close_device(ctx);
	}
	if (list)
		ibv_free_device_list(list);
	sum_up(&l);
	return 0;
}

int lf_hw_verbs(struct lf_hw *hw, const char *root, int deadline_ms,
		struct lf_err *e)
{
	const struct lf_hw_bounded b = { read_all, root, "NIC", deadline_ms };

	return lf_hw_bounded(hw, &b, e);
}
