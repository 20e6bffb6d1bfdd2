/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <time.h>

#include "comm/symptom.h"

static struct lf_notes notes;

/* The codes told of a text fed in pieces. */
static const char *codes(const char *text, size_t n, size_t piece)
{
	static char out[2048];
	struct lf_symptom_log *log = lf_symptom_open();
	size_t len = 0;

	assert_non_null(log);
	notes.count = notes.dropped = 0;
	for (size_t i = 0; i < n; i += piece)
		lf_symptom_feed(log, text + i, n - i < piece ? n - i : piece);
	lf_symptom_end(log, "log", &notes);
	lf_symptom_close(log);
	out[0] = '\0';
	for (int i = 0; i < notes.count; i++)
		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s",
					i ? " " : "", notes.note[i].code + 3);
	return out;
}

static const struct {
	const char *line, *want;
} each[] = {
	{ "n1:1:1 [0] proxy.cc:1 NCCL WARN something new", "LOG-10" },
	{ "RuntimeError: NCCL error in: x.cpp:1, unhandled system error"
	  " (run with NCCL_DEBUG=INFO), NCCL version 2.18.1",
	  "LOG-11" },
	{ "n:1 [0] misc/ibvwrap.cc:190 NCCL WARN Call to ibv_reg_mr "
	  "failed with error Cannot allocate memory",
	  "LOG-12" },
	{ "NCCL WARN Error while creating shared memory segment "
	  "/dev/shm/nccl-abc (size 9637888)",
	  "LOG-13" },
	{ "OSError: [Errno 28] No space left on device: '/dev/shm/x'",
	  "LOG-13" },
	{ "ERROR: Unexpected bus error encountered in worker. This "
	  "might be caused by insufficient shared memory (shm).",
	  "LOG-13" },
	{ "NVRM: Xid (PCI:0000:17:00): 79, pid=1, GPU has died", "LOG-14" },
	{ "NVRM: Xid (PCI:0000:17:00): 31, pid=1, name=python", "LOG-15" },
	{ "NVRM: GPU 0000:17:00.0: GPU has fallen off the bus.", "LOG-16" },
	{ "RuntimeError: CUDA error: uncorrectable ECC error "
	  "encountered",
	  "LOG-17" },
	{ "step 10 loss: nan lr 1e-4", "LOG-18" },
	{ "{'loss': nan, 'epoch': 1}", "LOG-18" },
	{ "{\"train_loss\": NaN}", "LOG-18" },
	{ "Loss is nan, stopping training", "LOG-18" },
	{ "loss=tensor(nan, device='cuda:0')", "LOG-18" },
	{ "total_loss = -inf", "LOG-18" },
	{ "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to "
	  "allocate 2.00 GiB",
	  "LOG-20" },
	{ "RuntimeError: [errno: 98 - Address already in use]", "LOG-21" },
	{ "RuntimeError: CUDA error: invalid device ordinal", "LOG-22" },
	{ "CUDA error: peer access is not supported between these two "
	  "devices",
	  "LOG-23" },
	{ "RuntimeError: [../third_party/gloo/gloo/transport/tcp/"
	  "pair.cc:799] connect [127.0.0.1]:1: Connection refused",
	  "LOG-24" },
	{ "Timed out after 901 seconds waiting for clients. 1/2 "
	  "clients joined.",
	  "LOG-25" },
	{ "srun: unrecognized option '--loongforge'", "LOG-26" },
	{ "srun: error: /x/spank_loongforge.so: Incompatible Slurm "
	  "plugin version (22.05.8)",
	  "LOG-27" },
	{ "NCCL WARN NET/IB : Got completion from peer 10.0.0.1<1> "
	  "with error 12, opcode 0, len 0, vendor err 129",
	  "LOG-28" },
	{ "NCCL WARN NET/IB : Got completion from peer 10.0.0.1<1> "
	  "with error 5, opcode 0, len 0, vendor err 249",
	  "LOG-29" },
	{ "NCCL WARN Duplicate GPU detected : rank 0 and rank 1", "LOG-30" },
	{ "NCCL WARN Bootstrap : no socket interface found", "LOG-31" },
	{ "CUDA driver version is insufficient for CUDA runtime "
	  "version",
	  "LOG-32" },
	{ "NCCL WARN Mismatched NCCL version detected : rank 0 version",
	  "LOG-33" },
	{ "Detected mismatch between collectives on ranks. Rank 1", "LOG-34" },
	{ "n [0] NCCL INFO NET/IB : No device found.", "LOG-35" },
	{ "n [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0",
	  "LOG-36" },
	{ "CUDA error: system not yet initialized", "LOG-37" },
	{ "Failed to initialize NVML: Driver/library version mismatch",
	  "LOG-38" },
	{ "CUDA error: an illegal memory access was encountered", "LOG-39" },
	{ "CUDA error: device-side assert triggered", "LOG-40" },
	{ "slurmstepd: error: Detected 1 oom_kill event in StepId=1.0",
	  "LOG-41" },
	{ "slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT x DUE TO "
	  "TIME LIMIT ***",
	  "LOG-42" },
	{ "JOB 1 CANCELLED DUE TO NODE FAILURE, SEE SLURMCTLD LOG", "LOG-43" },
	{ "RuntimeError: PytorchStreamReader failed reading zip "
	  "archive",
	  "LOG-44" },
	{ "UserWarning: Anomaly Detection has been enabled. This mode",
	  "LOG-45" },
	{ "NCCL WARN Call to ibv_modify_qp failed with error Invalid "
	  "argument errno 22",
	  "LOG-46" },
	{ "Cannot re-initialize CUDA in forked subprocess", "LOG-47" },
	{ "OSError: [Errno 24] Too many open files", "LOG-48" },
	{ "ImportError: libtorch_cuda.so: undefined symbol: "
	  "ncclCommRegister",
	  "LOG-49" },
	{ "CUDA error: no kernel image is available for execution", "LOG-50" },
	{ "ProcessGroupNCCL's watchdog got stuck for 480 seconds", "LOG-51" },
	{ "OSError: [Errno 122] Disk quota exceeded", "LOG-52" },
	{ "ncclRemoteError: A call failed possibly due to a network "
	  "error or a remote process exited or there was a network "
	  "error",
	  "LOG-54" },
	{ "[Rank 1] Watchdog caught collective operation timeout: "
	  "WorkNCCL(SeqNum=4, OpType=BROADCAST)",
	  "LOG-55" },
};

static void each_line(void **state)
{
	for (size_t i = 0; i < COUNT(each); i++) {
		size_t n = strlen(each[i].line);

		check_str(each[i].line, codes(each[i].line, n, n),
			  each[i].want);
		check_str(each[i].line, codes(each[i].line, n, 1),
			  each[i].want);
	}
}

static void harmless(void **state)
{
	static const char *const lines[] = {
		"n1:1:1 [0] NCCL INFO NET/Plugin: No plugin found "
		"(libnccl-net.so)",
		"NCCL INFO NET/Plugin: Plugin load (libnccl-net.so) returned 2 "
		": libnccl-net.so: cannot open shared object file",
		"NCCL INFO NET/Plugin: Could not find: libnccl-net.so",
		"NCCL INFO Failed to find ncclNetPlugin_v8 symbol.",
		"NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB "
		"ib0:10.0.0.1",
		"NCCL INFO Using network IB",
		"step 1 loss: 2.3026 grad 1.0",
		"loss: 0.0001",
		"loss 0/100",
		"{'loss': 0.5, 'info': 'nan-safe'}",
		"lossy nanosecond",
		"val_loss: infinite patience",
		"loss: nanometer",
		"loss: 0.0000",
		"worker 3 started",
		"NVRM: Xid none",
		"no loss, no nan",
		"ibv_devinfo: ok",
		"shared memory: 64 GB",
	};
	char all[4096];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(lines); i++) {
		check_str(lines[i], codes(lines[i], strlen(lines[i]), 7), "");
		n += (size_t)snprintf(all + n, sizeof(all) - n, "%s\n",
				      lines[i]);
	}
	check_str("all", codes(all, n, 100), "");
}

/* First seen first told; repeated ones counted; the first line is named. */
static void order(void **state)
{
	static const char log[] =
		"start\r\nCUDA out of memory\n\nNCCL WARN x\rloss: nan\n"
		"loss: nan\nNCCL WARN Duplicate GPU detected\n";

	check_str("order", codes(log, strlen(log), 3), "LOG-20 LOG-18 LOG-30");
	check_has("line", notes.note[0].what, "log:2: ");
	check_has("line", notes.note[1].what, "log:4: ");
	check_has("count", notes.note[1].what, "(2 lines)");
	check_has("quote", notes.note[0].found, "CUDA out of memory");
	assert_true(*notes.note[0].remedy != '\0');
}

static void zero_loss(void **state)
{
	static const char log[] = "loss: 0.0\nloss: 0.00\nloss: 0.0e+0\n";

	check_str("twice", codes(log, 19, 9), "");
	check_str("thrice", codes(log, strlen(log), 9), "LOG-19");
}

static void hostile(void **state)
{
	const size_t n = 8 << 20;
	char *big = malloc(n);
	uint32_t x = 1;

	assert_non_null(big);
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		big[i] = (char)(x >> 24);
	}
	(void)codes(big, n, 65536);
	memset(big, 'l', n); /* one line without an end */
	memcpy(big + n - 20, "CUDA out of memory.\n", 20);
	check_str("long", codes(big, n, n), "LOG-20");
	check_has("long", notes.note[0].what, "log:1: ");
	memset(big, 0, n);
	memcpy(big + 100, "CUDA out of memory", 18);
	check_str("NUL", codes(big, n, n), "LOG-20");
	memset(big, '\n', n);
	check_str("empty", codes(big, n, n), "");
	for (size_t i = 0; i + 6 < n; i += 6)
		memcpy(big + i, "loss: ", 6);
	check_str("loss", codes(big, n, n), "");
	free(big);
	check_str("nothing", codes("", 0, 1), "");
}

/* Rows can be told apart, and what is found is lower case. */
static void table(void **state)
{
	for (int i = 0; i < lf_symptoms_count; i++) {
		const struct lf_symptom *s = &lf_symptoms[i];

		assert_true(strlen(s->find) >= 4);
		for (const char *p = s->find; *p; p++)
			assert_false(*p >= 'A' && *p <= 'Z');
		for (const char *p = s->also; p && *p; p++)
			assert_false(*p >= 'A' && *p <= 'Z');
		assert_int_equal(s->code != NULL, s->what != NULL);
		assert_int_equal(s->code != NULL, s->cure != NULL);
	}
}

MAIN(T(hostile), T(each_line), T(harmless), T(order), T(zero_loss), T(table))
