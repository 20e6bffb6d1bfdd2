/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/parts.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* First match wins: the narrower name stands first.  Link counts: NVIDIA's
 * product briefs (A100, H100: 12 and 18 links; A800 and H800: 8; A30 and A40 one
 * bridge of 4; cards that name none), hwloc's NVML backend (P100 4, V100 6), and
 * three bridges of four links a PCIe pair. */
static const struct {
	const char *name; /* pattern */
	int links;
	int bridged;
} gpus[] = {
	{ "*A800-SXM*", 8, 0 },
	{ "*A800 SXM*", 8, 0 },
	{ "*A800-PCIE*", 8, 1 },
	{ "*A800 80GB PCIe*", 8, 1 },
	{ "*A100-SXM*", 12, 0 },
	{ "*A100-PCIE*", 12, 1 },
	{ "*A100 80GB PCIe*", 12, 1 },
	{ "*H800 PCIe*", 8, 1 },
	{ "*H800*", 8, 0 },
	{ "*H100 PCIe*", 12, 1 },
	{ "*H100 NVL*", 12, 1 },
	{ "*H200 NVL*", 18, 1 },
	{ "*H100*", 18, 0 },
	{ "*H200*", 18, 0 },
	{ "*H20*", 18, 0 },
	{ "*GB200*", 18, 0 },
	{ "*GB300*", 18, 0 },
	{ "*B200*", 18, 0 },
	{ "*B300*", 18, 0 },
	{ "*V100-SXM*", 6, 0 },
	{ "*P100-SXM*", 4, 0 },
	{ "*P100-PCIE*", 0, 0 },
	{ "*V100-PCIE*", 0, 0 },
	{ "*GeForce RTX 40*", 0, 0 },
	{ "*GeForce RTX 50*", 0, 0 },
	{ "*L40*", 0, 0 },
	{ "*Tesla T4*", 0, 0 },
	{ "*RTX 3090*", 4, 1 },
	{ "*RTX A6000*", 4, 1 },
	{ "*RTX A5000*", 4, 1 },
	{ "*Quadro GV100*", 4, 1 },
	{ "*RTX 6000 Ada*", 0, 0 },
	{ "*RTX PRO*", 0, 0 },
	{ "*TITAN V", 0, 0 },
	{ "*L4", 0, 0 },
	{ "*A2", 0, 0 },
	{ "*A10", 0, 0 },
	{ "*A10G", 0, 0 },
	{ "*A16", 0, 0 },
	{ "*A30", 4, 1 },
	{ "*A40", 4, 1 },
};

/* Parts older than PCIe 4. */
static const struct {
	const char *in_name;
	int gen;
} gens[] = {
	{ "P100", 3 },	{ "V100", 3 }, { "Tesla T4", 3 }, { "TITAN V", 3 },
	{ "GV100", 3 }, { "P40", 3 },  { "K80", 3 },
};

/* Mellanox/NVIDIA cards by device id (pci-ids.ucw.cz, vendor 15b3). */
static const struct {
	const char *card;
	int device_id;
	int rate_mbps;
} cards[] = {
	{ "MT4115", 0x1013, 100000 }, /* ConnectX-4 */
	{ "MT4117", 0x1015, 25000 },  /* ConnectX-4 Lx */
	{ "MT4119", 0x1017, 100000 }, /* ConnectX-5 */
	{ "MT4121", 0x1019, 100000 }, /* ConnectX-5 Ex */
	{ "MT4123", 0x101b, 200000 }, /* ConnectX-6 */
	{ "MT4124", 0x101c, 200000 }, /* its virtual function */
	{ "MT4125", 0x101d, 100000 }, /* ConnectX-6 Dx */
	{ "MT4126", 0x101e, 200000 }, /* virtual function */
	{ "MT4127", 0x101f, 25000 },  /* ConnectX-6 Lx */
	{ "MT4129", 0x1021, 400000 }, /* ConnectX-7 */
	{ "MT4131", 0x1023, 800000 }, /* ConnectX-8 */
	{ "MT4103", 0x1007, 56000 },  /* ConnectX-3 Pro */
	{ "MT4099", 0x1003, 56000 },  /* ConnectX-3 */
};

int lf_part_nvlinks(const char *gpu_name, int *bridged)
{
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
		if (fnmatch(gpus[i].name, gpu_name, FNM_CASEFOLD) != 0)
			continue;
		*bridged = gpus[i].bridged;
		return gpus[i].links;
	}
	*bridged = 0;
	return -1;
}

int lf_part_gen(const char *gpu_name)
{
	for (size_t i = 0; i < sizeof(gens) / sizeof(*gens); i++)
		if (strcasestr(gpu_name, gens[i].in_name))
			return gens[i].gen;
	return -1;
}

int lf_part_rate(const char *card)
{
	for (size_t i = 0; i < sizeof(cards) / sizeof(*cards); i++)
		if (!strcasecmp(card, cards[i].card))
			return cards[i].rate_mbps;
	return -1;
}

const char *lf_part_card(int device_id)
{
	for (size_t i = 0; i < sizeof(cards) / sizeof(*cards); i++)
		if (cards[i].device_id == device_id)
			return cards[i].card;
	return "";
}
