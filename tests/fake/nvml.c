/* SPDX-License-Identifier: Apache-2.0 */
/* fake NVML - libnvidia-ml.so.1 for machines without a GPU, told by the file
 * that LF_FAKE_NVML names.  Lines, # begins a comment:
 *
 *   driver 535.161.08              cuda 12020
 *   gpu BUS UUID DEVICEID NAME...  the next GPU; the rest applies to it
 *   pcie GEN WIDTH MAXGEN MAXWIDTH GPUMAXGEN
 *   state PSTATE MIG ECC PENDING FAILED
 *   minor N                        its place, unless told
 *   place NUMA FIRSTCPU LASTCPU
 *   fabric STATE STATUS CLIQUE SUMMARY CLUSTERBYTE
 *   links SPEED                    then one "link" each
 *   link up|down BUS|- gpu|npu|switch|unknown
 *   lost                           this GPU is counted but gone
 *   level A B LEVEL                common ancestor of two GPUs
 *   p2p A B STATUS
 *   refuse FUNCTION CODE           e.g. refuse nvmlDeviceGetUUID 3
 *   refuse all 3                   all that ask a device
 *   hang FUNCTION SECONDS
 *   crash FUNCTION
 *
 * With LF_FAKE_NVML_OLD it lacks what an 11.x driver lacks. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hw/nvml_api.h"

enum {
	GPUS = 16,
	LINKS = 40,
	RULES = 16
};

struct fake_link {
	int up, end;
	char bus[32];
};

struct lf_nvml_opaque {
	char bus[32], uuid[64], name[64];
	unsigned id, minor, pcie[5], mig, pending, failed;
	int pstate, numa, first, last, links, speed;
	unsigned long long ecc;
	int fabric[5];
	bool lost;
	struct fake_link link[LINKS];
};

static struct {
	char driver[32];
	int cuda, gpus, rules;
	struct lf_nvml_opaque gpu[GPUS];
	int level[GPUS][GPUS], p2p[GPUS][GPUS];
	struct {
		char function[64];
		int code, seconds;
	} rule[RULES];
} fake;

static int end_of(const char *word)
{
	return strcmp(word, "gpu") == 0	     ? NVML_END_GPU
	       : strcmp(word, "npu") == 0    ? NVML_END_NPU
	       : strcmp(word, "switch") == 0 ? NVML_END_SWITCH
					     : NVML_END_UNKNOWN;
}

static void link_line(struct lf_nvml_opaque *g, const char *line)
{
	char state[8], end[16];
	struct fake_link *l = &g->link[g->links];

	if (g->links == LINKS ||
	    sscanf(line, "link %7s %31s %15s", state, l->bus, end) != 3)
		return;
	l->up = strcmp(state, "up") == 0;
	l->end = end_of(end);
	g->links++;
}

static void gpu_line(struct lf_nvml_opaque *g, const char *line)
{
	int *f = g->fabric;
	unsigned *p = g->pcie;

	(void)sscanf(line, "pcie %u %u %u %u %u", &p[0], &p[1], &p[2], &p[3],
		     &p[4]);
	(void)sscanf(line, "state %d %u %llu %u %u", &g->pstate, &g->mig,
		     &g->ecc, &g->pending, &g->failed);
	(void)sscanf(line, "place %d %d %d", &g->numa, &g->first, &g->last);
	(void)sscanf(line, "fabric %d %d %d %d %d", &f[0], &f[1], &f[2], &f[3],
		     &f[4]);
	(void)sscanf(line, "links %d", &g->speed);
	(void)sscanf(line, "minor %u", &g->minor);
	if (strncmp(line, "lost", 4) == 0)
		g->lost = true;
	if (strncmp(line, "link ", 5) == 0)
		link_line(g, line);
}

static void rule_line(const char *line)
{
	char *name = fake.rule[fake.rules].function;
	int *code = &fake.rule[fake.rules].code;
	int *seconds = &fake.rule[fake.rules].seconds;

	if (fake.rules < RULES &&
	    (sscanf(line, "refuse %63s %d", name, code) == 2 ||
	     sscanf(line, "hang %63s %d", name, seconds) == 2))
		fake.rules++;
	else if (fake.rules < RULES && sscanf(line, "crash %63s", name) == 1)
		fake.rule[fake.rules++].seconds = -1;
}

static void one_line(const char *line)
{
	struct lf_nvml_opaque *g = &fake.gpu[fake.gpus];
	int a, b, v;

	(void)sscanf(line, "driver %31s", fake.driver);
	(void)sscanf(line, "cuda %d", &fake.cuda);
	if (fake.gpus < GPUS && sscanf(line, "gpu %31s %63s %x %63[^\n]",
				       g->bus, g->uuid, &g->id, g->name) == 4)
		g->minor = (unsigned)fake.gpus++;
	else if (fake.gpus > 0)
		gpu_line(&fake.gpu[fake.gpus - 1], line);
	if (sscanf(line, "level %d %d %d", &a, &b, &v) == 3 && a < GPUS &&
	    b < GPUS && a >= 0 && b >= 0)
		fake.level[a][b] = fake.level[b][a] = v;
	if (sscanf(line, "p2p %d %d %d", &a, &b, &v) == 3 && a < GPUS &&
	    b < GPUS && a >= 0 && b >= 0)
		fake.p2p[a][b] = fake.p2p[b][a] = v + 1;
	rule_line(line);
}

/* What the rules say of a call: its code, or 0 to go on. */
static int ruled(const char *function, const struct lf_nvml_opaque *g)
{
	for (int i = 0; i < fake.rules; i++) {
		bool all = g && strcmp(fake.rule[i].function, "all") == 0;

		if (!all && strcmp(fake.rule[i].function, function) != 0)
			continue;
		if (fake.rule[i].seconds < 0)
			(void)raise(SIGKILL);
		if (fake.rule[i].seconds > 0)
			(void)sleep((unsigned)fake.rule[i].seconds);
		else
			return fake.rule[i].code;
	}
	return g && g->lost ? NVML_GPU_IS_LOST : NVML_OK;
}

#define RULED(g)                                                               \
	do {                                                                   \
		int code = ruled(__func__, g);                                 \
                                                                               \
		if (code != NVML_OK)                                           \
			return code;                                           \
	} while (0)

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlInit_v2(void)
{
	const char *path = getenv("LF_FAKE_NVML");
	FILE *f = path ? fopen(path, "re") : NULL;
	char line[256];

	memset(&fake, 0, sizeof(fake));
	if (!f)
		return NVML_DRIVER_NOT_LOADED;
	while (fgets(line, sizeof(line), f))
		if (*line != '#')
			one_line(line);
	(void)fclose(f);
	RULED(NULL);
	return NVML_OK;
}

EXPORT int nvmlShutdown(void);
EXPORT int nvmlShutdown(void)
{
	return NVML_OK;
}

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned n);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned n)
{
	RULED(NULL);
	(void)snprintf(text, n, "%s", fake.driver);
	return NVML_OK;
}

EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version);
EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	RULED(NULL);
	*version = fake.cuda;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n)
{
	RULED(NULL);
	*n = (unsigned)fake.gpus;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, lf_nvml_device *d);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned i, lf_nvml_device *d)
{
	if (i >= (unsigned)fake.gpus)
		return NVML_INVALID_ARGUMENT;
	*d = &fake.gpu[i];
	if (fake.gpu[i].lost)
		return NVML_GPU_IS_LOST;
	RULED(NULL);
	return NVML_OK;
}

static void fill_pci(struct lf_nvml_pci *pci, const char *bus, unsigned id)
{
	memset(pci, 0, sizeof(*pci));
	(void)snprintf(pci->old_bus, sizeof(pci->old_bus), "%.12s",
		       strlen(bus) > 12 ? bus + strlen(bus) - 12 : bus);
	(void)snprintf(pci->bus_id, sizeof(pci->bus_id), "%s", bus);
	pci->id = id;
}

EXPORT int nvmlDeviceGetPciInfo_v3(lf_nvml_device d, struct lf_nvml_pci *pci);
EXPORT int nvmlDeviceGetPciInfo_v3(lf_nvml_device d, struct lf_nvml_pci *pci)
{
	RULED(d);
	fill_pci(pci, d->bus, d->id);
	return NVML_OK;
}

EXPORT int nvmlDeviceGetName(lf_nvml_device d, char *text, unsigned n);
EXPORT int nvmlDeviceGetName(lf_nvml_device d, char *text, unsigned n)
{
	RULED(d);
	(void)snprintf(text, n, "%s", d->name);
	return NVML_OK;
}

EXPORT int nvmlDeviceGetUUID(lf_nvml_device d, char *text, unsigned n);
EXPORT int nvmlDeviceGetUUID(lf_nvml_device d, char *text, unsigned n)
{
	RULED(d);
	(void)snprintf(text, n, "%s", d->uuid);
	return NVML_OK;
}

EXPORT int nvmlDeviceGetMinorNumber(lf_nvml_device d, unsigned *v);
EXPORT int nvmlDeviceGetMinorNumber(lf_nvml_device d, unsigned *v)
{
	RULED(d);
	*v = d->minor;
	return NVML_OK;
}

#define PCIE(function, place)                                                  \
	EXPORT int function(lf_nvml_device d, unsigned *v);                    \
	EXPORT int function(lf_nvml_device d, unsigned *v)                     \
	{                                                                      \
		RULED(d);                                                      \
		*v = d->pcie[place];                                           \
		return NVML_OK;                                                \
	}

PCIE(nvmlDeviceGetCurrPcieLinkGeneration, 0)
PCIE(nvmlDeviceGetCurrPcieLinkWidth, 1)
PCIE(nvmlDeviceGetMaxPcieLinkGeneration, 2)
PCIE(nvmlDeviceGetMaxPcieLinkWidth, 3)
#ifndef LF_FAKE_NVML_OLD
PCIE(nvmlDeviceGetGpuMaxPcieLinkGeneration, 4)
#endif

EXPORT int nvmlDeviceGetPerformanceState(lf_nvml_device d, int *v);
EXPORT int nvmlDeviceGetPerformanceState(lf_nvml_device d, int *v)
{
	RULED(d);
	*v = d->pstate;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetMigMode(lf_nvml_device d, unsigned *now,
				unsigned *later);
EXPORT int nvmlDeviceGetMigMode(lf_nvml_device d, unsigned *now,
				unsigned *later)
{
	RULED(d);
	*now = *later = d->mig;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetTotalEccErrors(lf_nvml_device d, int type, int counter,
				       unsigned long long *n);
EXPORT int nvmlDeviceGetTotalEccErrors(lf_nvml_device d, int type, int counter,
				       unsigned long long *n)
{
	RULED(d);
	*n = d->ecc;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetRemappedRows(lf_nvml_device d, unsigned *corrected,
				     unsigned *uncorrected, unsigned *pending,
				     unsigned *failed);
EXPORT int nvmlDeviceGetRemappedRows(lf_nvml_device d, unsigned *corrected,
				     unsigned *uncorrected, unsigned *pending,
				     unsigned *failed)
{
	RULED(d);
	*corrected = *uncorrected = 0;
	*pending = d->pending;
	*failed = d->failed;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetMemoryAffinity(lf_nvml_device d, unsigned words,
				       unsigned long *mask, unsigned scope);
EXPORT int nvmlDeviceGetMemoryAffinity(lf_nvml_device d, unsigned words,
				       unsigned long *mask, unsigned scope)
{
	RULED(d);
	memset(mask, 0, words * sizeof(*mask));
	mask[d->numa / 64] = 1UL << (d->numa % 64);
	return NVML_OK;
}

EXPORT int nvmlDeviceGetCpuAffinity(lf_nvml_device d, unsigned words,
				    unsigned long *mask);
EXPORT int nvmlDeviceGetCpuAffinity(lf_nvml_device d, unsigned words,
				    unsigned long *mask)
{
	RULED(d);
	memset(mask, 0, words * sizeof(*mask));
	for (int i = d->first; i <= d->last; i++)
		mask[i / 64] |= 1UL << (i % 64);
	return NVML_OK;
}

static int one_field(lf_nvml_device d, struct lf_nvml_field *f)
{
	f->type = NVML_VALUE_UINT;
	f->value.ull = 0;
	if (f->field == NVML_FI_LINK_COUNT)
		f->value.u = (unsigned)d->links;
	else if (f->field == NVML_FI_LINK_SPEED_ALL ||
		 f->field == NVML_FI_LINK_SPEED)
		f->value.u = (unsigned)d->speed;
	else
		return NVML_NOT_SUPPORTED;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetFieldValues(lf_nvml_device d, int n,
				    struct lf_nvml_field *f);
EXPORT int nvmlDeviceGetFieldValues(lf_nvml_device d, int n,
				    struct lf_nvml_field *f)
{
	RULED(d);
	for (int i = 0; i < n; i++)
		f[i].result = one_field(d, &f[i]);
	return NVML_OK;
}

EXPORT int nvmlDeviceGetNvLinkState(lf_nvml_device d, unsigned link, int *on);
EXPORT int nvmlDeviceGetNvLinkState(lf_nvml_device d, unsigned link, int *on)
{
	RULED(d);
	if (d->links == 0)
		return NVML_NOT_SUPPORTED;
	if (link >= (unsigned)d->links)
		return NVML_INVALID_ARGUMENT;
	*on = d->link[link].up;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(lf_nvml_device d, unsigned link,
					       struct lf_nvml_pci *pci);
EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(lf_nvml_device d, unsigned link,
					       struct lf_nvml_pci *pci)
{
	RULED(d);
	if (link >= (unsigned)d->links)
		return NVML_INVALID_ARGUMENT;
	if (strcmp(d->link[link].bus, "-") == 0)
		return NVML_NOT_SUPPORTED;
	fill_pci(pci, d->link[link].bus, 0);
	return NVML_OK;
}

EXPORT int nvmlDeviceGetTopologyCommonAncestor(lf_nvml_device a,
					       lf_nvml_device b, int *level);
EXPORT int nvmlDeviceGetTopologyCommonAncestor(lf_nvml_device a,
					       lf_nvml_device b, int *level)
{
	RULED(a);
	*level = fake.level[a - fake.gpu][b - fake.gpu];
	return NVML_OK;
}

EXPORT int nvmlDeviceGetP2PStatus(lf_nvml_device a, lf_nvml_device b, int what,
				  int *status);
EXPORT int nvmlDeviceGetP2PStatus(lf_nvml_device a, lf_nvml_device b, int what,
				  int *status)
{
	int said = fake.p2p[a - fake.gpu][b - fake.gpu];

	RULED(a);
	if (said == 0 || (what != NVML_P2P_NVLINK && what != NVML_P2P_READ))
		return NVML_NOT_SUPPORTED;
	*status = said - 1;
	return NVML_OK;
}

#ifndef LF_FAKE_NVML_OLD
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(lf_nvml_device d, unsigned link,
					       int *end);
EXPORT int nvmlDeviceGetNvLinkRemoteDeviceType(lf_nvml_device d, unsigned link,
					       int *end)
{
	RULED(d);
	if (link >= (unsigned)d->links)
		return NVML_INVALID_ARGUMENT;
	*end = d->link[link].end;
	return NVML_OK;
}

EXPORT int nvmlDeviceGetGpuFabricInfoV(lf_nvml_device d,
				       struct lf_nvml_fabric_v *f);
EXPORT int nvmlDeviceGetGpuFabricInfoV(lf_nvml_device d,
				       struct lf_nvml_fabric_v *f)
{
	RULED(d);
	if (f->version != LF_NVML_FABRIC_V2 && f->version != LF_NVML_FABRIC_V3)
		return NVML_INVALID_ARGUMENT;
	memset(f->cluster, d->fabric[4], sizeof(f->cluster));
	f->state = (unsigned char)d->fabric[0];
	f->status = d->fabric[1];
	f->clique = (unsigned)d->fabric[2];
	f->health = 0;
	if (f->version == LF_NVML_FABRIC_V3)
		f->summary = (unsigned char)d->fabric[3];
	return NVML_OK;
}
#endif
