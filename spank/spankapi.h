/* SPDX-License-Identifier: Apache-2.0 */
/* spankapi - the few things that the plugin asks of Slurm, in one place.
 *
 * Numbers read as `none` and texts as absent where Slurm has no answer, since a
 * hook has nothing better to do with an error than to go on.
 */
#ifndef LF_SPANKAPI_H
#define LF_SPANKAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <slurm/spank.h>

#include "find/find.h"

uint32_t sp_item(spank_t sp, spank_item_t item, uint32_t none);
/* False when the variable is not in the job's environment; a value that does
 * not fit is cut. */
bool sp_getenv(spank_t sp, const char *name, char *buf, size_t n);
/* Prints a finding to the user (and to slurmd's log). */
void sp_say(const struct lf_finding *f, const char *node);
/* "KEY=" argument of the plugstack line, or `none`. */
const char *sp_arg(int ac, char **av, const char *key, const char *none);

#endif
