/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "start.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "conf/value.h"

static const struct {
	const char *key;
	size_t offset;
} numbers[] = {
	{ "job", offsetof(struct start, job) },
	{ "step", offsetof(struct start, step) },
	{ "restart", offsetof(struct start, restart) },
	{ "nodeid", offsetof(struct start, nodeid) },
	{ "nodes", offsetof(struct start, nodes) },
	{ "tasks", offsetof(struct start, tasks) },
};

static const struct {
	const char *key;
	size_t offset, size;
} texts[] = {
	{ "node", offsetof(struct start, node), LF_NODE_NAME_MAX },
	{ "cluster", offsetof(struct start, cluster), 64 },
	{ "verdict", offsetof(struct start, verdict), LF_ERR_MAX },
	{ "run", offsetof(struct start, run), 256 },
	{ "secret", offsetof(struct start, secret), 65 },
};

static int take_number(struct start *s, const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		uint64_t v;

		if (strcmp(key, numbers[i].key) != 0)
			continue;
		if (lf_parse_u64(value, 0, UINT32_MAX, &v) < 0)
			return -EINVAL;
		*(uint32_t *)((char *)s + numbers[i].offset) = (uint32_t)v;
		return 1;
	}
	return 0;
}

static int take_text(struct start *s, const char *key, const char *value)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (strcmp(key, texts[i].key) != 0)
			continue;
		return snprintf((char *)s + texts[i].offset, texts[i].size,
				"%s", value) < (int)texts[i].size ?
			       1 :
			       -EINVAL;
	}
	return 0;
}

static int take_port(struct start *s, const char *value)
{
	uint64_t v;

	if (s->ports == LF_PORT_CANDIDATES ||
	    lf_parse_u64(value, 0, UINT16_MAX, &v) < 0)
		return -EINVAL;
	s->port[s->ports++] = (uint16_t)v;
	return 1;
}

static int take(struct start *s, const char *key, const char *value,
		struct lf_err *e)
{
	int rc = take_number(s, key, value);

	if (rc == 0)
		rc = take_text(s, key, value);
	if (rc == 0 && !strcmp(key, "port"))
		rc = take_port(s, value);
	if (rc == 0 && !strcmp(key, "lazy"))
		rc = lf_parse_bool(value, &s->lazy) < 0 ? -EINVAL : 1;
	if (rc < 0)
		return lf_err(e, rc, "start: bad value: %s=%.64s", key, value);
	return rc > 0 ? 0 : lf_keys_set(&s->values, key, value, false, e);
}

int start_parse(char *text, struct start *s, struct lf_err *e)
{
	char *key, *value;
	int rc;

	*s = (struct start){ .nodes = 1, .tasks = 1 };
	lf_keys_defaults(&s->values);
	while ((rc = lf_parse_pair(&text, '\n', &key, &value)) > 0) {
		rc = take(s, key, value, e);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return lf_err(e, rc, "start: not a pair: %.64s", key);
	if (s->nodes == 0 || s->nodes > LF_NODES_MAX || s->nodeid >= s->nodes)
		return lf_err(e, -EINVAL, "start: node %u of %u", s->nodeid,
			      s->nodes);
	return 0;
}
