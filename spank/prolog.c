/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "prolog.h"

#include <stdlib.h>

#include "site.h"
#include "spankapi.h"

enum {
	DRAINED = 3 /* loongforge-probe(8) */
};

/* Only a probe that has drained the node may fail the prolog: whatever else is
 * wrong with it must not keep a job from starting. */
int prolog_run(spank_t sp, int ac, char **av)
{
	const char *node = getenv("SLURMD_NODENAME");
	struct lf_err e = { "" };
	int rc;

	site_open(ac, av);
	if (!node || site_off(false))
		return 0;
	rc = site_probe("--gate", node, &e);
	if (*e.text)
		slurm_error("loongforge: %s: gate: %s%s", node, e.text,
			    rc == 0 || rc == DRAINED ? "" : " (LF-GATE-01)");
	return rc == DRAINED ? -1 : 0;
}
