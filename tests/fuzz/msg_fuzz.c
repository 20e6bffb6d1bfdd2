/* SPDX-License-Identifier: Apache-2.0 */
/* A message from outside: what is accepted can be built again and means the
 * same. */
#include "fuzz.h"

#include "wire/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct lf_msg m, built, again;
	struct lf_err e = { "" };

	if (lf_msg_parse(&m, data, n, &e) < 0) {
		MUST(*e.text);
		return 0;
	}
	MUST(*m.verb && m.keys <= LF_MSG_KEYS);
	lf_msg_begin(&built, m.verb);
	for (int i = 0; i < m.keys; i++)
		lf_msg_add(&built, m.key[i], m.value[i]);
	if (!lf_msg_ok(&built)) /* escapes made it longer */
		return 0;
	MUST(lf_msg_parse(&again, built.text, built.len, &e) == 0);
	MUST(again.keys == m.keys && !strcmp(again.verb, m.verb));
	for (int i = 0; i < m.keys; i++)
		MUST(!strcmp(again.key[i], m.key[i]) &&
		     !strcmp(again.value[i], m.value[i]));
	return 0;
}
