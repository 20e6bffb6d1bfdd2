/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

#include <ctype.h>
#include <string.h>

static const char *const codes[LF_SOFTWARE_PARTS] = { "LF-SW-01", "LF-SW-02",
						      "LF-SW-03" };

static int misfits(const struct lf_software_set *s,
		   const char *const version[LF_SOFTWARE_PARTS])
{
	int n = 0;

	for (int i = 0; i < LF_SOFTWARE_PARTS; i++)
		n += !lf_range_holds(s->range[i], version[i]);
	return n;
}

/* The set that fits best, the first of equals. */
static const struct lf_software_set *nearest(
	const struct lf_software *s,
	const char *const version[LF_SOFTWARE_PARTS])
{
	const struct lf_software_set *best = s->set;

	for (int i = 1; i < s->sets; i++)
		if (misfits(&s->set[i], version) < misfits(best, version))
			best = &s->set[i];
	return best;
}

/* "580-" as people say it. */
static void in_words(const char *range, char *out, size_t n)
{
	const char *dash = strchr(range, '-');

	if (!dash)
		(void)snprintf(out, n, "%s", range);
	else if (dash == range)
		(void)snprintf(out, n, "at most %s", dash + 1);
	else
		(void)snprintf(out, n, "%.*s %s%s", (int)(dash - range), range,
			       dash[1] ? "to " : "or later", dash + 1);
}

static void tell(struct judging *j, const struct lf_software_set *s, int part,
		 const char *version)
{
	struct lf_hw_finding *f =
		lf_finding(j, codes[part], LF_RESULT_WARN, "%s version",
			   lf_software_names[part]);
	char range[LF_HW_TEXT * 2 + 16];

	in_words(s->range[part], range, sizeof(range));
	SAY(f->expected, "%.40s (%.50s)", range, s->name);
	SAY(f->found, "%s", version);
	f->remedy = "outside all sets of software.conf: take one of them, or "
		    "add yours there once it has proved good";
}

/* NCCL belongs to the job: not to see it leaves the node's part judged. */
void lf_judge_software(struct judging *j)
{
	const struct lf_hw_node *n = &j->hw->node;
	const char *const version[] = { n->driver, n->cuda, n->nccl };
	const struct lf_software_set *s;

	if (j->hw->gpus == 0 || j->x->software.sets == 0)
		return;
	lf_worsen(j, isdigit((unsigned char)*n->driver) &&
				     isdigit((unsigned char)*n->cuda)
			     ? LF_RESULT_PASS
			     : LF_RESULT_UNKNOWN);
	s = nearest(&j->x->software, version);
	for (int i = 0; i < LF_SOFTWARE_PARTS; i++)
		if (!lf_range_holds(s->range[i], version[i]))
			tell(j, s, i, version[i]);
}
