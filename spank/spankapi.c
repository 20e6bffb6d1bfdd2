/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spankapi.h"

#include <string.h>

uint32_t sp_item(spank_t sp, spank_item_t item, uint32_t none)
{
	uint32_t v = none;

	return spank_get_item(sp, item, &v) == ESPANK_SUCCESS ? v : none;
}

bool sp_getenv(spank_t sp, const char *name, char *buf, size_t n)
{
	spank_err_t rc = spank_getenv(sp, name, buf, (int)n);

	return rc == ESPANK_SUCCESS || rc == ESPANK_NOSPACE;
}

void sp_say(const struct lf_finding *f, const char *node)
{
	char line[1024];

	lf_find_line(f, node, line, sizeof(line));
	slurm_spank_log("%s", line);
	lf_find_hint(f, line, sizeof(line));
	if (*line)
		slurm_spank_log("%s", line);
}

const char *sp_arg(int ac, char **av, const char *key, const char *none)
{
	size_t n = strlen(key);

	for (int i = 0; i < ac; i++)
		if (strncmp(av[i], key, n) == 0 && av[i][n] == '=')
			return av[i] + n + 1;
	return none;
}
