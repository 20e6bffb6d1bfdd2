/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/hash.h"
#include "facts.h"
#include "hw/verdict.h"

static void driver(char *out, const struct start *s)
{
	static struct lf_verdict v;

	if (lf_verdict_read(s->run, s->node, &v, NULL) == 0)
		(void)snprintf(out, FACT_MAX, "%s", v.driver);
}

/* "libnccl.so.2.19.3": where the first libnccl.so.2 on the loader's way leads.
 * Reading its version out of 200 MB would keep tasks waiting; what a Python
 * package brings along is not on that way. */
static void nccl(char *out)
{
	const char *user = getenv("LD_LIBRARY_PATH"), *slash;
	char dirs[4096], *cursor = dirs, *dir;

	(void)snprintf(dirs, sizeof(dirs),
		       "%s:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu"
		       ":/usr/lib64:/usr/lib:/usr/local/lib",
		       user ? user : "");
	while (!*out && (dir = strsep(&cursor, ":")) != NULL) {
		char path[PATH_MAX], real[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/libnccl.so.2", dir);
		if (*dir != '/' || !realpath(path, real))
			continue;
		slash = strrchr(real, '/');
		(void)snprintf(out, FACT_MAX, "%.200s", slash + 1);
	}
}

static uint64_t hash_file(uint64_t h, const char *path)
{
	lf_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[16384];
	ssize_t n;

	while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0)
		h = lf_hash(h, chunk, (size_t)n);
	return h;
}

static void files(char *out)
{
	uint64_t h = hash_file(LF_HASH_START, "/proc/self/exe");

	h = hash_file(h, LF_LIBEXECDIR "/loongforge-plan");
	h = hash_file(h, LF_SLURMPLUGINDIR "/spank_loongforge.so");
	(void)snprintf(out, FACT_MAX, "%016" PRIx64, h);
}

static int no_dots(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void hcas(char *out)
{
	struct dirent **list = NULL;
	int n = scandir("/sys/class/infiniband", &list, no_dots, versionsort);
	size_t len = 0;

	for (int i = 0; i < n; i++) {
		if (len + strlen(list[i]->d_name) + 2 < FACT_MAX)
			len += (size_t)snprintf(out + len, FACT_MAX - len,
						"%s%s", len ? "," : "",
						list[i]->d_name);
		free(list[i]);
	}
	free(list);
}

/* The address that this node would speak from; no packet is sent. */
static bool own_address(const char *leader, struct sockaddr_storage *own)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM,
				  .ai_flags = AI_NUMERICHOST };
	struct addrinfo *to = NULL;
	socklen_t n = sizeof(*own);
	lf_autoclose int fd = -1;
	bool ok = false;

	if (!*leader || getaddrinfo(leader, "9", &hints, &to) != 0)
		return false;
	fd = socket(to->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ok = fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) == 0 &&
	     getsockname(fd, (struct sockaddr *)own, &n) == 0;
	freeaddrinfo(to);
	return ok;
}

static bool same(const struct sockaddr *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (!a || a->sa_family != b->ss_family)
		return false;
	return a->sa_family == AF_INET
		       ? a4->sin_addr.s_addr == b4->sin_addr.s_addr
		       : a->sa_family == AF_INET6 &&
				 !memcmp(&a6->sin6_addr, &b6->sin6_addr, 16);
}

static void interface(char *out, const char *leader)
{
	struct sockaddr_storage own = { 0 };
	struct ifaddrs *all = NULL;

	if (!own_address(leader, &own) || getifaddrs(&all) < 0)
		return;
	for (struct ifaddrs *i = all; i && !*out; i = i->ifa_next)
		if (same(i->ifa_addr, &own))
			(void)snprintf(out, FACT_MAX, "%s", i->ifa_name);
	freeifaddrs(all);
}

void facts_gather(struct facts *f, const struct start *s, const char *leader)
{
	memset(f, 0, sizeof(*f));
	driver(f->value[FACT_DRIVER], s);
	nccl(f->value[FACT_NCCL]);
	files(f->value[FACT_PLUGIN]);
	hcas(f->value[FACT_HCAS]);
	interface(f->value[FACT_INTERFACE], leader);
}
