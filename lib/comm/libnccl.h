/* SPDX-License-Identifier: Apache-2.0 */
/* libnccl - which NCCL a process maps, and what it or a plug-in speaks.
 *
 * Read from the file's strings: no GPU, nothing is loaded or run.
 */
#ifndef LF_COMM_LIBNCCL_H
#define LF_COMM_LIBNCCL_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"
#include "comm/note.h"

enum {
	LF_LIBNCCL_MAPS = 8 /* NCCLs that one process can map */
};

enum lf_nccl_plug {
	LF_PLUG_TUNER,
	LF_PLUG_PROFILER,
	LF_PLUG_ENV,
	LF_PLUG_NET,
	LF_PLUGS
};

extern const char *const lf_plug_names[LF_PLUGS]; /* "tuner", ... */

struct lf_libnccl {
	int minor, patch; /* of "NCCL version 2.MINOR.PATCH"; minor -1: none */
	unsigned speaks[LF_PLUGS]; /* bit N: interface vN */
};

/* -ENOEXEC when the file is no shared object, -ENOENT, ...; a file without an
 * NCCL in it succeeds with minor -1. */
int lf_libnccl_read(const char *path, struct lf_libnccl *out, struct lf_err *e);

struct lf_libnccl_maps {
	int count;
	struct {
		char path[PATH_MAX];
		bool deleted;	   /* replaced since the process mapped it */
		bool inside_torch; /* NCCL is part of libtorch_cuda */
	} map[LF_LIBNCCL_MAPS];
	char torch[PATH_MAX]; /* "DIR/torch" of the mapped PyTorch, or "" */
};

/* Reads a /proc/PID/maps: every libnccl.so, or else PyTorch's own library. */
int lf_libnccl_maps(const char *maps, struct lf_libnccl_maps *out,
		    struct lf_err *e);

/* What this NCCL cannot do for LoongForge, and its known faults. */
void lf_libnccl_judge(const char *path, const struct lf_libnccl *l,
		      bool profiled, struct lf_notes *notes);
/* A plug-in of which this NCCL takes no interface. */
void lf_libnccl_judge_plug(const char *path, enum lf_nccl_plug kind,
			   const struct lf_libnccl *plug,
			   const struct lf_libnccl *nccl,
			   struct lf_notes *notes);

#endif
