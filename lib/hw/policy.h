/* SPDX-License-Identifier: Apache-2.0 */
/* policy - what an administrator lets a verdict lead to.
 *
 * Each clause has an action; not enforced, every action is at most a warning.
 * Rejecting looks at the job's GPUs only, draining at all.  What could not be
 * looked at leads to nothing unless the policy is strict.  Pure.
 */
#ifndef LF_HW_POLICY_H
#define LF_HW_POLICY_H

#include "conf/keys.h"
#include "hw/verdict.h"

/* In order of weight. */
enum lf_action {
	LF_ACTION_OFF,
	LF_ACTION_WARN,
	LF_ACTION_REJECT,
	LF_ACTION_DRAIN
};

extern const char *const lf_action_names[];

struct lf_policy {
	enum lf_action check[LF_CLAUSES];
	bool enforce, strict;
};

void lf_policy_from(const struct lf_values *v, struct lf_policy *p);
/* An administrator's policy becomes what a user's job is told by itself: all
 * warnings, but his own checks reject, whether or not it is enforced. */
void lf_policy_of_user(const struct lf_values *user, struct lf_policy *p);
/* Bits of "0,2-3"; what is no number, as MIG slices, is passed over. */
uint64_t lf_policy_gpus(const char *list);
/* What finding `f` leads to for a job with these GPUs (bits; 0: no GPU). */
enum lf_action lf_policy_finding(const struct lf_policy *p,
				 const struct lf_verdict_finding *f,
				 uint64_t job);
/* The weightiest action for the job; *why is what leads to it, and set unless
 * that is OFF.  Strict: LF-GATE-02 for a clause that nobody could look at. */
enum lf_action lf_policy_decide(const struct lf_policy *p,
				const struct lf_verdict *v, uint64_t job,
				struct lf_verdict_finding *why);

#endif
