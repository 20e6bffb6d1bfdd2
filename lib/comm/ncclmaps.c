/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/libnccl.h"

/* A line of maps: the path begins at the first '/', since what stands before
 * it is numbers; " (deleted)" may follow. */
static char *path_of(char *line, bool *deleted)
{
	char *path = strchr(line, '/'), *gone;

	if (!path)
		return NULL;
	path[strcspn(path, "\n")] = '\0';
	gone = strstr(path, " (deleted)");
	*deleted = gone && !gone[10];
	if (*deleted)
		*gone = '\0';
	return path;
}

static const char *base_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

static void add(struct lf_libnccl_maps *m, const char *path, bool deleted,
		bool inside)
{
	for (int i = 0; i < m->count; i++)
		if (!strcmp(m->map[i].path, path))
			return;
	if (m->count == LF_LIBNCCL_MAPS)
		return;
	(void)snprintf(m->map[m->count].path, PATH_MAX, "%s", path);
	m->map[m->count].deleted = deleted;
	m->map[m->count++].inside_torch = inside;
}

static void look_at(struct lf_libnccl_maps *m, struct lf_libnccl_maps *torch,
		    char *line)
{
	bool deleted;
	char *path = path_of(line, &deleted), *lib;

	if (!path || strlen(path) >= PATH_MAX)
		return;
	if (!strncmp(base_of(path), "libnccl.so", 10))
		add(m, path, deleted, false);
	if (!strcmp(base_of(path), "libtorch_cuda.so"))
		add(torch, path, deleted, true);
	lib = strstr(path, "/torch/lib/libtorch");
	if (lib)
		(void)snprintf(m->torch, sizeof(m->torch), "%.*s",
			       (int)(lib - path) + 6, path);
}

int lf_libnccl_maps(const char *maps, struct lf_libnccl_maps *out,
		    struct lf_err *e)
{
	struct lf_libnccl_maps *torch = calloc(1, sizeof(*torch));
	FILE *f = torch ? fopen(maps, "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	int rc = torch ? errno : ENOMEM;

	memset(out, 0, sizeof(*out));
	if (!f) {
		free(torch);
		return lf_err(e, -rc, "%s: %s", maps, strerror(rc));
	}
	while (getline(&line, &room, f) > 0)
		look_at(out, torch, line);
	for (int i = 0; out->count == 0 && i < torch->count; i++)
		add(out, torch->map[i].path, torch->map[i].deleted, true);
	free(line);
	free(torch);
	(void)fclose(f);
	return 0;
}
