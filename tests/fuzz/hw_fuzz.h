/* SPDX-License-Identifier: Apache-2.0 */
/* hw_fuzz - a reader of recordings against any text: read, or refused with a
 * place and the model as it was.  What is read can be judged. */
#ifndef HW_FUZZ_H
#define HW_FUZZ_H

#include "fuzz.h"

#include <stdio.h>

#include "hw/graph.h"
#include "hw/judge.h"
#include "hw/recorded/read.h"

static inline void fuzz_judged(struct lf_hw *hw)
{
	static struct lf_report report;
	struct lf_expect x;

	lf_expect_default(&x);
	lf_judge(hw, &x, &report);
	MUST(hw->gpus >= 0 && hw->gpus <= LF_HW_GPUS);
	MUST(hw->nics >= 0 && hw->nics <= LF_HW_NICS);
	MUST(!hw->partial || *hw->partial_why);
	for (int a = 0; a < hw->gpus; a++)
		for (int b = 0; b < hw->gpus; b++)
			MUST(hw->nvlink[a][b] == hw->nvlink[b][a] &&
			     hw->p2p[a][b] == hw->p2p[b][a]);
}

static inline int fuzz_reader(const struct lf_hw_reader *reader,
			      const uint8_t *data, size_t n)
{
	static struct lf_hw *before; /* large: made once */
	struct lf_hw *hw = lf_hw_new();
	char *text = malloc(n + 1); /* exact, so that reading past it is seen */
	struct lf_err e = { "" };
	int line, column;

	if (!before)
		before = lf_hw_new();
	MUST(hw && before && text);
	if (n)
		memcpy(text, data, n);
	text[n] = '\0';
	(void)reader->claims(text, n);
	if (reader->read(hw, text, n, &e) < 0) {
		MUST(sscanf(e.text, "%9d:%9d: ", &line, &column) == 2);
		MUST(memcmp(hw, before, sizeof(*hw)) == 0);
	} else {
		fuzz_judged(hw);
	}
	free(text);
	lf_hw_free(hw);
	return 0;
}

#define FUZZ_READER(reader)                                                    \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)              \
	{                                                                      \
		return fuzz_reader(&(reader), data, n);                        \
	}

#endif
