/* SPDX-License-Identifier: Apache-2.0 */
/* `nvidia-smi nvlink -s` (or --status) and `-R` (--remotelinkinfo).
 *
 * Both list GPUs and, below each, its links.  -R names the device at the other
 * end by its bus, but not the bus of the GPU itself, so which targets are GPUs
 * must be found out; see resolve().
 */
#include "config.h"

#include "hw/recorded/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	TARGETS = 32, /* devices at the other ends of one GPU's links */
	ENTRIES = 2 * LF_HW_GPUS, /* -s and -R in one file */
	GPU_LINKS = 18 /* the most of a GPU up to Blackwell; switches have
			* higher numbers */
};

struct target {
	char bus[LF_HW_TEXT];
	int links;
};

/* One GPU as listed. */
struct entry {
	int index, number; /* number: in the model */
	char name[LF_HW_TEXT], uuid[LF_HW_TEXT];
	int active, inactive;
	int slowest; /* MB/s, -1 */
	int next;    /* number that the next link should have */
	bool gap, all_down, remote, hidden, high;
	bool doubt; /* the text ends in its last line */
	int targets;
	struct target target[TARGETS];
};

struct listing {
	int n;
	bool dots;
	struct entry entry[ENTRIES];
};

static int link_lines(const struct entry *g)
{
	return g->active + g->inactive;
}

/* "GPU 0: NVIDIA A100 (UUID: GPU-...)" */
static bool is_gpu_line(const char *line)
{
	const char *p = lf_text_after(line, "GPU ");

	if (!p || !isdigit((unsigned char)*p))
		return false;
	p += strspn(p, "0123456789");
	return *p == ':' && p[1] == ' ';
}

static int add_gpu(struct listing *l, struct lf_text *t, struct lf_err *e)
{
	struct entry *g = &l->entry[l->n];
	char *name, *uuid;
	char *key = lf_text_pair(t->line, ":", &name);

	if (l->n == ENTRIES)
		return lf_text_err(e, t, t->line, "more than %d GPUs", ENTRIES);
	*g = (struct entry){ .slowest = -1, .number = -1 };
	if (!key || !lf_text_int(key + 4, 0, LF_HW_GPUS - 1, &g->index))
		return lf_text_err(e, t, t->line, "a GPU's number is below %d",
				   LF_HW_GPUS);
	uuid = strstr(name, " (UUID: ");
	if (uuid) {
		*uuid = '\0';
		uuid += strlen(" (UUID: ");
		if (uuid[strcspn(uuid, ")")])
			(void)snprintf(g->uuid, sizeof(g->uuid), "%.*s",
				       (int)strcspn(uuid, ")"), uuid);
	}
	/* Without a UUID a cut line may hold half a name. */
	if (uuid || !t->cut)
		(void)snprintf(g->name, sizeof(g->name), "%s", name);
	for (int i = 0; i < l->n; i++)
		if (l->entry[i].index == g->index &&
		    strcmp(l->entry[i].uuid, g->uuid) != 0)
			return lf_text_err(e, t, t->line,
					   "GPU %d stands twice, with two "
					   "UUIDs",
					   g->index);
	l->n++;
	return 0;
}

static int add_target(struct entry *g, const struct lf_text *t,
		      const char *text, struct lf_err *e)
{
	char bus[LF_HW_TEXT];
	const char *link = strstr(text, ": Link ");
	int far = -1, i;

	lf_hw_bus(text, bus);
	if (!*bus || !link)
		return lf_text_err(e, t, text, "'%.30s' is no remote link",
				   text);
	if (!lf_text_int(link + strlen(": Link "), 0, 999, &far))
		return lf_text_err(e, t, link, "no number of a remote link");
	for (i = 0; i < g->targets && strcmp(g->target[i].bus, bus) != 0; i++)
		;
	if (i == TARGETS)
		return lf_text_err(e, t, text, "more than %d remote devices",
				   TARGETS);
	if (i == g->targets)
		(void)snprintf(g->target[g->targets++].bus, LF_HW_TEXT, "%s",
			       bus);
	g->target[i].links++;
	g->remote = true;
	g->high = g->high || far >= GPU_LINKS;
	/* A virtual machine hides switches behind this bus. */
	g->hidden = g->hidden || strncmp(bus, "ffff", 4) == 0;
	return 0;
}

/* What stands after "Link N: ". */
static int add_link_state(struct entry *g, const struct lf_text *t,
			  const char *state, struct lf_err *e)
{
	const char *remote = lf_text_after(state, "Remote Device ");
	const char *unit;
	int speed, rc;

	if (remote) {
		rc = add_target(g, t, remote, e);
		g->active += rc == 0;
		return rc;
	}
	if (strcasecmp(state, "<inactive>") == 0 ||
	    strcasecmp(state, "inactive") == 0 ||
	    strcasecmp(state, "<disabled>") == 0) {
		g->inactive++;
		return 0;
	}
	if (!lf_text_milli(state, &speed, &unit) || strcmp(unit, "GB/s") != 0)
		return lf_text_err(e, t, state,
				   "'%.30s' is no state of an NVLink", state);
	g->active++;
	if (g->slowest < 0 || speed < g->slowest)
		g->slowest = speed;
	return 0;
}

static int add_link(struct entry *g, struct lf_text *t, struct lf_err *e)
{
	char *state, *key = lf_text_pair(t->line, ":", &state);
	int number;

	if (!lf_text_int(key + strlen("Link "), 0, LF_HW_LINKS - 1, &number))
		return lf_text_err(e, t, key, "'%.20s' is no link", key);
	g->gap = g->gap || number != g->next;
	g->next = number + 1;
	return add_link_state(g, t, state, e);
}

static bool is_link_line(const char *line)
{
	const char *p = lf_text_after(line, "Link ");

	return p && isdigit((unsigned char)*p) && strchr(p, ':');
}

static bool is_remote_line(const char *line)
{
	return is_link_line(line) && strstr(line, "Remote Device");
}

static bool is_all_down(const char *line)
{
	return strstr(line, "all links are inActive") != NULL;
}

static int read_line(struct listing *l, struct lf_text *t, struct lf_err *e)
{
	struct entry *g = l->n ? &l->entry[l->n - 1] : NULL;
	int rc;

	/* Half a line: there were more.  Whether the end of -R's is half a
	 * number cannot be seen. */
	if (t->cut && g && *t->line && !is_gpu_line(t->line) &&
	    (!is_link_line(t->line) || is_remote_line(t->line)))
		g->doubt = true;
	if (lf_text_dots(t->line))
		l->dots = true;
	else if (is_gpu_line(t->line))
		return add_gpu(l, t, e);
	else if (is_all_down(t->line) && g)
		g->all_down = true;
	else if (is_link_line(t->line)) {
		if (!g)
			return lf_text_err(e, t, t->line,
					   "a link before its GPU");
		rc = add_link(g, t, t->cut ? NULL : e);
		if (rc && t->cut) {
			g->gap = true;
			return 0;
		}
		return rc;
	}
	return 0;
}

/* A GPU whose links were not all written down: fewer than a sister of the same
 * name has, or a number left out, or cut and no sister to compare with. */
static bool is_torn(const struct listing *l, const struct entry *g)
{
	bool as_many = false;

	for (int i = 0; i < l->n; i++) {
		const struct entry *o = &l->entry[i];

		if (o == g || o->remote != g->remote || g->all_down ||
		    strcmp(o->name, g->name) != 0)
			continue;
		if (link_lines(o) > link_lines(g))
			return !g->remote || g == &l->entry[l->n - 1];
		as_many = as_many || link_lines(o) == link_lines(g);
	}
	return g->gap || (g->doubt && !as_many);
}

static void mark(struct lf_hw *hw, const struct listing *l)
{
	char why[LF_HW_TEXT];

	if (l->dots)
		lf_hw_mark_partial(hw, "the author left GPUs out");
	for (int i = 0; i < l->n; i++) {
		const struct entry *g = &l->entry[i];
		int before = i ? l->entry[i - 1].index : -1;

		if (is_torn(l, g)) {
			(void)snprintf(why, sizeof(why),
				       "links of GPU %d are missing", g->index);
			lf_hw_mark_partial(hw, why);
		}
		if (g->index == before + 1 || g->index == 0)
			continue;
		(void)snprintf(why, sizeof(why),
			       "GPUs before GPU %d are "
			       "missing",
			       g->index);
		lf_hw_mark_partial(hw, why);
	}
}

static int add_facts(struct lf_hw *hw, const struct listing *l, struct entry *g,
		     struct lf_err *e)
{
	struct lf_hw_gpu *gpu = lf_hw_gpu(hw, g->index, NULL, g->uuid);
	char who[32];

	if (!gpu)
		return lf_err(e, -ENOSPC, "1:1: too many GPUs");
	g->number = lf_hw_gpu_number(hw, gpu);
	(void)snprintf(who, sizeof(who), "GPU%d", g->index);
	gpu->vendor = LF_VENDOR_NVIDIA;
	lf_hw_set_int(hw, who, "index", &gpu->index, g->index);
	lf_hw_set_text(hw, who, "name", gpu->name, g->name);
	lf_hw_set_int(hw, who, "NVLink speed", &gpu->link_mbps, g->slowest);
	if (link_lines(g) > 0 || g->all_down)
		hw->nvlink_shown = true;
	if (g->all_down)
		lf_hw_set_int(hw, who, "NVLinks", &gpu->links_active, 0);
	if (is_torn(l, g) || link_lines(g) == 0)
		return 0;
	lf_hw_set_int(hw, who, "NVLinks", &gpu->links_active, g->active);
	/* -R may pass over links that are down. */
	if (!g->remote || g->inactive)
		lf_hw_set_high(hw, who, "inactive NVLinks",
			       &gpu->links_inactive, g->inactive);
	return 0;
}

static int links_to(const struct entry *g, const char *bus)
{
	for (int i = 0; i < g->targets; i++)
		if (strcmp(g->target[i].bus, bus) == 0)
			return g->target[i].links;
	return 0;
}

/* The remote entries of a listing, in its order, and all their targets. */
struct ends {
	int n, buses;
	struct entry *g[LF_HW_GPUS];
	char bus[LF_HW_GPUS][LF_HW_TEXT];
};

static void add_bus(struct ends *s, const char *bus)
{
	int i = 0;

	while (i < s->buses && strcmp(s->bus[i], bus) < 0)
		i++;
	if ((i < s->buses && strcmp(s->bus[i], bus) == 0) ||
	    s->buses == LF_HW_GPUS)
		return;
	memmove(s->bus + i + 1, s->bus + i,
		(size_t)(s->buses - i) * sizeof(*s->bus));
	(void)snprintf(s->bus[i], LF_HW_TEXT, "%s", bus);
	s->buses++;
}

static void collect(struct listing *l, struct ends *s)
{
	for (int i = 0; i < l->n && s->n < LF_HW_GPUS; i++) {
		struct entry *g = &l->entry[i];

		if (!g->remote)
			continue;
		s->g[s->n++] = g;
		for (int k = 0; k < g->targets; k++)
			add_bus(s, g->target[k].bus);
	}
}

/* Three GPUs or more that share all their targets: switches.  In a mesh of
 * GPUs each lacks itself. */
static bool share_all(const struct ends *s)
{
	for (int i = 0; i < s->n; i++)
		if (s->g[i]->targets != s->buses)
			return false;
	return s->n >= 3;
}

static bool is_known(const struct lf_hw *hw, const char *bus, int *number)
{
	for (int i = 0; i < hw->gpus; i++)
		if (strcmp(hw->gpu[i].bus, bus) == 0) {
			*number = i;
			return true;
		}
	return false;
}

/* Where bus k of the sorted targets is GPU k (nvidia-smi counts by bus): no GPU
 * is its own target, and both ends see as many links. */
static bool is_direct(const struct ends *s)
{
	if (s->buses != s->n)
		return false;
	for (int i = 0; i < s->n; i++) {
		if (s->g[i]->index != i)
			return false;
		for (int k = 0; k <= i; k++)
			if (links_to(s->g[i], s->bus[k]) !=
				    links_to(s->g[k], s->bus[i]) ||
			    (i == k && links_to(s->g[i], s->bus[k])))
				return false;
	}
	return true;
}

static void join_known(struct lf_hw *hw, const struct ends *s)
{
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->g[i]->targets; k++) {
			const struct target *to = &s->g[i]->target[k];
			int number;

			if (is_known(hw, to->bus, &number))
				lf_hw_set_nvlink(hw, s->g[i]->number, number,
						 to->links);
		}
}

/* Which targets are switches, which are GPUs.  No machine mixes both on one
 * GPU.  What stays unclear stays unknown. */
static void resolve(struct lf_hw *hw, const struct listing *l,
		    const struct ends *s)
{
	bool shared = share_all(s), direct;

	for (int i = 0; i < s->n; i++) {
		struct entry *g = s->g[i];
		int own = link_lines(g);
		struct lf_hw_gpu *gpu = &hw->gpu[g->number];
		char who[32];

		(void)snprintf(who, sizeof(who), "GPU%d", g->index);
		if ((shared || g->hidden || (g->high && own <= GPU_LINKS)) &&
		    !is_torn(l, g))
			lf_hw_set_int(hw, who, "links to switches",
				      &gpu->switch_links, g->active);
	}
	join_known(hw, s);
	direct = is_direct(s) && !l->dots;
	for (int i = 0; i < s->n && direct; i++)
		for (int k = 0; k < i; k++)
			lf_hw_set_nvlink(hw, s->g[i]->number, s->g[k]->number,
					 links_to(s->g[i], s->bus[k]));
}

static int read_into(struct lf_hw *hw, struct lf_text *t, struct listing *l,
		     struct ends *s, struct lf_err *e)
{
	int rc = 0;

	while (rc == 0 && lf_text_line(t))
		rc = read_line(l, t, e);
	if (rc == 0 && l->n == 0)
		rc = lf_text_err(e, t, t->line, "no line 'GPU 0: ...'");
	for (int i = 0; rc == 0 && i < l->n; i++)
		rc = add_facts(hw, l, &l->entry[i], e);
	if (rc)
		return rc;
	collect(l, s);
	resolve(hw, l, s);
	mark(hw, l);
	return 0;
}

static int read_listing(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	struct listing *l = calloc(1, sizeof(*l));
	struct ends *s = calloc(1, sizeof(*s));
	int rc = l && s ? read_into(hw, t, l, s, e)
			: lf_err(e, -ENOMEM, "no memory for a listing");

	free(l);
	free(s);
	return rc;
}

static int read_nvlink(struct lf_hw *hw, const char *text, size_t n,
		       struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_listing, e);
}

static int claims_status(const char *text, size_t n)
{
	if (lf_text_any(text, n, is_link_line) ||
	    lf_text_any(text, n, is_all_down))
		return 80;
	return lf_text_any(text, n, is_gpu_line) ? 40 : 0;
}

static int claims_remote(const char *text, size_t n)
{
	return lf_text_any(text, n, is_remote_line) ? 90 : 0;
}

const struct lf_hw_reader lf_hw_read_nvlink_status = { "nvidia-smi nvlink -s",
						       claims_status,
						       read_nvlink };
const struct lf_hw_reader lf_hw_read_nvlink_remote = { "nvidia-smi nvlink -R",
						       claims_remote,
						       read_nvlink };
