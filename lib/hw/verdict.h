/* SPDX-License-Identifier: Apache-2.0 */
/* verdict - what a node's judgement said, as it lies in RUN/NODE.verdict.
 *
 * Written by root's probe, read by anybody; doc/formats/verdict.md.  It is
 * good for one boot and one basis (a hash of configuration and expectation),
 * and old after a while.  GPUs are bits by number as Slurm counts them: the
 * device minor.  Text and struct are pure; lf_verdict_read is the only shell.
 */
#ifndef LF_HW_VERDICT_H
#define LF_HW_VERDICT_H

#include "base/buf.h"
#include "hw/judge.h"

enum {
	LF_VERDICT_FINDINGS = 32, /* the worst; the others are counted */
	LF_VERDICT_CODE = 16,
	LF_VERDICT_REMEDY = 256,
	LF_VERDICT_MAX = 32768 /* bytes of the file */
};

struct lf_verdict_finding {
	char code[LF_VERDICT_CODE];
	enum lf_clause_id clause;
	enum lf_result result;
	uint64_t gpus; /* 0: the node */
	char subject[LF_HW_TEXT], expected[LF_HW_TEXT], found[LF_HW_TEXT];
	char remedy[LF_VERDICT_REMEDY]; /* or "" */
};

struct lf_verdict {
	char boot[40]; /* /proc/sys/kernel/random/boot_id */
	int64_t time;  /* seconds since 1970 */
	uint64_t basis,
		facts; /* hashes: what it was judged by, what was seen */
	bool recorded; /* of a recording, not of this machine */
	char unseen[LF_HW_TEXT * 2]; /* why the node could not be looked at */
	char machine[LF_HW_TEXT];    /* name of the expected machine, or "" */
	char driver[LF_HW_TEXT];
	int gpus, nics;
	enum lf_result verdict, clause[LF_CLAUSES];
	int findings, dropped;
	struct lf_verdict_finding finding[LF_VERDICT_FINDINGS];
};

/* Fills all but boot, time, basis, facts, recorded and unseen. */
void lf_verdict_take(struct lf_verdict *v, const struct lf_hw *hw,
		     const struct lf_expect *x, const struct lf_report *r);
void lf_verdict_write(const struct lf_verdict *v, struct lf_buf *out);
/* Cuts `text` up.  -EINVAL with line and reason: not one of ours, or damaged.
 */
int lf_verdict_parse(char *text, struct lf_verdict *v, struct lf_err *e);
/* Root's file at RUN/NODE.verdict.  -ENOENT, -EPERM, -EFBIG, -EINVAL. */
int lf_verdict_read(const char *run, const char *node, struct lf_verdict *v,
		    struct lf_err *e);
/* This boot's id; "" where /proc does not say. */
void lf_verdict_boot(char boot[40]);
/* "pass, DGX A100", one line: machine, verdict, the clauses that are not pass.
 */
void lf_verdict_line(const struct lf_verdict *v, char *line, size_t n);

#endif
