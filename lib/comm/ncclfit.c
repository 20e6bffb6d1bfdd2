/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>

#include "comm/libnccl.h"

/* First releases that take LoongForge's plug-ins, and releases with a fault
 * that a user of them meets. */
static const struct {
	const char *code;
	int from_minor, from_patch, to_minor, to_patch; /* from <= v < to */
	bool profiled; /* said only where a profiler is in use */
	const char *what, *expected, *remedy;
} fits[] = {
	{ "LF-NCC-01", 0, 0, 22, 3, false, "no tuner of LoongForge's",
	  "2.22.3 or later",
	  "a PyTorch with a later NCCL; nothing else is lost" },
	{ "LF-NCC-02", 0, 0, 26, 2, false, "no profiler of LoongForge's",
	  "2.26.2 or later",
	  "a PyTorch with a later NCCL: collectives have no timings" },
	{ "LF-NCC-07", 31, 0, 32, 0, true,
	  "a profiler costs small collectives up to 13 %", "not 2.31",
	  "leave NCCL_PROFILER_PLUGIN unset with this release" },
};

static int order(const struct lf_libnccl *l, int minor, int patch)
{
	return l->minor != minor ? l->minor - minor : l->patch - patch;
}

void lf_libnccl_judge(const char *path, const struct lf_libnccl *l,
		      bool profiled, struct lf_notes *notes)
{
	struct lf_note *n;

	if (l->minor < 0) {
		n = lf_note(notes, "LF-NCC-04", "%.200s: no NCCL in this file",
			    path);
		lf_note_remedy(n, "the file is cut or is something else: "
				  "install it anew");
		return;
	}
	for (size_t i = 0; i < sizeof(fits) / sizeof(*fits); i++) {
		if ((fits[i].profiled && !profiled) ||
		    order(l, fits[i].from_minor, fits[i].from_patch) < 0 ||
		    order(l, fits[i].to_minor, fits[i].to_patch) >= 0)
			continue;
		n = lf_note(notes, fits[i].code, "%.160s: %s", path,
			    fits[i].what);
		lf_note_expected(n, "NCCL %s", fits[i].expected);
		lf_note_found(n, "2.%d.%d", l->minor, l->patch);
		lf_note_remedy(n, "%s", fits[i].remedy);
	}
}

/* "v3 v4" of bits 3 and 4. */
static const char *list(unsigned speaks, char *buf, size_t n)
{
	size_t len = 0;

	(void)snprintf(buf, n, "none");
	for (int v = 1; v < 32 && len + 5 < n; v++)
		if (speaks & (1U << v))
			len += (size_t)snprintf(buf + len, n - len, "%sv%d",
						len ? " " : "", v);
	return buf;
}

void lf_libnccl_judge_plug(const char *path, enum lf_nccl_plug kind,
			   const struct lf_libnccl *plug,
			   const struct lf_libnccl *nccl,
			   struct lf_notes *notes)
{
	char want[96], have[96];
	struct lf_note *n;

	if (nccl->minor < 0 || nccl->speaks[kind] & plug->speaks[kind])
		return;
	n = lf_note(notes, "LF-NCC-06",
		    "%.160s: no %s interface that NCCL "
		    "2.%d.%d takes",
		    path, lf_plug_names[kind], nccl->minor, nccl->patch);
	lf_note_expected(n, "one of %s",
			 list(nccl->speaks[kind], want, sizeof(want)));
	lf_note_found(n, "%s", list(plug->speaks[kind], have, sizeof(have)));
	lf_note_remedy(n, "a plug-in built for this NCCL");
}
