/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/libnccl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "comm/elf.h"

enum {
	PIECE = 1 << 18,
	OVERLAP = 64, /* the longest text looked for, and its number */
	INTERFACE_MAX = 31
};

const char *const lf_plug_names[LF_PLUGS] = { "tuner", "profiler", "env",
					      "net" };

/* Ends of names that NCCL looks up in a plug-in, and that a plug-in exports. */
static const char *const symbols[LF_PLUGS] = { "ncclTunerPlugin_v",
					       "ncclProfiler_v",
					       "ncclEnvPlugin_v",
					       "ncclNetPlugin_v" };

/* A number of at most four digits, and what follows it. */
static int digits(const char **p, const char *end)
{
	int v = -1;

	for (int n = 0; n < 4 && *p < end && **p >= '0' && **p <= '9'; n++)
		v = (v < 0 ? 0 : v) * 10 + *(*p)++ - '0';
	return v;
}

static void take_version(const char *p, const char *end, struct lf_libnccl *out)
{
	int major = digits(&p, end), minor, patch;

	if (major != 2 || p == end || *p++ != '.')
		return;
	minor = digits(&p, end);
	if (minor < 0 || p == end || *p++ != '.')
		return;
	patch = digits(&p, end);
	if (patch < 0 || p == end || out->minor >= 0)
		return; /* at the end the number may be cut */
	out->minor = minor;
	out->patch = patch;
}

/* Whole names only: "ncclProfilerProxyStep_v4" is another thing. */
static void take_interface(const char *p, const char *end, unsigned *speaks)
{
	int v = digits(&p, end);

	if (v > 0 && v <= INTERFACE_MAX && p < end && *p == '\0')
		*speaks |= 1U << v;
}

static void look_interface(const char *p, const char *end,
			   struct lf_libnccl *out)
{
	for (int k = 0; k < LF_PLUGS; k++) {
		size_t m = strlen(symbols[k]);

		if ((size_t)(end - p) > m && !memcmp(p, symbols[k], m))
			take_interface(p + m, end, &out->speaks[k]);
	}
}

static void look(const char *buf, size_t n, struct lf_libnccl *out)
{
	static const char version[] = "NCCL version ";
	const char *end = buf + n, *p;

	for (p = buf; (p = memmem(p, (size_t)(end - p), "nccl", 4)); p++)
		look_interface(p, end, out);
	for (p = buf;
	     (p = memmem(p, (size_t)(end - p), version, sizeof(version) - 1));)
		take_version(p += sizeof(version) - 1, end, out);
}

static int scan_pieces(int fd, off_t at, uint64_t size, char *buf,
		       struct lf_libnccl *out)
{
	size_t kept = 0;

	while (size > 0) {
		size_t want = size < PIECE ? (size_t)size : PIECE;
		ssize_t got = pread(fd, buf + kept, want, at);
		size_t n;

		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n = kept + (size_t)got;
		look(buf, n, out);
		kept = n < OVERLAP ? n : OVERLAP;
		memmove(buf, buf + n - kept, kept);
		at += got;
		size -= (uint64_t)got;
	}
	return 0;
}

static int scan(int fd, off_t at, uint64_t size, struct lf_libnccl *out)
{
	char *buf = malloc(PIECE + OVERLAP + 1);
	int rc = buf ? scan_pieces(fd, at, size, buf, out) : -ENOMEM;

	free(buf);
	return rc;
}

/* NCCL's texts and the names that a plug-in exports lie in two sections, a
 * thousandth of the file; a file that hides them is read whole. */
static int scan_file(int fd, uint64_t size, struct lf_libnccl *out)
{
	static const char *const sections[] = { ".rodata", ".dynstr" };
	int rc = -ENOENT;

	for (int i = 0; i < 2; i++) {
		uint64_t n;
		off_t at;

		if (lf_elf_section(fd, sections[i], &at, &n) == 0)
			rc = scan(fd, at, n, out);
	}
	return rc == -ENOENT ? scan(fd, 0, size, out) : rc;
}

int lf_libnccl_read(const char *path, struct lf_libnccl *out, struct lf_err *e)
{
	lf_autoclose int fd =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char magic[4];
	struct stat st;
	int rc;

	*out = (struct lf_libnccl){ .minor = -1, .patch = -1 };
	if (fd < 0 || fstat(fd, &st) < 0)
		return lf_err(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || pread(fd, magic, 4, 0) != 4 ||
	    memcmp(magic, "\177ELF", 4) != 0)
		return lf_err(e, -ENOEXEC, "%s: not a shared object", path);
	rc = scan_file(fd, (uint64_t)st.st_size, out);
	return rc < 0 ? lf_err(e, rc, "%s: %s", path, strerror(-rc)) : 0;
}
