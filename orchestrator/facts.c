/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"

static const struct {
	const char *key, *what, *code;
} table[FACTS] = {
	[FACT_DRIVER] = { "driver", "GPU driver", "LF-GRP-11" },
	[FACT_NCCL] = { "nccl", "libnccl of the system", "LF-GRP-12" },
	[FACT_PLUGIN] = { "files", "LoongForge's own files", "LF-GRP-13" },
	[FACT_HCAS] = { "hcas", "RDMA devices", "LF-GRP-14" },
	[FACT_INTERFACE] = { "interface", "network interface", "LF-GRP-15" },
};

void facts_add_to(const struct facts *f, struct lf_msg *m)
{
	for (int i = 0; i < FACTS; i++)
		lf_msg_add(m, table[i].key, f->value[i]);
	if (f->clock_ms)
		lf_msg_add_u64(m, "clock", f->clock_ms);
}

void facts_take(struct facts *f, const struct lf_msg *m)
{
	for (int i = 0; i < FACTS; i++) {
		(void)snprintf(f->value[i], FACT_MAX, "%s",
			       lf_msg_get(m, table[i].key));
		lf_clean(f->value[i], "");
	}
	f->clock_ms = lf_msg_get_u64(m, "clock", INT64_MAX, 0);
}

static void count_clock(struct facts_count *c, uint32_t node,
			const struct facts *f, uint64_t now_ms)
{
	int64_t off = (int64_t)f->clock_ms - (int64_t)now_ms;

	if (f->clock_ms == 0 || llabs(off) <= FACT_CLOCK_MS)
		return;
	if (c->slows++ > 0)
		return;
	c->slow = node;
	c->slow_ms = off;
}

void facts_count(struct facts_count *c, uint32_t node, const struct facts *f,
		 uint64_t now_ms)
{
	for (int i = 0; i < FACTS; i++) {
		int v = 0;

		if (!*f->value[i])
			continue;
		while (v < c->of[i].values &&
		       strcmp(c->of[i].value[v], f->value[i]) != 0)
			v++;
		if (v == FACT_VALUES)
			continue;
		if (v == c->of[i].values) {
			c->of[i].values++;
			c->of[i].first[v] = node;
			(void)snprintf(c->of[i].value[v], FACT_MAX, "%s",
				       f->value[i]);
		}
		c->of[i].count[v]++;
	}
	count_clock(c, node, f, now_ms);
}

/* The most common value; the first, the leader's, where several are. */
static int common(const struct facts_count *c, int fact)
{
	int best = 0;

	for (int v = 1; v < c->of[fact].values; v++)
		if (c->of[fact].count[v] > c->of[fact].count[best])
			best = v;
	return best;
}

static void tell(const struct facts_count *c, int fact, int v, int best,
		 const struct facts_calls *to)
{
	uint32_t more = c->of[fact].count[v] - 1;
	char line[LF_ERR_MAX], right[LF_NODE_NAME_MAX], others[32] = "";

	(void)snprintf(right, sizeof(right), "%s",
		       to->name(to->arg, c->of[fact].first[best]));
	if (more)
		(void)snprintf(others, sizeof(others), " and %u more", more);
	(void)snprintf(line, sizeof(line),
		       "%s: expected %.100s as on %.60s, found %.100s on "
		       "%.60s%s",
		       table[fact].what, c->of[fact].value[best], right,
		       c->of[fact].value[v],
		       to->name(to->arg, c->of[fact].first[v]), others);
	to->differ(to->arg, line, table[fact].code);
}

static void tell_clock(const struct facts_count *c,
		       const struct facts_calls *to)
{
	char line[LF_ERR_MAX], right[LF_NODE_NAME_MAX], others[32] = "";

	(void)snprintf(right, sizeof(right), "%s", to->name(to->arg, 0));
	if (c->slows > 1)
		(void)snprintf(others, sizeof(others), "; %u more are off",
			       c->slows - 1);
	(void)snprintf(line, sizeof(line),
		       "clock: expected that of %.60s, found %.60s %.1f s %s "
		       "it%s",
		       right, to->name(to->arg, c->slow),
		       (double)llabs(c->slow_ms) / 1e3,
		       c->slow_ms > 0 ? "ahead of" : "behind", others);
	to->differ(to->arg, line, "LF-GRP-16");
}

int facts_differ(const struct facts_count *c, const struct facts_calls *to)
{
	int n = 0;

	for (int i = 0; i < FACTS; i++) {
		int best = common(c, i);

		for (int v = 0; v < c->of[i].values; v++)
			if (v != best) {
				tell(c, i, v, best, to);
				n++;
			}
	}
	if (c->slows) {
		tell_clock(c, to);
		n++;
	}
	return n;
}
