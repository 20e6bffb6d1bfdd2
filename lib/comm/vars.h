/* SPDX-License-Identifier: Apache-2.0 */
/* vars - the variables that NCCL and PyTorch's communication read.
 *
 * Versions are minors of major 2: of NCCL for NCCL_*, of PyTorch for the rest.
 */
#ifndef LF_COMM_VARS_H
#define LF_COMM_VARS_H

#include <stdint.h>

enum lf_var_kind {
	LF_VAR_TEXT,  /* anything */
	LF_VAR_INT,   /* what strtoll takes whole, base 0 */
	LF_VAR_BOOL,  /* 0 1 y n yes no t f true false */
	LF_VAR_WORD,  /* one of words */
	LF_VAR_LIST,  /* some of words, separated by commas, after an optional ^
		       */
	LF_VAR_LEVEL, /* a distance: a word, or an old number */
	LF_VAR_FILE,  /* a path that must be readable */
	LF_VAR_PLUGIN /* a path or a name */
};

enum lf_var_source {
	LF_VAR_NCCL,	 /* names in libnccl of 2.18.1 to 2.32.3 */
	LF_VAR_NCCL_OLD, /* NVIDIA's manual of earlier versions */
	LF_VAR_TORCH,	 /* PyTorch's ProcessGroupNCCL.hpp and manual */
	LF_VAR_OTHER	 /* plug-ins' and build systems' own */
};

struct lf_var {
	const char *name;
	uint8_t first; /* minor that may read it first; 0: before 2.18, 2.0 */
	uint8_t last;  /* last minor that reads it; 0: the newest known does */
	uint8_t kind, source;
	const char *words;
};

extern const struct lf_var lf_vars[];
extern const int lf_vars_count;

/* NULL: not known. */
const struct lf_var *lf_var_find(const char *name);
/* The known name that most likely was meant, or NULL. */
const char *lf_var_nearest(const char *name);
/* NULL when the value is well formed, else what one looks like. */
const char *lf_var_expected(const struct lf_var *v, const char *value);

#endif
