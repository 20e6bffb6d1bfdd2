/* SPDX-License-Identifier: Apache-2.0 */
/* A user's list: all or nothing, and nothing of the administrator's. */
#include "fuzz.h"

#include "conf/keys.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct lf_values v, before;
	struct lf_err e = { "" };
	char *list = fuzz_text(data, n);
	int rc;

	lf_keys_defaults(&before);
	lf_keys_defaults(&v);
	rc = lf_keys_set_list(&v, list, &e);
	MUST(rc == 0 || *e.text);
	for (int i = 0; i < LF_KEYS; i++) {
		MUST(rc == 0 || !strcmp(v.text[i], before.text[i]));
		MUST(lf_keys[i].check(&lf_keys[i], v.text[i]) == 0);
		MUST(lf_keys[i].user || !strcmp(v.text[i], before.text[i]));
		MUST(!strpbrk(v.text[i], "\n;"));
	}
	free(list);
	return 0;
}
