/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/clean.h"

static void rows(void **state)
{
	static const struct {
		const char *text, *keep, *clean;
	} all[] = {
		{ "", "", "" },
		{ "a b~", "", "a b~" },
		{ "h\xc3\xa9llo \x01\x1f", "", "h\xc3\xa9llo ??" },
		{ "\033[31m\177\r", "", "?[31m??" },
		{ "a\tb\nc\a", "\n\t", "a\tb\nc?" },
		/* C1, as UTF-8 and raw; the same bytes inside of letters. */
		{ "\xc2\x80\xc2\x9b\xc2\x9f", "", "??????" },
		{ "\x80\x9b\x9f", "", "???" },
		{ "\xc4\x9b\xe2\x9b\x9b\xf0\x9f\x9b\x80", "",
		  "\xc4\x9b\xe2\x9b\x9b\xf0\x9f\x9b\x80" },
		{ "\xc2\xa0", "", "\xc2\xa0" },
		/* ESC, the long way round. */
		{ "\xc0\x9b\xe0\x80\x9b\xf0\x80\x80\x9b", "", "?????????" },
		{ "\xed\xa0\x80", "", "???" }, /* half of a pair */
		{ "\xf4\x90\x80\x80\xf8\x90\x80\x80\xff\xfe", "",
		  "??????????" },
		/* Cut. */
		{ "x\xe2\x82", "", "x??" },
		{ "\xc3(\xe2\x82(", "", "?(?" /* no trigraph */ "?(" },
		{ "\xf0\x9f\x9b", "", "???" },
	};

	for (size_t i = 0; i < COUNT(all); i++) {
		char text[64], row[32];

		(void)snprintf(row, sizeof(row), "row %zu", i);
		(void)snprintf(text, sizeof(text), "%s", all[i].text);
		lf_clean(text, all[i].keep);
		check_str(row, text, all[i].clean);
	}
}

static size_t encode(uint32_t c, char *out)
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (n == 1) {
		out[0] = (char)c;
		return 1;
	}
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(0xf00 >> n | c);
	return n;
}

/* Every character there is: kept, or nothing but question marks. */
static void all_characters(void **state)
{
	for (uint32_t c = 1; c < 0x110000; c++) {
		bool control = c < ' ' || (c >= 0x7f && c < 0xa0);
		bool half = c >= 0xd800 && c < 0xe000;
		char text[8] = "", before[8];
		size_t n = encode(c, text);

		memcpy(before, text, sizeof(text));
		if (control || half)
			memset(before, '?', n);
		lf_clean(text, "");
		if (strcmp(text, before) != 0)
			check_int("character", c, -1);
	}
}

MAIN(T(rows), T(all_characters))
