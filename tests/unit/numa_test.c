/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "orchestrator/plan/numa.h"

static void make(const char *path, const char *text)
{
	char full[4096], *slash;

	(void)snprintf(full, sizeof(full), "%s", scratch(path));
	for (slash = full + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(full, 0755);
		*slash = '/';
	}
	if (text)
		write_text(full, text);
	else
		(void)mkdir(full, 0755);
}

static void gpu(const char *bus_id, const char *node)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "m/proc/driver/nvidia/gpus/%s",
		       bus_id);
	make(path, NULL);
	(void)snprintf(path, sizeof(path), "m/sys/bus/pci/devices/%s/numa_node",
		       bus_id);
	if (node)
		make(path, node);
}

/* GPU 0 near node 0, 1: no file, 2: unknown, 3: node 1, 4: node 63, 5: node 64
 * (more than a mask holds), 6: rubbish. */
static void machine(void)
{
	gpu("0000:17:00.0", "0\n");
	gpu("0000:18:00.0", NULL);
	gpu("0000:65:00.0", "-1\n");
	gpu("0000:ca:00.0", "1\n");
	gpu("0000:cb:00.0", "63\n");
	gpu("0000:e3:00.0", "64\n");
	gpu("0001:e3:00.0", "rubbish\n");
}

static void lists(void **state)
{
	static const struct {
		const char *gpus;
		unsigned long nodes;
	} rows[] = {
		{ "", 0 },
		{ "x", 0 },
		{ "-1", 0 },
		{ ",", 0 },
		{ "9", 0 },
		{ "999999999999999999999", 0 },
		{ "1,2,5,6", 0 },
		{ "0", 1 },
		{ "3", 2 },
		{ "0,3", 3 },
		{ "0-3", 3 },
		{ "1-2,3", 2 },
		{ "4", 1UL << 63 },
		{ "3-0", 0 },
		{ "0-999999", 3 | 1UL << 63 },
		{ "0;3", 1 },
	};

	machine();
	for (size_t i = 0; i < COUNT(rows); i++)
		check_int(rows[i].gpus,
			  (long long)numa_near(scratch("m"), rows[i].gpus),
			  (long long)rows[i].nodes);
}

static void no_gpus(void **state)
{
	make("empty/proc", NULL);
	assert_true(numa_near(scratch("empty"), "0") == 0);
	assert_true(numa_near("/no/such", "0") == 0);
}

MAIN(T(lists), T(no_gpus))
