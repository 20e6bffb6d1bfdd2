/* SPDX-License-Identifier: Apache-2.0 */
/* loongforge - what a training task says to its node's orchestrator.
 *
 * Works in any process of a step started with --loongforge; in any other
 * process lf_init succeeds, does nothing, and lf_active says 0, so a program
 * may call it everywhere.  Safe in threads.  Hooks nothing, loads nothing, and
 * needs only libc.  In batch and interactive steps the first lf_init starts
 * the orchestrator.
 */
#ifndef LOONGFORGE_H
#define LOONGFORGE_H

#ifdef __cplusplus
extern "C" {
#endif

#define LF_TEXT_MAX 1024 /* bytes of any text below, final NUL included */

/* What the caller believes.  -1 or NULL: not said, take Slurm's.  Anything said
 * is checked against Slurm's value and refused when it differs. */
struct lf_init_args {
	int world_size;	    /* tasks in the step */
	int rank;	    /* this task, 0 .. world_size - 1 */
	const char *plugin; /* model plugin by name, for example "gr00t" */
	const char *master_addr;
	int master_port;
};

#define LF_INIT_ARGS_NONE { -1, -1, 0, 0, -1 }

/* Connects to the orchestrator and waits until every node of the step has said
 * hello (at most launch.hello_seconds, default 30).  A second call is a no-op.
 *
 * Returns 0, and in `text` (LF_TEXT_MAX bytes, or NULL) how the nodes of the
 * step differ (drivers, network, clocks), to rank 0 only, else ""; or a negative
 * errno with one line there:
 * -EINVAL  an argument differs from what Slurm says
 * -EPROTO  the orchestrator speaks another protocol
 * -ECOMM   a node of the step did not say hello; the step is being cancelled
 * -ENOTCONN  the orchestrator is gone, could not be started, or another user
 *            listens in its place; the caller may go on without it */
int lf_init(const struct lf_init_args *args, char *text);

/* 1 while connected to an orchestrator, else 0. */
int lf_active(void);

/* Says goodbye.  Called at exit of a well-behaved task; never fails. */
void lf_finalize(void);

/* "MAJOR.MINOR.PATCH" of the library; static. */
const char *lf_version(void);

/* Why lf_active is what it is, in one line; static storage of the library,
 * valid until the next lf_init or lf_finalize. */
const char *lf_state(void);

#ifdef __cplusplus
}
#endif
#endif
