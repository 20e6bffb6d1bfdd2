/* SPDX-License-Identifier: Apache-2.0 */
/* roster - what the leader knows of each node: its verdict, and how its facts
 * differ from the others'.  On other nodes it only holds their own. */
#ifndef LF_ROSTER_H
#define LF_ROSTER_H

#include "facts.h"

struct roster;

/* Gathers this node's facts; `leader` is the leader's address, or "".  NULL
 * without memory; roster_free takes NULL. */
struct roster *roster_open(const struct start *s, const char *leader);
void roster_free(struct roster *r);
/* This node's part of a hello that is sent now. */
void roster_add_to(struct roster *r, struct lf_msg *m);
/* Another node's hello. */
void roster_take(struct roster *r, uint32_t node, const struct lf_msg *m);
/* "pass, DGX A100; gdr unknown", or "" as long as it is not known; borrowed. */
const char *roster_verdict(const struct roster *r, uint32_t node);
/* When all are here: logs verdicts and differences. */
void roster_judge(struct roster *r, facts_name_f *name, void *arg);
/* What differs, in one line for people, or ""; borrowed. */
const char *roster_findings(const struct roster *r);

#endif
