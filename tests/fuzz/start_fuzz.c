/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "orchestrator/start.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	static struct start s;
	struct lf_err e = { "" };

	if (start_parse(text, &s, &e) < 0)
		MUST(*e.text);
	else
		MUST(s.nodes > 0 && s.nodeid < s.nodes &&
		     s.ports <= LF_PORT_CANDIDATES);
	free(text);
	return 0;
}
