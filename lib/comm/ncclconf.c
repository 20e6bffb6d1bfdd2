/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's own reader cuts a line at its first '=' and takes both sides as they
 * are: blanks, quotes, '\r' and "# ..." stay, "export " becomes part of the
 * name, and setenv without overwriting lets the first of two lines win. */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "comm/lint.h"

enum {
	FILE_BYTES = 1 << 20, /* a thousand times what one has */
	NCCL_VALUE = 1023,    /* where NCCL cuts a value */
	NOTES_A_FILE = 16
};

struct reading {
	const char *path;
	int line;
	struct lf_settings *to;
	struct lf_notes *notes;
	int said;
};

static void odd(struct reading *r, const char *what, const char *remedy)
{
	struct lf_note *n;

	if (r->said == NOTES_A_FILE)
		return;
	r->said++;
	n = lf_note(r->notes, "LF-ENV-18", "%.120s:%d: %s", r->path, r->line,
		    what);
	lf_note_remedy(n, "%s", remedy);
}

/* What makes the line mean something else than it seems to, or NULL. */
static const char *name_fault(const char *name, size_t n)
{
	if (n == 0)
		return "there is no name before '='";
	if (!strncmp(name, "export ", 7))
		return "\"export\" becomes part of the name";
	if (isspace((unsigned char)name[0]) ||
	    isspace((unsigned char)name[n - 1]))
		return "the blank beside '=' or before the name becomes part "
		       "of the name";
	return NULL;
}

static const char *value_fault(const char *value, size_t n)
{
	if (n == 0)
		return NULL;
	if (n > NCCL_VALUE)
		return "the value is longer than the 1023 bytes that NCCL "
		       "keeps";
	if (value[n - 1] == '\r')
		return "a carriage return ends the line and stays in the value";
	if (isspace((unsigned char)value[0]) ||
	    isspace((unsigned char)value[n - 1]))
		return "the blank after '=' or after the value stays in the "
		       "value";
	if (strchr(value, '"') || strchr(value, '\''))
		return "quotes stay in the value";
	if (strchr(value, '#'))
		return "a comment after the value stays in the value";
	return NULL;
}

static void note_twice(struct reading *r, const char *name, const char *value)
{
	const struct lf_setting *old = lf_settings_get(r->to, name);
	size_t n = strlen(r->path);

	if (old && !strncmp(old->origin, r->path, n) && old->origin[n] == ':' &&
	    strcmp(old->value, value) != 0)
		odd(r, "the name stands above with another value, which holds",
		    "NCCL takes the first of two lines: remove one");
}

static int take(struct reading *r, char *line)
{
	char origin[LF_SETTING_ORIGIN], *value = strchr(line, '=');
	const char *fault;

	if (!*line || *line == '#')
		return 0;
	if (!value) {
		if (strspn(line, " \t\r") != strlen(line))
			odd(r, "without '=': NCCL passes over the line",
			    "write NAME=VALUE, or begin the line with #");
		return 0;
	}
	*value++ = '\0';
	fault = name_fault(line, strlen(line));
	if (!fault)
		fault = value_fault(value, strlen(value));
	if (fault) {
		odd(r, fault,
		    "write NAME=VALUE without blanks, quotes or "
		    "comments on the line");
		return 0;
	}
	note_twice(r, line, value);
	(void)snprintf(origin, sizeof(origin), "%.140s:%d", r->path, r->line);
	return lf_settings_add(r->to, line, value, origin);
}

static int take_all(struct reading *r, char *text, size_t n)
{
	char *end = text + n;
	int rc = 0;

	r->line = 1;
	if (!strncmp(text, "\xef\xbb\xbf", 3))
		odd(r, "a byte-order mark becomes part of the first name",
		    "save the file as plain text");
	while (rc == 0 && text < end) {
		char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		*stop = '\0';
		if (strlen(text) != (size_t)(stop - text))
			odd(r, "a NUL byte ends the line early",
			    "save the file as plain text");
		rc = take(r, text);
		text = stop + 1;
		r->line++;
	}
	return rc;
}

static int fault(const char *path, int error, struct lf_err *e)
{
	return lf_err(e, -error, "%s: %s", path, strerror(error));
}

int lf_ncclconf_read(const char *path, struct lf_settings *to,
		     struct lf_notes *notes, struct lf_err *e)
{
	struct reading r = { .path = path, .to = to, .notes = notes };
	/* O_NONBLOCK: a FIFO put there must not hang us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;
	char *text;
	size_t n;
	int rc;

	if (!f)
		return fault(path, errno, e);
	if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode)) {
		(void)fclose(f);
		return lf_err(e, -EINVAL, "%s: not a regular file", path);
	}
	text = malloc(FILE_BYTES + 2);
	n = text ? fread(text, 1, FILE_BYTES + 1, f) : 0;
	rc = !text ? -ENOMEM : n > FILE_BYTES ? -EFBIG : 0;
	(void)fclose(f);
	if (rc == 0) {
		text[n] = '\0';
		rc = take_all(&r, text, n);
	}
	free(text);
	return rc < 0 ? fault(path, -rc, e) : 0;
}
