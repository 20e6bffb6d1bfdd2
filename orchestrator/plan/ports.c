/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "ports.h"

#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/parse.h"
#include "conf/value.h"

/* FNV-1a, 64 bit: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint64_t fnv(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

int ports_of(const char *reserved, const char *range, const char *cluster,
		uint32_t job, uint32_t step, struct ports *out)
{
	const unsigned need = 1 + LF_PORT_CANDIDATES;
	uint16_t low, high, r_low, r_high;
	char name[128];
	unsigned slots;
	bool have = lf_value_ports(reserved, &r_low, &r_high) == 0;

	if (have && r_high - r_low + 1u >= need) {
		low = r_low;
		slots = 0;
	} else if (lf_value_ports(range, &low, &high) < 0 ||
		   high - low + 1u < need) {
		return -EINVAL;
	} else {
		slots = (high - low + 1u) / need - 1;
	}
	(void)snprintf(name, sizeof(name), "%.64s/%u.%u", cluster, job, step);
	low = (uint16_t)(low + need * (fnv(name) % (slots + 1)));
	out->master = have ? r_low : low;
	for (unsigned i = 0; i < LF_PORT_CANDIDATES; i++)
		out->candidate[i] = (uint16_t)(low + 1 + i);
	return 0;
}

/* Socket inode of the listener on `port`, from one /proc/net table. */
static unsigned long listener(const char *table, uint16_t port)
{
	FILE *f = fopen(table, "re");
	char line[512];
	unsigned long inode = 0;

	while (f && !inode && fgets(line, sizeof(line), f)) {
		unsigned p, state;
		unsigned long i;

		if (sscanf(line,
			   " %*d: %*[0-9A-Fa-f]:%4x %*s %2x %*s %*s %*s %*s "
			   "%*s %lu",
			   &p, &state, &i) == 3 &&
		    p == port && state == 0x0a /* TCP_LISTEN */)
			inode = i;
	}
	if (f)
		(void)fclose(f);
	return inode;
}

static bool holds(const char *pid, const char *link)
{
	char path[300], at[64];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	while (dir && !found && (d = readdir(dir)) != NULL) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, at,
				       sizeof(at) - 1);

		at[n > 0 ? n : 0] = '\0';
		found = strcmp(at, link) == 0;
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

static pid_t holder_of(uint16_t port)
{
	unsigned long inode = listener("/proc/net/tcp", port);
	DIR *proc = opendir("/proc");
	struct dirent *d;
	uint64_t pid = 0;
	char link[64];

	if (!inode)
		inode = listener("/proc/net/tcp6", port);
	(void)snprintf(link, sizeof(link), "socket:[%lu]", inode);
	while (proc && inode && !pid && (d = readdir(proc)) != NULL) {
		uint64_t candidate;

		if (lf_parse_u64(d->d_name, 1, INT32_MAX, &candidate) == 0 &&
		    holds(d->d_name, link))
			pid = candidate;
	}
	if (proc)
		(void)closedir(proc);
	return (pid_t)pid;
}

static bool binds(int family, const struct sockaddr *sa, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	bool ok;

	if (fd < 0)
		return errno == EAFNOSUPPORT;
	/* As rendezvous servers do: TIME_WAIT of an earlier step is no user. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ok = bind(fd, sa, len) == 0 && listen(fd, 1) == 0;
	(void)close(fd);
	return ok;
}

bool ports_free(uint16_t port, pid_t *holder)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_port = htons(port) };

	if (binds(AF_INET, (struct sockaddr *)&v4, sizeof(v4)))
		return true;
	*holder = holder_of(port);
	return false;
}
