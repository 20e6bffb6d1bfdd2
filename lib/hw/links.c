/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/links.h"

#include <stdio.h>
#include <string.h>

int lf_links_switch(struct lf_links *l, const char *bus)
{
	for (int i = 0; i < l->switches; i++)
		if (strcmp(l->bus[i], bus) == 0)
			return i;
	if (l->switches == LF_LINKS_SWITCHES)
		return -1;
	(void)snprintf(l->bus[l->switches], LF_HW_TEXT, "%s", bus);
	l->group[l->switches] = l->switches;
	return l->switches++;
}

void lf_links_join(struct lf_links *l, int a, int b)
{
	int keep = l->group[a], gone = l->group[b];

	if (keep > gone) {
		keep = l->group[b];
		gone = l->group[a];
	}
	for (int i = 0; i < l->switches; i++)
		if (l->group[i] == gone)
			l->group[i] = keep;
}

static int into_group(const struct lf_links *l, int gpu, int group)
{
	int n = 0;

	for (int s = 0; s < l->switches; s++)
		if (l->group[s] == group)
			n += l->into[gpu][s];
	return n;
}

static int switched(const struct lf_links *l, int a, int b)
{
	int sum = 0;

	if (l->through[a][b] > 0)
		return l->through[a][b];
	for (int group = 0; group < l->switches; group++) {
		int x = into_group(l, a, group), y = into_group(l, b, group);

		sum += x < y ? x : y;
	}
	return sum;
}

static bool uses_switch(const struct lf_links *l, int gpu)
{
	for (int s = 0; s < l->switches; s++)
		if (l->into[gpu][s] > 0)
			return true;
	return false;
}

static void set_pairs(const struct lf_links *l, struct lf_hw *hw, int a)
{
	for (int b = 0; b < hw->gpus; b++) {
		int count = l->direct[a][b] + switched(l, a, b);
		/* No tool shows links between switches: GPUs of two boards may
		 * be joined by them.  Nor is a GPU without data unlinked. */
		bool none =
			l->seen[b] && !(uses_switch(l, a) && uses_switch(l, b));

		if (a != b && (count > 0 || none))
			lf_hw_set_nvlink(hw, a, b, count);
	}
}

static void set_one(const struct lf_links *l, struct lf_hw *hw, int gpu)
{
	struct lf_hw_gpu *g = &hw->gpu[gpu];
	int in_switch = 0, through = 0, rest = l->elsewhere[gpu];

	for (int s = 0; s < l->switches; s++)
		in_switch += l->into[gpu][s];
	for (int b = 0; b < hw->gpus; b++) {
		rest += l->direct[gpu][b];
		if (l->through[gpu][b] > through)
			through = l->through[gpu][b];
	}
	in_switch += through;
	lf_hw_set_int(hw, g->bus, "NVLinks up", &g->links_active,
		      in_switch + rest);
	lf_hw_set_int(hw, g->bus, "NVLinks into switches", &g->switch_links,
		      in_switch);
}

void lf_links_set(const struct lf_links *l, struct lf_hw *hw)
{
	for (int a = 0; a < hw->gpus; a++) {
		if (!l->seen[a])
			continue;
		set_one(l, hw, a);
		set_pairs(l, hw, a);
	}
}
