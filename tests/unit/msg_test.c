/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "wire/msg.h"

static int parse(struct lf_msg *m, const char *text, struct lf_err *e)
{
	return lf_msg_parse(m, text, strlen(text), e);
}

static void rubbish(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "0 bytes" },
		{ " ", "no verb" },
		{ " a=1", "no verb" },
		{ "hello x", "no value: x" },
		{ "hello =x", "no value: =x" },
		{ "hello a=1 b", "no value: b" },
		{ "hello\n", "byte 0x0a at 5" },
		{ "hello a=\t", "byte 0x09" },
		{ "hello a=\x7f", "byte 0x7f" },
		{ "hello a=\xc3\xa9", "byte 0xc3" },
		{ "hello a=%", "broken escape" },
		{ "hello a=%4", "broken escape" },
		{ "hello a=%zz", "broken escape" },
		{ "hello a=%4 b=1", "broken escape" },
		{ "hello a=%2G", "broken escape" },
		{ "hello a=%2B%", "broken escape" },
		{ "hello a=%4F", "broken escape" }, /* one spelling only */
		{ "hello a=%00", "broken escape" },
	};
	static struct lf_msg m;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };

		check_int(rows[i].text, parse(&m, rows[i].text, &e), -EPROTO);
		check_has(rows[i].text, e.text, rows[i].why);
		check_int(rows[i].text, parse(&m, rows[i].text, NULL), -EPROTO);
	}
	assert_int_equal(lf_msg_parse(&m, "a\0b=1", 5, NULL), -EPROTO);
}

static void bounds(void **state)
{
	static char big[LF_MSG_MAX + 1];
	static struct lf_msg m;
	size_t n = 0;

	memset(big, 'v', sizeof(big));
	assert_int_equal(lf_msg_parse(&m, big, LF_MSG_MAX - 1, NULL), 0);
	assert_int_equal(strlen(m.verb), LF_MSG_MAX - 1);
	assert_int_equal(lf_msg_parse(&m, big, LF_MSG_MAX, NULL), -EPROTO);
	assert_int_equal(lf_msg_parse(&m, big, LF_MSG_MAX + 1, NULL), -EPROTO);

	n = (size_t)snprintf(big, sizeof(big), "v");
	for (int i = 0; i < LF_MSG_KEYS; i++)
		n += (size_t)snprintf(big + n, sizeof(big) - n, " k%d=%d", i,
				      i);
	assert_int_equal(parse(&m, big, NULL), 0);
	assert_int_equal(m.keys, LF_MSG_KEYS);
	(void)snprintf(big + n, sizeof(big) - n, " one=more");
	assert_int_equal(parse(&m, big, NULL), -EPROTO);

	memset(big, ' ', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	lf_msg_begin(&m, "v");
	lf_msg_add(&m, "k", big); /* three bytes each */
	assert_false(lf_msg_ok(&m));
	assert_true(m.len < LF_MSG_MAX);
	lf_msg_begin(&m, "v");
	assert_true(lf_msg_ok(&m));
}

static void every_byte_survives(void **state)
{
	static struct lf_msg built, read;
	char value[256], spaces[] = "a b", empty[] = "";

	for (int i = 1; i < 256; i++)
		value[i - 1] = (char)i;
	value[255] = '\0';
	lf_msg_begin(&built, "verb");
	lf_msg_add(&built, "bytes", value);
	lf_msg_add(&built, "empty", empty);
	lf_msg_add(&built, "spaces", spaces);
	lf_msg_add_u64(&built, "n", UINT64_MAX);
	assert_true(lf_msg_ok(&built));
	for (size_t i = 0; i < built.len; i++)
		assert_true(built.text[i] >= ' ' && built.text[i] < 0x7f);
	assert_int_equal(lf_msg_parse(&read, built.text, built.len, NULL), 0);
	assert_string_equal(read.verb, "verb");
	assert_int_equal(read.keys, 4);
	assert_string_equal(lf_msg_get(&read, "bytes"), value);
	assert_string_equal(lf_msg_get(&read, "empty"), "");
	assert_string_equal(lf_msg_get(&read, "spaces"), "a b");
	assert_true(lf_msg_get_u64(&read, "n", UINT64_MAX, 0) == UINT64_MAX);
}

static void lookups(void **state)
{
	static struct lf_msg m;

	assert_int_equal(parse(&m, "v a=1 a=2 b=-1 c=9 d=x=y", NULL), 0);
	assert_string_equal(lf_msg_get(&m, "a"), "1"); /* the first counts */
	assert_string_equal(lf_msg_get(&m, "none"), "");
	assert_string_equal(lf_msg_get(&m, ""), "");
	assert_string_equal(lf_msg_get(&m, "d"), "x=y");
	assert_int_equal(lf_msg_get_u64(&m, "c", 9, 42), 9);
	assert_int_equal(lf_msg_get_u64(&m, "c", 8, 42), 42);
	assert_int_equal(lf_msg_get_u64(&m, "b", 9, 42), 42);
	assert_int_equal(lf_msg_get_u64(&m, "none", 9, 42), 42);
	assert_int_equal(parse(&m, "alone", NULL), 0);
	assert_int_equal(m.keys, 0);
}

MAIN(T(rubbish), T(bounds), T(every_byte_survives), T(lookups))
