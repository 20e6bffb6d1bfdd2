/* SPDX-License-Identifier: Apache-2.0 */
/* start - what the keeper of the lifeline says about this step.
 *
 * Text of "key=value" lines (doc/formats/start.md).  Pure: parsing only. */
#ifndef LF_START_H
#define LF_START_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/limits.h"
#include "conf/keys.h"

struct start {
	uint32_t job, step, restart, nodeid, nodes, tasks;
	char node[LF_NODE_NAME_MAX];
	char cluster[64];
	char run[256];
	char verdict[LF_ERR_MAX]; /* of this node's hardware, one line */
	char secret[65]; /* sites without munge: 32 bytes in hex; else "" */
	uint16_t port[LF_PORT_CANDIDATES];
	int ports;
	bool lazy;
	struct lf_values values;
};

/* Cuts `text` up.  -EINVAL names the line. */
int start_parse(char *text, struct start *s, struct lf_err *e);

#endif
