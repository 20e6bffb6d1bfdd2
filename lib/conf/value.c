/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "conf/value.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

int lf_value_ports(const char *s, uint16_t *low, uint16_t *high)
{
	char first[8] = { 0 };
	const char *dash = s ? strchr(s, '-') : NULL;
	uint64_t a = 0, b = 0;
	int rc;

	if (!dash) {
		rc = lf_parse_u64(s, 1, UINT16_MAX, &a);
		b = a;
	} else {
		if ((size_t)(dash - s) >= sizeof(first))
			return -EINVAL;
		memcpy(first, s, (size_t)(dash - s));
		rc = lf_parse_u64(first, 1, UINT16_MAX, &a);
		if (rc == 0)
			rc = lf_parse_u64(dash + 1, a, UINT16_MAX, &b);
	}
	if (rc < 0)
		return rc;
	*low = (uint16_t)a;
	*high = (uint16_t)b;
	return 0;
}

int lf_value_size(const char *s, uint64_t *out)
{
	static const char units[] = "KMGT";
	char digits[24];
	size_t n = s ? strlen(s) : 0;
	const char *unit = n ? strchr(units, s[n - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t v;
	int rc;

	if (unit)
		n--;
	if (n == 0 || n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, s, n);
	digits[n] = '\0';
	rc = lf_parse_u64(digits, 0, UINT64_MAX >> shift, &v);
	if (rc == 0)
		*out = v << shift;
	return rc;
}
