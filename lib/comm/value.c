/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "comm/vars.h"

enum {
	NAME_LEN = 72,
	NEAR = 3 /* edits; more is another word */
};

const struct lf_var *lf_var_find(const char *name)
{
	for (int i = 0; i < lf_vars_count; i++)
		if (!strcmp(lf_vars[i].name, name))
			return &lf_vars[i];
	return NULL;
}

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edits from a to b; a swap of neighbours is one.  Names are short. */
static int distance(const char *a, const char *b)
{
	int row[3][NAME_LEN + 1], n = (int)strlen(a), m = (int)strlen(b);
	int *old = row[0], *last = row[1], *now = row[2];

	for (int j = 0; j <= m; j++)
		last[j] = j;
	for (int i = 1; i <= n; i++) {
		int *spare = old;

		now[0] = i;
		for (int j = 1; j <= m; j++) {
			bool same = a[i - 1] == b[j - 1];

			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + !same);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && old[j - 2] + 1 < now[j])
				now[j] = old[j - 2] + 1;
		}
		old = last;
		last = now;
		now = spare;
	}
	return last[m];
}

/* The same name under another prefix ("NCCL_HEARTBEAT_TIMEOUT_SEC"). */
static bool tail_of(const char *known, const char *name)
{
	const char *part = strchr(name, '_');
	size_t n = strlen(known), m = part ? strlen(part) : 0;

	return m > 8 && n > m && !strcmp(known + n - m, part);
}

const char *lf_var_nearest(const char *name)
{
	const char *best = NULL;
	int least = NEAR + 1;

	if (strlen(name) > NAME_LEN)
		return NULL;
	for (int i = 0; i < lf_vars_count; i++) {
		const struct lf_var *v = &lf_vars[i];
		size_t n = strlen(v->name);
		int d;

		if (v->source == LF_VAR_OTHER || n > NAME_LEN)
			continue;
		d = tail_of(v->name, name) ? 1 : distance(name, v->name);
		/* Of a short name, two of three letters are too many. */
		if (d < least && (size_t)d * 5 <= n) {
			least = d;
			best = v->name;
		}
	}
	return best;
}

static bool in_words(const char *words, const char *word, size_t len)
{
	while (words && *words) {
		size_t n = strcspn(words, ",");

		if (n == len && !strncasecmp(words, word, n))
			return true;
		words += n + (words[n] == ',');
	}
	return false;
}

static bool is_int(const char *s)
{
	char *end;

	errno = 0;
	(void)strtoll(s, &end, 0);
	return end != s && !*end && errno == 0;
}

static bool is_bool(const char *s)
{
	return in_words("0,1,y,n,yes,no,t,f,true,false", s, strlen(s));
}

static bool is_list(const char *words, const char *s)
{
	s += *s == '^';
	while (*s) {
		size_t n = strcspn(s, ",");

		if (!in_words(words, s, n))
			return false;
		s += n + (s[n] == ',');
	}
	return true;
}

const char *lf_var_expected(const struct lf_var *v, const char *value)
{
	bool word = v->words && in_words(v->words, value, strlen(value));

	switch (v->kind) {
	case LF_VAR_INT:
		return is_int(value) ? NULL : "a whole number";
	case LF_VAR_BOOL:
		return is_bool(value) ? NULL : "0 or 1";
	case LF_VAR_WORD:
		return word ? NULL : v->words;
	case LF_VAR_LIST:
		return is_list(v->words, value) ? NULL : v->words;
	case LF_VAR_LEVEL:
		return word || is_int(value) ? NULL : v->words;
	default:
		return NULL;
	}
}
