/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/nvml.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

enum {
	CPUS = 4096,
	NODES = 1024,
	WORD = 8 * sizeof(unsigned long)
};

static void read_pcie(struct lf_nvml *r, lf_nvml_device d, struct lf_hw_gpu *g)
{
	struct lf_hw_pcie *p = &g->pcie;
	unsigned v = 0;
	int rc;

	rc = CALL(r, gen, d, &v);
	if (rc == NVML_OK && v <= 9)
		lf_hw_set_gen(r->hw, g->bus, p, (int)v);
	rc = CALL(r, width, d, &v);
	lf_nvml_set(r, g, "PCIe width", &p->width, rc, v);
	rc = CALL(r, max_gen, d, &v);
	lf_nvml_set(r, g, "greatest PCIe generation", &p->max_gen, rc, v);
	rc = CALL(r, max_width, d, &v);
	lf_nvml_set(r, g, "greatest PCIe width", &p->max_width, rc, v);
	rc = CALL(r, gpu_max_gen, d, &v);
	lf_nvml_set(r, g, "PCIe generation of the device", &p->device_max_gen,
		    rc, v);
}

static void read_state(struct lf_nvml *r, lf_nvml_device d, struct lf_hw_gpu *g)
{
	int pstate = -1;
	unsigned now = 0, later, corrected, uncorrected, pending, failed;
	unsigned long long errors = 0;
	int rc = CALL(r, pstate, d, &pstate);

	if (rc == NVML_OK && pstate >= 0 && pstate <= 15)
		lf_hw_set_pstate(g, pstate);
	rc = CALL(r, mig, d, &now, &later);
	/* A part without MIG does not have it on. */
	if (rc == NVML_NOT_SUPPORTED) {
		rc = NVML_OK;
		now = 0;
	}
	lf_nvml_set(r, g, "MIG", &g->mig, rc, now);
	rc = CALL(r, ecc, d, NVML_ECC_UNCORRECTED, NVML_ECC_VOLATILE, &errors);
	if (rc == NVML_OK && errors <= INT64_MAX)
		lf_hw_set_ecc(r->hw, g->bus, g, (int64_t)errors);
	rc = CALL(r, remap, d, &corrected, &uncorrected, &pending, &failed);
	if (rc != NVML_OK)
		return;
	lf_hw_set_high(r->hw, g->bus, "row remap pending", &g->remap_pending,
		       pending != 0);
	lf_hw_set_high(r->hw, g->bus, "row remap failed", &g->remap_failed,
		       failed != 0);
}

/* "0-23,96-119" */
static void mask_list(const unsigned long *mask, int bits, char out[LF_HW_TEXT])
{
	struct lf_buf b = LF_BUF(LF_HW_TEXT);

	for (int i = 0; i < bits; i++) {
		int first = i;

		while (i < bits && mask[i / WORD] >> (i % WORD) & 1)
			i++;
		if (i > first + 1)
			lf_buf_add(&b, "%s%d-%d", b.len ? "," : "", first,
				   i - 1);
		else if (i > first)
			lf_buf_add(&b, "%s%d", b.len ? "," : "", first);
	}
	if (lf_buf_ok(&b))
		(void)snprintf(out, LF_HW_TEXT, "%s", lf_buf_text(&b));
	lf_buf_free(&b);
}

static void read_place(struct lf_nvml *r, lf_nvml_device d, struct lf_hw_gpu *g)
{
	unsigned long nodes[NODES / WORD] = { 0 }, cpus[CPUS / WORD] = { 0 };
	int only = -1, bits = 0;

	if (CALL(r, memory_nodes, d, NODES / WORD, nodes, NVML_SCOPE_NODE) ==
	    NVML_OK) {
		for (int i = 0; i < NODES; i++)
			if (nodes[i / WORD] >> (i % WORD) & 1) {
				only = i;
				bits++;
			}
		if (bits == 1)
			lf_hw_set_int(r->hw, g->bus, "NUMA node", &g->numa,
				      only);
	}
	if (!*g->cpus && CALL(r, cpus, d, CPUS / WORD, cpus) == NVML_OK)
		mask_list(cpus, CPUS, g->cpus);
}

/* Bits 0-7: bandwidth degraded, route recovery, route unhealthy, access
 * time-out recovery, two each, 1 for "yes"; 8-11: configuration, above 1 wrong.
 */
static bool mask_healthy(unsigned health)
{
	for (int shift = 0; shift < 8; shift += 2)
		if ((health >> shift & 3) == 1)
			return false;
	return (health >> 8 & 15) <= 1;
}

static void set_clique(struct lf_hw_gpu *g, const unsigned char *u,
		       unsigned clique)
{
	static const unsigned char nil[16];

	if (*g->clique || memcmp(u, nil, sizeof(nil)) == 0)
		return; /* one machine, not part of a larger domain */
	(void)snprintf(g->clique, sizeof(g->clique),
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		       "%02x%02x%02x%02x%02x%02x.%u",
		       u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8],
		       u[9], u[10], u[11], u[12], u[13], u[14], u[15], clique);
}

static bool ask_fabric(struct lf_nvml *r, lf_nvml_device d,
		       struct lf_nvml_fabric_v *f)
{
	struct lf_nvml_fabric old = { .state = 0 };

	*f = (struct lf_nvml_fabric_v){ .version = LF_NVML_FABRIC_V3 };
	if (CALL(r, fabric_v, d, f) == NVML_OK)
		return true;
	*f = (struct lf_nvml_fabric_v){ .version = LF_NVML_FABRIC_V2 };
	if (CALL(r, fabric_v, d, f) == NVML_OK)
		return true;
	if (CALL(r, fabric, d, &old) != NVML_OK)
		return false;
	*f = (struct lf_nvml_fabric_v){ .status = old.status,
					.clique = old.clique,
					.state = old.state };
	memcpy(f->cluster, old.cluster, sizeof(f->cluster));
	return true;
}

static void read_fabric(struct lf_nvml *r, lf_nvml_device d,
			struct lf_hw_gpu *g)
{
	static const enum lf_hw_fabric states[] = { LF_FABRIC_NONE,
						    LF_FABRIC_NOT_STARTED,
						    LF_FABRIC_IN_PROGRESS,
						    LF_FABRIC_COMPLETED };
	struct lf_nvml_fabric_v f;

	if (!ask_fabric(r, d, &f) || f.state > NVML_FABRIC_COMPLETED)
		return;
	lf_hw_set_fabric(r->hw, g, states[f.state]);
	if (f.state != NVML_FABRIC_COMPLETED)
		return;
	lf_hw_set_int(r->hw, g->bus, "status of the NVLink fabric",
		      &g->fabric_ok,
		      f.status == NVML_OK && mask_healthy(f.health) &&
			      f.summary <= NVML_FABRIC_HEALTHY);
	set_clique(g, f.cluster, f.clique);
}

void lf_nvml_read_gpu(struct lf_nvml *r, const struct lf_nvml_gpu *one)
{
	struct lf_hw_gpu *g = &r->hw->gpu[one->gpu];

	read_pcie(r, one->device, g);
	read_state(r, one->device, g);
	read_place(r, one->device, g);
	read_fabric(r, one->device, g);
}
