/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as loongforge takes it: format found by content, text cleaned. */
#include "hw_fuzz.h"

static int claims(const char *text, size_t n)
{
	return 0;
}

static int read_any(struct lf_hw *hw, const char *text, size_t n,
		    struct lf_err *e)
{
	return lf_hw_read_text(hw, text, n, NULL, e);
}

static const struct lf_hw_reader any = { "any", claims, read_any };

FUZZ_READER(any)
