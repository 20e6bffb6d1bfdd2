/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "comm/lint.h"

static struct lf_notes notes;

static int read_text(const char *text, size_t n, struct lf_settings *s)
{
	const char *path = scratch("nccl.conf");
	struct lf_err e;

	write_file(path, text, n, 0644);
	notes.count = notes.dropped = 0;
	return lf_ncclconf_read(path, s, &notes, &e);
}

/* Each line and what NCCL makes of it otherwise than it looks; "" for none. */
static void lines(void **state)
{
	static const struct {
		const char *line, *value, *note;
	} rows[] = {
		{ "NCCL_DEBUG=WARN", "WARN", "" },
		{ "NCCL_DEBUG==x", "=x", "" },
		{ "NCCL_DEBUG=", "", "" },
		{ "# NCCL_DEBUG=WARN", NULL, "" },
		{ "", NULL, "" },
		{ "   ", NULL, "" },
		{ "NCCL_DEBUG = WARN", NULL, "blank beside" },
		{ " NCCL_DEBUG=WARN", NULL, "blank beside" },
		{ "NCCL_DEBUG= WARN", NULL, "blank after" },
		{ "NCCL_DEBUG=WARN ", NULL, "blank after" },
		{ "NCCL_DEBUG=WARN\r", NULL, "carriage return" },
		{ "NCCL_DEBUG=\"WARN\"", NULL, "quotes" },
		{ "NCCL_DEBUG=WARN # why", NULL, "comment" },
		{ "export NCCL_DEBUG=WARN", NULL, "export" },
		{ "NCCL_DEBUG WARN", NULL, "passes over" },
		{ "=WARN", NULL, "no name" },
		{ "\xef\xbb\xbfNCCL_DEBUG=WARN", NULL, "byte-order" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct lf_settings s = { 0 };
		const struct lf_setting *got;

		assert_int_equal(
			read_text(rows[i].line, strlen(rows[i].line), &s), 0);
		got = lf_settings_get(&s, "NCCL_DEBUG");
		check_str(rows[i].line, got ? got->value : "-",
			  rows[i].value ? rows[i].value : "-");
		check_int(rows[i].line, notes.count, *rows[i].note != '\0');
		if (*rows[i].note) {
			check_str(rows[i].line, notes.note[0].code,
				  "LF-ENV-18");
			check_has(rows[i].line, notes.note[0].what,
				  rows[i].note);
			check_has(rows[i].line, notes.note[0].what,
				  "nccl.conf:1: ");
		}
		lf_settings_free(&s);
	}
}

static void first_wins(void **state)
{
	static const char text[] = "\nNCCL_A=1\n\nNCCL_A=2\nNCCL_B=3\n"
				   "NCCL_B=3";
	struct lf_settings s = { 0 };
	const struct lf_setting *got;

	assert_int_equal(lf_settings_add(&s, "NCCL_B", "9", "environment"), 0);
	assert_int_equal(read_text(text, strlen(text), &s), 0);
	got = lf_settings_get(&s, "NCCL_A");
	assert_non_null(got);
	assert_string_equal(got->value, "1");
	check_has("origin", got->origin, "nccl.conf:2");
	assert_string_equal(lf_settings_get(&s, "NCCL_B")->value, "9");
	assert_int_equal(notes.count, 1);
	check_has("twice", notes.note[0].what, "nccl.conf:4: ");
	lf_settings_free(&s);
}

static void hostile(void **state)
{
	static char big[(1 << 20) + 10];
	struct lf_settings s = { 0 };
	struct lf_err e;
	const char *fifo = scratch("fifo");

	assert_int_equal(read_text("NCCL_A=1\0x\nNCCL_B=2", 19, &s), 0);
	assert_int_equal(notes.count, 1);
	check_has("NUL", notes.note[0].what, "NUL");
	assert_string_equal(lf_settings_get(&s, "NCCL_B")->value, "2");
	lf_settings_free(&s);
	memset(big, 'x', sizeof(big));
	memcpy(big, "NCCL_A=", 7);
	assert_int_equal(read_text(big, 3000, &s), 0);
	check_has("long", notes.note[0].what, "1023");
	assert_int_equal(read_text(big, sizeof(big), &s), -EFBIG);
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = "=\n \r\xff#\0A"[i * 7 / 3 % 8];
	assert_int_equal(read_text(big, 1 << 20, &s), 0);
	assert_true(notes.count < 20); /* a flood is not told line by line */
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(lf_ncclconf_read(fifo, &s, &notes, &e), -EINVAL);
	assert_int_equal(lf_ncclconf_read(scratch(""), &s, &notes, &e),
			 -EINVAL);
	assert_int_equal(lf_ncclconf_read(scratch("none"), &s, &notes, &e),
			 -ENOENT);
	lf_settings_free(&s);
}

MAIN(T(hostile), T(lines), T(first_wins))
