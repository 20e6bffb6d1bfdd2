/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/recorded/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clean.h"
#include "hw/live.h"

static const struct lf_hw_reader *const readers[] = {
	&lf_hw_read_topo,	   &lf_hw_read_topo_p2p,
	&lf_hw_read_nvlink_status, &lf_hw_read_nvlink_remote,
	&lf_hw_read_smi_text,	   &lf_hw_read_smi_xml,
	&lf_hw_read_ibstat,	   &lf_hw_read_ibstatus,
	&lf_hw_read_ibv_devinfo,   &lf_hw_read_ibdev2netdev,
	&lf_hw_read_lspci,	   &lf_hw_read_dmesg,
	&lf_hw_read_nccl_xml,	   &lf_hw_read_hwloc_xml,
	&lf_hw_read_sysfs_json,
};

enum {
	READERS = sizeof(readers) / sizeof(readers[0])
};

/* What people hand in by mistake, by its first bytes. */
static const struct {
	const char *magic;
	const char *what;
} packed[] = {
	{ "BZh", "packed with bzip2: unpack it and name the file or folder" },
	{ "\x1f\x8b", "packed with gzip: unpack it and name the file or "
		      "folder" },
	{ "\xfd"
	  "7zXZ",
	  "packed with xz: unpack it and name the file or folder" },
	{ "PK\x03\x04", "a zip archive: unpack it and name the file" },
	{ "\xff\xfe", "UTF-16 text: save it as UTF-8" },
	{ "\xfe\xff", "UTF-16 text: save it as UTF-8" },
	{ "\x7f"
	  "ELF",
	  "a program" },
};

/* Length of the terminal's escape sequence that begins at s, 0 for none:
 * ESC [ ... letter, ESC ] ... BEL (or ESC \), ESC and one byte. */
static size_t escape(const char *s, size_t n)
{
	size_t i = 2;

	if (s[0] != '\033')
		return 0;
	if (n < 2)
		return n;
	if (s[1] == '[') {
		while (i < n && (unsigned char)s[i] >= 0x20 &&
		       (unsigned char)s[i] < 0x40)
			i++;
		return i < n ? i + 1 : n;
	}
	if (s[1] != ']')
		return 2;
	while (i < n && s[i] != '\a' && s[i] != '\033' && s[i] != '\n')
		i++;
	if (i < n && s[i] == '\a')
		return i + 1;
	return i + 1 < n && s[i] == '\033' && s[i + 1] == '\\' ? i + 2 : i;
}

/* Without escapes, carriage returns and a byte order mark, in place. */
static size_t clean(char *text, size_t n)
{
	size_t to = 0;
	size_t at = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (at < n) {
		size_t skip = escape(text + at, n - at);

		if (skip > 0) {
			at += skip;
			continue;
		}
		if (text[at] != '\r')
			text[to++] = text[at];
		at++;
	}
	text[to] = '\0';
	return to;
}

static int place_error(struct lf_err *e, const char *text, size_t at,
		       const char *what)
{
	unsigned long line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		column = text[i] == '\n' ? 1 : column + 1;
		line += text[i] == '\n';
	}
	return lf_err(e, -EINVAL, "%lu:%lu: %s", line, column, what);
}

static int refuse(const char *text, size_t n, struct lf_err *e)
{
	const char *nul;

	if (n == 0)
		return lf_err(e, -EINVAL, "1:1: empty");
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		size_t len = strlen(packed[i].magic);

		if (n >= len && memcmp(text, packed[i].magic, len) == 0)
			return lf_err(e, -EINVAL, "1:1: %s", packed[i].what);
	}
	nul = memchr(text, '\0', n);
	return nul ? place_error(e, text, (size_t)(nul - text),
				 "a NUL byte: this is no text")
		   : 0;
}

static const struct lf_hw_reader *choose(const char *text, size_t n)
{
	const struct lf_hw_reader *best = NULL;
	int most = 0;

	for (int i = 0; i < READERS; i++) {
		int sure = readers[i]->claims(text, n);

		if (sure <= most)
			continue;
		most = sure;
		best = readers[i];
	}
	return best;
}

static int unknown_format(struct lf_err *e)
{
	char list[LF_ERR_MAX - 80] = "";
	size_t len = 0;

	for (int i = 0; i < READERS && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
					i ? ", " : "", readers[i]->name);
	return lf_err(e, -EINVAL, "1:1: no format that is known: expected %s",
		      list);
}

/* Parsers quote the input, which must not reach a terminal as it is. */
static void plain(struct lf_err *e)
{
	if (e)
		lf_clean(e->text, "");
}

/* The reader may have begun to write when it found the damage. */
static int read_or_restore(struct lf_hw *hw, const struct lf_hw_reader *reader,
			   const char *text, size_t n, struct lf_err *e)
{
	struct lf_hw *before = malloc(sizeof(*before));
	int rc;

	if (!before)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	*before = *hw;
	rc = reader->read(hw, text, n, e);
	if (rc < 0) {
		*hw = *before;
		plain(e);
	}
	free(before);
	return rc;
}

static int read_owned(struct lf_hw *hw, char *text, size_t n,
		      const char **format, struct lf_err *e)
{
	const struct lf_hw_reader *reader;
	int rc = refuse(text, n, e);

	if (rc < 0)
		return rc;
	n = clean(text, n);
	reader = choose(text, n);
	if (!reader)
		return unknown_format(e);
	if (format)
		*format = reader->name;
	return read_or_restore(hw, reader, text, n, e);
}

static int too_long(struct lf_err *e)
{
	return lf_err(e, -EFBIG,
		      "1:1: longer than %u MiB, the most for a "
		      "recording",
		      LF_HW_READ_MAX >> 20);
}

int lf_hw_read_text(struct lf_hw *hw, const char *text, size_t n,
		    const char **format, struct lf_err *e)
{
	char *copy;
	int rc;

	if (n > LF_HW_READ_MAX)
		return too_long(e);
	copy = malloc(n + 1);
	if (!copy)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	memcpy(copy, text, n);
	copy[n] = '\0';
	rc = read_owned(hw, copy, n, format, e);
	free(copy);
	return rc;
}

/* All of the file, or of a pipe such as <(ssh node lspci), which may not end:
 * past the bound no more is read. */
static int load(int fd, char **text, size_t *n, struct lf_err *e)
{
	size_t size = 1 << 16;
	char *more;
	ssize_t got;

	*n = 0;
	*text = malloc(size + 1);
	while (*text && (got = read(fd, *text + *n, size - *n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return lf_err(e, -errno, "1:1: %s", strerror(errno));
		*n += (size_t)got;
		if (*n > LF_HW_READ_MAX)
			return too_long(e);
		if (*n < size)
			continue;
		size *= 2;
		more = realloc(*text, size + 1);
		if (!more)
			return lf_err(e, -ENOMEM, "1:1: no memory");
		*text = more;
	}
	if (!*text)
		return lf_err(e, -ENOMEM, "1:1: no memory");
	(*text)[*n] = '\0';
	return 0;
}

static int read_fd(struct lf_hw *hw, int fd, const struct stat *st,
		   const char **format, struct lf_err *e)
{
	lf_autofree char *text = NULL;
	size_t n;
	int rc;

	if (S_ISREG(st->st_mode) && st->st_size > (off_t)LF_HW_READ_MAX)
		return too_long(e);
	rc = load(fd, &text, &n, e);
	return rc < 0 ? rc : read_owned(hw, text, n, format, e);
}

static int read_folder(struct lf_hw *hw, const char *path, const char **format,
		       struct lf_err *e)
{
	struct lf_hw *before = malloc(sizeof(*before));
	int rc;

	if (!before)
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	*before = *hw;
	if (format)
		*format = "sysfs tree";
	rc = lf_hw_live_sysfs(hw, path, e);
	if (rc < 0)
		*hw = *before;
	free(before);
	return rc;
}

int lf_hw_read_path(struct lf_hw *hw, const char *path, const char **format,
		    struct lf_err *e)
{
	lf_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct lf_err why = { "" };
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return lf_err(e, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return read_folder(hw, path, format, e);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return lf_err(e, -EINVAL, "%s: neither a file nor a folder",
			      path);
	rc = read_fd(hw, fd, &st, format, &why);
	/* The text begins with the line and column. */
	return rc < 0 ? lf_err(e, rc, "%s:%s", path, why.text) : 0;
}
