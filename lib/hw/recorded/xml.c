/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/recorded/xml.h"

#include <ctype.h>
#include <errno.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/recorded/read.h"

/* Newer expat wants the ...64 names, which Debian 12's does not have. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

struct lf_xml {
	XML_Parser parser;
	const struct lf_xml_events *events;
	void *arg;
	struct lf_err *e;
	int rc; /* of the first failure in a handler */
	int depth, elements;
	bool leaf; /* no child since the element was opened */
	size_t len;
	char text[LF_XML_TEXT + 1];
};

static unsigned long line(const struct lf_xml *x)
{
	return XML_GetCurrentLineNumber(x->parser);
}

static unsigned long column(const struct lf_xml *x)
{
	return XML_GetCurrentColumnNumber(x->parser) + 1;
}

int lf_xml_fail(struct lf_xml *x, int code, const char *fmt, ...)
{
	char what[LF_ERR_MAX];
	va_list ap;

	if (x->rc < 0)
		return x->rc;
	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	x->rc = lf_err(x->e, code, "%lu:%lu: %s", line(x), column(x), what);
	(void)XML_StopParser(x->parser, XML_FALSE);
	return x->rc;
}

/* A handler may have failed by its own means. */
static void after(struct lf_xml *x, int rc)
{
	if (rc < 0)
		(void)lf_xml_fail(x, rc, "%s", strerror(-rc));
}

static void XMLCALL on_open(void *arg, const XML_Char *name,
			    const XML_Char **attr)
{
	struct lf_xml *x = arg;

	if (x->rc < 0)
		return;
	x->leaf = true;
	x->len = 0;
	if (++x->depth > LF_XML_DEPTH)
		(void)lf_xml_fail(x, -E2BIG, "more than %d elements deep",
				  LF_XML_DEPTH);
	else if (++x->elements > LF_XML_ELEMENTS)
		(void)lf_xml_fail(x, -E2BIG, "more than %d elements",
				  LF_XML_ELEMENTS);
	else
		after(x, x->events->open(x, x->arg, name, attr));
}

/* The text without white space around it, in place. */
static const char *trimmed(struct lf_xml *x)
{
	char *s = x->text;

	while (x->len && isspace((unsigned char)s[x->len - 1]))
		x->len--;
	s[x->len] = '\0';
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static void XMLCALL on_close(void *arg, const XML_Char *name)
{
	struct lf_xml *x = arg;

	if (x->rc < 0)
		return;
	x->depth--;
	if (!x->leaf)
		x->len = 0;
	x->leaf = false;
	if (x->events->close)
		after(x, x->events->close(x, x->arg, name, trimmed(x)));
	x->len = 0;
}

static void XMLCALL on_text(void *arg, const XML_Char *s, int n)
{
	struct lf_xml *x = arg;

	if (x->rc < 0 || !x->leaf)
		return;
	if (x->len + (size_t)n > LF_XML_TEXT) {
		(void)lf_xml_fail(x, -E2BIG, "text longer than %d bytes",
				  LF_XML_TEXT);
		return;
	}
	memcpy(x->text + x->len, s, (size_t)n);
	x->len += (size_t)n;
}

/* No recording declares one, and a bomb is made of them. */
/* NOLINTNEXTLINE(readability-function-size): expat's parameters */
static void XMLCALL on_entity(void *arg, const XML_Char *name, int is_parameter,
			      const XML_Char *value, int length,
			      const XML_Char *base, const XML_Char *system,
			      const XML_Char *public, const XML_Char *notation)
{
	(void)lf_xml_fail(arg, -EPERM,
			  "entity \"%.32s\": declarations are "
			  "refused",
			  name);
}

static bool early_end(XML_Parser p, size_t n)
{
	switch (XML_GetErrorCode(p)) {
	case XML_ERROR_NO_ELEMENTS:
	case XML_ERROR_UNCLOSED_TOKEN:
	case XML_ERROR_PARTIAL_CHAR:
	case XML_ERROR_UNCLOSED_CDATA_SECTION:
		return true;
	default:
		return XML_GetCurrentByteIndex(p) >= (XML_Index)n;
	}
}

static int parser_error(struct lf_xml *x, size_t n)
{
	enum XML_Error code = XML_GetErrorCode(x->parser);

	if (code == XML_ERROR_NO_MEMORY)
		return lf_err(x->e, -ENOMEM, "%lu:%lu: no memory", line(x),
			      column(x));
	if (early_end(x->parser, n))
		return lf_err(x->e, -ENODATA, "%lu:%lu: ends within an element",
			      line(x), column(x));
	return lf_err(x->e, -EINVAL, "%lu:%lu: not XML: %s", line(x), column(x),
		      XML_ErrorString(code));
}

/* Expat reads a tag as a whole, with a table of its attributes: one of 30 MB
 * would take seconds and ten times its size. */
static int long_tag(const char *text, size_t n, struct lf_err *e)
{
	const char *end = text + n, *s = text;
	unsigned long at = 1;

	while ((s = memchr(s, '<', (size_t)(end - s))) != NULL) {
		const char *close = memchr(s, '>', (size_t)(end - s));

		if ((close ? close : end) - s > LF_XML_TAG) {
			for (const char *c = text; c < s; c++)
				at += *c == '\n';
			return lf_err(e, -E2BIG,
				      "%lu:1: a tag longer than %d bytes", at,
				      LF_XML_TAG);
		}
		if (!close)
			break;
		s = close;
	}
	return 0;
}

static int run(struct lf_xml *x, const char *text, size_t n)
{
	int rc = 0;

	XML_SetUserData(x->parser, x);
	XML_SetElementHandler(x->parser, on_open, on_close);
	XML_SetCharacterDataHandler(x->parser, on_text);
	XML_SetEntityDeclHandler(x->parser, on_entity);
	if (XML_Parse(x->parser, text, (int)n, 1) != XML_STATUS_OK)
		rc = x->rc < 0 ? x->rc : parser_error(x, n);
	return rc;
}

int lf_xml_read(const char *text, size_t n, const struct lf_xml_events *events,
		void *arg, struct lf_err *e)
{
	struct lf_xml *x;
	int rc = n <= LF_HW_READ_MAX ? long_tag(text, n, e)
				     : lf_err(e, -E2BIG, "1:1: too long");

	if (rc < 0)
		return rc;
	x = calloc(1, sizeof(*x));
	if (!x)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	x->parser = XML_ParserCreate(NULL);
	x->events = events;
	x->arg = arg;
	x->e = e;
	if (x->parser) {
		rc = run(x, text, n);
		XML_ParserFree(x->parser);
	} else {
		rc = lf_err(e, -ENOMEM, "1:1: no memory");
	}
	free(x);
	return rc;
}

int lf_xml_read_part(struct lf_hw *hw, const char *text, size_t n,
		     const struct lf_xml_events *events, void *arg,
		     struct lf_err *e)
{
	struct lf_err why = { "" };
	struct lf_hw *before = malloc(sizeof(*before));
	int rc;

	if (!before)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	*before = *hw;
	rc = lf_xml_read(text, n, events, arg, &why);
	if (rc == -ENODATA && events->any(arg)) {
		lf_hw_mark_partial(hw, why.text);
		rc = 0;
	}
	if (rc < 0) {
		*hw = *before;
		(void)lf_err(e, rc, "%s", why.text);
	}
	free(before);
	return rc;
}

const char *lf_xml_attr(const char **attr, const char *name)
{
	for (; *attr; attr += 2)
		if (strcmp(attr[0], name) == 0)
			return attr[1];
	return NULL;
}

int lf_xml_int(const char *text, int max)
{
	int v = 0, n = 0;

	if (!text || !isdigit((unsigned char)*text) ||
	    sscanf(text, "%9d%n", &v, &n) != 1 ||
	    isdigit((unsigned char)text[n]))
		return -1;
	return v <= max ? v : -1;
}

/* Past "<!DOCTYPE x [ ... ]>" and "<?xml ... ?>". */
static const char *past_declaration(const char *s, const char *end)
{
	const char *close = memchr(s, '>', (size_t)(end - s));
	const char *inside = memchr(s, '[', (size_t)(end - s));

	if (close && inside && inside < close && s[1] == '!') {
		close = memmem(s, (size_t)(end - s), "]>", 2);
		close = close ? close + 1 : NULL;
	}
	return close ? close + 1 : NULL;
}

/* Past white space, declarations, comments and the document type. */
static const char *first_element(const char *s, const char *end)
{
	while (s && s < end) {
		if (isspace((unsigned char)*s)) {
			s++;
		} else if (end - s > 4 && memcmp(s, "<!--", 4) == 0) {
			s = memmem(s, (size_t)(end - s), "-->", 3);
			s = s ? s + 3 : NULL;
		} else if (end - s > 2 && *s == '<' &&
			   (s[1] == '?' || s[1] == '!')) {
			s = past_declaration(s, end);
		} else {
			return *s == '<' ? s + 1 : NULL;
		}
	}
	return NULL;
}

bool lf_xml_root(const char *text, size_t n, const char *name)
{
	const char *s = first_element(text, text + n);
	size_t len = strlen(name);

	return s && (size_t)(text + n - s) > len && memcmp(s, name, len) == 0 &&
	       strchr(" \t\n>/", s[len]) != NULL;
}
