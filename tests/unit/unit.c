/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"

static char root[64];
static pid_t root_owner;

bool is_root(void)
{
	return geteuid() == 0;
}

void check_int(const char *row, long long got, long long want)
{
	if (got == want)
		return;
	print_error("%s: expected %lld, found %lld\n", row, want, got);
	fail();
}

void check_str(const char *row, const char *got, const char *want)
{
	if (strcmp(got, want) == 0)
		return;
	print_error("%s: expected '%s', found '%s'\n", row, want, got);
	fail();
}

void check_has(const char *row, const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	print_error("%s: expected '%s' in '%s'\n", row, part, text);
	fail();
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	return remove(path);
}

static void remove_root(void)
{
	if (root_owner == getpid())
		(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch(const char *name)
{
	static char path[8][4096];
	static unsigned turn;
	const char *tmp = getenv("TMPDIR");

	if (!*root) {
		(void)snprintf(root, sizeof(root), "%.40s/lf-unit.XXXXXX",
			       tmp && *tmp == '/' ? tmp : "/tmp");
		assert_non_null(mkdtemp(root));
		assert_int_equal(chmod(root, 0755), 0);
		root_owner = getpid();
		(void)atexit(remove_root);
	}
	turn = (turn + 1) % 8;
	(void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", root, name);
	return path[turn];
}

void write_file(const char *path, const void *data, size_t n, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	assert_int_equal(fchmod(fd, mode), 0);
	assert_int_equal(close(fd), 0);
}

void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text), 0644);
}

int in_child(int (*fn)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)alarm(60);
		_exit(fn(arg));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = -3; /* ".", ".." and the folder's own */

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

bool runs(pid_t pid)
{
	char path[64], state = 'X';
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'X';
	(void)fclose(f);
	return state != 'Z' && state != 'X';
}

uint64_t elapsed_ms(uint64_t since)
{
	return lf_clock_ms() - since;
}
