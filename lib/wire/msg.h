/* SPDX-License-Identifier: Apache-2.0 */
/* msg - one message as text: "verb key=value key=value".
 *
 * Between a task and its orchestrator (a packet each), and between
 * orchestrators (a frame each).  Values are percent-encoded, so a message can
 * be typed by hand and holds no control character.  What comes from outside is
 * hostile: a message that does not parse as a whole is refused.  libc only.
 * doc/formats/session.md lists verbs and keys.
 */
#ifndef LF_MSG_H
#define LF_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"

enum {
	LF_MSG_KEYS = 24,
	LF_MSG_PROTOCOL = 1 /* rises when an old peer would misunderstand */
};

struct lf_msg {
	char text[LF_MSG_MAX]; /* parsed: cut up; built: NUL-terminated */
	size_t len;
	int overflow; /* something did not fit: lf_msg_ok says 0 */
	const char *verb;
	const char *key[LF_MSG_KEYS];
	char *value[LF_MSG_KEYS]; /* in `text`, as `key` */
	int keys;
};

void lf_msg_begin(struct lf_msg *m, const char *verb);
void lf_msg_add(struct lf_msg *m, const char *key, const char *value);
void lf_msg_add_u64(struct lf_msg *m, const char *key, uint64_t value);
int lf_msg_ok(const struct lf_msg *m);

/* Takes `n` bytes from outside.  -EPROTO with the reason. */
int lf_msg_parse(struct lf_msg *m, const void *data, size_t n,
		 struct lf_err *e);
/* The value, or "" if the key is absent; borrowed from m. */
const char *lf_msg_get(const struct lf_msg *m, const char *key);
/* The number, or `none` if absent or not one in 0 .. max. */
uint64_t lf_msg_get_u64(const struct lf_msg *m, const char *key, uint64_t max,
			uint64_t none);

#endif
