/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/script.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	SCRIPT_BYTES = 4 << 20
};

/* `unless` on the same line makes it harmless. */
static const struct {
	const char *find, *unless, *what, *remedy;
} switches[] = {
	{ "detect_anomaly(", "False",
	  "detect_anomaly: steps take up to three times as long", "remove it" },
	{ "detect_anomaly=True", NULL,
	  "detect_anomaly: steps take up to three times as long", "remove it" },
	{ "CUDA_LAUNCH_BLOCKING", "pop(",
	  "CUDA_LAUNCH_BLOCKING: each kernel is waited for", "remove it" },
	{ "gradcheck(", NULL, "gradcheck: gradients are computed twice",
	  "keep it to tests" },
	{ "emit_nvtx(", "False", "emit_nvtx: each operation is marked",
	  "keep it to profiling" },
	{ "use_deterministic_algorithms(True", NULL,
	  "deterministic algorithms: slower kernels",
	  "remove it unless results must be equal bit by bit" },
	{ "set_sync_debug_mode(", "default",
	  "set_sync_debug_mode: each synchronisation is reported",
	  "remove it" },
	{ "TORCH_DISTRIBUTED_DEBUG", "OFF",
	  "TORCH_DISTRIBUTED_DEBUG: collectives are checked", "remove it" },
};

enum {
	SWITCHES = sizeof(switches) / sizeof(*switches)
};

static void look(const char *path, int line, char *text, bool told[SWITCHES],
		 struct lf_notes *notes)
{
	text[strcspn(text, "#")] = '\0';
	for (int i = 0; i < SWITCHES; i++) {
		const char *at = strstr(text, switches[i].find);

		if (told[i] || !at ||
		    (switches[i].unless && strstr(at, switches[i].unless)))
			continue;
		told[i] = true;
		lf_note_remedy(lf_note(notes, "LF-ENV-19", "%.120s:%d: %s",
				       path, line, switches[i].what),
			       "%s", switches[i].remedy);
	}
}

int lf_script_lint(const char *path, struct lf_notes *notes, struct lf_err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bool told[SWITCHES] = { false };
	char text[4096];
	struct stat st;
	long left = SCRIPT_BYTES;

	if (!f)
		return lf_err(e, -errno, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)fclose(f);
		return lf_err(e, -EINVAL, "%s: not a regular file", path);
	}
	for (int line = 1; left > 0 && fgets(text, sizeof(text), f);) {
		bool whole = strchr(text, '\n') != NULL;

		left -= (long)strlen(text) + 1;
		look(path, line, text, told, notes);
		line += whole;
	}
	(void)fclose(f);
	return 0;
}
