/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_api - the little of NVML's C ABI that is used here, written from
 * NVIDIA's public API reference.  The library is loaded at run time and each
 * function looked up by name, so that any driver will do; nothing is sized by a
 * limit of one release (NVML_NVLINK_MAX_LINKS has been 12, 18 and 36).
 */
#ifndef LF_HW_NVML_API_H
#define LF_HW_NVML_API_H

typedef struct lf_nvml_opaque *lf_nvml_device;

enum {
	NVML_OK = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_SUPPORTED = 3,
	NVML_NO_PERMISSION = 4,
	NVML_DRIVER_NOT_LOADED = 9,
	NVML_LIBRARY_NOT_FOUND = 12,
	NVML_FUNCTION_NOT_FOUND = 13,
	NVML_GPU_IS_LOST = 15,
	NVML_RESET_REQUIRED = 16,
	NVML_VERSION_MISMATCH = 18, /* of library and kernel module */
	NVML_UNKNOWN = 999
};

enum {
	NVML_FI_LINK_SPEED_ALL = 90, /* MB/s, common to all active links */
	NVML_FI_LINK_COUNT = 91,
	NVML_FI_LINK_SPEED = 164 /* MB/s of the link in scope */
};

enum {
	NVML_VALUE_UINT = 1,
	NVML_VALUE_ULONG = 2,
	NVML_VALUE_ULONGLONG = 3,
	NVML_VALUE_INT = 5
};

enum {
	NVML_END_GPU = 0,
	NVML_END_NPU = 1, /* POWER's CPU */
	NVML_END_SWITCH = 2,
	NVML_END_UNKNOWN = 255
};

enum {
	NVML_ECC_UNCORRECTED = 1,
	NVML_ECC_VOLATILE = 0,
	NVML_P2P_READ = 0, /* what is asked for */
	NVML_P2P_NVLINK = 2,
	NVML_P2P_OK = 0, /* what is answered */
	NVML_P2P_UNKNOWN = 6,
	NVML_SCOPE_NODE = 0
};

/* How near two GPUs are. */
enum {
	NVML_TOPO_INTERNAL = 0,
	NVML_TOPO_SINGLE = 10,
	NVML_TOPO_MULTIPLE = 20,
	NVML_TOPO_HOSTBRIDGE = 30,
	NVML_TOPO_NODE = 40,
	NVML_TOPO_SYSTEM = 50
};

enum {
	NVML_FABRIC_NOT_SUPPORTED = 0,
	NVML_FABRIC_NOT_STARTED = 1,
	NVML_FABRIC_IN_PROGRESS = 2,
	NVML_FABRIC_COMPLETED = 3,
	NVML_FABRIC_HEALTHY = 1 /* summary; 0: not told */
};

struct lf_nvml_pci {
	char old_bus[16];
	unsigned domain, bus, device;
	unsigned id; /* device in the upper half, vendor in the lower */
	unsigned subsystem;
	char bus_id[32]; /* "00000000:17:00.0" */
};

struct lf_nvml_field {
	unsigned field, scope;
	long long time, latency;
	int type, result;
	union {
		double d;
		unsigned u;
		unsigned long ul;
		unsigned long long ull;
		long long ll;
		int i;
	} value;
};

/* As of 12.0, without a version. */
struct lf_nvml_fabric {
	unsigned char cluster[16];
	int status;
	unsigned clique;
	unsigned char state;
};

/* Versions 2 and 3 of 12.4 and later; version 2 ends before the summary. */
struct lf_nvml_fabric_v {
	unsigned version;
	unsigned char cluster[16];
	int status;
	unsigned clique;
	unsigned char state;
	unsigned health; /* two bits each, see nvml.c */
	unsigned char summary;
};

#define LF_NVML_VERSION(size, number) ((unsigned)(size) | (number) << 24)
#define LF_NVML_FABRIC_V2	      LF_NVML_VERSION(36, 2U)
#define LF_NVML_FABRIC_V3	      LF_NVML_VERSION(40, 3U)

/* F(member, name in the library, parameters) */
#define LF_NVML_FUNCTIONS(F)                                                   \
	F(init, "nvmlInit_v2", (void))                                         \
	F(shutdown, "nvmlShutdown", (void))                                    \
	F(driver, "nvmlSystemGetDriverVersion", (char *, unsigned))            \
	F(cuda, "nvmlSystemGetCudaDriverVersion_v2", (int *))                  \
	F(count, "nvmlDeviceGetCount_v2", (unsigned *))                        \
	F(by_index, "nvmlDeviceGetHandleByIndex_v2",                           \
	  (unsigned, lf_nvml_device *))                                        \
	F(pci, "nvmlDeviceGetPciInfo_v3",                                      \
	  (lf_nvml_device, struct lf_nvml_pci *))                              \
	F(name, "nvmlDeviceGetName", (lf_nvml_device, char *, unsigned))       \
	F(uuid, "nvmlDeviceGetUUID", (lf_nvml_device, char *, unsigned))       \
	F(minor, "nvmlDeviceGetMinorNumber", (lf_nvml_device, unsigned *))     \
	F(gen, "nvmlDeviceGetCurrPcieLinkGeneration",                          \
	  (lf_nvml_device, unsigned *))                                        \
	F(width, "nvmlDeviceGetCurrPcieLinkWidth",                             \
	  (lf_nvml_device, unsigned *))                                        \
	F(max_gen, "nvmlDeviceGetMaxPcieLinkGeneration",                       \
	  (lf_nvml_device, unsigned *))                                        \
	F(max_width, "nvmlDeviceGetMaxPcieLinkWidth",                          \
	  (lf_nvml_device, unsigned *))                                        \
	F(gpu_max_gen, "nvmlDeviceGetGpuMaxPcieLinkGeneration",                \
	  (lf_nvml_device, unsigned *))                                        \
	F(pstate, "nvmlDeviceGetPerformanceState", (lf_nvml_device, int *))    \
	F(mig, "nvmlDeviceGetMigMode",                                         \
	  (lf_nvml_device, unsigned *, unsigned *))                            \
	F(ecc, "nvmlDeviceGetTotalEccErrors",                                  \
	  (lf_nvml_device, int, int, unsigned long long *))                    \
	F(remap, "nvmlDeviceGetRemappedRows",                                  \
	  (lf_nvml_device, unsigned *, unsigned *, unsigned *, unsigned *))    \
	F(memory_nodes, "nvmlDeviceGetMemoryAffinity",                         \
	  (lf_nvml_device, unsigned, unsigned long *, unsigned))               \
	F(cpus, "nvmlDeviceGetCpuAffinity",                                    \
	  (lf_nvml_device, unsigned, unsigned long *))                         \
	F(fields, "nvmlDeviceGetFieldValues",                                  \
	  (lf_nvml_device, int, struct lf_nvml_field *))                       \
	F(link_state, "nvmlDeviceGetNvLinkState",                              \
	  (lf_nvml_device, unsigned, int *))                                   \
	F(link_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2",                     \
	  (lf_nvml_device, unsigned, struct lf_nvml_pci *))                    \
	F(link_end, "nvmlDeviceGetNvLinkRemoteDeviceType",                     \
	  (lf_nvml_device, unsigned, int *))                                   \
	F(ancestor, "nvmlDeviceGetTopologyCommonAncestor",                     \
	  (lf_nvml_device, lf_nvml_device, int *))                             \
	F(p2p, "nvmlDeviceGetP2PStatus",                                       \
	  (lf_nvml_device, lf_nvml_device, int, int *))                        \
	F(fabric, "nvmlDeviceGetGpuFabricInfo",                                \
	  (lf_nvml_device, struct lf_nvml_fabric *))                           \
	F(fabric_v, "nvmlDeviceGetGpuFabricInfoV",                             \
	  (lf_nvml_device, struct lf_nvml_fabric_v *))

#define LF_NVML_MEMBER(member, name, parameters) int(*member) parameters;

struct lf_nvml_api {
	LF_NVML_FUNCTIONS(LF_NVML_MEMBER)
};

#endif
