/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "prolog.h"

#include <stdlib.h>

#include "site.h"
#include "spankapi.h"

void prolog_run(spank_t sp, int ac, char **av)
{
	const char *node = getenv("SLURMD_NODENAME");
	struct lf_err e;

	site_open(ac, av);
	if (node && !site_off() && site_refresh(node, &e) < 0)
		slurm_error("loongforge: %s: settings: %s (LF-CFG-02)", node,
			    e.text);
}
