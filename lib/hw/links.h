/* SPDX-License-Identifier: Apache-2.0 */
/* links - where the NVLinks of each GPU end, and how many join two GPUs.
 *
 * A link ends in another GPU, in a switch (its bus id may be a stand-in where a
 * virtual machine hides it), or elsewhere (a CPU, a GPU out of sight).  Through
 * switches two GPUs have as many links as the one with fewer has into the same
 * group of joined switches.  Pure.
 */
#ifndef LF_HW_LINKS_H
#define LF_HW_LINKS_H

#include "hw/model.h"

enum {
	LF_LINKS_SWITCHES = 64 /* DGX-2 has 12 */
};

struct lf_links {
	int switches;
	char bus[LF_LINKS_SWITCHES][LF_HW_TEXT];
	int group[LF_LINKS_SWITCHES]; /* least switch that it is joined with */
	int into[LF_HW_GPUS][LF_LINKS_SWITCHES];
	int direct[LF_HW_GPUS][LF_HW_GPUS];
	/* Said to reach that GPU through a switch which is not named: the same
	 * links, told once for each GPU. */
	int through[LF_HW_GPUS][LF_HW_GPUS];
	int elsewhere[LF_HW_GPUS];
	bool seen[LF_HW_GPUS]; /* all links of this GPU are in here */
};

/* Finds or adds a switch; -1 when full. */
int lf_links_switch(struct lf_links *l, const char *bus);
void lf_links_join(struct lf_links *l, int a, int b);
/* Writes link counts of GPUs and pairs into the model. */
void lf_links_set(const struct lf_links *l, struct lf_hw *hw);

#endif
