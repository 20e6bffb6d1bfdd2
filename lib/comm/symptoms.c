/* SPDX-License-Identifier: Apache-2.0 */
/* The table.  Of several rows that fit a line the first is told, so that the
 * particular stands before the general. */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "comm/symptom.h"

/* What follows a name of the loss, past quotes, colons and filler words. */
static const char *loss_value(const char *at)
{
	static const char *const filler[] = { "is ", "became ", "value ",
					      "tensor", "=" };

	for (size_t i = 0; i < sizeof(filler) / sizeof(*filler); i++) {
		at += strspn(at, " \t\"':=([{>");
		if (!strncmp(at, filler[i], strlen(filler[i])))
			at += strlen(filler[i]);
	}
	return at + strspn(at, " \t\"':=([{>-");
}

static int loss_is_nan(const char *line)
{
	for (const char *p = line; (p = strstr(p, "loss")); p++) {
		const char *v = loss_value(p + 4);

		if ((!strncmp(v, "nan", 3) || !strncmp(v, "inf", 3)) &&
		    !isalnum((unsigned char)v[3]) && v[3] != '_')
			return 1;
	}
	return 0;
}

/* "loss: 0.0000": not "loss: 0.0001", not "loss: 0/100". */
static int loss_is_zero(const char *line)
{
	for (const char *p = line; (p = strstr(p, "loss")); p++) {
		const char *v = loss_value(p + 4);
		char *end;

		if (strncmp(v, "0.0", 3) != 0)
			continue;
		if (strtod(v, &end) == 0 && !isalnum((unsigned char)*end))
			return 1;
	}
	return 0;
}

/* The number after the bus id: "xid (pci:0000:17:00): 79, ..." */
static int xid_of(const char *line)
{
	const char *p = strstr(line, "xid (");

	p = p ? strstr(p, "):") : NULL;
	return p ? (int)strtol(p + 2, NULL, 10) : -1;
}

/* Of the GPU, its memory or its links; the others are a program's. */
static int xid_is_hardware(const char *line)
{
	static const short codes[] = { 46,  48,	 54,  61,  62,	63, 64,
				       74,  79,	 81,  92,  94,	95, 110,
				       119, 120, 123, 136, 140, 143 };
	int xid = xid_of(line);

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if (codes[i] == xid)
			return 1;
	return 0;
}

static int xid_is_program(const char *line)
{
	return xid_of(line) > 0;
}

/* Status 5 is what a completion has after another failed. */
static int completion_is_retry(const char *line)
{
	return strstr(line, "error 12") || strstr(line, "status=12") ||
	       strstr(line, "status 12");
}

#define PORTS "port state, cable and switch: ibstat, loongforge check"
#define SHM   "a larger /dev/shm: in a container --shm-size or --ipc=host"
#define RESET "drain the node; reset or replace the GPU"
#define ALIKE "the same container and modules on every node"
#define PORT                                                                   \
	"another job holds MASTER_PORT, or a rest of this one: let "           \
	"--loongforge choose it"
#define MEMLOCK                                                                \
	"LimitMEMLOCK=infinity in slurmd's unit; "                             \
	"PropagateResourceLimitsExcept=MEMLOCK"
#define HARMLESS NULL, 0, NULL, NULL

const struct lf_symptom lf_symptoms[] = {
	{ NULL, "no plugin found", NULL, HARMLESS },
	{ NULL, "failed to find nccl", NULL, HARMLESS },
	{ NULL, "could not find: libnccl", NULL, HARMLESS },
	{ NULL, "plugin load (libnccl-", NULL, HARMLESS },

	{ "LF-LOG-12", "ibv_", "cannot allocate memory", NULL, 0,
	  "RDMA memory could not be registered: locked memory is limited",
	  MEMLOCK },
	{ "LF-LOG-13", "shared memory", "/dev/shm", NULL, 0,
	  "/dev/shm is full or too small", SHM },
	{ "LF-LOG-13", "/dev/shm", "no space left", NULL, 0,
	  "/dev/shm is full or too small", SHM },
	{ "LF-LOG-13", "unable to allocate shared memory", NULL, NULL, 0,
	  "/dev/shm is full or too small", SHM },
	{ "LF-LOG-13", "bus error", "worker", NULL, 0,
	  "a data loader worker found /dev/shm full", SHM },
	{ "LF-LOG-13", "unable to write to file </torch_", NULL, NULL, 0,
	  "/dev/shm is full or too small", SHM },
	{ "LF-LOG-14", "nvrm: xid", NULL, xid_is_hardware, 0,
	  "the driver reports a fault of the GPU or its links (XID)", RESET },
	{ "LF-LOG-15", "nvrm: xid", NULL, xid_is_program, 0,
	  "the driver reports a fault of a program (XID)",
	  "an illegal access: run once with CUDA_LAUNCH_BLOCKING=1 or "
	  "compute-sanitizer" },
	{ "LF-LOG-16", "fallen off the bus", NULL, NULL, 0,
	  "a GPU has fallen off the bus", RESET },
	{ "LF-LOG-16", "gpu is lost", NULL, NULL, 0,
	  "a GPU has fallen off the bus", RESET },
	{ "LF-LOG-17", "uncorrectable ecc", NULL, NULL, 0,
	  "GPU memory has an uncorrectable error", RESET },
	{ "LF-LOG-18", "loss", NULL, loss_is_nan, 0, "the loss is not a number",
	  "lower the learning rate, clip gradients; with lossy reduction go "
	  "dense" },
	{ "LF-LOG-19", "loss", NULL, loss_is_zero, 3,
	  "the loss is zero again and again",
	  "masked labels or a dead branch: look at the gradients by module" },
	{ "LF-LOG-20", "cuda out of memory", NULL, NULL, 0,
	  "GPU memory was not enough",
	  "a smaller batch, more accumulation, or checkpointed activations; "
	  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True" },
	{ "LF-LOG-20", "cublas_status_alloc_failed", NULL, NULL, 0,
	  "GPU memory was not enough", "a smaller batch" },
	{ "LF-LOG-21", "address already in use", NULL, NULL, 0,
	  "a port is taken: MASTER_PORT, as a rule", PORT },
	{ "LF-LOG-21", "eaddrinuse", NULL, NULL, 0,
	  "a port is taken: MASTER_PORT, as a rule", PORT },
	{ "LF-LOG-21", "failed to listen on any local network", NULL, NULL, 0,
	  "a port is taken: MASTER_PORT, as a rule", PORT },
	{ "LF-LOG-22", "invalid device ordinal", NULL, NULL, 0,
	  "a process asks for a GPU that it cannot see",
	  "device ids count within CUDA_VISIBLE_DEVICES; with one GPU a task "
	  "it is 0" },
	{ "LF-LOG-23", "peer access is not supported", NULL, NULL, 0,
	  "two GPUs cannot reach each other's memory",
	  "ACS or a virtual machine: loongforge topo; NCCL_P2P_DISABLE only "
	  "to prove it" },
	{ "LF-LOG-24", "gloo", "connection refused", NULL, 0,
	  "gloo could not reach another rank",
	  "GLOO_SOCKET_IFNAME: an interface that every node has" },
	{ "LF-LOG-24", "connectfullmesh failed", NULL, NULL, 0,
	  "gloo could not reach another rank",
	  "GLOO_SOCKET_IFNAME: an interface that every node has" },
	{ "LF-LOG-25", "clients joined", NULL, NULL, 0,
	  "ranks are missing at the rendezvous",
	  "did every node start? is MASTER_ADDR the first node's name?" },
	{ "LF-LOG-25", "client socket has timed out", NULL, NULL, 0,
	  "the rendezvous was not reached",
	  "did rank 0 start? is MASTER_ADDR the first node's name?" },
	{ "LF-LOG-26", "option '--loongforge", NULL, NULL, 0,
	  "Slurm does not know the plugin here",
	  "add it to plugstack.conf on this host: loongforge doctor" },
	{ "LF-LOG-26", "option: --loongforge", NULL, NULL, 0,
	  "Slurm does not know the plugin here",
	  "add it to plugstack.conf on this host: loongforge doctor" },
	{ "LF-LOG-27", "incompatible slurm plugin", NULL, NULL, 0,
	  "a plugin was built for another Slurm",
	  "build it for the running major.minor: loongforge doctor" },
	{ "LF-LOG-27", "incompatible plugin version", NULL, NULL, 0,
	  "a plugin was built for another Slurm",
	  "build it for the running major.minor: loongforge doctor" },
	{ "LF-LOG-28", "got completion", NULL, completion_is_retry, 0,
	  "a peer no longer answers over RDMA (retries exceeded)",
	  PORTS "; RoCE: GID index and priority" },
	{ "LF-LOG-29", "got completion", NULL, NULL, 0,
	  "an RDMA operation failed", PORTS },
	{ "LF-LOG-30", "duplicate gpu detected", NULL, NULL, 0,
	  "two ranks use one GPU",
	  "torch.cuda.set_device(LOCAL_RANK); --gpu-bind=none" },
	{ "LF-LOG-31", "no socket interface found", NULL, NULL, 0,
	  "NCCL found no network interface",
	  "NCCL_SOCKET_IFNAME names none of this node's" },
	{ "LF-LOG-32", "cuda driver version is insufficient", NULL, NULL, 0,
	  "the driver is older than the CUDA of the program",
	  "a newer driver, or a build for an older CUDA" },
	{ "LF-LOG-33", "mismatched nccl version", NULL, NULL, 0,
	  "ranks have different NCCLs", ALIKE },
	{ "LF-LOG-33", "nccl version mismatch", NULL, NULL, 0,
	  "ranks have different NCCLs", ALIKE },
	{ "LF-LOG-34", "mismatched collective", NULL, NULL, 0,
	  "ranks call different collectives",
	  "a branch by rank: TORCH_DISTRIBUTED_DEBUG=DETAIL names it once" },
	{ "LF-LOG-34", "mismatch between collectives", NULL, NULL, 0,
	  "ranks call different collectives",
	  "a branch by rank around a collective" },
	{ "LF-LOG-35", "net/ib : no device found", NULL, NULL, 0,
	  "NCCL found no RDMA port and takes sockets",
	  "are /dev/infiniband and libibverbs inside the container?" },
	{ "LF-LOG-35", "failed to open libibverbs", NULL, NULL, 0,
	  "NCCL found no libibverbs and takes sockets",
	  "install rdma-core in the container" },
	{ "LF-LOG-36", "gpu direct rdma disabled", NULL, NULL, 0,
	  "GPUDirect RDMA is off",
	  "nvidia_peermem or dma-buf; NIC and GPU below one switch: "
	  "loongforge check" },
	{ "LF-LOG-37", "system not yet initialized", NULL, NULL, 0,
	  "the NVSwitch fabric is not up",
	  "start nvidia-fabricmanager, of the driver's version" },
	{ "LF-LOG-37", "cuda_error_system_not_ready", NULL, NULL, 0,
	  "the NVSwitch fabric is not up",
	  "start nvidia-fabricmanager, of the driver's version" },
	{ "LF-LOG-38", "driver/library version mismatch", NULL, NULL, 0,
	  "the driver was replaced while loaded",
	  "restart the node, or reload the modules" },
	{ "LF-LOG-39", "illegal memory access", NULL, NULL, 0,
	  "a kernel accessed memory that is not its own",
	  "run once with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer" },
	{ "LF-LOG-40", "device-side assert", NULL, NULL, 0,
	  "a kernel's check failed, as a rule an index out of range",
	  "labels and token ids against their tables' sizes" },
	{ "LF-LOG-41", "oom_kill", NULL, NULL, 0,
	  "the job's memory limit was reached",
	  "more --mem, fewer loader workers" },
	{ "LF-LOG-41", "oom-kill", NULL, NULL, 0,
	  "the job's memory limit was reached",
	  "more --mem, fewer loader workers" },
	{ "LF-LOG-41", "out of memory: killed process", NULL, NULL, 0,
	  "the node's memory was exhausted",
	  "more --mem, fewer loader workers" },
	{ "LF-LOG-41", "killed by signal: killed", "worker", NULL, 0,
	  "a data loader worker was killed, as a rule for memory",
	  "more --mem, fewer loader workers" },
	{ "LF-LOG-42", "due to time limit", NULL, NULL, 0,
	  "the job's time was over", "a longer --time, or requeue it" },
	{ "LF-LOG-43", "due to node failure", NULL, NULL, 0, "a node failed",
	  "sinfo -R; the checkpoint takes over" },
	{ "LF-LOG-44", "pytorchstreamreader failed", NULL, NULL, 0,
	  "a checkpoint cannot be read",
	  "take the one before it; it was cut while it was written" },
	{ "LF-LOG-44", "invalid header or archive is corrupted", NULL, NULL, 0,
	  "a checkpoint cannot be read",
	  "take the one before it; it was cut while it was written" },
	{ "LF-LOG-44", "error while deserializing header", NULL, NULL, 0,
	  "a safetensors file cannot be read",
	  "take the checkpoint before it" },
	{ "LF-LOG-45", "anomaly detection has been enabled", NULL, NULL, 0,
	  "detect_anomaly is on: steps take up to three times as long",
	  "remove it from the script" },
	{ "LF-LOG-46", "ibv_modify_qp", NULL, NULL, 0,
	  "an RDMA connection could not be made",
	  "RoCE: NCCL_IB_GID_INDEX is not valid on every node; " PORTS },
	{ "LF-LOG-47", "in forked subprocess", "cuda", NULL, 0,
	  "CUDA was used before a fork",
	  "multiprocessing_context=\"spawn\", or no CUDA before the loader" },
	{ "LF-LOG-48", "too many open files", NULL, NULL, 0,
	  "the limit of open files was reached",
	  "ulimit -n 65536; torch.multiprocessing sharing strategy "
	  "file_system" },
	{ "LF-LOG-49", "undefined symbol: nccl", NULL, NULL, 0,
	  "PyTorch found another NCCL than its own",
	  "take the other from LD_LIBRARY_PATH; loongforge doctor --pid" },
	{ "LF-LOG-50", "no kernel image is available", NULL, NULL, 0,
	  "the program has no code for this GPU",
	  "a build for the GPU's compute capability" },
	{ "LF-LOG-51", "watchdog got stuck", NULL, NULL, 0,
	  "PyTorch's watchdog hung, as a rule in a CUDA call",
	  "look at what the ranks did last: the first other finding" },
	{ "LF-LOG-52", "no space left on device", NULL, NULL, 0,
	  "a file system is full", "df, and the quota of the folder" },
	{ "LF-LOG-52", "disk quota exceeded", NULL, NULL, 0,
	  "a quota is used up", "df, and the quota of the folder" },
	{ "LF-LOG-53", "tuner plugin", "fail", NULL, 0,
	  "NCCL could not use a tuner plug-in",
	  "loongforge doctor --pid compares the interfaces" },
	{ "LF-LOG-54", "remote process exited or there was a network error",
	  NULL, NULL, 0, "another rank ended or was cut off",
	  "its own log has the cause, not this one" },
	{ "LF-LOG-55", "watchdog caught collective operation timeout", NULL,
	  NULL, 0, "a collective did not end in time: a rank is missing",
	  "which rank, and what it did last: the flight recorder; look for "
	  "an earlier fault of another rank" },
	{ "LF-LOG-11", "unhandled system error", NULL, NULL, 0,
	  "NCCL: a system call failed",
	  "NCCL_DEBUG=WARN names it; RDMA port INIT means no subnet manager; "
	  "driver and NCCL: loongforge check" },
	{ "LF-LOG-10", "nccl warn", NULL, NULL, 0, "NCCL warns",
	  "the first warning is the cause; later ones follow from it" },
};

const int lf_symptoms_count = sizeof(lf_symptoms) / sizeof(*lf_symptoms);
