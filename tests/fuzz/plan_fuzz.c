/* SPDX-License-Identifier: Apache-2.0 */
/* Words of the plugin, and two lists of settings with a line end between. */
#include "fuzz.h"

#include "orchestrator/plan/plan.h"

static void take(const uint8_t *data, size_t n)
{
	static struct plan p;
	struct lf_err e = { "" };
	char *text = fuzz_text(data, n);

	if (plan_take(&p, text, &e) < 0)
		MUST(*e.text);
	else
		MUST(p.node && p.run && p.socket && p.mode && p.set);
	free(text);
}

static void join(const uint8_t *data, size_t n)
{
	struct lf_buf joined = LF_BUF(LF_START_MAX), again = joined;
	char *had = fuzz_text(data, n), *more = had + strcspn(had, "\n");
	struct lf_err e = { "" };

	if (*more)
		*more++ = '\0';
	if (plan_join(had, more, &joined, &e) < 0)
		MUST(*e.text);
	else /* once more is no contradiction */
		MUST(plan_join(lf_buf_text(&joined), more, &again, &e) == 0 &&
		     !strcmp(lf_buf_text(&joined), lf_buf_text(&again)));
	lf_buf_free(&joined);
	lf_buf_free(&again);
	free(had);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	take(data, n);
	join(data, n);
	return 0;
}
