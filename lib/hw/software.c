/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/software.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	NUMBERS = 4
};

struct version {
	int n; /* 0: none */
	long part[NUMBERS];
};

const char *const lf_software_names[LF_SOFTWARE_PARTS] = { "driver", "CUDA",
							   "NCCL" };

/* "535.183.01"; returns what follows, such as "+cuda12.4". */
static const char *take(const char *text, struct version *v)
{
	char *end;

	for (v->n = 0; v->n < NUMBERS && isdigit((unsigned char)*text);) {
		v->part[v->n++] = strtol(text, &end, 10);
		text = end;
		if (text[0] != '.' || !isdigit((unsigned char)text[1]))
			break;
		text++;
	}
	return text;
}

/* Below 0 where a is older; beyond `n` numbers all are alike. */
static long compare(const struct version *a, const struct version *b, int n)
{
	for (int i = 0; i < n; i++) {
		long x = i < a->n ? a->part[i] : 0;
		long y = i < b->n ? b->part[i] : 0;

		if (x != y)
			return x - y;
	}
	return 0;
}

/* n 0: open at that side. */
static bool bounds(const char *range, struct version *low, struct version *high)
{
	const char *rest = take(range, low);

	*high = *low;
	if (*rest == '-')
		rest = take(rest + 1, high);
	return !*rest && (!*range || low->n || high->n) &&
	       (!low->n || !high->n || compare(low, high, high->n) <= 0);
}

bool lf_range_valid(const char *range)
{
	struct version low, high;

	return bounds(range, &low, &high);
}

bool lf_range_holds(const char *range, const char *version)
{
	struct version v, low, high;

	(void)take(version, &v);
	if (v.n == 0 || !bounds(range, &low, &high))
		return true;
	return compare(&v, &low, low.n ? NUMBERS : 0) >= 0 &&
	       compare(&v, &high, high.n) <= 0;
}
