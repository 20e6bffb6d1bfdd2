/* SPDX-License-Identifier: Apache-2.0 */
/* machine - the model that topo, check and doctor look at: recordings given
 * with --from, else this machine, live. */
#ifndef LF_MACHINE_H
#define LF_MACHINE_H

#include <argp.h>

#include "hw/expect.h"

enum {
	MACHINE_FILES = 32
};

struct recordings {
	char *file[MACHINE_FILES];
	int count;
};

/* Of a command that takes recordings: its --from, and what it says of too
 * many. */
#define RECORDINGS_OPTION \
	{ "from", 'f', "FILE", 0, \
	  "A recording of the machine; repeatable, any format", 0 }
void recordings_add(struct recordings *r, struct argp_state *state, char *arg);

/* Reads all of them into one model; caller frees with lf_hw_free.  With none
 * this machine.  The error names the file, line and column. */
int machine_read(const struct recordings *from, struct lf_hw **out,
		 struct lf_err *e);
/* Known-good sets: of `path`, or the site's where that is NULL; a site may have
 * none. */
int machine_software(const char *path, struct lf_expect *x, struct lf_err *e);

#endif
