/* SPDX-License-Identifier: Apache-2.0 */
/* probe - what each part of loongforge-probe is told: where, who, by what.
 *
 * All of it comes from root: the command line, slurmd's environment,
 * loongforge.conf.  Parts answer with 0 or -errno and a text; main prints.
 */
#ifndef PROBE_H
#define PROBE_H

#include "base/limits.h"
#include "conf/conf.h"
#include "hw/verdict.h"

struct probe {
	const char *config, *run;
	char node[LF_NODE_NAME_MAX];
	struct lf_conf conf;
	uint64_t basis; /* hash of what verdicts depend on */
	/* The job that is about to start, or 0 and no GPUs. */
	uint32_t job;
	const char *partition; /* "" unknown */
	uint64_t gpus; /* bits, by device minor */
	bool asked; /* with --loongforge */
};

/* settings.c: makes RUN, which must be root's alone: all that follows writes
 * there. */
int probe_folder(const struct probe *p, struct lf_err *e);
/* RUN/NODE.settings follows loongforge.conf.  A refused
 * configuration leaves settings that say so, and its error. */
int probe_settings(struct probe *p, struct lf_err *e);
/* Expands %n; false when it does not fit. */
bool probe_path(const struct probe *p, const char *pattern, char *path,
		size_t n);
/* What lies beside loongforge.conf. */
void probe_beside(const struct probe *p, const char *name, char *path,
		  size_t n);

/* look.c: judges the node, in at most LF_PROBE_MS.  What cannot be looked at
 * makes a verdict that says so. */
void probe_look(const struct probe *p, struct lf_verdict *v);
/* Hash of what is cheap to see, to tell a cached verdict's end; 0 where that
 * hangs. */
uint64_t probe_facts(void);

/* cache.c: RUN/NODE.verdict, looked at anew unless it still holds.  An error
 * is one of keeping it: *v is good all the same.  probe_renew spares a driver
 * that has just hung. */
int probe_verdict(const struct probe *p, struct lf_verdict *v,
		  struct lf_err *e);
int probe_refresh(const struct probe *p, struct lf_verdict *v,
		  struct lf_err *e);
int probe_renew(const struct probe *p, struct lf_verdict *v, struct lf_err *e);

/* gate.c: does what the policy says of the job.  1: the prolog has to fail,
 * the node is drained.  *line is for slurmd's log. */
int probe_gate(const struct probe *p, const struct lf_verdict *v, char *line,
	       size_t n);
/* Whether the administrator has switched it off, and whether it looks at jobs
 * like this one. */
bool probe_off(const struct probe *p);
bool probe_asked(const struct probe *p);
void probe_forget(const struct probe *p); /* a job's refusal */

#endif
