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

static int count, failed;

/* Each file of SRC/tests/FOLDER/NAME; how many there are. */
static int replay_all(const char *folder, const char *name, int length)
{
	const char *src = getenv("srcdir");
	struct dirent **files = NULL;
	char dir[2048], path[4096];
	int n;

	(void)snprintf(dir, sizeof(dir), "%s/tests/%s/%.*s", src ? src : ".",
		       folder, length, name);
	n = scandir(dir, &files, no_dots, by_name);
	for (int i = 0; i < n; i++) {
		bool ok;

		(void)snprintf(path, sizeof(path), "%s/%s", dir,
			       files[i]->d_name);
		(void)fflush(stdout);
		ok = replay(path);
		(void)printf("%sok %d - %s\n", ok ? "" : "not ", ++count,
			     files[i]->d_name);
		failed += !ok;
		free(files[i]);
	}
	free(files);
	return n;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0], *end;

	(void)alarm(120);
	end = strstr(name, "_fuzz");
	(void)replay_all("fuzz/corpus", name, (int)(end ? end - name : 0));
	/* Readers of recordings share tests/data/hw. */
	if (strncmp(name, "hw_", 3) == 0)
		(void)replay_all("data", "hw", 2);
	if (count == 0)
		(void)printf("not ok %d - no corpus of %s\n", ++count, name);
	(void)printf("1..%d\n", count);
	return failed > 0 || count == 0;
}
