/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "comm/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"

enum {
	SECTIONS_MAX = 4096, /* libtorch has about forty */
	TABLE_MAX = 64 << 20 /* bytes of a symbol or name table */
};

struct elf {
	int fd;
	Elf64_Shdr *section;
	unsigned count;
	char *names;
	uint64_t names_size;
};

static bool read_at(int fd, void *buf, uint64_t size, uint64_t at)
{
	char *to = buf;

	if (at > INT64_MAX - size)
		return false;
	while (size > 0) {
		ssize_t got = pread(fd, to, size, (off_t)at);

		if (got <= 0)
			return false;
		to += got;
		size -= (uint64_t)got;
		at += (uint64_t)got;
	}
	return true;
}

/* The bytes of a section with a NUL after them; NULL unless all are there. */
static char *load(int fd, const Elf64_Shdr *s)
{
	char *p = s->sh_type != SHT_NOBITS && s->sh_size < TABLE_MAX
			  ? malloc(s->sh_size + 1)
			  : NULL;

	if (p && !read_at(fd, p, s->sh_size, s->sh_offset)) {
		free(p);
		return NULL;
	}
	if (p)
		p[s->sh_size] = '\0';
	return p;
}

static int open_elf(int fd, struct elf *x)
{
	Elf64_Ehdr h;
	uint64_t size;

	*x = (struct elf){ .fd = fd };
	if (!read_at(fd, &h, sizeof(h), 0) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB ||
	    h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shnum == 0 ||
	    h.e_shnum > SECTIONS_MAX || h.e_shstrndx >= h.e_shnum)
		return -ENOEXEC;
	size = h.e_shnum * sizeof(Elf64_Shdr);
	x->count = h.e_shnum;
	x->section = malloc(size);
	if (!x->section)
		return -ENOMEM;
	if (!read_at(fd, x->section, size, h.e_shoff))
		return -ENOEXEC;
	x->names = load(fd, &x->section[h.e_shstrndx]);
	x->names_size = x->section[h.e_shstrndx].sh_size;
	return x->names ? 0 : -ENOEXEC;
}

static void close_elf(struct elf *x)
{
	free(x->section);
	free(x->names);
}

static const Elf64_Shdr *find(const struct elf *x, const char *name)
{
	for (unsigned i = 0; i < x->count; i++)
		if (x->section[i].sh_name < x->names_size &&
		    !strcmp(x->names + x->section[i].sh_name, name))
			return &x->section[i];
	return NULL;
}

int lf_elf_section(int fd, const char *name, off_t *at, uint64_t *size)
{
	struct elf x;
	const Elf64_Shdr *s;
	int rc = open_elf(fd, &x);

	s = rc == 0 ? find(&x, name) : NULL;
	if (rc == 0 && (!s || s->sh_type == SHT_NOBITS))
		rc = -ENOENT;
	if (rc == 0 && (s->sh_offset > INT64_MAX || s->sh_size > INT64_MAX))
		rc = -ENOEXEC;
	if (rc == 0) {
		*at = (off_t)s->sh_offset;
		*size = s->sh_size;
	}
	close_elf(&x);
	return rc;
}

/* An address as a place in the file, by the section that holds it. */
static int read_address(const struct elf *x, uint64_t address, uint32_t *out)
{
	for (unsigned i = 0; i < x->count; i++) {
		const Elf64_Shdr *s = &x->section[i];

		if (s->sh_type == SHT_NOBITS || !(s->sh_flags & SHF_ALLOC) ||
		    address < s->sh_addr || address - s->sh_addr >= s->sh_size)
			continue;
		return read_at(x->fd, out, sizeof(*out),
			       s->sh_offset + (address - s->sh_addr))
			       ? 0
			       : -ENOEXEC;
	}
	return -ENOENT;
}

static int look_up(const struct elf *x, const char *symbol, uint32_t *out)
{
	const Elf64_Shdr *syms = find(x, ".dynsym"), *strs = find(x, ".dynstr");
	lf_autofree char *table = syms ? load(x->fd, syms) : NULL;
	lf_autofree char *names = strs ? load(x->fd, strs) : NULL;

	if (!table || !names)
		return -ENOEXEC;
	for (uint64_t i = 0; i < syms->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym s;

		memcpy(&s, table + i * sizeof(s), sizeof(s));
		if (s.st_name < strs->sh_size &&
		    !strcmp(names + s.st_name, symbol))
			return read_address(x, s.st_value, out);
	}
	return -ENOENT;
}

int lf_elf_u32(int fd, const char *symbol, uint32_t *out)
{
	struct elf x;
	int rc = open_elf(fd, &x);

	if (rc == 0)
		rc = look_up(&x, symbol, out);
	close_elf(&x);
	return rc;
}
