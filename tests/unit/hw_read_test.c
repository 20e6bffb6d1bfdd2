/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_unit.h"

#include <fcntl.h>

#include "base/buf.h"

static const char nccl[] =
	"<system version=\"1\">\n<cpu numaid=\"0\">\n"
	"<pci busid=\"0000:17:00.0\" class=\"0x030200\" vendor=\"0x10de\" "
	"device=\"0x2330\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n"
	"<gpu dev=\"0\" sm=\"90\"/></pci></cpu></system>\n";

static void not_a_recording(void **state)
{
	static const struct {
		const char *text, *place, *part;
	} rows[] = {
		{ "", "1:1: ", "empty" },
		{ "BZh91AY&SY", "1:1: ", "bzip2" },
		{ "\x1f\x8b\x08", "1:1: ", "gzip" },
		{ "PK\x03\x04", "1:1: ", "zip" },
		{ "\x7f"
		  "ELF\x02",
		  "1:1: ", "a program" },
		{ "hello\nworld\n", "1:1: ", "no format that is known" },
		{ "<html/>", "1:1: ", "no format that is known" },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		refuses(rows[i].text, rows[i].place, rows[i].part);
}

static void nul_byte(void **state)
{
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_true(lf_hw_read_text(hw, "ab\ncd\0ef", 8, NULL, &e) < 0);
	has(e.text, "2:3: a NUL byte");
	lf_hw_free(hw);
}

/* What a terminal, Windows or an editor added makes no difference. */
static void cleaned(void **state)
{
	struct lf_buf b = LF_BUF(1 << 16);
	struct lf_hw *hw = lf_hw_new();
	const char *format = NULL;
	struct lf_err e = { "" };

	lf_buf_add(&b, "\xef\xbb\xbf\033[4m");
	for (const char *s = nccl; *s; s++)
		lf_buf_add(&b, "%s%c",
			   *s == '\n' ? "\033[0m\r\033]0;title\a" : "", *s);
	lf_buf_add(&b, "\033");
	assert_int_equal(
		lf_hw_read_text(hw, lf_buf_text(&b), b.len, &format, &e), 0);
	assert_string_equal(format, "NCCL topology XML");
	assert_int_equal(hw->gpus, 1);
	lf_buf_free(&b);
	lf_hw_free(hw);
}

static void damage_leaves_the_model(void **state)
{
	struct lf_hw *hw = reads(&lf_hw_read_nccl_xml, nccl);
	struct lf_hw *before = lf_hw_new();
	const char *bad =
		"<system><cpu numaid=\"1\"><pci busid=\"0000:17:00.0\""
		" class=\"0x030200\"><gpu/></pci></cpu>\n<x></system>";
	struct lf_err e = { "" };

	memcpy(before, hw, sizeof(*hw));
	assert_true(lf_hw_read_text(hw, bad, strlen(bad), NULL, &e) < 0);
	has(e.text, "2:6: not XML");
	assert_memory_equal(hw, before, sizeof(*hw));
	lf_hw_free(hw);
	lf_hw_free(before);
}

static void no_control_bytes_in_errors(void **state)
{
	static const char bad[] = "{ \"/sys/a\": \x01\x1b[2J }";
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };

	assert_true(lf_hw_read_text(hw, bad, strlen(bad), NULL, &e) < 0);
	for (const char *c = e.text; *c; c++)
		assert_true((unsigned char)*c >= ' ');
	lf_hw_free(hw);
}

static void paths(void **state)
{
	char folder[] = "/tmp/lf-hw-read-XXXXXX", path[64];
	struct lf_hw *hw = lf_hw_new();
	struct lf_err e = { "" };
	int fd;

	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/dump.xml", folder);
	assert_true(lf_hw_read_path(hw, path, NULL, &e) == -ENOENT);
	has(e.text, path);
	assert_true(lf_hw_read_path(hw, folder, NULL, &e) == -ENOENT);
	has(e.text, "no sysfs");
	assert_true(lf_hw_read_path(hw, "/dev/null", NULL, &e) < 0);
	has(e.text, "neither a file nor a folder");

	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(write(fd, nccl, strlen(nccl)), strlen(nccl));
	assert_int_equal(lf_hw_read_path(hw, path, NULL, &e), 0);
	assert_int_equal(hw->gpus, 1);
	/* 100 MB, of which no block is on the disk. */
	assert_int_equal(ftruncate(fd, 100 << 20), 0);
	assert_int_equal(lf_hw_read_path(hw, path, NULL, &e), -EFBIG);
	has(e.text, "dump.xml:1:1: longer than 32 MiB");
	(void)close(fd);
	(void)unlink(path);
	(void)rmdir(folder);
	lf_hw_free(hw);
}

int main(void)
{
	const struct CMUnitTest all[] = { T(not_a_recording),
					  T(nul_byte),
					  T(cleaned),
					  T(damage_leaves_the_model),
					  T(no_control_bytes_in_errors),
					  T(paths) };

	return cmocka_run_group_tests_name("hw_read", all, NULL, NULL);
}
