/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <elf.h>
#include <fcntl.h>

#include "comm/elf.h"
#include "comm/libnccl.h"

enum {
	RODATA = 0x400,
	DYNSTR = 0x300,
	DYNSYM = 0x280,
	NAMES = 0x240,
	SECTIONS = 0x40
};

/* A small shared object: texts in .rodata, symbols plugin_version (first four
 * bytes of .rodata) and one more. */
static size_t make_elf(char *buf, size_t size, const char *text, size_t n,
		       const char *symbol)
{
	static const char names[] = "\0.shstrtab\0.dynsym\0.dynstr\0.rodata";
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				      ELFDATA2LSB, EV_CURRENT },
			 .e_type = ET_DYN,
			 .e_shoff = SECTIONS,
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = 5,
			 .e_shstrndx = 1 };
	Elf64_Shdr s[5] = {
		[1] = { 1, SHT_STRTAB, 0, 0, NAMES, sizeof(names) },
		[2] = { 11, SHT_DYNSYM, SHF_ALLOC, DYNSYM, DYNSYM, 72 },
		[3] = { 19, SHT_STRTAB, SHF_ALLOC, DYNSTR, DYNSTR, 256 },
		[4] = { 27, SHT_PROGBITS, SHF_ALLOC, RODATA, RODATA, n },
	};
	Elf64_Sym sym[3] = { [1] = { .st_name = 1, .st_value = RODATA },
			     [2] = { .st_name = 20, .st_value = RODATA } };

	assert_true(size >= RODATA + n);
	memset(buf, 0, RODATA);
	memcpy(buf, &h, sizeof(h));
	/* Sections overlap names and symbols' room by none. */
	memcpy(buf + SECTIONS, s, sizeof(s));
	memcpy(buf + NAMES + 0x0, names, sizeof(names));
	memcpy(buf + DYNSYM, sym, sizeof(sym));
	(void)snprintf(buf + DYNSTR + 1, 18, "plugin_version");
	(void)snprintf(buf + DYNSTR + 20, 64, "%s", symbol);
	memcpy(buf + RODATA, text, n);
	return RODATA + n;
}

static const char texts[] =
	"\x08\x05\x16\0NCCL version %d mismatch\0NCCL version 2.28.9+cuda13.0\0"
	"ncclTunerPlugin_v4\0ncclTunerPlugin_v5\0ncclProfiler_v5\0"
	"ncclProfilerProxyOp_v4\0ncclNetPlugin_v11\0ncclEnvPlugin_v1";

static int read_bytes(const void *data, size_t n, struct lf_libnccl *l)
{
	const char *path = scratch("libnccl.so.2");

	write_file(path, data, n, 0644);
	return lf_libnccl_read(path, l, NULL);
}

static void check_known(const struct lf_libnccl *l)
{
	assert_int_equal(l->minor, 28);
	assert_int_equal(l->patch, 9);
	assert_int_equal(l->speaks[LF_PLUG_TUNER], 1 << 4 | 1 << 5);
	assert_int_equal(l->speaks[LF_PLUG_PROFILER], 1 << 5);
	assert_int_equal(l->speaks[LF_PLUG_NET], 1 << 11);
	assert_int_equal(l->speaks[LF_PLUG_ENV], 1 << 1);
}

static void reads(void **state)
{
	char buf[4096];
	struct lf_libnccl l;
	size_t n = make_elf(buf, sizeof(buf), texts, sizeof(texts),
			    "ncclTunerPlugin_v3");

	assert_int_equal(read_bytes(buf, n, &l), 0);
	assert_int_equal(l.speaks[LF_PLUG_TUNER], 1 << 3 | 1 << 4 | 1 << 5);
	l.speaks[LF_PLUG_TUNER] &= ~(1U << 3);
	check_known(&l);
	/* Without a section table the whole file is read. */
	memset(buf + SECTIONS, 0, 5 * sizeof(Elf64_Shdr));
	memset(buf + DYNSTR, 0, 256);
	assert_int_equal(read_bytes(buf, n, &l), 0);
	check_known(&l);
}

/* A text may lie across two pieces of the reader. */
static void across_pieces(void **state)
{
	const size_t size = (1 << 18) * 2 + 4096;
	char *buf = calloc(1, size);
	struct lf_libnccl l;

	assert_non_null(buf);
	for (int cut = 0; cut < 40; cut++) {
		memset(buf, 0, size);
		memcpy(buf, "\177ELF", 4);
		memcpy(buf + (1 << 18) - cut, "NCCL version 2.21.55+cuda", 25);
		memcpy(buf + (1 << 19) - cut, "ncclTunerPlugin_v3", 18);
		assert_int_equal(read_bytes(buf, size, &l), 0);
		check_int("minor", l.minor, 21);
		check_int("patch", l.patch, 55);
		check_int("tuner", l.speaks[LF_PLUG_TUNER], 1 << 3);
	}
	free(buf);
}

static void damaged(void **state)
{
	char buf[4096], bad[4096];
	struct lf_libnccl l;
	uint32_t v, x = 7;
	size_t n = make_elf(buf, sizeof(buf), texts, sizeof(texts), "x");

	for (size_t cut = 0; cut < n; cut += 5) {
		int rc = read_bytes(buf, cut, &l);

		assert_true(rc == 0 || rc == -ENOEXEC);
	}
	for (int i = 0; i < 3000; i++) {
		int fd;

		memcpy(bad, buf, n);
		for (int k = 0; k < 4; k++) {
			x = x * 1664525 + 1013904223;
			bad[4 + (x >> 8) % (RODATA - 4)] = (char)(x >> 24);
		}
		assert_int_equal(read_bytes(bad, n, &l), 0);
		fd = open(scratch("libnccl.so.2"), O_RDONLY);
		(void)lf_elf_u32(fd, "plugin_version", &v);
		(void)close(fd);
	}
	assert_int_equal(read_bytes("\177ELF", 4, &l), 0);
	assert_int_equal(l.minor, -1);
	assert_int_equal(read_bytes("text", 4, &l), -ENOEXEC);
	assert_int_equal(read_bytes("", 0, &l), -ENOEXEC);
	assert_int_equal(lf_libnccl_read(scratch("none"), &l, NULL), -ENOENT);
	assert_int_equal(lf_libnccl_read(scratch(""), &l, NULL), -ENOEXEC);
	assert_int_equal(mkfifo(scratch("pipe"), 0600), 0);
	assert_int_equal(lf_libnccl_read(scratch("pipe"), &l, NULL), -ENOEXEC);
}

static void symbol(void **state)
{
	char buf[4096];
	size_t n = make_elf(buf, sizeof(buf), texts, sizeof(texts), "x");
	uint32_t v = 0;
	int fd;

	write_file(scratch("p.so"), buf, n, 0644);
	fd = open(scratch("p.so"), O_RDONLY);
	assert_int_equal(lf_elf_u32(fd, "plugin_version", &v), 0);
	assert_int_equal(v, 0x160508);
	assert_int_equal(lf_elf_u32(fd, "plugin_versio", &v), -ENOENT);
	(void)close(fd);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(lf_elf_u32(fd, "plugin_version", &v), -ENOEXEC);
	(void)close(fd);
}

static void maps(void **state)
{
	static const char text[] =
		"55d0-55e0 r-xp 00000000 08:01 1  /usr/bin/python3\n"
		"7f00-7f10 r-xp 00000000 08:01 2  "
		"/v/torch/lib/libtorch_cuda.so\n"
		"7f10-7f20 r--p 00000000 08:01 3  /a b/libnccl.so.2\n"
		"7f20-7f30 r-xp 00000000 08:01 3  /a b/libnccl.so.2\n"
		"7f30-7f40 r-xp 00000000 08:01 4  /c/libnccl.so.2.21 "
		"(deleted)\n"
		"7f40-7f50 rw-p 00000000 00:00 0  [heap]\n"
		"7f50-7f60 r-xp 00000000 08:01 5  /c/libnccl-net.so\n";
	static const char inside[] = "7f00-7f10 r-xp 00000000 08:01 2  "
				     "/v/torch/lib/libtorch_cuda.so";
	static struct lf_libnccl_maps m;

	write_text(scratch("maps"), text);
	assert_int_equal(lf_libnccl_maps(scratch("maps"), &m, NULL), 0);
	assert_int_equal(m.count, 2);
	assert_string_equal(m.map[0].path, "/a b/libnccl.so.2");
	assert_false(m.map[0].deleted);
	assert_string_equal(m.map[1].path, "/c/libnccl.so.2.21");
	assert_true(m.map[1].deleted);
	assert_string_equal(m.torch, "/v/torch");
	write_text(scratch("maps"), inside);
	assert_int_equal(lf_libnccl_maps(scratch("maps"), &m, NULL), 0);
	assert_int_equal(m.count, 1);
	assert_true(m.map[0].inside_torch);
	assert_int_equal(lf_libnccl_maps(scratch("none"), &m, NULL), -ENOENT);
}

static const char *judged(int minor, int patch, bool profiled)
{
	static struct lf_notes notes;
	static char text[256];
	struct lf_libnccl l = { .minor = minor, .patch = patch };
	size_t n = 0;

	notes.count = 0;
	lf_libnccl_judge("x", &l, profiled, &notes);
	text[0] = '\0';
	for (int i = 0; i < notes.count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ",
				      notes.note[i].code + 3);
	return text;
}

static void verdicts(void **state)
{
	check_str("none", judged(-1, -1, false), "NCC-04 ");
	check_str("2.18.1", judged(18, 1, false), "NCC-01 NCC-02 ");
	check_str("2.22.2", judged(22, 2, false), "NCC-01 NCC-02 ");
	check_str("2.22.3", judged(22, 3, false), "NCC-02 ");
	check_str("2.26.1", judged(26, 1, false), "NCC-02 ");
	check_str("2.26.2", judged(26, 2, false), "");
	check_str("2.31.2", judged(31, 2, false), "");
	check_str("2.31.2", judged(31, 2, true), "NCC-07 ");
	check_str("2.32.3", judged(32, 3, true), "");
}

static void plugs(void **state)
{
	static struct lf_notes notes;
	struct lf_libnccl nccl = { .minor = 28,
				   .patch = 9,
				   .speaks = { 1 << 4 | 1 << 5, 1 << 5 } };
	struct lf_libnccl old = { .speaks = { 1 << 2 } };
	struct lf_libnccl new = { .speaks = { 1 << 5 | 1 << 6 } };

	lf_libnccl_judge_plug("t", LF_PLUG_TUNER, &new, &nccl, &notes);
	assert_int_equal(notes.count, 0);
	lf_libnccl_judge_plug("t", LF_PLUG_TUNER, &old, &nccl, &notes);
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.note[0].code, "LF-NCC-06");
	assert_string_equal(notes.note[0].expected, "one of v4 v5");
	assert_string_equal(notes.note[0].found, "v2");
}

/* The real one, where this machine has it. */
static void real(void **state)
{
	static const char *const paths[] = {
		"/usr/local/cuda/lib/libnccl.so.2",
		"/usr/local/cuda/lib64/libnccl.so.2",
		"/usr/lib/x86_64-linux-gnu/libnccl.so.2",
		"/usr/lib64/libnccl.so.2",
	};
	const char *path = getenv("LF_LIBNCCL");
	struct lf_libnccl l;

	for (size_t i = 0; !path && i < COUNT(paths); i++)
		if (access(paths[i], R_OK) == 0)
			path = paths[i];
	NEEDS(path, "no libnccl here; LF_LIBNCCL names one");
	assert_int_equal(lf_libnccl_read(path, &l, NULL), 0);
	print_message("# %s: NCCL 2.%d.%d\n", path, l.minor, l.patch);
	assert_in_range(l.minor, 4, 99);
	if (l.minor >= 28)
		assert_true(l.speaks[LF_PLUG_TUNER] & 1 << 5);
	if (l.minor >= 22)
		assert_true(l.speaks[LF_PLUG_NET] & 1 << 8);
}

MAIN(T(damaged), T(reads), T(across_pieces), T(symbol), T(maps), T(verdicts),
     T(plugs), T(real))
