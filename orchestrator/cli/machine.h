/* SPDX-License-Identifier: Apache-2.0 */
/* machine - the model that topo, check and doctor look at: recordings given
 * with --from, else this machine, live. */
#ifndef LF_MACHINE_H
#define LF_MACHINE_H

#include "hw/model.h"

enum {
	MACHINE_FILES = 32
};

/* Reads all files into one model; caller frees with lf_hw_free.  With no file
 * this machine.  The error names the file, line and column. */
int machine_read(char *const *files, int count, struct lf_hw **out,
		 struct lf_err *e);

#endif
