/* SPDX-License-Identifier: Apache-2.0 */
/* Two readings of one field.  Failing closed, the worse one holds: of nearly
 * all that is judged that is the smaller number (links, lanes, rate, port
 * state, peer access); lf_hw_set_high is for the rest.  Of what is not judged
 * either will do. */
#include "config.h"

#include "hw/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clean.h"

enum {
	IDLE_GEN = 2 /* a busy link is faster than that */
};

const char *const lf_hw_port_names[] = { "?", "down", "init", "armed",
					 "active" };
static const char *const layer_names[] = { "?", "InfiniBand", "Ethernet" };
static const char *const fabric_names[] = { "?", "not started", "in progress",
					    "completed", "none" };

static uint64_t bit(int gpu)
{
	return UINT64_C(1) << gpu;
}

/* The GPU that a field is of, as a bit. */
static uint64_t owner(const struct lf_hw *hw, const void *field)
{
	for (int i = 0; i < hw->gpus; i++)
		if ((const char *)field >= (const char *)&hw->gpu[i] &&
		    (const char *)field < (const char *)&hw->gpu[i + 1])
			return bit(i);
	return 0;
}

/* What is being set, for the conflict's sake. */
struct field {
	struct lf_hw *hw;
	uint64_t gpus;
	const char *subject, *what;
};

/* Once: a matrix says each thing twice. */
static bool known(const struct field *f, const char *first, const char *second)
{
	for (int i = 0; i < f->hw->conflicts; i++) {
		const struct lf_hw_conflict *c = &f->hw->conflict[i];

		if (!strcmp(c->subject, f->subject) &&
		    !strcmp(c->what, f->what) && !strcmp(c->first, first) &&
		    !strcmp(c->second, second))
			return true;
	}
	return false;
}

static void conflict(const struct field *f, const char *first,
		     const char *second)
{
	struct lf_hw_conflict *c;

	if (f->hw->conflicts == LF_HW_CONFLICTS || known(f, first, second))
		return;
	c = &f->hw->conflict[f->hw->conflicts++];
	c->gpus = f->gpus;
	(void)snprintf(c->subject, sizeof(c->subject), "%s", f->subject);
	(void)snprintf(c->what, sizeof(c->what), "%s", f->what);
	(void)snprintf(c->first, sizeof(c->first), "%s", first);
	(void)snprintf(c->second, sizeof(c->second), "%s", second);
}

/* Which of two numbers holds; -1 is unknown. */
static int64_t number(const struct field *f, int64_t first, int64_t second,
		      bool high)
{
	char a[24], b[24];

	if (first < 0 || second < 0)
		return first < 0 ? second : first;
	if (first == second)
		return first;
	(void)snprintf(a, sizeof(a), "%" PRId64, first);
	(void)snprintf(b, sizeof(b), "%" PRId64, second);
	conflict(f, a, b);
	return (second > first) == high ? second : first;
}

/* Which of two enumerators holds; 0 is unknown. */
static int word(const struct field *f, const char *const *names, int first,
		int second)
{
	if (first == 0 || second == 0)
		return first ? first : second;
	if (first != second)
		conflict(f, names[first], names[second]);
	return second < first ? second : first;
}

void lf_hw_set_int(struct lf_hw *hw, const char *subject, const char *what,
		   int *field, int value)
{
	struct field f = { hw, owner(hw, field), subject, what };

	*field = (int)number(&f, *field, value, false);
}

void lf_hw_set_high(struct lf_hw *hw, const char *subject, const char *what,
		    int *field, int value)
{
	struct field f = { hw, owner(hw, field), subject, what };

	*field = (int)number(&f, *field, value, true);
}

void lf_hw_set_ecc(struct lf_hw *hw, const char *subject, struct lf_hw_gpu *g,
		   int64_t errors)
{
	struct field f = { hw, owner(hw, g), subject,
			   "uncorrected ECC errors" };

	g->ecc_uncorrected = number(&f, g->ecc_uncorrected, errors, true);
}

void lf_hw_set_gen(struct lf_hw *hw, const char *subject, struct lf_hw_pcie *p,
		   int gen)
{
	if (gen <= 0 || p->gen <= 0 || (gen > IDLE_GEN && p->gen > IDLE_GEN))
		lf_hw_set_int(hw, subject, "PCIe generation", &p->gen, gen);
	else if (gen > p->gen)
		p->gen = gen;
}

void lf_hw_set_pstate(struct lf_hw_gpu *g, int pstate)
{
	if (pstate >= 0 && (g->pstate < 0 || pstate < g->pstate))
		g->pstate = pstate;
}

void lf_hw_set_text(struct lf_hw *hw, const char *subject, const char *what,
		    char field[LF_HW_TEXT], const char *value)
{
	struct field f = { hw, owner(hw, field), subject, what };
	char text[LF_HW_TEXT]; /* of others: it reaches terminals */

	(void)snprintf(text, sizeof(text), "%s", value ? value : "");
	lf_clean(text, "");
	if (!*text || strcmp(field, text) == 0)
		return;
	if (*field)
		conflict(&f, field, text);
	else
		memcpy(field, text, sizeof(text));
}

void lf_hw_set_port(struct lf_hw *hw, struct lf_hw_nic *n, enum lf_hw_port p)
{
	struct field f = { hw, 0, n->name, "port state" };

	n->state = (enum lf_hw_port)word(&f, lf_hw_port_names, (int)n->state,
					 (int)p);
}

void lf_hw_set_layer(struct lf_hw *hw, struct lf_hw_nic *n, enum lf_hw_layer l)
{
	struct field f = { hw, 0, n->name, "link layer" };

	n->layer =
		(enum lf_hw_layer)word(&f, layer_names, (int)n->layer, (int)l);
}

void lf_hw_set_fabric(struct lf_hw *hw, struct lf_hw_gpu *g,
		      enum lf_hw_fabric state)
{
	struct field f = { hw, owner(hw, g), g->bus, "NVLink fabric" };

	g->fabric = (enum lf_hw_fabric)word(&f, fabric_names, (int)g->fabric,
					    (int)state);
}

static void pair_name(int a, int b, char name[32])
{
	(void)snprintf(name, 32, "GPU%d-GPU%d", a < b ? a : b, a < b ? b : a);
}

/* Of both directions of a pair. */
static void set_pair(struct lf_hw *hw, int a, int b, const char *what,
		     int matrix[LF_HW_GPUS][LF_HW_GPUS], int value)
{
	char name[32];
	struct field f = { hw, bit(a) | bit(b), name, what };

	if (a == b)
		return;
	pair_name(a, b, name);
	matrix[a][b] = (int)number(&f, matrix[a][b], value, false);
	matrix[b][a] = matrix[a][b];
}

void lf_hw_set_nvlink(struct lf_hw *hw, int a, int b, int count)
{
	set_pair(hw, a, b, "NVLinks", hw->nvlink, count);
}

void lf_hw_set_p2p(struct lf_hw *hw, int a, int b, int ok)
{
	set_pair(hw, a, b, "peer access", hw->p2p, ok);
}

/* The farther one holds.  NVLink is beside PCIe, no contradiction. */
static void set_path(const struct field *f, enum lf_hw_path *to,
		     enum lf_hw_path p)
{
	if (*to == LF_PATH_UNKNOWN)
		*to = p;
	if (p == LF_PATH_UNKNOWN || *to == p || *to == LF_PATH_NVLINK ||
	    p == LF_PATH_NVLINK)
		return;
	conflict(f, lf_hw_path_name(*to), lf_hw_path_name(p));
	if (p > *to)
		*to = p;
}

void lf_hw_set_path(struct lf_hw *hw, int a, int b, enum lf_hw_path p)
{
	char name[32];
	struct field f = { hw, bit(a) | bit(b), name, "path" };

	pair_name(a, b, name);
	set_path(&f, &hw->path[a][b], p);
	hw->path[b][a] = hw->path[a][b];
}

void lf_hw_set_nic_path(struct lf_hw *hw, int gpu, int nic, enum lf_hw_path p)
{
	char name[LF_HW_TEXT + 16];
	struct field f = { hw, bit(gpu), name, "path" };

	(void)snprintf(name, sizeof(name), "GPU%d-%s", gpu, hw->nic[nic].name);
	set_path(&f, &hw->nic_path[gpu][nic], p);
}
