/* SPDX-License-Identifier: Apache-2.0 */
/* judge - a machine against what it should be.
 *
 * One function a clause, each looking at the model and the expectation only.
 * A clause's result is its worst finding; what the model does not show is
 * unknown, which ranks below every measured result but above a pass, so that
 * nothing passes unseen.  Pure: no file, no clock.
 */
#ifndef LF_HW_JUDGE_H
#define LF_HW_JUDGE_H

#include "hw/model.h"
#include "hw/software.h"

/* In order of weight: the worst of several is the largest. */
enum lf_result {
	LF_RESULT_NA, /* the clause does not apply */
	LF_RESULT_PASS,
	LF_RESULT_UNKNOWN,
	LF_RESULT_WARN,
	LF_RESULT_FAIL
};

enum lf_clause_id {
	LF_CLAUSE_GPUS,
	LF_CLAUSE_NVLINK,
	LF_CLAUSE_PCIE,
	LF_CLAUSE_RDMA,
	LF_CLAUSE_AFFINITY,
	LF_CLAUSE_FABRIC,
	LF_CLAUSE_HEALTH, /* ECC, row remap, XID */
	LF_CLAUSE_GDR,
	LF_CLAUSE_HOST, /* ACS, IOMMU, memlock, /dev/shm */
	LF_CLAUSE_PEER, /* peer access between GPUs */
	LF_CLAUSE_SOFTWARE, /* driver, CUDA, NCCL */
	LF_CLAUSE_MODEL, /* contradictions between readings */
	LF_CLAUSES
};

/* What is expected; zero or "" is "no expectation but the clause's own rule". */
struct lf_expect {
	char name[LF_HW_TEXT];
	char product[LF_HW_TEXT]; /* GPU name pattern, "*A100-SXM4*" */
	int gpus; /* how many */
	int nvlinks; /* up, per GPU; -1: none are expected, clause n/a */
	int pair_nvlinks; /* least number between two GPUs */
	int pcie_gen, pcie_width;
	int nics; /* active RDMA ports, at least */
	int nic_rate_mbps;
	char include[LF_HW_TEXT], exclude[LF_HW_TEXT]; /* RDMA names, "a,b*" */
	bool affinity_any; /* a NIC near each GPU is not expected */
	struct lf_software software; /* known-good sets; none: not judged */
};

extern const char *const lf_clause_names[LF_CLAUSES];
extern const char *const lf_result_names[]; /* "n/a", "pass", ... */

enum {
	LF_REPORT_FINDINGS = 128
};

struct lf_hw_finding {
	const char *code;
	enum lf_clause_id clause;
	enum lf_result result;
	uint64_t gpus; /* bit i: GPU i of the model; 0: the whole node */
	char subject[LF_HW_TEXT];
	char expected[LF_HW_TEXT], found[LF_HW_TEXT];
	const char *remedy; /* static, or NULL */
};

struct lf_report {
	enum lf_result clause[LF_CLAUSES];
	enum lf_result verdict; /* worst clause, n/a and unknown set aside */
	int findings, dropped;
	struct lf_hw_finding finding[LF_REPORT_FINDINGS];
};

/* Closes the model's NVLinks over switches first, hence not const. */
void lf_judge(struct lf_hw *hw, const struct lf_expect *expect,
	      struct lf_report *report);
/* The original's rule: mesh or torus, PCIe 4 x16, full rate, a near NIC. */
void lf_expect_default(struct lf_expect *e);

#endif
