/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/lint.h"

const struct lf_setting *lf_settings_get(const struct lf_settings *s,
					 const char *name)
{
	for (int i = 0; i < s->count; i++)
		if (!s->item[i].hidden && !strcmp(s->item[i].name, name))
			return &s->item[i];
	return NULL;
}

static int reserve(struct lf_settings *s)
{
	int room = s->room ? 2 * s->room : 64;
	struct lf_setting *item;

	if (s->count < s->room)
		return 0;
	if (room > LF_SETTINGS_MAX)
		return -E2BIG;
	item = realloc(s->item, (size_t)room * sizeof(*item));
	if (!item)
		return -ENOMEM;
	s->item = item;
	s->room = room;
	return 0;
}

static int add(struct lf_settings *s, const char *name, size_t n,
	       const char *value, const char *origin)
{
	size_t m = strlen(value);
	struct lf_setting *at;
	int rc = reserve(s);

	if (rc < 0)
		return rc;
	at = &s->item[s->count];
	at->name = malloc(n + m + 2);
	if (!at->name)
		return -ENOMEM;
	memcpy(at->name, name, n);
	at->name[n] = '\0';
	at->value = at->name + n + 1;
	memcpy(at->value, value, m + 1);
	(void)snprintf(at->origin, sizeof(at->origin), "%s", origin);
	at->hidden = lf_settings_get(s, at->name) != NULL;
	s->count++;
	return 0;
}

int lf_settings_add(struct lf_settings *s, const char *name, const char *value,
		    const char *origin)
{
	return add(s, name, strlen(name), value, origin);
}

int lf_settings_add_pair(struct lf_settings *s, const char *pair,
			 const char *origin)
{
	const char *eq = strchr(pair, '=');

	if (!eq || eq == pair)
		return 0;
	return add(s, pair, (size_t)(eq - pair), eq + 1, origin);
}

void lf_settings_free(struct lf_settings *s)
{
	for (int i = 0; i < s->count; i++)
		free(s->item[i].name);
	free(s->item);
	*s = (struct lf_settings){ 0 };
}
