/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge.conf: all or nothing. */
#include "fuzz.h"

#include <stdio.h>
#include <unistd.h>

#include "conf/conf.h"

static char path[64];

static void forget(void)
{
	(void)unlink(path);
}

static int memory_file(void)
{
	const char *dir = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	int fd;

	(void)snprintf(path, sizeof(path), "%s/lf-fuzz.XXXXXX", dir);
	fd = mkstemp(path);
	MUST(fd >= 0);
	(void)atexit(forget);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct lf_conf conf, builtin;
	static int fd = -1;
	struct lf_err e = { "" };
	int rc;

	if (fd < 0)
		fd = memory_file();
	MUST(ftruncate(fd, 0) == 0 && pwrite(fd, data, n, 0) == (ssize_t)n);
	rc = lf_conf_read(path, &conf, &e);
	lf_conf_defaults(&builtin);
	MUST(rc == 0 || *e.text);
	for (int i = 0; i < LF_KEYS; i++)
		MUST(rc < 0 ? !strcmp(conf.values.text[i],
				      builtin.values.text[i])
			    : lf_keys[i].check(&lf_keys[i],
					       conf.values.text[i]) == 0);
	return 0;
}
