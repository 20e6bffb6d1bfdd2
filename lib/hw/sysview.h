/* SPDX-License-Identifier: Apache-2.0 */
/* sysview - what /sys and /proc say of a machine, seen through three functions,
 * so that the live machine, a copied tree and a JSON map read alike.
 *
 * libc only.  Paths begin with "/sys/" or "/proc/".
 */
#ifndef LF_HW_SYSVIEW_H
#define LF_HW_SYSVIEW_H

#include "hw/model.h"

enum {
	LF_SYS_NAMES = 2048, /* in one folder; PCI devices of a node: 600 */
	LF_SYS_NAME = 64
};

struct lf_sys_names {
	int n;
	bool more;			      /* there were more */
	char name[LF_SYS_NAMES][LF_SYS_NAME]; /* sorted */
};

struct lf_sysview {
	/* The content, NUL-terminated and without white space at its end; its
	 * length, or -1. */
	int (*get)(const struct lf_sysview *v, const char *path, char *buf,
		   size_t n);
	/* The names in a folder; false where there is none. */
	bool (*list)(const struct lf_sysview *v, const char *path,
		     struct lf_sys_names *names);
	/* The text of a symbolic link; false where there is none. */
	bool (*link)(const struct lf_sysview *v, const char *path, char *buf,
		     size_t n);
	void *arg;
};

/* -ENOENT: nothing of a sysfs is there. */
int lf_sysview_read(struct lf_hw *hw, const struct lf_sysview *v,
		    struct lf_err *e);

#endif
