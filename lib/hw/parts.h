/* SPDX-License-Identifier: Apache-2.0 */
/* parts - what a whole part has: NVLinks of a GPU, full rate of a card.
 *
 * Known facts about products, with their sources in parts.c; never the peers'
 * values, which may all be degraded.  An unknown part has no expectation.
 */
#ifndef LF_HW_PARTS_H
#define LF_HW_PARTS_H

/* NVLinks that a healthy GPU of this product name has up (0: the part has
 * none), or -1.  Bridged cards: 0 without a bridge is healthy as well, which
 * *bridged says. */
int lf_part_nvlinks(const char *gpu_name, int *bridged);
/* PCIe generation of the part itself, or -1. */
int lf_part_gen(const char *gpu_name);
/* Full rate of one port of a card ("MT4129"), Mb/s, or -1; several for cards
 * sold in two speeds: the lowest of them. */
int lf_part_rate(const char *card);
/* Card of a Mellanox PCI device id (0x1021 -> "MT4129"), or "". */
const char *lf_part_card(int device_id);

#endif
