/* SPDX-License-Identifier: Apache-2.0 */
/* judging - what the clauses of the judgement share; private to judge*.c.
 *
 * A clause looks at the model and the expectation, worsens its own result and
 * adds findings, each of which worsens it too.  A clause that does nothing is
 * not applicable.
 */
#ifndef LF_HW_JUDGING_H
#define LF_HW_JUDGING_H

#include <stdio.h>

#include "hw/judge.h"

struct judging {
	const struct lf_hw *hw;
	const struct lf_expect *x;
	struct lf_report *r;
	enum lf_clause_id clause;
};

void lf_worsen(struct judging *j, enum lf_result result);
/* Adds a finding and returns it for its expected and found texts. */
struct lf_hw_finding *lf_finding(struct judging *j, const char *code,
				 enum lf_result result, const char *subject,
				 ...) __attribute__((format(printf, 4, 5)));
/* One about a GPU: "GPU3 (0000:17:00.0): WHAT". */
struct lf_hw_finding *lf_finding_gpu(struct judging *j, const char *code,
				     enum lf_result result, int gpu,
				     const char *what);
#define SAY(field, ...) (void)snprintf((field), sizeof(field), __VA_ARGS__)

bool lf_any_mig(const struct lf_hw *hw);

void lf_judge_gpus(struct judging *j); /* judge.c */
void lf_judge_nvlink(struct judging *j); /* judge_nvlink.c */
void lf_judge_pcie(struct judging *j); /* judge_pcie.c */
void lf_judge_rdma(struct judging *j); /* judge_rdma.c */
void lf_judge_affinity(struct judging *j);
void lf_judge_fabric(struct judging *j); /* judge_nvlink.c */
void lf_judge_health(struct judging *j); /* judge_host.c */
void lf_judge_gdr(struct judging *j); /* judge_rdma.c */
void lf_judge_host(struct judging *j); /* judge_host.c */
void lf_judge_peer(struct judging *j); /* judge_peer.c */
void lf_judge_software(struct judging *j); /* judge_software.c */
void lf_judge_model(struct judging *j); /* judge.c */

#endif
