/* SPDX-License-Identifier: Apache-2.0 */
/* limits - every bound of the project, with its unit and the reason. */
#ifndef LF_LIMITS_H
#define LF_LIMITS_H

/* Seconds from the end of the last task to KILL for the orchestrator.  Must
 * stay below Slurm's KillWait (30) - 5, or a slow drain drains the node. */
#define LF_DRAIN_SECS_DEFAULT 15
#define LF_DRAIN_SECS_MAX     300

/* Seconds in which every node of a step says hello.  Covers a node whose
 * prolog is slow; shorter than a researcher's patience. */
#define LF_HELLO_SECS_DEFAULT 30
#define LF_HELLO_SECS_MAX     600

/* Milliseconds from KILL to giving up on a process that will not die. */
#define LF_KILL_MS 2000

/* Milliseconds for a look at the hardware, and for loongforge-plan: Slurm tells
 * the user "Prolog hung" after 8 s. */
#define LF_PROBE_MS 5000

/* Milliseconds for the whole gate, after which the job starts: a look and
 * Slurm's commands, less than the 8 s above. */
#define LF_GATE_MS 7500

/* Milliseconds for the epilog to free a job's segments: the kernel gives about
 * 10 GB/s back. */
#define LF_EPILOG_MS 30000

/* Milliseconds for one scontrol or scancel. */
#define LF_SCONTROL_MS 3000

/* Bytes of one message between processes of a node, and between nodes.  The
 * longest holds a credential (munge: about 400 bytes) or a line of text. */
#define LF_MSG_MAX 8192

/* Bytes of the start message and of the settings file: the whole key table
 * with long paths is below 4 KiB. */
#define LF_START_MAX 16384

/* Bytes of one --loongforge-set, joined: Slurm keeps it in an environment
 * variable, of which the kernel takes 128 KiB. */
#define LF_SET_MAX 8192

/* Bytes of a configuration file: a hundred times the shipped one. */
#define LF_CONF_MAX (256 * 1024)

/* Lines that an orchestrator may print to the user at the end of a step, and
 * bytes of each. */
#define LF_NOTICE_LINES 8
#define LF_NOTICE_MAX	512

/* Ports on which the leader of a step may be found; each follower tries them
 * all.  Eight jobs of one node must collide at once to exhaust them. */
#define LF_PORT_CANDIDATES 8
#define LF_PORTS_DEFAULT   "20000-29999" /* below Linux's ephemeral ports */

/* Tasks of one node that an orchestrator serves, and clients that only look. */
#define LF_SESSIONS_MAX 1024

/* Connections that wait in the listening socket until loongforged runs. */
#define LF_BACKLOG 1024

/* Bytes of a host name in Slurm (MAXHOSTNAMELEN) and of an expanded list. */
#define LF_NODE_NAME_MAX 256

/* Nodes of a step; Slurm's own bound is 65533. */
#define LF_NODES_MAX 65536

#endif
