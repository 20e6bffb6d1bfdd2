/* SPDX-License-Identifier: Apache-2.0 */
/* A SPANK plugin with LoongForge's hooks that does nothing: the peer in
 * tests/bench/launch, and, listed before and after a plugin, its stopwatch.
 *
 * Arguments on its line of plugstack.conf:
 *   as=NAME      what it is called below (copies of the file are one plugin
 *                each: a file loaded twice would share its variables)
 *   stamps=DIR   writes when each hook was called: CLOCK_MONOTONIC in ns, one
 *                uint64 each in the order of `enum hook`, 0 for never, into
 *                DIR/srun.NAME, or DIR/NODE.NAME in slurmstepd
 *   marks=1      each hook asks for the file /lf-mark/NAME/HOOK, which does
 *                not exist: strace shows it
 *
 * Stamps go through a shared mapping: a task's process, too, writes them
 * without a system call. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <slurm/spank.h>

SPANK_PLUGIN(noop, 1)

#define HOOKS(X)                                                               \
	X(init)                                                                \
	X(init_post_opt)                                                       \
	X(local_user_init)                                                     \
	X(task_init_privileged)                                                \
	X(task_init)                                                           \
	X(task_post_fork)                                                      \
	X(task_exit)                                                           \
	X(job_prolog)                                                          \
	X(job_epilog)

#define ENTRY(name) name,
#define NAME(name)  #name,
#define DEFINE(name)                                                           \
	int slurm_spank_##name(spank_t sp, int ac, char **av)                  \
	{                                                                      \
		(void)sp;                                                      \
		return called(name, ac, av);                                   \
	}

enum hook {
	loaded, /* the constructor: after dlopen of what is listed before */
	HOOKS(ENTRY) hooks
};

static const char *const names[] = { "loaded", HOOKS(NAME) };

static uint64_t stamps[hooks], *at = stamps;

static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

__attribute__((constructor)) static void on_load(void)
{
	stamps[loaded] = now();
}

static const char *value(int ac, char **av, const char *key)
{
	size_t n = strlen(key);

	for (int i = 0; i < ac; i++)
		if (!strncmp(av[i], key, n) && av[i][n] == '=')
			return av[i] + n + 1;
	return NULL;
}

static void open_stamps(int ac, char **av)
{
	const char *dir = value(ac, av, "stamps"), *as = value(ac, av, "as");
	const char *who = spank_context() == S_CTX_REMOTE
				  ? getenv("SLURMD_NODENAME")
				  : "srun";
	char path[512];
	void *map;
	int fd;

	if (!dir || !as || !who)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s.%s", dir, who, as);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (ftruncate(fd, sizeof(stamps)) == 0) {
		map = mmap(NULL, sizeof(stamps), PROT_READ | PROT_WRITE,
			   MAP_SHARED, fd, 0);
		if (map != MAP_FAILED)
			at = memcpy(map, stamps, sizeof(stamps));
	}
	(void)close(fd);
}

static void mark(enum hook h, int ac, char **av)
{
	const char *as = value(ac, av, "as");
	char path[128];

	if (!as || !value(ac, av, "marks"))
		return;
	(void)snprintf(path, sizeof(path), "/lf-mark/%s/%s", as, names[h]);
	(void)access(path, F_OK);
}

static int called(enum hook h, int ac, char **av)
{
	at[h] = now();
	if (h == init &&
	    (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_REMOTE))
		open_stamps(ac, av);
	mark(h, ac, av);
	return 0;
}

HOOKS(DEFINE)
