/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/lint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "comm/rules.h"
#include "comm/vars.h"

enum {
	NEWEST = 32 /* minor of the newest NCCL that vars.c has seen */
};

struct linting {
	const struct lf_settings *s;
	const struct lf_lint_facts *f;
	struct lf_notes *notes;
};

/* What a NCCL that has removed a variable reads in its place. */
static const struct {
	const char *name, *instead;
} successors[] = {
	{ "NCCL_WORK_FIFO_DEPTH", "NCCL_WORK_FIFO_BYTES" },
	{ "NCCL_MNNVL", "NCCL_MNNVL_ENABLE" },
	{ "NCCL_RINGS", "NCCL_GRAPH_FILE" },
	{ "NCCL_LL_THRESHOLD", "NCCL_PROTO" },
	{ "NCCL_TREE_THRESHOLD", "NCCL_ALGO" },
	{ "NCCL_IB_CUDA_SUPPORT", "NCCL_NET_GDR_LEVEL" },
	{ "NCCL_CHECKS_DISABLE", "NCCL_CHECK_POINTERS" },
};

/* Names of net plugins and tools, which know their own variables. */
static const char *const families[] = {
	"NCCL_FASTRAK_", "NCCL_GPUDIRECTTCPX_", "NCCL_TCPX", "NCCL_INSPECTOR_",
	"NCCL_PROFILE_", "NCCL_SHARP_",		"NCCL_UCX_", "NCCL_IBEXT_",
	"NCCL_TESTS_",	 "NCCL_PLUGIN_",	"NCCL_ANP_", "NCCL_OFI_",
};

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static struct lf_note *say(struct linting *l, const char *code,
			   const struct lf_setting *s, const char *what)
{
	return lf_note(l->notes, code, "%.64s=%.48s (%.100s): %s", s->name,
		       s->value, s->origin, what);
}

static bool own_family(const char *name)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (begins(name, families[i]))
			return true;
	return false;
}

static bool check_folk(struct linting *l, const struct lf_setting *s)
{
	for (int i = 0; i < lf_folks_count; i++) {
		const struct lf_folk *k = &lf_folks[i];

		if (strcmp(k->name, s->name) != 0)
			continue;
		if (k->torch == 0)
			lf_note_remedy(say(l, "LF-ENV-03", s,
					   "no NCCL and no PyTorch reads it"),
				       "%s", k->instead);
		else if (l->f->torch == 0 || l->f->torch >= k->torch)
			lf_note_remedy(say(l, "LF-ENV-05", s,
					   "an old name, which goes away"),
				       "from PyTorch 2.%d on it is %s",
				       k->torch, k->instead);
		return true;
	}
	return false;
}

/* NCCL's names are all known, up to NEWEST; of PyTorch's, only one that looks
 * like a known one is called wrong. */
static void check_unknown(struct linting *l, const struct lf_setting *s)
{
	const char *near = lf_var_nearest(s->name);
	bool nccl = begins(s->name, "NCCL_");
	struct lf_note *n;

	if (own_family(s->name) || !(near || (nccl && l->f->nccl <= NEWEST)))
		return;
	n = say(l, nccl ? "LF-ENV-01" : "LF-ENV-02", s,
		nccl ? "NCCL 2.18 to 2.32 has no such variable"
		     : "PyTorch is not known to read it");
	if (near)
		lf_note_remedy(n, "%s was meant?", near);
	else
		lf_note_remedy(n, "unset it: it has no effect");
}

static void check_version(struct linting *l, const struct lf_setting *s,
			  const struct lf_var *v)
{
	bool torch = v->source == LF_VAR_TORCH;
	int have = torch ? l->f->torch : l->f->nccl;
	bool gone = v->last && (v->last < 18 || (have && have > v->last));
	struct lf_note *n;

	if (!gone && (have == 0 || have >= v->first))
		return;
	n = say(l, "LF-ENV-04", s, "the version at hand does not read it");
	lf_note_expected(n, "%s %s 2.%d", torch ? "PyTorch" : "NCCL",
			 gone ? "at most" : "at least",
			 gone ? v->last : v->first);
	if (have)
		lf_note_found(n, "2.%d", have);
	else
		lf_note_found(n, "a later one");
	for (size_t i = 0; gone && i < sizeof(successors) / sizeof(*successors);
	     i++)
		if (!strcmp(successors[i].name, s->name))
			lf_note_remedy(n, "%s came in its place",
				       successors[i].instead);
}

static void check_value(struct linting *l, const struct lf_setting *s,
			const struct lf_var *v)
{
	const char *expected = *s->value ? lf_var_expected(v, s->value) : NULL;
	bool path = v->kind == LF_VAR_FILE ||
		    (v->kind == LF_VAR_PLUGIN && strchr(s->value, '/'));
	struct lf_note *n;

	if (expected) {
		n = lf_note(l->notes, "LF-ENV-06", "%.64s (%.100s)", s->name,
			    s->origin);
		lf_note_expected(n, "%s", expected);
		lf_note_found(n, "'%.64s'", s->value);
		lf_note_remedy(n, "a value that cannot be read is not used");
	}
	if (path && *s->value && l->f->readable &&
	    !l->f->readable(s->value, l->f->arg))
		lf_note_remedy(
			say(l, "LF-ENV-17", s, "the file cannot be read"),
			"mend the path, also inside the container");
}

static void check_name(struct linting *l, const struct lf_setting *s)
{
	const struct lf_var *v = lf_var_find(s->name);

	if (check_folk(l, s))
		return;
	if (!v) {
		if (begins(s->name, "NCCL_") || begins(s->name, "TORCH_") ||
		    begins(s->name, "GLOO_"))
			check_unknown(l, s);
		return;
	}
	check_version(l, s, v);
	check_value(l, s, v);
}

static bool is_off(const char *v)
{
	return !strcmp(v, "0") || !strcasecmp(v, "false") ||
	       !strcasecmp(v, "no") || !strcasecmp(v, "n") ||
	       !strcasecmp(v, "f");
}

static bool has_word(const char *words, const char *word)
{
	size_t m = strlen(word);

	while (*words) {
		size_t n = strcspn(words, ",");

		if (n == m && !strncasecmp(words, word, n))
			return true;
		words += n + (words[n] == ',');
	}
	return false;
}

/* NULL: not set.  An empty value switches nothing. */
static bool is(const struct lf_setting *s, const char *what)
{
	char *end;
	long v;

	if (!s || !*s->value)
		return !strcmp(what, "!");
	if (!strcmp(what, "*"))
		return true;
	if (!strcmp(what, "on"))
		return !is_off(s->value);
	if (!strcmp(what, "off"))
		return is_off(s->value);
	if (*what == '~')
		return strcasestr(s->value, what + 1) != NULL;
	if (*what != '<')
		return has_word(what, s->value);
	v = strtol(s->value, &end, 0);
	return end != s->value && v > 0 && v < strtol(what + 1, NULL, 10);
}

static bool applies(enum lf_rule_when when, const struct lf_lint_facts *f)
{
	switch (when) {
	case LF_WHEN_NVLINK:
		return f->nvlink == 1;
	case LF_WHEN_RDMA:
		return f->rdma == 1;
	case LF_WHEN_GDR:
		return f->gdr == 1;
	case LF_WHEN_NODES:
		return f->nodes > 1;
	case LF_WHEN_GPUS:
		return f->gpus > 1;
	default:
		return true;
	}
}

static void check_rule(struct linting *l, const struct lf_rule *r)
{
	const struct lf_setting *a = lf_settings_get(l->s, r->name), *b;
	struct lf_note *n;

	if (!a || !applies(r->when, l->f) || !is(a, r->is))
		return;
	b = r->other ? lf_settings_get(l->s, r->other) : NULL;
	if (r->other && !is(b, r->other_is))
		return;
	if (!r->other)
		n = say(l, r->code, a, r->what);
	else
		n = lf_note(l->notes, r->code,
			    "%s=%.32s (%.60s) with %s%s%.32s: %s", a->name,
			    a->value, a->origin, r->other, b ? "=" : " not set",
			    b ? b->value : "", r->what);
	lf_note_remedy(n, "%s", r->remedy);
}

/* -1 unless it is a whole number. */
static long number(const struct linting *l, const char *name)
{
	const struct lf_setting *s = lf_settings_get(l->s, name);
	char *end;
	long v;

	if (!s || !isdigit((unsigned char)*s->value))
		return -1;
	v = strtol(s->value, &end, 10);
	return *end ? -1 : v;
}

static void check_order(struct linting *l, const char *low, const char *high)
{
	long a = number(l, low), b = number(l, high);

	if (a < 0 || b < 0 || a <= b)
		return;
	lf_note_remedy(lf_note(l->notes, "LF-ENV-07",
			       "%s=%ld with %s=%ld: the least is above the "
			       "most",
			       low, a, high, b),
		       "unset both: NCCL chooses");
}

/* Up to 2.23 one algorithm was forced on every function; later versions take
 * "allreduce:tree;...". */
static void check_algo(struct linting *l)
{
	const struct lf_setting *s = lf_settings_get(l->s, "NCCL_ALGO");

	if (!s || !*s->value || strchr(s->value, ':') || *s->value == '^')
		return;
	lf_note_remedy(say(l, "LF-ENV-12", s,
			   "forced on every collective, also on those that "
			   "have no such algorithm"),
		       "unset it, or name the function: allreduce:%.24s "
		       "(NCCL 2.24)",
		       s->value);
}

static void check_rank(struct linting *l, const char *rank, const char *size)
{
	long r = number(l, rank), n = number(l, size);
	struct lf_note *note;

	if (r < 0 || n < 0 || r < n)
		return;
	note = lf_note(l->notes, "LF-ENV-14", "%s=%ld with %s", rank, r, size);
	lf_note_expected(note, "more than the rank");
	lf_note_found(note, "%ld", n);
}

static void check_rendezvous(struct linting *l)
{
	static const char *const four[] = { "MASTER_ADDR", "MASTER_PORT",
					    "RANK", "WORLD_SIZE" };
	const struct lf_setting *port = lf_settings_get(l->s, "MASTER_PORT");
	const char *missing = NULL;
	int set = 0;
	long v = number(l, "MASTER_PORT");
	struct lf_note *n;

	for (int i = 0; i < 4; i++) {
		if (lf_settings_get(l->s, four[i]))
			set++;
		else
			missing = four[i];
	}
	/* Without RANK, a script of its own takes them from Slurm. */
	if (lf_settings_get(l->s, "RANK") && missing)
		lf_note_remedy(lf_note(l->notes, "LF-ENV-14",
				       "of MASTER_ADDR, MASTER_PORT, RANK and "
				       "WORLD_SIZE, %d are set, %s is not",
				       set, missing),
			       "set all four, or none: --loongforge sets them");
	if (port && (v < 1 || v > 65535)) {
		n = lf_note(l->notes, "LF-ENV-14", "MASTER_PORT (%.100s)",
			    port->origin);
		lf_note_expected(n, "1 to 65535");
		lf_note_found(n, "'%.32s'", port->value);
	}
	check_rank(l, "RANK", "WORLD_SIZE");
	check_rank(l, "LOCAL_RANK", "LOCAL_WORLD_SIZE");
}

static bool has_prefix_of(const char *list, const char *item, size_t n,
			  bool exact)
{
	while (*list) {
		size_t m = strcspn(list, ",");

		if (exact ? m == n && !strncmp(list, item, n)
			  : m >= n && !strncmp(list, item, n))
			return true;
		list += m + (list[m] == ',');
	}
	return false;
}

/* NCCL's rule: prefixes, or whole names after '='; '^' excludes. */
static void check_ifname(struct linting *l, const char *name)
{
	const struct lf_setting *s = lf_settings_get(l->s, name);
	const char *at = s ? s->value : "";
	bool exact = *at == '=' || *name == 'G';
	struct lf_note *n;

	if (!*at || !l->f->ifaces || *at == '^')
		return;
	at += *at == '=';
	while (*at) {
		size_t m = strcspn(at, ",:");

		if (has_prefix_of(l->f->ifaces, at, m, exact))
			return;
		at += strcspn(at, ",");
		at += *at == ',';
	}
	n = say(l, "LF-ENV-09", s, "no interface of this node");
	lf_note_expected(n, "one of %.80s", l->f->ifaces);
	lf_note_found(n, "'%.64s'", s->value);
	lf_note_remedy(n, "name an interface that every node has");
}

static bool twice(const char *list)
{
	for (const char *a = list; *a;) {
		size_t n = strcspn(a, ",");
		const char *rest = a + n + (a[n] == ',');

		if (n && has_prefix_of(rest, a, n, true))
			return true;
		a = rest;
	}
	return false;
}

static void check_visible(struct linting *l)
{
	const struct lf_setting *s =
		lf_settings_get(l->s, "CUDA_VISIBLE_DEVICES");
	const char *why = NULL;

	if (!s)
		return;
	if (twice(s->value))
		why = "a GPU is named twice";
	else if (!*s->value || *s->value == '-')
		why = l->f->gpus > 0 ? "no GPU is visible" : NULL;
	else if (l->f->gpus > 0)
		for (const char *p = s->value; *p && !why;) {
			if (isdigit((unsigned char)*p) &&
			    strtol(p, NULL, 10) >= l->f->gpus)
				why = "the node has no such GPU";
			p += strcspn(p, ",");
			p += *p == ',';
		}
	if (why)
		lf_note_remedy(say(l, "LF-ENV-15", s, why),
			       "leave it to Slurm; compare by UUID: "
			       "nvidia-smi -L");
}

/* Tasks that cannot see each other's GPUs lose NVLink between them. */
static void check_binding(struct linting *l)
{
	const struct lf_setting *per =
		lf_settings_get(l->s, "SLURM_GPUS_PER_TASK");
	const struct lf_setting *bind = lf_settings_get(l->s, "SLURM_GPU_BIND");
	const struct lf_setting *s = bind ? bind : per;

	if (!s || l->f->tasks < 2 || (bind && strstr(bind->value, "none")))
		return;
	lf_note_remedy(say(l, "LF-ENV-20", s,
			   "each task sees only its own GPU, NCCL no peer"),
		       "--gpu-bind=none with --gpus-per-node; LOCAL_RANK "
		       "chooses the GPU");
}

void lf_lint(const struct lf_settings *s, const struct lf_lint_facts *f,
	     struct lf_notes *notes)
{
	struct linting l = { .s = s, .f = f, .notes = notes };

	for (int i = 0; i < s->count; i++)
		if (!s->item[i].hidden)
			check_name(&l, &s->item[i]);
	for (int i = 0; i < lf_rules_count; i++)
		check_rule(&l, &lf_rules[i]);
	check_order(&l, "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS");
	check_order(&l, "NCCL_MIN_CTAS", "NCCL_MAX_CTAS");
	check_algo(&l);
	check_rendezvous(&l);
	check_ifname(&l, "NCCL_SOCKET_IFNAME");
	check_ifname(&l, "GLOO_SOCKET_IFNAME");
	check_visible(&l);
	check_binding(&l);
}
