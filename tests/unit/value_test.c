/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "conf/value.h"

static void port_range(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint16_t low, high;
	} rows[] = {
		{ NULL, -EINVAL, 0, 0 },
		{ "", -EINVAL, 0, 0 },
		{ "-", -EINVAL, 0, 0 },
		{ "1-", -EINVAL, 0, 0 },
		{ "-1", -EINVAL, 0, 0 },
		{ "1--2", -EINVAL, 0, 0 },
		{ "1-2-3", -EINVAL, 0, 0 },
		{ "1 - 2", -EINVAL, 0, 0 },
		{ "1,2", -EINVAL, 0, 0 },
		{ "000000000001-2", -EINVAL, 0, 0 },
		{ "0", -ERANGE, 0, 0 },
		{ "65536", -ERANGE, 0, 0 },
		{ "1-65536", -ERANGE, 0, 0 },
		{ "9-8", -ERANGE, 0, 0 },
		{ "7", 0, 7, 7 },
		{ "8-8", 0, 8, 8 },
		{ "1-65535", 0, 1, 65535 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].text ? rows[i].text : "NULL";
		uint16_t low = 42, high = 43;

		check_int(row, lf_value_ports(rows[i].text, &low, &high),
			  rows[i].rc);
		check_int(row, low, rows[i].rc ? 42 : rows[i].low);
		check_int(row, high, rows[i].rc ? 43 : rows[i].high);
	}
}

static void size(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{ NULL, -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "1k", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 },
		{ "1.5G", -EINVAL, 0 },
		{ "-1G", -EINVAL, 0 },
		{ "1 G", -EINVAL, 0 },
		{ "16777216T", -ERANGE, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "000000000000000000000000001", -EINVAL, 0 },
		{ "0", 0, 0 },
		{ "7", 0, 7 },
		{ "64K", 0, 65536 },
		{ "3M", 0, 3 << 20 },
		{ "64G", 0, 64ull << 30 },
		{ "16777215T", 0, 16777215ull << 40 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *row = rows[i].text ? rows[i].text : "NULL";
		uint64_t v = 42;

		check_int(row, lf_value_size(rows[i].text, &v), rows[i].rc);
		check_int(row, (long long)v,
			  (long long)(rows[i].rc ? 42 : rows[i].value));
	}
}

MAIN(T(port_range), T(size))
