/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "conf/keys.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/parse.h"
#include "conf/value.h"

static int number(const struct lf_key *k, const char *text)
{
	uint64_t v;

	return lf_parse_u64(text, k->min, k->max, &v);
}

static int yes_no(const struct lf_key *k, const char *text)
{
	bool v;

	return lf_parse_bool(text, &v);
}

static int ports(const struct lf_key *k, const char *text)
{
	uint16_t low, high;
	int rc = lf_value_ports(text, &low, &high);

	return rc < 0 || high - low < LF_PORT_CANDIDATES ? -EINVAL : 0;
}

static int memlock(const struct lf_key *k, const char *text)
{
	uint64_t v;

	if (!strcmp(text, "unlimited") || !strcmp(text, "keep"))
		return 0;
	return lf_value_size(text, &v);
}

/* Where `text` stands, in any case, among the words of `expected`, which reads
 * "a, b or c"; or NULL. */
static const char *find_word(const struct lf_key *k, const char *text)
{
	size_t n = strlen(text);
	const char *at = k->expected;

	if (n == 0 || strpbrk(text, ", ") || !strcasecmp(text, "or"))
		return NULL;
	while (strncasecmp(at, text, n) != 0 || !strchr(", ", at[n])) {
		at += strcspn(at, " ");
		if (!*at++)
			return NULL;
	}
	return at;
}

static int word(const struct lf_key *k, const char *text)
{
	return find_word(k, text) ? 0 : -EINVAL;
}

static int path(const struct lf_key *k, const char *text)
{
	return !*text || *text == '/' ? 0 : -EINVAL;
}

#define YES_NO "yes or no"

/* What becomes of a job or a node where this clause of the judgement fails.  A
 * user may only add to it (plan.c), for his own job. */
#define CHECK(clause, value, help)                                             \
	{                                                                      \
		"check." clause, value, true, word, 0, 0,                      \
			"off, warn, reject or drain", help                     \
	}

const struct lf_key lf_keys[LF_KEYS] = {
	[LF_KEY_DRAIN_SECONDS] = { "launch.drain_seconds", "15", false, number,
				   1, LF_DRAIN_SECS_MAX, "seconds, 1 to 300",
				   "Time for the orchestrator to end after the "
				   "last task; keep below KillWait - 5." },
	[LF_KEY_HELLO_SECONDS] = { "launch.hello_seconds", "30", false, number,
				   1, LF_HELLO_SECS_MAX, "seconds, 1 to 600",
				   "Time in which every node of a step must "
				   "say "
				   "hello before the step is cancelled." },
	[LF_KEY_PORTS] = { "launch.ports", LF_PORTS_DEFAULT, false, ports, 0, 0,
			   "LOW-HIGH, at least 9 ports",
			   "TCP ports for MASTER_PORT and between nodes; alike "
			   "on every node." },
	[LF_KEY_MEMLOCK] = { "memory.memlock", "unlimited", false, memlock, 0,
			     0, "unlimited, keep, or a size such as 64G",
			     "Locked-memory limit that tasks get." },
	[LF_KEY_MEMORY_POLICY] = { "memory.policy", "preferred", true, word, 0,
				   0, "preferred or off",
				   "Prefer memory near the task's GPUs." },
	[LF_KEY_RENDEZVOUS] = { "env.rendezvous", "yes", true, yes_no, 0, 0,
				YES_NO,
				"Set MASTER_ADDR, MASTER_PORT, RANK, "
				"WORLD_SIZE, LOCAL_RANK." },
	[LF_KEY_THREADS] = { "env.threads", "yes", true, yes_no, 0, 0, YES_NO,
			     "Set OMP_NUM_THREADS to the task's CPUs." },
	[LF_KEY_RECORDER] = { "env.recorder", "yes", true, yes_no, 0, 0, YES_NO,
			      "Turn PyTorch's NCCL flight recorder on." },
	[LF_KEY_PYTHON] = { "env.python", "yes", true, yes_no, 0, 0, YES_NO,
			    "Append LoongForge's Python package to "
			    "PYTHONPATH." },
	[LF_KEY_LOG_LEVEL] = { "log.level", "INFO", true, word, 0, 0,
			       "ERROR, WARN, INFO or DEBUG",
			       "What the orchestrator's log holds." },
	[LF_KEY_LOG_DIR] = { "log.dir", "", true, path, 0, 0,
			     "an absolute path, or empty",
			     "Where the orchestrator logs; empty: "
			     ".loongforge/JOB in the submission folder." },
	[LF_KEY_GATE_JOBS] = { "gate.jobs", "gpu-jobs", false, word, 0, 0,
			       "gpu-jobs, all or asked",
			       "Jobs whose nodes are judged: those with GPUs, "
			       "all, or those that ask with --loongforge." },
	[LF_KEY_GATE_ENFORCE] = { "gate.enforce", "warn", false, word, 0, 0,
				  "warn or on",
				  "warn: tell only; on: reject and drain as "
				  "the "
				  "checks say." },
	[LF_KEY_GATE_STRICT] = { "gate.strict", "no", false, yes_no, 0, 0,
				 YES_NO,
				 "Treat what could not be looked at as "
				 "failed." },
	[LF_KEY_GATE_MAX_AGE] = { "gate.max_age", "600", false, number, 0,
				  86400, "seconds, 0 to 86400",
				  "How long the prolog trusts a verdict." },
	[LF_KEY_GATE_MACHINE] = { "gate.machine", "", false, path, 0, 0,
				  "an absolute path, or empty",
				  "What a node should be (`loongforge check "
				  "--learn`; %n: its name); empty: by its "
				  "GPUs." },
	[LF_KEY_GATE_RECORDING] = { "gate.recording", "", false, path, 0, 0,
				    "an absolute path, or empty",
				    "Judge this recording on nodes without "
				    "GPUs (%n: the node's name); for tests." },
	[LF_KEY_GATE_SLURM] = { "gate.slurm", "", false, path, 0, 0,
				"an absolute path, or empty",
				"The folder of scontrol and sinfo; empty: "
				"/usr/bin, /usr/local/bin or "
				"/opt/slurm/bin." },
	[LF_KEY_BREAKER_NODES] = { "breaker.nodes", "4", false, number, 0,
				   LF_NODES_MAX, "nodes, 0 to 65536",
				   "Draining stops where the gate has already "
				   "drained so many nodes ..." },
	[LF_KEY_BREAKER_PERCENT] = { "breaker.percent", "10", false, number, 0,
				     100, "percent, 0 to 100",
				     "... or so much of the partition, if that "
				     "is more ..." },
	[LF_KEY_BREAKER_MINUTES] = { "breaker.minutes", "30", false, number, 1,
				     10080, "minutes, 1 to 10080",
				     "... in so short a time." },
	[LF_KEY_CHECKS] = CHECK("gpus", "drain", "GPUs of the node."),
	CHECK("nvlink", "drain", "NVLinks and their graph."),
	CHECK("pcie", "drain", "PCIe generation and width."),
	CHECK("rdma", "drain", "RDMA ports: state and rate."),
	CHECK("affinity", "warn", "A near network card for each GPU."),
	CHECK("fabric", "drain", "NVSwitch fabric."),
	CHECK("health", "drain", "ECC errors, row remaps, XIDs."),
	CHECK("gdr", "warn", "GPUDirect RDMA."),
	CHECK("host", "warn", "ACS, IOMMU, locked memory, /dev/shm."),
	CHECK("peer", "warn", "Peer access between GPUs."),
	CHECK("software", "warn", "Driver, CUDA and NCCL versions."),
	CHECK("model", "warn", "Contradictions between sources."),
};

int lf_keys_find(const char *name)
{
	for (int i = 0; i < LF_KEYS; i++)
		if (strcmp(name, lf_keys[i].name) == 0)
			return i;
	return -ENOENT;
}

void lf_keys_defaults(struct lf_values *v)
{
	for (int i = 0; i < LF_KEYS; i++) {
		(void)snprintf(v->text[i], LF_VALUE_MAX, "%s",
			       lf_keys[i].value);
		v->given[i] = false;
	}
}

/* A value that is good, as the table spells it. */
static void keep(const struct lf_key *k, const char *value, char *out)
{
	size_t n = strlen(value);
	bool yes;

	if (k->check == word)
		value = find_word(k, value);
	else if (k->check == yes_no && lf_parse_bool(value, &yes) == 0) {
		value = yes ? "yes" : "no";
		n = strlen(value);
	}
	(void)snprintf(out, LF_VALUE_MAX, "%.*s", (int)n, value);
}

int lf_keys_set(struct lf_values *v, const char *name, const char *value,
		bool as_user, struct lf_err *e)
{
	int i = lf_keys_find(name);

	if (i < 0)
		return lf_err(e, i, "unknown key '%.64s'", name);
	if (as_user && !lf_keys[i].user)
		return lf_err(e, -EPERM,
			      "key '%s' belongs to the administrator", name);
	if (strlen(value) >= LF_VALUE_MAX || strpbrk(value, "\n;") ||
	    lf_keys[i].check(&lf_keys[i], value) < 0)
		return lf_err(e, -EINVAL, "%s: expected %s, found '%.64s'",
			      name, lf_keys[i].expected, value);
	keep(&lf_keys[i], value, v->text[i]);
	v->given[i] = true;
	return 0;
}

int lf_keys_set_list(struct lf_values *v, const char *list, struct lf_err *e)
{
	struct lf_values next = *v;
	char copy[LF_SET_MAX], *cursor = copy, *key, *value;
	int rc;

	if (snprintf(copy, sizeof(copy), "%s", list) >= (int)sizeof(copy))
		return lf_err(e, -E2BIG,
			      "expected at most %d bytes, found %zu",
			      LF_SET_MAX - 1, strlen(list));
	while ((rc = lf_parse_pair(&cursor, ';', &key, &value)) > 0) {
		rc = lf_keys_set(&next, key, value, true, e);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return lf_err(e, rc, "expected KEY=VALUE, found '%.64s'", key);
	*v = next;
	return 0;
}

uint64_t lf_keys_number(const struct lf_values *v, enum lf_key_id id)
{
	uint64_t n = 0;

	(void)lf_parse_u64(v->text[id], 0, UINT64_MAX, &n);
	return n;
}

bool lf_keys_bool(const struct lf_values *v, enum lf_key_id id)
{
	bool yes = false;

	(void)lf_parse_bool(v->text[id], &yes);
	return yes;
}
