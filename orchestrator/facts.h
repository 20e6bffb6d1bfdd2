/* SPDX-License-Identifier: Apache-2.0 */
/* facts - what should be alike on every node of a step, and what is not.
 *
 * Each node gathers its own and says them in its hello; the leader counts the
 * values of each fact.  The most common one is right, the leader's in a tie;
 * the others are named, with one node of each side.  Gathering looks at files
 * and interfaces; counting is pure and bounded, whatever other nodes say.
 */
#ifndef LF_FACTS_H
#define LF_FACTS_H

#include <stdint.h>

#include "start.h"
#include "wire/msg.h"

enum fact {
	FACT_DRIVER,
	FACT_NCCL, /* the libnccl.so.2 that the loader finds */
	FACT_PLUGIN, /* hash of our own files */
	FACT_HCAS, /* RDMA devices */
	FACT_INTERFACE, /* towards the leader */
	FACTS
};

enum {
	FACT_MAX = 256, /* bytes of one */
	FACT_VALUES = 8, /* different ones that are told apart */
	FACT_CLOCK_MS = 2000 /* apart, beyond any message's way */
};

struct facts {
	char value[FACTS][FACT_MAX]; /* "" unknown: not compared */
	uint64_t clock_ms; /* since 1970, when they are said; 0 not said */
};

/* All but the clock.  `leader`: its address, or "". */
void facts_gather(struct facts *f, const struct start *s, const char *leader);
void facts_add_to(const struct facts *f, struct lf_msg *m);
void facts_take(struct facts *f, const struct lf_msg *m);

struct facts_count {
	struct {
		char value[FACT_VALUES][FACT_MAX];
		uint32_t count[FACT_VALUES], first[FACT_VALUES];
		int values;
	} of[FACTS];
	uint32_t slow; /* a node whose clock is off, and how many; 0 none */
	uint32_t slows;
	int64_t slow_ms;
};

/* Node 0 first, which is the leader. */
void facts_count(struct facts_count *c, uint32_t node, const struct facts *f,
		 uint64_t now_ms);

typedef const char *facts_name_f(void *arg, uint32_t node);
struct facts_calls {
	facts_name_f *name;
	/* What is not alike: one line and its code. */
	void (*differ)(void *arg, const char *line, const char *code);
	void *arg;
};
/* How many differences there are. */
int facts_differ(const struct facts_count *c, const struct facts_calls *calls);

#endif
