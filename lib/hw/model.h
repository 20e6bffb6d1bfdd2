/* SPDX-License-Identifier: Apache-2.0 */
/* model - what is known of one machine: GPUs, links, NICs, and their paths.
 *
 * Filled by any number of readers, live or recorded; what no reader saw stays
 * unknown (-1, NULL or the enum's UNKNOWN), which is never a pass and never a
 * fault.  Merging: a reader finds or adds a GPU or NIC by the keys that it
 * knows; a value that differs from an earlier one is a conflict, and the worse
 * of both holds (merge.c).
 * Pure: no file, no clock.  Bounded by the limits below.
 */
#ifndef LF_HW_MODEL_H
#define LF_HW_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	LF_HW_GPUS = 64, /* a node; the largest seen is 16 */
	LF_HW_NICS = 128, /* RDMA ports; AWS has 32, virtual ones add up */
	LF_HW_TEXT = 96,
	LF_HW_LINKS = 72, /* NVLinks of a GPU; nvml.h has said 12, 18, 36 */
	LF_HW_CONFLICTS = 32,
	LF_HW_NUMA = 64
};

/* How two devices reach each other, nearest first. */
enum lf_hw_path {
	LF_PATH_UNKNOWN,
	LF_PATH_SELF,
	LF_PATH_NVLINK, /* NV#; the count is in nvlink */
	LF_PATH_PIX, /* one PCIe switch */
	LF_PATH_PXB, /* several */
	LF_PATH_PHB, /* host bridge */
	LF_PATH_NODE, /* within a NUMA node, between host bridges */
	LF_PATH_SYS /* between NUMA nodes */
};

enum lf_hw_vendor {
	LF_VENDOR_UNKNOWN,
	LF_VENDOR_NVIDIA,
	LF_VENDOR_OTHER /* judged not applicable */
};

/* Generation 1..7 and lanes; -1 unknown, 0 never. */
struct lf_hw_pcie {
	int gen, width; /* now; an idle GPU lowers gen */
	int max_gen, max_width; /* with this device in this slot */
	int device_max_gen, host_max_gen;
	int path_gen, path_width; /* narrowest port between root and device */
};

/* The worst first. */
enum lf_hw_fabric {
	LF_FABRIC_UNKNOWN,
	LF_FABRIC_NOT_STARTED,
	LF_FABRIC_IN_PROGRESS,
	LF_FABRIC_COMPLETED,
	LF_FABRIC_NONE /* not supported: no NVSwitch fabric */
};

struct lf_hw_gpu {
	char bus[LF_HW_TEXT]; /* "0000:17:00.0", lower case, or "" */
	char uuid[LF_HW_TEXT];
	char name[LF_HW_TEXT]; /* "NVIDIA A100-SXM4-80GB" */
	int index; /* as nvidia-smi counts (PCI order), -1 unknown */
	int minor; /* of /dev/nvidiaN, as Slurm counts; -1 unknown */
	enum lf_hw_vendor vendor;
	int device_id; /* PCI device id, 0x20b2; -1 */
	int numa; /* -1 unknown */
	char cpus[LF_HW_TEXT]; /* CPU affinity list, "" unknown */
	struct lf_hw_pcie pcie;
	int pstate; /* 0 busy .. 15 idle, -1 */
	int mig; /* 1 on, 0 off, -1 */
	int links_active, links_inactive; /* NVLinks seen, -1 unknown */
	int link_mbps; /* speed of one link, MB/s, -1 */
	int switch_links; /* links that end in a switch or a hidden one, -1 */
	enum lf_hw_fabric fabric;
	int fabric_ok; /* status Success and healthy: 1, else 0, -1 unknown */
	char clique[LF_HW_TEXT]; /* "CLUSTERUUID.CLIQUE" or "" */
	int64_t ecc_uncorrected; /* volatile count, -1 */
	int remap_pending, remap_failed; /* rows: 1, 0, -1 */
	int xid; /* last hardware-class XID since boot, 0 none, -1 */
};

enum lf_hw_layer { LF_LAYER_UNKNOWN, LF_LAYER_IB, LF_LAYER_ETHERNET };
enum lf_hw_port { /* the worst first */
	LF_PORT_UNKNOWN,
	LF_PORT_DOWN,
	LF_PORT_INIT,
	LF_PORT_ARMED,
	LF_PORT_ACTIVE
};

/* One port of one RDMA device. */
struct lf_hw_nic {
	char name[LF_HW_TEXT]; /* "mlx5_0", or "" */
	char alias[LF_HW_TEXT]; /* "NIC3" of topo -m, netdev, ... */
	char bus[LF_HW_TEXT];
	char type[LF_HW_TEXT]; /* card, "MT4129" */
	char guid[LF_HW_TEXT];
	int port; /* 1.., -1 */
	int numa;
	enum lf_hw_vendor vendor;
	enum lf_hw_layer layer;
	enum lf_hw_port state; /* the logical one: it decides */
	char phys[LF_HW_TEXT]; /* "LinkUp", "Polling", "Disabled", "" */
	int rate_mbps; /* Mb/s now: 400000, -1 */
	int sm_lid; /* 0: no subnet manager; -1 */
	int netdev_up; /* 1, 0, -1; a hint, never a verdict */
	int gdr; /* GPUDirect RDMA: 1, 0, -1 */
	struct lf_hw_pcie pcie;
	bool is_virtual; /* veth, docker, lo, bond member: not judged */
};

/* Facts of the whole node. */
struct lf_hw_node {
	char driver[LF_HW_TEXT], cuda[LF_HW_TEXT], nccl[LF_HW_TEXT];
	char product[LF_HW_TEXT]; /* "NVIDIA DGX A100" */
	int numa_nodes;
	int peermem; /* nvidia_peermem or nv_peer_mem loaded */
	int dmabuf;
	int acs, iommu; /* 1: on (translated) */
	int64_t memlock_kib; /* -1 unknown, -2 unlimited */
	int64_t shm_mib, shm_free_mib;
	int gpus_attached; /* what the recording says there are, -1 */
};

struct lf_hw_conflict {
	uint64_t gpus; /* bit i: of GPU i; 0: none's */
	char subject[LF_HW_TEXT], what[LF_HW_TEXT];
	char first[LF_HW_TEXT], second[LF_HW_TEXT];
};

struct lf_hw {
	struct lf_hw_node node;
	int gpus, nics;
	struct lf_hw_gpu gpu[LF_HW_GPUS];
	struct lf_hw_nic nic[LF_HW_NICS];
	/* NVLinks between two GPUs, direct or through switches: -1 unknown,
	 * 0 none.  Symmetric. */
	int nvlink[LF_HW_GPUS][LF_HW_GPUS];
	enum lf_hw_path path[LF_HW_GPUS][LF_HW_GPUS];
	enum lf_hw_path nic_path[LF_HW_GPUS][LF_HW_NICS];
	/* Peer access over any link: 1, 0, -1 unknown.  Symmetric. */
	int p2p[LF_HW_GPUS][LF_HW_GPUS];
	bool nvlink_shown; /* a reader could have seen NVLinks */
	bool nics_shown; /* a reader could have seen NICs */
	bool partial; /* cut, or one rank's view: absence proves nothing */
	char partial_why[LF_HW_TEXT * 2];
	int conflicts;
	struct lf_hw_conflict conflict[LF_HW_CONFLICTS];
};

/* Everything unknown.  NULL without memory; lf_hw_free takes NULL. */
struct lf_hw *lf_hw_new(void);
void lf_hw_free(struct lf_hw *hw);

/* Find or add; each key may be NULL or -1, one must be given.  Bus ids are
 * normalised ("00000000:17:00.0" is "0000:17:00.0").  NULL when full. */
struct lf_hw_gpu *lf_hw_gpu(struct lf_hw *hw, int index, const char *bus,
			    const char *uuid);
struct lf_hw_nic *lf_hw_nic(struct lf_hw *hw, const char *name, int port,
			    const char *bus);
int lf_hw_gpu_number(const struct lf_hw *hw, const struct lf_hw_gpu *g);
int lf_hw_nic_number(const struct lf_hw *hw, const struct lf_hw_nic *n);

/* Set if unknown, else compare: a difference becomes a conflict, and the smaller
 * number holds; with _high the greater, with _text the first. */
void lf_hw_set_int(struct lf_hw *hw, const char *subject, const char *what,
		   int *field, int value);
void lf_hw_set_high(struct lf_hw *hw, const char *subject, const char *what,
		    int *field, int value);
void lf_hw_set_text(struct lf_hw *hw, const char *subject, const char *what,
		    char field[LF_HW_TEXT], const char *value);
void lf_hw_set_ecc(struct lf_hw *hw, const char *subject, struct lf_hw_gpu *g,
		   int64_t errors);
/* An idle GPU lowers its generation by itself: a busy one's reading holds. */
void lf_hw_set_gen(struct lf_hw *hw, const char *subject, struct lf_hw_pcie *p,
		   int gen);
void lf_hw_set_pstate(struct lf_hw_gpu *g, int pstate); /* the busiest holds */
void lf_hw_set_port(struct lf_hw *hw, struct lf_hw_nic *n, enum lf_hw_port p);
void lf_hw_set_layer(struct lf_hw *hw, struct lf_hw_nic *n, enum lf_hw_layer l);
void lf_hw_set_fabric(struct lf_hw *hw, struct lf_hw_gpu *g,
		      enum lf_hw_fabric f);
void lf_hw_set_nvlink(struct lf_hw *hw, int a, int b, int count);
void lf_hw_set_p2p(struct lf_hw *hw, int a, int b, int ok);
void lf_hw_set_path(struct lf_hw *hw, int a, int b, enum lf_hw_path p);
void lf_hw_set_nic_path(struct lf_hw *hw, int gpu, int nic, enum lf_hw_path p);
/* Marks the model as partial, once. */
void lf_hw_mark_partial(struct lf_hw *hw, const char *why);

/* "0000:17:00.0" from any form, "" for none. */
void lf_hw_bus(const char *text, char out[LF_HW_TEXT]);
const char *lf_hw_path_name(enum lf_hw_path p); /* "PIX", "?" */
extern const char *const lf_hw_port_names[]; /* "down", "?" */

#endif
