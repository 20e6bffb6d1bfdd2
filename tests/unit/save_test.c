/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <limits.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "base/save.h"

static void holds(const char *path, const char *want, mode_t mode)
{
	char *text = NULL;
	struct stat st;

	assert_int_equal(lf_fs_read(path, geteuid(), 1 << 20, &text, NULL), 0);
	check_str(path, text, want);
	free(text);
	assert_int_equal(lstat(path, &st), 0);
	check_int(path, st.st_mode & 07777, mode);
}

static void nowhere(void **state)
{
	char big[2 * PATH_MAX];
	struct lf_err e;

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(lf_save(big, 0644, "x", &e), -ENAMETOOLONG);
	assert_int_equal(lf_save(scratch("no/such"), 0644, "x", &e), -ENOENT);
	assert_int_equal(mkdir(scratch("dir"), 0755), 0);
	assert_int_equal(lf_save(scratch("dir"), 0644, "x", &e), -EISDIR);
	check_has("folder", e.text, scratch("dir"));
	assert_int_equal(rmdir(scratch("dir")), 0);
}

static int save_on_a_full_disk(void *path)
{
	struct rlimit lim = { 4, 4 };

	(void)signal(SIGXFSZ, SIG_IGN);
	return setrlimit(RLIMIT_FSIZE, &lim) == 0 &&
			       lf_save(path, 0644, "longer than four", NULL) ==
				       -EFBIG
		       ? 0
		       : 1;
}

static void a_full_disk_leaves_the_old_file(void **state)
{
	const char *path = scratch("a");

	write_text(path, "old");
	assert_int_equal(in_child(save_on_a_full_disk, (void *)path), 0);
	holds(path, "old", 0644);
	assert_int_equal(unlink(path), 0);
	/* Nothing else lies there: no half file. */
	assert_int_equal(rmdir(scratch("")), 0);
	assert_int_equal(mkdir(scratch(""), 0755), 0);
}

static void replaces(void **state)
{
	const char *path = scratch("b"), *other = scratch("other");

	assert_int_equal(lf_save(path, 0600, "one", NULL), 0);
	holds(path, "one", 0600);
	assert_int_equal(lf_save(path, 0644, "", NULL), 0);
	holds(path, "", 0644);
	/* A link is replaced, not followed. */
	write_text(other, "other");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(lf_save(path, 0644, "two", NULL), 0);
	holds(path, "two", 0644);
	holds(other, "other", 0644);
}

MAIN(T(nowhere), T(a_full_disk_leaves_the_old_file), T(replaces))
