/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "numa.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NODES_MAX = (int)(8 * sizeof(unsigned long))
};

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static unsigned long node_of(const char *root, const char *bus_id)
{
	char path[PATH_MAX];
	int node = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/numa_node",
		       root, bus_id);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &node) != 1)
		node = -1;
	if (f)
		(void)fclose(f);
	return node >= 0 && node < NODES_MAX ? 1UL << node : 0;
}

/* Whether the list "0,2-3" holds `index`. */
static bool listed(const char *list, unsigned index)
{
	unsigned low, high;
	int n;

	while (sscanf(list, "%9u%n", &low, &n) == 1) {
		list += n;
		high = low;
		if (sscanf(list, "-%9u%n", &high, &n) == 1)
			list += n;
		if (index >= low && index <= high)
			return true;
		if (*list++ != ',')
			break;
	}
	return false;
}

unsigned long numa_near(const char *root, const char *gpus)
{
	char path[PATH_MAX];
	struct dirent **bus = NULL;
	unsigned long nodes = 0;
	int count;

	(void)snprintf(path, sizeof(path), "%s/proc/driver/nvidia/gpus", root);
	count = scandir(path, &bus, no_dots, by_name);
	for (int i = 0; i < count; i++) {
		if (listed(gpus, (unsigned)i))
			nodes |= node_of(root, bus[i]->d_name);
		free(bus[i]);
	}
	free(bus);
	return nodes;
}
