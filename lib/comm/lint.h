/* SPDX-License-Identifier: Apache-2.0 */
/* lint - a job's environment and nccl.conf against what NCCL and PyTorch read.
 *
 * Pure: the facts of machine and job come from the caller; -1, 0 or NULL there
 * is unknown, and what needs it is then not said.
 */
#ifndef LF_COMM_LINT_H
#define LF_COMM_LINT_H

#include <stdbool.h>

#include "base/err.h"
#include "comm/note.h"

enum {
	LF_SETTINGS_MAX = 4096, /* of one environment and two files */
	LF_SETTING_ORIGIN = 160
};

struct lf_setting {
	char *name, *value;		/* one allocation */
	char origin[LF_SETTING_ORIGIN]; /* "environment", "FILE:LINE" */
	bool hidden; /* an earlier one of this name wins, as in NCCL */
};

struct lf_settings {
	struct lf_setting *item;
	int count, room;
};

/* -ENOMEM, -E2BIG. */
int lf_settings_add(struct lf_settings *s, const char *name, const char *value,
		    const char *origin);
/* "NAME=VALUE"; anything else is passed over. */
int lf_settings_add_pair(struct lf_settings *s, const char *pair,
			 const char *origin);
/* The one that holds, or NULL. */
const struct lf_setting *lf_settings_get(const struct lf_settings *s,
					 const char *name);
void lf_settings_free(struct lf_settings *s);

/* Reads PATH as NCCL's own reader would: lines NAME=VALUE, the earlier wins;
 * lines that it takes otherwise than they look become notes (LF-ENV-18).
 * -ENOENT as such. */
int lf_ncclconf_read(const char *path, struct lf_settings *to,
		     struct lf_notes *notes, struct lf_err *e);

struct lf_lint_facts {
	int nccl, torch;       /* minor of major 2; 0 unknown */
	int nodes, tasks;      /* of the job, and on one node; 0 unknown */
	int gpus;	       /* of this node, -1 unknown */
	int nvlink, rdma, gdr; /* 1, 0, -1 unknown; gdr: GPUDirect RDMA */
	const char *ifaces;    /* "lo,eth0", of this node; NULL unknown */
	/* Whether a file can be read; NULL: files are not looked at. */
	bool (*readable)(const char *path, void *arg);
	void *arg;
};

void lf_lint(const struct lf_settings *s, const struct lf_lint_facts *f,
	     struct lf_notes *notes);

#endif
