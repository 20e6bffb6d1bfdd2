/* SPDX-License-Identifier: Apache-2.0 */
/* conf - loongforge.conf, checked against the key table, with origins.
 *
 * All or nothing: a file with any fault gives no value at all, and the one
 * line says where ("FILE:LINE: ...").  The file must belong to root (or to the
 * caller, for a look at a draft) and be writable by nobody else.
 */
#ifndef LF_CONF_H
#define LF_CONF_H

#include "base/err.h"
#include "conf/keys.h"

enum {
	LF_ORIGIN_MAX = 300 /* "built-in", "FILE:LINE", "environment NAME" */
};

struct lf_conf {
	struct lf_values values;
	char origin[LF_KEYS][LF_ORIGIN_MAX];
};

void lf_conf_defaults(struct lf_conf *c);
/* -ENOENT when there is no file (c then holds the built-in values), -EPERM,
 * -EINVAL.  On any failure c holds the built-in values. */
int lf_conf_read(const char *path, struct lf_conf *c, struct lf_err *e);
/* Lays "K=V;K=V" of a user's over it. */
int lf_conf_overlay(struct lf_conf *c, const char *list, const char *origin,
		    struct lf_err *e);

#endif
