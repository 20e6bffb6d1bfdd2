/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a target with each file of its corpus, whole and cut short anywhere. */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum {
	INPUT_MAX = 1 << 16
};

static bool replay(const char *path)
{
	uint8_t *data = malloc(INPUT_MAX);
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f || !data) {
		free(data);
		return false;
	}
	n = fread(data, 1, INPUT_MAX, f);
	(void)fclose(f);
	for (size_t cut = n < 512 ? 0 : n; cut <= n; cut++)
		(void)LLVMFuzzerTestOneInput(data, cut);
	free(data);
	return true;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	const char *srcdir = getenv("srcdir"), *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	struct dirent **files = NULL;
	char dir[2048], path[4096];
	int n, failed = 0;

	(void)alarm(120);
	/* Readers of recordings share tests/data/hw. */
	(void)snprintf(dir, sizeof(dir), "%s/tests/%s/%.*s",
		       srcdir ? srcdir : ".",
		       strncmp(name, "hw_", 3) ? "fuzz/corpus" : "data",
		       (int)strcspn(name, "_"), name);
	n = scandir(dir, &files, no_dots, by_name);
	if (n <= 0) {
		(void)printf("1..1\nnot ok 1 - no corpus in %s\n", dir);
		return 1;
	}
	(void)printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		bool ok;

		(void)snprintf(path, sizeof(path), "%s/%s", dir,
			       files[i]->d_name);
		(void)fflush(stdout);
		ok = replay(path);
		(void)printf("%sok %d - %s\n", ok ? "" : "not ", i + 1,
			     files[i]->d_name);
		failed += !ok;
		free(files[i]);
	}
	free(files);
	return failed > 0;
}
