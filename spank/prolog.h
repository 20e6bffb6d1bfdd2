/* SPDX-License-Identifier: Apache-2.0 */
/* prolog - before and after a job on a node, as root; both best effort: what
 * fails here is logged and never drains the node. */
#ifndef LF_PROLOG_H
#define LF_PROLOG_H

#include <slurm/spank.h>

/* Brings the node's settings up to date. */
int prolog_run(spank_t sp, int ac, char **av);
/* Removes the job's folders of memory segments. */
void epilog_run(spank_t sp, int ac, char **av);

#endif
