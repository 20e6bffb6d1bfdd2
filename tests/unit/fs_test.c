/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <fcntl.h>

#include "base/fs.h"

enum {
	MAX = 16
};

static int read_it(const char *path, char **text, struct lf_err *e)
{
	*text = NULL;
	return lf_fs_read(path, geteuid(), MAX, text, e);
}

static void refuse(const char *path, int rc, const char *why)
{
	int fds = open_fds();
	struct lf_err e;
	char *text;

	check_int(path, read_it(path, &text, &e), rc);
	check_has(path, e.text, path);
	check_has(path, e.text, why);
	assert_null(text);
	check_int(path, read_it(path, &text, &(struct lf_err){ "" }), rc);
	assert_int_equal(open_fds(), fds);
}

static void not_a_file(void **state)
{
	assert_int_equal(mkfifo(scratch("fifo"), 0600), 0);
	assert_int_equal(symlink("/etc/passwd", scratch("link")), 0);
	refuse("", -ENOENT, "No such file");
	refuse(scratch("missing"), -ENOENT, "No such file");
	refuse(scratch("missing/x"), -ENOENT, "No such file");
	refuse(scratch(""), -EPERM, "not a regular file");
	refuse(scratch("fifo"), -EPERM, "not a regular file");
	refuse("/dev/null", -EPERM, "not a regular file");
	refuse(scratch("link"), -ELOOP, "symbolic links");
}

static void not_to_be_trusted(void **state)
{
	write_file(scratch("group"), "x", 1, 0664);
	write_file(scratch("world"), "x", 1, 0602);
	refuse(scratch("group"), -EPERM, "mode 664");
	refuse(scratch("world"), -EPERM, "mode 602");
}

static void not_ours(void **state)
{
	const char *path = scratch("foreign");
	char *text;

	NEEDS(is_root(), "only root can give a file away");
	write_text(path, "x");
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	refuse(path, -EPERM, "found uid 65534");
	assert_int_equal(lf_fs_read(path, NOBODY, MAX, &text, NULL), 0);
	free(text);
}

static void not_a_text(void **state)
{
	write_file(scratch("nul"), "ab\0cd", 5, 0600);
	write_file(scratch("nul last"), "ab\0", 3, 0600);
	write_text(scratch("long"), "12345678901234567");
	refuse(scratch("nul"), -EINVAL, "NUL");
	refuse(scratch("nul last"), -EINVAL, "NUL");
	refuse(scratch("long"), -EFBIG, "longer than 16 bytes");
}

static void reads(void **state)
{
	static const char *const texts[] = { "", "a\n", "1234567890123456" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct lf_err e = { "untouched" };
		char *text;

		write_text(scratch("good"), texts[i]);
		check_int(texts[i], read_it(scratch("good"), &text, &e), 0);
		check_str(texts[i], text, texts[i]);
		check_str(texts[i], e.text, "untouched");
		free(text);
	}
}

static void opens_only_roots_folder(void **state)
{
	struct lf_err e;
	int fd = -1;

	write_text(scratch("file"), "");
	assert_int_equal(symlink("/", scratch("to root")), 0);
	assert_int_equal(mkdir(scratch("open"), 0755), 0);
	assert_int_equal(chmod(scratch("open"), 0777), 0);
	assert_int_equal(lf_fs_open_dir("/no/such", &fd, &e), -ENOENT);
	assert_int_equal(lf_fs_open_dir(scratch("file"), &fd, &e), -ENOTDIR);
	assert_int_equal(lf_fs_open_dir(scratch("to root"), &fd, &e), -ENOTDIR);
	assert_int_equal(lf_fs_open_dir(scratch("open"), &fd, &e), -EPERM);
	assert_int_equal(fd, -1);
	assert_int_equal(lf_fs_open_dir("/", &fd, &e), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(close(fd), 0);
}

static int here(void)
{
	int fd = open(scratch(""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void user_folder_abuse(void **state)
{
	struct lf_err e;
	int fd = here();

	NEEDS(is_root(), "only root makes folders for others");
	write_text(scratch("is file"), "");
	assert_int_equal(symlink("/tmp", scratch("is link")), 0);
	assert_int_equal(mkdir(scratch("is foreign"), 0700), 0);
	assert_int_equal(chown(scratch("is foreign"), 1234, 1234), 0);
	check_int("file", lf_fs_user_dir(fd, "is file", NOBODY, NOBODY, &e),
		  -ENOTDIR);
	check_int("link", lf_fs_user_dir(fd, "is link", NOBODY, NOBODY, &e),
		  -ENOTDIR);
	check_int("foreign",
		  lf_fs_user_dir(fd, "is foreign", NOBODY, NOBODY, &e), -EPERM);
	check_int("below nothing",
		  lf_fs_user_dir(fd, "no/such", NOBODY, NOBODY, &e), -ENOENT);
	(void)close(fd);
}

static void is_the_users(const char *row, const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	check_int(row, st.st_uid, NOBODY);
	check_int(row, st.st_gid, NOBODY);
	check_int(row, st.st_mode & 07777, 0700);
}

static void user_folder(void **state)
{
	const char *path = scratch("1.0");
	struct lf_err e;
	int fd = here();

	NEEDS(is_root(), "only root makes folders for others");
	assert_int_equal(lf_fs_user_dir(fd, "1.0", NOBODY, NOBODY, &e), 0);
	is_the_users("made", path);
	assert_int_equal(lf_fs_user_dir(fd, "1.0", NOBODY, NOBODY, &e), 0);
	is_the_users("found", path);
	/* Root was stopped between making it and giving it away. */
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(lf_fs_user_dir(fd, "1.0", NOBODY, NOBODY, &e), 0);
	is_the_users("half made", path);
	/* The user may open his folder; the next step must not stumble. */
	assert_int_equal(chmod(path, 0755), 0);
	check_int("opened by its user",
		  lf_fs_user_dir(fd, "1.0", NOBODY, NOBODY, &e), 0);
	is_the_users("opened by its user", path);
	(void)close(fd);
}

MAIN(T(not_a_file), T(not_to_be_trusted), T(not_ours), T(not_a_text), T(reads),
     T(opens_only_roots_folder), T(user_folder_abuse), T(user_folder))
