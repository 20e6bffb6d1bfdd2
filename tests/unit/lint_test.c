/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "comm/lint.h"
#include "comm/rules.h"
#include "comm/vars.h"

#define UNKNOWN                                                                \
	{                                                                      \
		.gpus = -1, .nvlink = -1, .rdma = -1, .gdr = -1                \
	}

static bool no_file(const char *path, void *arg)
{
	return false;
}

/* The codes of the findings, "LF-ENV-01 LF-ENV-04 ". */
static const char *codes(const char *env, const struct lf_lint_facts *f)
{
	static char text[2048];
	static struct lf_notes notes;
	struct lf_settings s = { 0 };
	char copy[2048], *p = copy;
	size_t n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", env);
	notes.count = notes.dropped = 0;
	while (*p) {
		char *end = p + strcspn(p, " ");
		bool more = *end;

		*end = '\0';
		assert_int_equal(lf_settings_add_pair(&s, p, "environment"), 0);
		p = end + more;
	}
	lf_lint(&s, f, &notes);
	lf_settings_free(&s);
	text[0] = '\0';
	for (int i = 0; i < notes.count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      n ? " " : "", notes.note[i].code + 3);
	return text;
}

static void check(const char *env, struct lf_lint_facts f, const char *want)
{
	check_str(env, codes(env, &f), want);
}

/* What every good job may have. */
static void healthy(void **state)
{
	static const struct lf_lint_facts f = { .nccl = 28,
						.torch = 11,
						.nodes = 2,
						.tasks = 8,
						.gpus = 8,
						.nvlink = 1,
						.rdma = 1,
						.gdr = 1,
						.ifaces = "lo,eth0,ib0,ib1" };
	static const char *const envs[] = {
		"",
		"PATH=/bin HOME=/root LANG=C NVIDIA_VISIBLE_DEVICES=all",
		"NCCL_VERSION=2.28.9 NCCL_DEBUG=WARN NCCL_DEBUG=INFO",
		"MASTER_ADDR=n1 MASTER_PORT=20000 RANK=15 WORLD_SIZE=16 "
		"LOCAL_RANK=7 LOCAL_WORLD_SIZE=8",
		"NCCL_IB_HCA=mlx5_0,mlx5_1 NCCL_SOCKET_IFNAME=eth,ib",
		"NCCL_SOCKET_IFNAME=^docker,lo GLOO_SOCKET_IFNAME=eth0",
		"NCCL_SOCKET_IFNAME==ib1 NCCL_NET_GDR_LEVEL=PHB "
		"NCCL_P2P_LEVEL=5",
		"NCCL_TUNER_PLUGIN=/opt/lf/t.so NCCL_PROFILER_PLUGIN=/opt/p.so",
		"TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1 "
		"TORCH_NCCL_ASYNC_ERROR_HANDLING=1 TORCH_NCCL_HIGH_PRIORITY=1",
		"NCCL_ALGO=allreduce:tree;broadcast:ring "
		"NCCL_BUFFSIZE=0x400000",
		"NCCL_DEBUG=WARN NCCL_DEBUG_SUBSYS=INIT,NET NCCL_ALGO=^NVLS",
		"CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 CUDA_LAUNCH_BLOCKING=0",
		"CUDA_VISIBLE_DEVICES=GPU-1234,GPU-4321 NCCL_P2P_DISABLE=0",
		"NCCL_INSPECTOR_ENABLE=1 NCCL_FASTRAK_NUM_FLOWS=2 "
		"NCCL_GPUDIRECTTCPX_CTRL_DEV=eth0",
		"TORCH_HOME=/x TORCH_CUDA_ARCH_LIST=9.0 TORCH_LOGS=graph",
		"SLURM_GPUS_PER_TASK=1 SLURM_GPU_BIND=none",
		"NCCL_IB_DISABLE= NCCL_DEBUG= TORCH_DISTRIBUTED_DEBUG=OFF",
	};

	for (size_t i = 0; i < COUNT(envs); i++)
		check(envs[i], f, "");
}

static const struct {
	const char *env, *want;
	struct lf_lint_facts f;
} variables[] = {
	{ "NCCL_DEBUGG=INFO", "ENV-01", UNKNOWN },
	{ "NCCL_IB_HCAS=mlx5", "ENV-01", UNKNOWN },
	{ "NCCL_WHATEVER_ELSE=1", "ENV-01", UNKNOWN },
	{ "NCCL_WHATEVER_ELSE=1", "", { .nccl = 33 } },
	{ "NCCL_HEARTBEAT_TIMEOUT_SEC=1", "ENV-01", UNKNOWN },
	{ "TORCH_NCCL_BLOKING_WAIT=1", "ENV-02", UNKNOWN },
	{ "TORCH_NCCL_ASYNC_ERROR_HANDLNG=1", "ENV-02", UNKNOWN },
	{ "GLOO_SOCKET_IFNAMES=eth0", "ENV-02", UNKNOWN },
	{ "TORCH_NCCL_SOMETHING_WHOLLY_NEW=1", "", UNKNOWN },
	{ "NCCL_SOCKET_TIMEOUT=1800", "ENV-03", UNKNOWN },
	{ "NCCL_TIMEOUT=1800", "ENV-03", { .nccl = 40 } },
	{ "NCCL_GDR_LEVEL=5", "ENV-03", UNKNOWN },
	{ "NCCL_RAS_ENABLE=1", "ENV-04", { .nccl = 21 } },
	{ "NCCL_RAS_ENABLE=1", "", { .nccl = 24 } },
	{ "NCCL_WORK_FIFO_DEPTH=64", "ENV-04", { .nccl = 28 } },
	{ "NCCL_WORK_FIFO_DEPTH=64", "", { .nccl = 20 } },
	{ "NCCL_IB_CUDA_SUPPORT=1", "ENV-04", UNKNOWN },
	{ "TORCH_NCCL_ENABLE_TIMING=1", "ENV-04", { .torch = 1 } },
	{ "NCCL_ASYNC_ERROR_HANDLING=1", "ENV-05", UNKNOWN },
	{ "NCCL_ASYNC_ERROR_HANDLING=1", "", { .torch = 1 } },
	{ "NCCL_IB_TIMEOUT=22s", "ENV-06", UNKNOWN },
	{ "NCCL_IB_TIMEOUT=999999999999999999999", "ENV-06", UNKNOWN },
	{ "NCCL_DEBUG=ERROR", "ENV-06", UNKNOWN },
	{ "NCCL_NET_GDR_LEVEL=NEAR", "ENV-06", UNKNOWN },
	{ "NCCL_SOCKET_FAMILY=IPv4", "ENV-06", UNKNOWN },
	{ "TORCH_NCCL_HIGH_PRIORITY=high", "ENV-06", UNKNOWN },
	{ "TORCH_DISTRIBUTED_DEBUG=ON", "ENV-06", UNKNOWN },
	{ "NCCL_P2P_DISABLE=1", "ENV-08", { .nvlink = 1 } },
	{ "NCCL_P2P_DISABLE=1", "", { .nvlink = 0 } },
	{ "NCCL_P2P_DISABLE=1", "", UNKNOWN },
	{ "NCCL_P2P_LEVEL=LOC", "ENV-08", { .nvlink = 1 } },
	{ "NCCL_IB_DISABLE=1", "ENV-08", { .rdma = 1 } },
	{ "NCCL_IB_DISABLE=1", "", { .rdma = -1 } },
	{ "NCCL_NET=Socket", "ENV-08", { .rdma = 1 } },
	{ "NCCL_NET_GDR_LEVEL=0", "ENV-08", { .gdr = 1 } },
	{ "NCCL_SHM_DISABLE=1", "ENV-08", { .gpus = 8 } },
	{ "NCCL_MAX_NCHANNELS=2", "ENV-08", { .gpus = 8 } },
	{ "NCCL_SOCKET_IFNAME=lo", "ENV-09", { .nodes = 2 } },
	{ "NCCL_SOCKET_IFNAME=lo", "", { .nodes = 1 } },
	{ "NCCL_SOCKET_IFNAME=ens9", "ENV-09", { .ifaces = "lo,eth0" } },
	{ "NCCL_SOCKET_IFNAME==eth", "ENV-09", { .ifaces = "lo,eth0" } },
	{ "GLOO_SOCKET_IFNAME=eth", "ENV-09", { .ifaces = "lo,eth0" } },
	{ "NCCL_DEBUG=INFO", "ENV-10", UNKNOWN },
	{ "NCCL_DEBUG=trace", "ENV-10", UNKNOWN },
	{ "TORCH_DISTRIBUTED_DEBUG=DETAIL", "ENV-10", UNKNOWN },
	{ "TORCH_NCCL_NAN_CHECK=1", "ENV-10", UNKNOWN },
	{ "CUDA_LAUNCH_BLOCKING=1", "ENV-11", UNKNOWN },
	{ "TORCH_NCCL_BLOCKING_WAIT=true", "ENV-11", UNKNOWN },
	{ "PYTORCH_NO_CUDA_MEMORY_CACHING=1", "ENV-11", UNKNOWN },
	{ "NCCL_LAUNCH_MODE=GROUP", "ENV-11", UNKNOWN },
	{ "NCCL_ALGO=Ring", "ENV-12", UNKNOWN },
	{ "NCCL_PROTO=LL128", "ENV-12", UNKNOWN },
	{ "MASTER_ADDR=a MASTER_PORT=1 WORLD_SIZE=2", "", UNKNOWN },
	{ "RANK=0 WORLD_SIZE=2", "ENV-14", UNKNOWN },
	{ "MASTER_PORT=99999", "ENV-14", UNKNOWN },
	{ "RANK=4 WORLD_SIZE=4 MASTER_ADDR=a MASTER_PORT=1", "ENV-14",
	  UNKNOWN },
	{ "RANK=0 WORLD_SIZE=4 MASTER_ADDR=localhost MASTER_PORT=1",
	  "ENV-14",
	  { .nodes = 2 } },
	{ "CUDA_VISIBLE_DEVICES=0,1,0", "ENV-15", UNKNOWN },
	{ "CUDA_VISIBLE_DEVICES=4,5", "ENV-15", { .gpus = 4 } },
	{ "CUDA_VISIBLE_DEVICES=", "ENV-15", { .gpus = 4 } },
	{ "NCCL_IGNORE_NET_MISMATCH=1", "ENV-16", UNKNOWN },
	{ "NCCL_TOPO_FILE=/t.xml", "ENV-17", { .readable = no_file } },
	{ "NCCL_TUNER_PLUGIN=/t.so", "ENV-17", { .readable = no_file } },
	{ "NCCL_TUNER_PLUGIN=aws", "", { .readable = no_file } },
	{ "SLURM_GPUS_PER_TASK=1", "ENV-20", { .tasks = 4 } },
	{ "SLURM_GPU_BIND=single:1", "ENV-20", { .tasks = 4 } },
	{ "SLURM_GPUS_PER_TASK=4", "", { .tasks = 1 } },
};

static void one_variable(void **state)
{
	for (size_t i = 0; i < COUNT(variables); i++)
		check(variables[i].env, variables[i].f, variables[i].want);
}

static void pairs(void **state)
{
	static const struct {
		const char *env, *want;
	} rows[] = {
		{ "NCCL_IB_DISABLE=1 NCCL_IB_HCA=mlx5_0", "ENV-07" },
		{ "NCCL_IB_DISABLE=0 NCCL_IB_HCA=mlx5_0", "" },
		{ "NCCL_IB_DISABLE=1 NCCL_NET=IB", "ENV-07" },
		{ "NCCL_P2P_DISABLE=1 NCCL_P2P_LEVEL=NVL", "ENV-07" },
		{ "NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1", "ENV-07" },
		{ "NCCL_NVLS_ENABLE=0 NCCL_ALGO=allreduce:nvls", "ENV-07" },
		{ "NCCL_NET_GDR_LEVEL=LOC NCCL_NET_GDR_READ=1", "ENV-07" },
		{ "NCCL_DEBUG_SUBSYS=NET", "ENV-07" },
		{ "NCCL_DEBUG_FILE=/tmp/x", "ENV-07" },
		{ "TORCH_NCCL_BLOCKING_WAIT=1 "
		  "TORCH_NCCL_ASYNC_ERROR_HANDLING=1",
		  "ENV-07 ENV-11" },
		{ "TORCH_NCCL_DUMP_ON_TIMEOUT=1 TORCH_FR_BUFFER_SIZE=0",
		  "ENV-07" },
		{ "NCCL_MIN_NCHANNELS=16 NCCL_MAX_NCHANNELS=8", "ENV-07" },
		{ "NCCL_IB_DISABLE=1 NCCL_NET_PLUGIN=sharp", "ENV-13" },
	};
	static const struct lf_lint_facts f = UNKNOWN;

	for (size_t i = 0; i < COUNT(rows); i++)
		check(rows[i].env, f, rows[i].want);
}

static void nearest(void **state)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{ "NCCL_DEBGU", "NCCL_DEBUG" },
		{ "NCCL_SOCKET_IFACE", "NCCL_SOCKET_IFNAME" },
		{ "NCCL_HEARTBEAT_TIMEOUT_SEC",
		  "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC" },
		{ "NCCL_IB_HCAA", "NCCL_IB_HCA" },
		{ "NCCL_P2P_DISABLED", "NCCL_P2P_DISABLE" },
		{ "NCCL_X", "" },
		{ "", "" },
		{ "NCCL_IB_RESILIENCY_PORT_RECOVERY_ALIVE_MSG_BATCH_INTERVAL_"
		  "AND_A_LONG_TAIL_THAT_NO_TABLE_HOLDS",
		  "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got = lf_var_nearest(rows[i].name);

		check_str(rows[i].name, got ? got : "", rows[i].want);
	}
}

/* Every variable that a rule or another table names is a known one. */
static void tables_agree(void **state)
{
	for (int i = 0; i < lf_rules_count; i++) {
		const struct lf_rule *r = &lf_rules[i];

		if (!strncmp(r->name, "NCCL_", 5) ||
		    !strncmp(r->name, "TORCH_NCCL", 10))
			assert_non_null(lf_var_find(r->name));
		if (r->other)
			assert_non_null(lf_var_find(r->other));
		assert_non_null(r->what);
		assert_non_null(r->remedy);
	}
	for (int i = 0; i < lf_folks_count; i++)
		check_int(lf_folks[i].name,
			  lf_var_find(lf_folks[i].name) != NULL,
			  lf_folks[i].torch != 0);
	for (int i = 0; i < lf_vars_count; i++) {
		const struct lf_var *v = &lf_vars[i];

		assert_ptr_equal(lf_var_find(v->name), v); /* no name twice */
		assert_true(!v->last || v->last >= v->first);
		assert_int_equal(v->kind == LF_VAR_WORD ||
					 v->kind == LF_VAR_LIST ||
					 v->kind == LF_VAR_LEVEL,
				 v->words != NULL);
	}
}

/* Values and names of any length and byte. */
static void hostile(void **state)
{
	static const struct lf_lint_facts f = {
		.nodes = 2, .gpus = 8, .nvlink = 1, .rdma = 1, .ifaces = "lo"
	};
	static struct lf_notes notes;
	struct lf_settings s = { 0 };
	static char big[100000], name[3000];

	memset(big, 'x', sizeof(big) - 1);
	memset(name, 'N', sizeof(name) - 1);
	memcpy(name, "NCCL_", 5);
	assert_int_equal(lf_settings_add(&s, name, big, big), 0);
	for (int i = 0; i < lf_vars_count; i++)
		assert_int_equal(lf_settings_add(&s, lf_vars[i].name,
						 i % 2 ? big : ",,=^\xff:\n",
						 "x"),
				 0);
	assert_int_equal(
		lf_settings_add(&s, "CUDA_VISIBLE_DEVICES", ",,,,9", "x"), 0);
	lf_lint(&s, &f, &notes);
	assert_int_equal(notes.count, LF_NOTES);
	assert_true(notes.dropped > 0);
	lf_settings_free(&s);
	for (int i = 0; i < 2 * LF_SETTINGS_MAX; i++)
		if (lf_settings_add(&s, "A", "1", "x") < 0) {
			check_int("bound", i, LF_SETTINGS_MAX);
			break;
		}
	lf_settings_free(&s);
}

MAIN(T(hostile), T(one_variable), T(pairs), T(nearest), T(tables_agree),
     T(healthy))
