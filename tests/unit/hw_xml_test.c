/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#include "hw/recorded/xml.h"

struct seen {
	int opened, closed;
	char last[64];
	const char *fail_at;
};

static int on_open(struct lf_xml *x, void *arg, const char *name,
		   const char **attr)
{
	struct seen *s = arg;

	s->opened++;
	if (s->fail_at && strcmp(name, s->fail_at) == 0)
		return lf_xml_fail(x, -EDOM, "no <%s> here", name);
	return 0;
}

static int on_close(struct lf_xml *x, void *arg, const char *name,
		    const char *text)
{
	struct seen *s = arg;

	s->closed++;
	(void)snprintf(s->last, sizeof(s->last), "%.20s=%.40s", name, text);
	return 0;
}

static const struct lf_xml_events events = { on_open, on_close };

static int parse(const char *text, struct seen *s, struct lf_err *e)
{
	return lf_xml_read(text, strlen(text), &events, s, e);
}

static void damage(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *error;
	} rows[] = {
		{ "<a><b></a>", -EINVAL, "1:9: not XML: mismatched tag" },
		{ "<a>\n<b x=1/></a>", -EINVAL, "2:6: not XML: " },
		{ "<a>\n <b>", -ENODATA, "2:5: ends within" },
		{ "<a>\n <b", -ENODATA, "2:2: ends within" },
		{ "", -ENODATA, "1:1: ends" },
		{ "<!DOCTYPE a [\n<!ENTITY x \"y\">]><a>&x;</a>", -EPERM,
		  "2:" },
		{ "<!DOCTYPE a [<!ENTITY % x SYSTEM \"file:///etc/passwd\"> "
		  "%x;]><a/>",
		  -EPERM, "declarations are refused" },
		{ "<a>&undefined;</a>", -EINVAL, "undefined entity" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_err e = { "" };
		struct seen s = { 0 };

		same(rows[i].text, "code", parse(rows[i].text, &s, &e),
		     rows[i].rc);
		has(e.text, rows[i].error);
	}
}

/* `n` times `part` within <a>. */
static char *repeat(const char *part, size_t n, const char *end)
{
	size_t len = strlen(part);
	char *text = malloc(len * n + strlen(end) + 8);

	assert_non_null(text);
	memcpy(text, "<a>\n", 4);
	for (size_t i = 0; i < n; i++)
		memcpy(text + 4 + i * len, part, len);
	memcpy(text + 4 + n * len, end, strlen(end) + 1);
	return text;
}

static void bounds(void **state)
{
	static const struct {
		const char *part;
		size_t n;
		const char *end, *error;
	} rows[] = {
		{ "<b>", LF_XML_DEPTH + 1, "", "elements deep" },
		{ "<b/>", LF_XML_ELEMENTS + 1, "</a>", "more than 500000" },
		{ "x", LF_XML_TEXT + 1, "</a>", "text longer than 65536" },
	};
	char *text;
	struct lf_err e = { "" };
	struct seen s = { 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		text = repeat(rows[i].part, rows[i].n, rows[i].end);
		same(rows[i].error, "code", parse(text, &s, &e), -E2BIG);
		has(e.text, rows[i].error);
		free(text);
	}
	text = repeat("<b a=\"", 1, "");
	text = realloc(text, LF_XML_TAG + 64);
	assert_non_null(text);
	memset(text + 10, 'c', LF_XML_TAG + 8);
	memcpy(text + 10 + LF_XML_TAG + 8, "\"/></a>", 8);
	same("tag", "code", parse(text, &s, &e), -E2BIG);
	has(e.text, "2:1: a tag longer than");
	free(text);
}

static void text_and_order(void **state)
{
	struct seen s = { 0 };

	assert_int_equal(parse("<a>one<b>  two \n</b>three</a>", &s, NULL), 0);
	assert_int_equal(s.opened, 2);
	assert_int_equal(s.closed, 2);
	assert_string_equal(s.last, "a=");
	s = (struct seen){ 0 };
	assert_int_equal(parse("<a> two\t</a>", &s, NULL), 0);
	assert_string_equal(s.last, "a=two");
}

static void handler_fails(void **state)
{
	struct seen s = { .fail_at = "c" };
	struct lf_err e = { "" };

	assert_int_equal(parse("<a>\n<b/>\n  <c/><d/></a>", &s, &e), -EDOM);
	assert_string_equal(e.text, "3:3: no <c> here");
	assert_int_equal(s.opened, 3);
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int max, want;
	} rows[] = {
		{ NULL, 9, -1 },   { "", 9, -1 },
		{ "7", 9, 7 },	   { "10", 9, -1 },
		{ "-1", 9, -1 },   { " 1", 9, -1 },
		{ "16x", 99, 16 }, { "99999999999", 999999999, -1 },
		{ "x", 9, -1 },	   { "000000001", 9, 1 },
		{ "1 MiB", 9, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		same(rows[i].text ? rows[i].text : "NULL", "number",
		     lf_xml_int(rows[i].text, rows[i].max), rows[i].want);
}

static void roots(void **state)
{
	static const struct {
		const char *text;
		bool want;
	} rows[] = {
		{ "<system version=\"1\">", true },
		{ "\n\n <system>", true },
		{ "<?xml version=\"1.0\"?><!-- <x> --><system/>", true },
		{ "<!DOCTYPE system [ <!ENTITY a \"b\"> ]><system>", true },
		{ "<systems>", false },
		{ "<syste", false },
		{ "<!-- <system>", false },
		{ "<!DOCTYPE system", false },
		{ "system", false },
		{ "", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		same(rows[i].text, "root",
		     lf_xml_root(rows[i].text, strlen(rows[i].text), "system"),
		     rows[i].want);
}

int main(void)
{
	const struct CMUnitTest all[] = { T(damage),	     T(bounds),
					  T(text_and_order), T(handler_fails),
					  T(numbers),	     T(roots) };

	return cmocka_run_group_tests_name("hw_xml", all, NULL, NULL);
}
