/* SPDX-License-Identifier: Apache-2.0 */
/* verbs - RDMA devices that are not there: what lib/hw/verbs.c calls of
 * libibverbs, linked in its place.
 *
 * In shared memory, since the reader asks in a child.
 */
#ifndef FAKE_VERBS_H
#define FAKE_VERBS_H

#include <stdbool.h>
#include <stdint.h>

#include <infiniband/verbs.h>

enum {
	FAKE_HCAS = 4,
	FAKE_PORTS = 2
};

enum fake_mood {
	FAKE_WELL,
	FAKE_SHUT,
	FAKE_HANGS,
	FAKE_CRASHES
};

struct fake_hca {
	const char *name;
	enum fake_mood mood; /* of who opens it */
	uint32_t vendor, part;
	uint64_t guid; /* of this machine's byte order */
	int dmabuf;    /* errno of a registration without a file */
	int ports;
	struct ibv_port_attr port[FAKE_PORTS];
};

struct fake_verbs {
	bool none; /* no list: the kernel has no verbs */
	int hcas;
	struct fake_hca hca[FAKE_HCAS];
	int held; /* lists, contexts and domains that were not given back */
};

extern struct fake_verbs *fake;

void fake_reset(void); /* no device */

#endif
