/* SPDX-License-Identifier: Apache-2.0 */
/* Small forms of values; a bad one leaves the result alone. */
#include "fuzz.h"

#include <stdbool.h>

#include "base/parse.h"
#include "conf/value.h"

static void walk(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n), *cursor = text, *key, *value;
	int rc;

	while ((rc = lf_parse_pair(&cursor, ';', &key, &value)) > 0)
		MUST(*key && !strchr(key, '=') && !strchr(value, ';'));
	if (rc < 0)
		MUST(key >= text && key <= text + n);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	uint16_t low = 7, high = 9;
	uint64_t v = 42;
	bool yes;

	(void)lf_parse_bool(text, &yes);
	if (lf_parse_u64(text, 3, 1000, &v) < 0)
		MUST(v == 42);
	else
		MUST(v >= 3 && v <= 1000);
	v = 42;
	if (lf_value_size(text, &v) < 0)
		MUST(v == 42);
	if (lf_value_ports(text, &low, &high) < 0)
		MUST(low == 7 && high == 9);
	else
		MUST(low > 0 && low <= high);
	free(text);
	walk(data, n);
	return 0;
}
