/* SPDX-License-Identifier: Apache-2.0 */
/* ib - what tools of InfiniBand say of one port, whichever of them it was.
 *
 * Their keys differ, what these mean does not.  Private to ib.c, ib_facts.c and
 * netdev.c.
 */
#ifndef LF_HW_RECORDED_IB_H
#define LF_HW_RECORDED_IB_H

#include "hw/recorded/text.h"

enum {
	LF_IB_PORTS = 255 /* of one device */
};

struct lf_ib {
	struct lf_hw *hw;
	struct lf_hw_nic *n; /* NULL: no port yet */
	char device[LF_HW_TEXT], type[LF_HW_TEXT], guid[LF_HW_TEXT];
	int vendor, part; /* ibv_devinfo */
	int width, lane_mbps;
	int ports;	 /* of this device */
	int facts, most; /* known keys of this port, and of the fullest */
};

/* One "key: value" of the port, or of its device; a key that is none of theirs
 * is passed over.  -EINVAL with the place of a value that cannot be. */
int lf_ib_fact(struct lf_ib *s, const struct lf_text *t, const char *key,
	       const char *value, struct lf_err *e);
/* The logical state alone; NULL, or what the value is not. */
const char *lf_ib_state(struct lf_ib *s, const char *value);

#endif
