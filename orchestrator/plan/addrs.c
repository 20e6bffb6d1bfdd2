/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "addrs.h"

#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/hostlist.h"
#include "base/limits.h"

enum {
	ANSWER_MAX = 1 << 20 /* "scontrol show node -o": 700 bytes a node */
};

static int resolves(const char *list)
{
	struct addrinfo *found = NULL;
	char host[LF_NODE_NAME_MAX];
	int rc = lf_hostlist_at(list, 0, host, sizeof(host));

	if (rc == 0)
		rc = getaddrinfo(host, NULL, NULL, &found);
	if (found)
		freeaddrinfo(found);
	return rc == 0;
}

/* "NodeName=n1 ... NodeAddr=10.0.0.1 ..." a line -> "n1=10.0.0.1,..." */
static void collect(const char *answer, struct lf_buf *out)
{
	const char *line = answer;

	while ((line = strstr(line, "NodeName=")) != NULL) {
		const char *end = line + strcspn(line, "\n");
		const char *addr = strstr(line, " NodeAddr=");
		const char *name = line + strlen("NodeName=");

		line = end;
		if (!addr || addr > end)
			continue;
		addr += strlen(" NodeAddr=");
		lf_buf_add(out, "%s%.*s=%.*s", out->len ? "," : "",
			   (int)strcspn(name, " \n"), name,
			   (int)strcspn(addr, " \n"), addr);
	}
}

void addrs_write(const char *nodelist, struct lf_buf *out)
{
	char *argv[] = { "/usr/bin/env", "scontrol", "show",
			 "node",	 "-o",	     (char *)nodelist,
			 NULL };
	char *answer = malloc(ANSWER_MAX);
	struct lf_child c = { .argv = argv,
			      .envp = environ,
			      .deadline_ms = LF_SCONTROL_MS,
			      .out = answer,
			      .size = ANSWER_MAX };

	if (answer && !resolves(nodelist) && lf_child_run(&c, NULL) == 0)
		collect(answer, out);
	free(answer);
}
