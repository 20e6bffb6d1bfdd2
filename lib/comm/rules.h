/* SPDX-License-Identifier: Apache-2.0 */
/* rules - what one variable, or two together, mean for a job: a table. */
#ifndef LF_COMM_RULES_H
#define LF_COMM_RULES_H

#include "comm/lint.h"

/* When a rule applies; what is not known makes no rule apply. */
enum lf_rule_when {
	LF_WHEN_ALWAYS,
	LF_WHEN_NVLINK,
	LF_WHEN_RDMA,
	LF_WHEN_GDR,
	LF_WHEN_NODES, /* several of them */
	LF_WHEN_GPUS   /* several on this node */
};

/* `is`: "*" set, "!" not set, "on" or "off" as a switch, "~X" holds X, "<N" a
 * number below N, else words separated by commas.  Case does not matter. */
struct lf_rule {
	const char *code;
	const char *name, *is;
	const char *other, *other_is; /* NULL: one variable is enough */
	enum lf_rule_when when;
	const char *what, *remedy;
};

extern const struct lf_rule lf_rules[];
extern const int lf_rules_count;

/* A name that nothing reads although people set it, with what to do instead. */
struct lf_folk {
	const char *name, *instead;
	int torch; /* minor from which another name holds; 0: never read */
};

extern const struct lf_folk lf_folks[];
extern const int lf_folks_count;

#endif
