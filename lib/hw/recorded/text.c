/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/recorded/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/clean.h"

enum {
	PROBE = 64 * 1024, /* bytes in which a format must show itself */
	ESC = 0x1b,
	BEL = 0x07
};

void lf_text_open(struct lf_text *t, const char *text, size_t n)
{
	t->at = text;
	t->end = text + n;
	t->number = 0;
	t->cut = false;
	t->line[0] = '\0';
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		t->at += 3;
}

/* Past an escape sequence: CSI up to its final byte, OSC up to BEL or ESC \,
 * any other of two bytes; never past the line. */
static const char *skip_escape(const char *p, const char *end)
{
	char kind = '\0';

	if (p + 1 < end)
		kind = p[1];
	p += p + 1 < end && kind != '\n' ? 2 : 1;
	if (kind == '[') {
		while (p < end && *p != '\n' && (*p < '@' || *p > '~'))
			p++;
		return p < end && *p != '\n' ? p + 1 : p;
	}
	if (kind == ']') {
		while (p < end && *p != '\n' && *p != BEL && *p != ESC)
			p++;
		return p < end && *p == BEL ? p + 1 : p;
	}
	return p;
}

static void put(struct lf_text *t, size_t *n, char c)
{
	if (!c)
		c = '?';
	if (*n + 1 < sizeof(t->line))
		t->line[(*n)++] = c;
}

bool lf_text_line(struct lf_text *t)
{
	const char *p = t->at;
	size_t n = 0;

	if (p >= t->end)
		return false;
	while (p < t->end && *p != '\n') {
		if (*p == ESC) {
			p = skip_escape(p, t->end);
		} else if (t->end - p >= 2 && memcmp(p, "\xc2\xa0", 2) == 0) {
			put(t, &n, ' '); /* a web page's hard space */
			p += 2;
		} else if (*p == '\r') {
			p++;
		} else {
			put(t, &n, *p++);
		}
	}
	t->line[n] = '\0';
	lf_clean(t->line, "\t");
	t->cut = p >= t->end;
	t->at = p + !t->cut;
	t->number++;
	return true;
}

int lf_text_err(struct lf_err *e, const struct lf_text *t, const char *where,
		const char *fmt, ...)
{
	char what[LF_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return lf_err(e, -EINVAL, "%d:%d: %s", t->number,
		      (int)(where - t->line) + 1, what);
}

int lf_text_read(struct lf_hw *hw, const char *text, size_t n,
		 int (*body)(struct lf_hw *, struct lf_text *, struct lf_err *),
		 struct lf_err *e)
{
	lf_autofree struct lf_hw *copy = NULL;
	struct lf_text t;
	int rc;

	if (n > LF_HW_READ_MAX)
		return lf_err(e, -EFBIG, "1:1: longer than %u MiB",
			      LF_HW_READ_MAX >> 20);
	copy = malloc(sizeof(*copy));
	if (!copy)
		return lf_err(e, -ENOMEM, "no memory for a recording");
	*copy = *hw;
	lf_text_open(&t, text, n);
	rc = body(copy, &t, e);
	if (rc == 0)
		*hw = *copy;
	return rc;
}

bool lf_text_any(const char *text, size_t n, bool (*is)(const char *line))
{
	struct lf_text t;

	lf_text_open(&t, text, n < PROBE ? n : PROBE);
	while (lf_text_line(&t)) {
		char first = t.line[strspn(t.line, " \t")];

		if (t.number == 1 && (first == '<' || first == '{'))
			return false;
		if (is(t.line))
			return true;
	}
	return false;
}

int lf_text_cells(char *line, char **cell, int max)
{
	int n = 0;

	for (char *p = line; n < max; n++) {
		p += strspn(p, " \t");
		if (!*p)
			break;
		cell[n] = p;
		p += strcspn(p, " \t");
		if (*p)
			*p++ = '\0';
	}
	return n;
}

const char *lf_text_after(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	s += strspn(s, " \t");
	if (strncmp(s, prefix, n) != 0)
		return NULL;
	return s + n + strspn(s + n, " \t");
}

static void trim_end(char *s, char *end)
{
	while (end > s && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
}

char *lf_text_pair(char *line, const char *sep, char **value)
{
	char *key = line + strspn(line, " \t");
	char *at = strstr(key, sep);

	if (!at)
		return NULL;
	*value = at + strlen(sep);
	*value += strspn(*value, " \t");
	trim_end(*value, *value + strlen(*value));
	trim_end(key, at);
	return key;
}

bool lf_text_blank(const char *line)
{
	return !line[strspn(line, " \t")];
}

bool lf_text_dots(const char *line)
{
	int dots = 0;

	while (*line) {
		if (strncmp(line, "\xe2\x80\xa6", 3) == 0) {
			dots += 3;
			line += 3;
		} else if (strchr(" \t[]().", *line)) {
			dots += *line++ == '.';
		} else {
			return false;
		}
	}
	return dots >= 2;
}

static int digit(char c, int base)
{
	int v = 99;

	if (c >= '0' && c <= '9')
		v = c - '0';
	else if (c >= 'a' && c <= 'f')
		v = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		v = c - 'A' + 10;
	return v < base ? v : -1;
}

bool lf_text_int(const char *s, int min, int max, int *out)
{
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	int base = hex ? 16 : 10;
	long long v = 0;

	s += hex ? 2 : 0;
	if (!*s)
		return false;
	for (; *s; s++) {
		int d = digit(*s, base);

		if (d < 0 || v > INT_MAX)
			return false;
		v = v * base + d;
	}
	if (v < min || v > max)
		return false;
	*out = (int)v;
	return true;
}

bool lf_text_milli(const char *s, int *milli, const char **rest)
{
	long long v = 0;
	int places = 0;

	s += strspn(s, " \t");
	if (digit(*s, 10) < 0)
		return false;
	for (; digit(*s, 10) >= 0 && v <= INT_MAX; s++)
		v = v * 10 + digit(*s, 10);
	if (*s == '.')
		for (s++; digit(*s, 10) >= 0; s++)
			if (places < 3 && v <= INT_MAX) {
				v = v * 10 + digit(*s, 10);
				places++;
			}
	for (; places < 3 && v <= INT_MAX; places++)
		v *= 10;
	if (v > INT_MAX)
		return false;
	*milli = (int)v;
	if (rest)
		*rest = s + strspn(s, " \t");
	return true;
}

bool lf_text_gpu(const char *s, int *index)
{
	return strncmp(s, "GPU", 3) == 0 && s[3] >= '0' && s[3] <= '9' &&
	       s[4] != 'x' && lf_text_int(s + 3, 0, 9999, index);
}
