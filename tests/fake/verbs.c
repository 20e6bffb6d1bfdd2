/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "verbs.h"

#include <endian.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#undef ibv_query_port

struct device {
	struct ibv_device device;
	struct ibv_context context; /* of no extended kind: all zero */
	struct ibv_pd domain;
	struct fake_hca *hca;
};

struct fake_verbs *fake;
static struct device devices[FAKE_HCAS];

void fake_reset(void)
{
	if (!fake)
		fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fake == MAP_FAILED)
		abort();
	memset(fake, 0, sizeof(*fake));
}

static struct device *of(struct ibv_context *ctx)
{
	return (struct device *)ctx->device; /* its first member */
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list;

	if (fake->none) {
		errno = ENOSYS;
		return NULL;
	}
	list = calloc(FAKE_HCAS + 1, sizeof(struct ibv_device *));
	if (!list)
		abort();
	for (int i = 0; i < fake->hcas; i++) {
		devices[i].hca = &fake->hca[i];
		devices[i].context.device = &devices[i].device;
		devices[i].domain.context = &devices[i].context;
		list[i] = &devices[i].device;
	}
	if (n)
		*n = fake->hcas;
	fake->held++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
	fake->held--;
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return ((struct device *)d)->hca->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct device *device = (struct device *)d;

	switch (device->hca->mood) {
	case FAKE_SHUT:
		errno = EACCES;
		return NULL;
	case FAKE_HANGS:
		for (;;)
			(void)pause();
	case FAKE_CRASHES:
		(void)raise(SIGKILL);
		abort();
	case FAKE_WELL:
	default:
		fake->held++;
		return &device->context;
	}
}

int ibv_close_device(struct ibv_context *ctx)
{
	fake->held--;
	return 0;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *a)
{
	const struct fake_hca *h = of(ctx)->hca;

	*a = (struct ibv_device_attr){ .node_guid = htobe64(h->guid),
				       .vendor_id = h->vendor,
				       .vendor_part_id = h->part,
				       .phys_port_cnt = (uint8_t)h->ports };
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port,
		   struct _compat_ibv_port_attr *a)
{
	const struct fake_hca *h = of(ctx)->hca;

	if (port < 1 || port > FAKE_PORTS)
		return EINVAL;
	memcpy(a, &h->port[port - 1], sizeof(h->port[0]));
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	fake->held++;
	return &of(ctx)->domain;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	fake->held--;
	return 0;
}

/* NOLINTNEXTLINE(readability-function-size): as libibverbs has it */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				 size_t length, uint64_t iova, int fd,
				 int access)
{
	errno = of(pd->context)->hca->dmabuf;
	return NULL;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	return 0;
}
