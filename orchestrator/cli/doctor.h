/* SPDX-License-Identifier: Apache-2.0 */
/* doctor - the parts of `loongforge doctor`, each a list of looks that append
 * to one list of findings. */
#ifndef LF_DOCTOR_H
#define LF_DOCTOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "comm/lint.h"
#include "comm/note.h"
#include "machine.h"

struct doctor {
	const char *root; /* before every path of the machine; "" */
	int pid;	  /* whose environment, limits and maps; 0: our own */
	const char *libnccl; /* --libnccl, or NULL */
	struct lf_settings settings;
	struct lf_lint_facts facts;
	char ifaces[512]; /* what facts.ifaces points to */
	struct lf_notes notes;
	char aside[1024]; /* what could not be looked at: no fault, but said */
};

/* ROOT and a path. */
const char *doctor_path(const struct doctor *d, char buf[PATH_MAX],
			const char *path);
/* Where the process sees a path of its own. */
const char *doctor_job_path(const struct doctor *d, char buf[PATH_MAX],
			    const char *path);
/* Adds to what could not be looked at. */
void doctor_aside(struct doctor *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Runs PROGRAM of PATH, or of ROOT's usual folders.  0 with the output in
 * `out`, -ENOENT, -ETIMEDOUT (noted, LF-INS-14), or -ECHILD. */
int doctor_run(struct doctor *d, const char *program, char **args,
	       int deadline_ms, char *out, size_t n);
/* Whether one of the node's RDMA devices shows itself. */
bool doctor_has_rdma(const struct doctor *d);

void doctor_machine(struct doctor *d, const struct recordings *from);
/* Environment, nccl.conf, libnccl; -errno when the process cannot be read. */
int doctor_job(struct doctor *d, struct lf_err *e);
void doctor_install(struct doctor *d); /* Slurm, settings, memory, versions */
void doctor_script(struct doctor *d, const char *path);
/* -errno when the log cannot be read. */
int doctor_log(struct doctor *d, const char *path, struct lf_err *e);

#endif
