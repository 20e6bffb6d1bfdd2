/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "wire/msg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

static bool plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '%' && c != '=';
}

static void put(struct lf_msg *m, const char *s, size_t n)
{
	if (m->len + n >= sizeof(m->text)) {
		m->overflow = 1;
		return;
	}
	memcpy(m->text + m->len, s, n);
	m->len += n;
	m->text[m->len] = '\0';
}

void lf_msg_begin(struct lf_msg *m, const char *verb)
{
	m->len = 0;
	m->overflow = 0;
	m->keys = 0;
	m->verb = verb;
	put(m, verb, strlen(verb));
}

void lf_msg_add(struct lf_msg *m, const char *key, const char *value)
{
	static const char hex[] = "0123456789abcdef";

	put(m, " ", 1);
	put(m, key, strlen(key));
	put(m, "=", 1);
	for (const char *p = value; *p; p++) {
		unsigned char c = (unsigned char)*p;
		char escaped[3] = { '%', hex[c >> 4], hex[c & 15] };

		if (plain(c))
			put(m, p, 1);
		else
			put(m, escaped, sizeof(escaped));
	}
}

void lf_msg_add_u64(struct lf_msg *m, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	lf_msg_add(m, key, text);
}

int lf_msg_ok(const struct lf_msg *m)
{
	return !m->overflow;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* In place; -EPROTO for a broken escape or an encoded NUL. */
static int decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		int hi, lo;

		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		hi = nibble(s[1]);
		lo = hi < 0 ? -1 : nibble(s[2]);
		if (lo < 0 || (hi == 0 && lo == 0))
			return -EPROTO;
		*to++ = (char)(hi << 4 | lo);
		s += 2;
	}
	*to = '\0';
	return 0;
}

static int check_bytes(const struct lf_msg *m, struct lf_err *e)
{
	for (size_t i = 0; i < m->len; i++) {
		unsigned char c = (unsigned char)m->text[i];

		if (c < ' ' || c >= 0x7f)
			return lf_err(e, -EPROTO,
				      "message: byte 0x%02x at %zu", c, i);
	}
	return 0;
}

int lf_msg_parse(struct lf_msg *m, const void *data, size_t n,
		 struct lf_err *e)
{
	char *cursor, *key, *value;
	int rc;

	lf_msg_begin(m, "");
	if (n == 0 || n >= sizeof(m->text))
		return lf_err(e, -EPROTO, "message: %zu bytes", n);
	put(m, data, n);
	rc = check_bytes(m, e);
	if (rc < 0)
		return rc;
	cursor = m->text + strcspn(m->text, " ");
	if (cursor == m->text)
		return lf_err(e, -EPROTO, "message: no verb");
	if (*cursor)
		*cursor++ = '\0';
	m->verb = m->text;
	while ((rc = lf_parse_pair(&cursor, ' ', &key, &value)) > 0) {
		if (m->keys == LF_MSG_KEYS)
			return lf_err(e, -EPROTO, "message: too many keys");
		if (decode(value) < 0)
			return lf_err(e, -EPROTO, "message: key %.32s: broken "
						  "escape", key);
		m->key[m->keys] = key;
		m->value[m->keys++] = value;
	}
	return rc == 0 ? 0 : lf_err(e, -EPROTO, "message: no value: %.32s",
				    key);
}

const char *lf_msg_get(const struct lf_msg *m, const char *key)
{
	for (int i = 0; i < m->keys; i++)
		if (strcmp(m->key[i], key) == 0)
			return m->value[i];
	return "";
}

uint64_t lf_msg_get_u64(const struct lf_msg *m, const char *key, uint64_t max,
			uint64_t none)
{
	uint64_t v = none;

	(void)lf_parse_u64(lf_msg_get(m, key), 0, max, &v);
	return v;
}
