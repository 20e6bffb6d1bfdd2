/* SPDX-License-Identifier: Apache-2.0 */
/* Root reads verdicts that a child without rights wrote: refused with a line,
 * or written back and read again as the same. */
#include "fuzz.h"

#include "base/buf.h"
#include "hw/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct lf_verdict v, again;
	struct lf_buf b = LF_BUF(8 * LF_VERDICT_MAX), same = b;
	struct lf_policy policy = { .enforce = true, .strict = true };
	struct lf_verdict_finding why;
	char *text = malloc(n + 1), line[100];
	struct lf_err e = { "" };

	MUST(text);
	memcpy(text, data, n);
	text[n] = '\0';
	if (lf_verdict_parse(text, &v, &e) < 0) {
		MUST(!strncmp(e.text, "line ", 5));
	} else {
		lf_verdict_write(&v, &b);
		lf_verdict_write(&v, &same);
		MUST(lf_buf_ok(&b) && lf_verdict_parse(b.text, &again, &e) == 0);
		lf_buf_free(&b);
		b = (struct lf_buf)LF_BUF(8 * LF_VERDICT_MAX);
		lf_verdict_write(&again, &b);
		MUST(lf_buf_ok(&b) && !strcmp(b.text, same.text));
		lf_verdict_line(&v, line, sizeof(line));
		(void)lf_policy_decide(&policy, &v, 1, &why);
	}
	lf_buf_free(&b);
	lf_buf_free(&same);
	free(text);
	return 0;
}
