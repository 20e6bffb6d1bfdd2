/* SPDX-License-Identifier: Apache-2.0 */
/* usage: task DIR MICROSECONDS
 * The task of tests/bench/launch, linked statically so that its first
 * instruction comes right after exec: sleeps, then writes when it started and
 * when it was about to exit, CLOCK_MONOTONIC in ns, to DIR/task.NODE. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
	long long start = now();
	const char *node = getenv("SLURMD_NODENAME");
	char path[512];
	FILE *f;

	if (argc != 3 || !node)
		return 64;
	(void)usleep((useconds_t)atoi(argv[2]));
	(void)snprintf(path, sizeof(path), "%s/task.%s", argv[1], node);
	f = fopen(path, "we");
	if (!f)
		return 1;
	(void)fprintf(f, "%lld %lld\n", start, now());
	return fclose(f) == 0 ? 0 : 1;
}
