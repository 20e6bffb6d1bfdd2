/* SPDX-License-Identifier: Apache-2.0 */
/* group - the orchestrators of a step become one, or the step ends.
 *
 * Node 0 leads.  Every node says hello within launch.hello_seconds; then all
 * are told "ready".  Otherwise the silent nodes are named to the user and the
 * step is cancelled with the user's own scancel: a step in which some nodes run
 * without us must not look like one that runs with us.  If the leader itself is
 * silent, the next node does it.
 */
#ifndef LF_GROUP_H
#define LF_GROUP_H

#include <uv.h>

#include "start.h"

enum group_state { GROUP_GATHERING, GROUP_READY, GROUP_FAILED };

struct group;

typedef void group_changed_f(void *arg);
/* Lines for the user, at the end of the step. */
typedef void group_notice_f(void *arg, const char *line);

struct group_calls {
	group_changed_f *changed;
	group_notice_f *notice;
	void *arg;
};

/* Never fails: what goes wrong is a failed group, with its reason. */
struct group *group_open(uv_loop_t *loop, const struct start *s,
			 const struct group_calls *calls);
enum group_state group_state(const struct group *g);
const char *group_reason(const struct group *g); /* why it failed; borrowed */
uint32_t group_present(const struct group *g); /* nodes that said hello */
/* Name of node `id` and whether it is here; leader only. */
const char *group_node(const struct group *g, uint32_t id, int *here);
/* The verdict of node `id` in one line, "" unknown; leader, or its own. */
const char *group_verdict(const struct group *g, uint32_t id);
/* How the nodes differ, "" not at all; leader only. */
const char *group_findings(const struct group *g);
/* Says goodbye and closes; the loop must run once more before group_free. */
void group_close(struct group *g);
void group_free(struct group *g);

#endif
