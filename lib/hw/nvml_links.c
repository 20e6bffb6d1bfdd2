/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/nvml.h"

#include <string.h>

static int field(struct lf_nvml *r, lf_nvml_device d, unsigned id,
		 unsigned scope)
{
	struct lf_nvml_field f = { .field = id, .scope = scope };

	if (CALL(r, fields, d, 1, &f) != NVML_OK || f.result != NVML_OK)
		return -1;
	if (f.type == NVML_VALUE_UINT && f.value.u <= 10000000)
		return (int)f.value.u;
	if ((f.type == NVML_VALUE_ULONG || f.type == NVML_VALUE_ULONGLONG) &&
	    f.value.ull <= 10000000)
		return (int)f.value.ull;
	if (f.type == NVML_VALUE_INT && f.value.i >= 0)
		return f.value.i;
	return -1;
}

static int gpu_at(const struct lf_hw *hw, const char *bus)
{
	for (int i = 0; i < hw->gpus; i++)
		if (*bus && strcmp(hw->gpu[i].bus, bus) == 0)
			return i;
	return -1;
}

/* Where a link ends.  Virtual machines hide switches: what is neither a GPU of
 * ours nor named something else counts as one. */
static void add_end(struct lf_nvml *r, const struct lf_nvml_gpu *one,
		    unsigned link)
{
	struct lf_nvml_pci pci;
	int end = NVML_END_UNKNOWN, other, s;
	char bus[LF_HW_TEXT];

	lf_nvml_bus(CALL(r, link_pci, one->device, link, lf_nvml_blank(&pci)),
		    &pci, bus);
	other = gpu_at(r->hw, bus);
	if (CALL(r, link_end, one->device, link, &end) != NVML_OK)
		end = NVML_END_UNKNOWN;
	if (other == one->gpu)
		return; /* a loop */
	if (other >= 0 && end != NVML_END_SWITCH) {
		r->links->direct[one->gpu][other]++;
	} else if (end == NVML_END_SWITCH || end == NVML_END_UNKNOWN) {
		s = lf_links_switch(r->links, *bus ? bus : "hidden");
		if (s >= 0)
			r->links->into[one->gpu][s]++;
	} else {
		r->links->elsewhere[one->gpu]++;
	}
}

/* Counts links, and says where they end.  Returns NVML's refusal, if it did not
 * tell of all. */
static int count_links(struct lf_nvml *r, struct lf_nvml_gpu *one, int *up,
		       int *down, int *first)
{
	int present = field(r, one->device, NVML_FI_LINK_COUNT, 0);
	unsigned most = present >= 0 && present < LF_HW_LINKS
				? (unsigned)present
				: LF_HW_LINKS;

	*up = *down = 0;
	*first = -1;
	if (!r->api.link_state)
		return NVML_FUNCTION_NOT_FOUND;
	for (unsigned link = 0; link < most; link++) {
		int on = 0, rc = CALL(r, link_state, one->device, link, &on);

		if (rc == NVML_INVALID_ARGUMENT || rc == NVML_NOT_SUPPORTED)
			break; /* the part has no more of them */
		if (rc != NVML_OK)
			return rc;
		*down += !on;
		*up += on != 0;
		if (!on)
			continue;
		*first = *first < 0 ? (int)link : *first;
		add_end(r, one, link);
	}
	return NVML_OK;
}

void lf_nvml_read_links(struct lf_nvml *r, struct lf_nvml_gpu *one)
{
	struct lf_hw_gpu *g = &r->hw->gpu[one->gpu];
	int up, down, first, speed, rc;

	rc = count_links(r, one, &up, &down, &first);
	/* No link is a fact of a part; of a driver that refuses even to name
	 * the part it is none. */
	if (rc == NVML_OK && up + down == 0 && !*g->name)
		rc = NVML_NOT_SUPPORTED;
	if (rc == NVML_GPU_IS_LOST)
		g->xid = LOST_XID;
	if (rc != NVML_OK) {
		memset(r->links->into[one->gpu], 0,
		       sizeof(r->links->into[one->gpu]));
		return;
	}
	r->links->seen[one->gpu] = true;
	r->hw->nvlink_shown = true;
	one->links = up;
	lf_hw_set_high(r->hw, g->bus, "NVLinks down", &g->links_inactive, down);
	if (first < 0)
		return;
	speed = field(r, one->device, NVML_FI_LINK_SPEED, (unsigned)first);
	if (speed <= 0)
		speed = field(r, one->device, NVML_FI_LINK_SPEED_ALL, 0);
	lf_hw_set_int(r->hw, g->bus, "NVLink speed", &g->link_mbps,
		      speed > 0 ? speed : -1);
}

static enum lf_hw_path path_of(int level)
{
	switch (level) {
	case NVML_TOPO_INTERNAL:
	case NVML_TOPO_SINGLE:
		return LF_PATH_PIX;
	case NVML_TOPO_MULTIPLE:
		return LF_PATH_PXB;
	case NVML_TOPO_HOSTBRIDGE:
		return LF_PATH_PHB;
	case NVML_TOPO_NODE:
		return LF_PATH_NODE;
	case NVML_TOPO_SYSTEM:
		return LF_PATH_SYS;
	default:
		return LF_PATH_UNKNOWN;
	}
}

/* Peer access, also as a sign that links meet which end out of sight. */
void lf_nvml_read_peer(struct lf_nvml *r, const struct lf_nvml_gpu *a,
		       const struct lf_nvml_gpu *b)
{
	int level = -1, status = -1;
	int now = r->hw->nvlink[a->gpu][b->gpu];

	if (CALL(r, ancestor, a->device, b->device, &level) == NVML_OK)
		lf_hw_set_path(r->hw, a->gpu, b->gpu, path_of(level));
	if (CALL(r, p2p, a->device, b->device, NVML_P2P_READ, &status) ==
		    NVML_OK &&
	    status >= NVML_P2P_OK && status < NVML_P2P_UNKNOWN)
		lf_hw_set_p2p(r->hw, a->gpu, b->gpu, status == NVML_P2P_OK);
	if (now >= 0 || a->links <= 0 || b->links <= 0)
		return;
	if (CALL(r, p2p, a->device, b->device, NVML_P2P_NVLINK, &status) !=
		    NVML_OK ||
	    status != NVML_P2P_OK)
		return;
	lf_hw_set_nvlink(r->hw, a->gpu, b->gpu,
			 a->links < b->links ? a->links : b->links);
}
