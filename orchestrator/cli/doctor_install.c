/* SPDX-License-Identifier: Apache-2.0 */
/* The node: settings, programs, memory; and the other nodes' versions. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fs.h"
#include "base/limits.h"
#include "base/parse.h"
#include "doctor.h"
#include "doctor_slurm.h"

enum {
	VERSIONS_MS = 15000, /* a step on every node of the job */
	MEMLOCK_GIB = 1,     /* NCCL registers some 100 MiB a GPU */
	SHM_MIB = 512 /* 10 MiB a channel and rank; Docker's default is 64 */
};

static const char *node_name(const struct doctor *d, char *buf, size_t n)
{
	const struct lf_setting *s =
		lf_settings_get(&d->settings, "SLURMD_NODENAME");

	if (s)
		(void)snprintf(buf, n, "%s", s->value);
	else if (gethostname(buf, n) < 0)
		*buf = '\0';
	buf[n - 1] = '\0';
	if (!s)
		buf[strcspn(buf, ".")] = '\0';
	return buf;
}

/* On a node of a job, where its prolog has been; salloc's own shell is not. */
static bool in_job(const struct doctor *d)
{
	return lf_settings_get(&d->settings, "SLURM_JOB_ID") &&
	       lf_settings_get(&d->settings, "SLURMD_NODENAME");
}

static void stale(struct doctor *d, const char *path, const char *what)
{
	lf_note_remedy(
		lf_note(&d->notes, "LF-INS-07", "%.160s: %.80s", path, what),
		"loongforge-probe --settings, as root; PrologFlags");
}

static bool older(const struct stat *a, const char *than)
{
	struct stat b;

	return stat(than, &b) == 0 && a->st_mtim.tv_sec < b.st_mtim.tv_sec;
}

/* Before a job the prolog has written it; elsewhere it may wait for one. */
static bool judge_settings(struct doctor *d, const struct site *site)
{
	lf_autofree char *text = NULL;
	char node[LF_NODE_NAME_MAX], buf[PATH_MAX], conf[PATH_MAX];
	char path[PATH_MAX + LF_NODE_NAME_MAX];
	struct stat st;
	struct lf_err e;

	(void)snprintf(path, sizeof(path), "%.4000s/%s.settings", site->run,
		       node_name(d, node, sizeof(node)));
	if (stat(doctor_path(d, buf, path), &st) < 0) {
		if (in_job(d) && site->listed)
			stale(d, path, "the prolog has not written it");
		return false;
	}
	if (lf_fs_read(buf, geteuid(), LF_START_MAX, &text, &e) < 0)
		stale(d, path, "it is not root's alone, or damaged");
	else if (!strncmp(text, "error=", 6))
		stale(d, path, "the configuration was refused");
	else if (in_job(d) && older(&st, doctor_path(d, conf, site->config)))
		stale(d, path, "older than the configuration");
	return true;
}

static void judge_seg(struct doctor *d, const struct site *site)
{
	char path[PATH_MAX], buf[PATH_MAX];
	struct statfs fs;
	struct lf_note *n;

	(void)snprintf(path, sizeof(path), "%.4000s/seg", site->run);
	if (statfs(doctor_path(d, buf, path), &fs) == 0 &&
	    fs.f_type == TMPFS_MAGIC)
		return;
	n = lf_note(&d->notes, "LF-INS-08", "%.160s: no tmpfs is mounted",
		    path);
	lf_note_remedy(n, "systemctl enable --now run-loongforge-seg.mount");
}

static void judge_programs(struct doctor *d)
{
	static const char *const all[] = { LF_LIBEXECDIR "/loongforged",
					   LF_LIBEXECDIR "/loongforge-plan",
					   LF_SBINDIR "/loongforge-probe" };
	char buf[PATH_MAX];

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (access(doctor_path(d, buf, all[i]), X_OK) < 0)
			lf_note_remedy(lf_note(&d->notes, "LF-INS-12",
					       "%.160s: %s", all[i],
					       strerror(errno)),
				       "install LoongForge on this node too");
}

/* Of the job's process, in KiB; -1 unlimited, -2 unknown. */
static long long memlock_kib(const struct doctor *d)
{
	char path[64], line[256], value[32];
	long long kib = -2;
	struct rlimit lim;
	FILE *f;

	if (d->pid == 0) {
		if (getrlimit(RLIMIT_MEMLOCK, &lim) < 0)
			return -2;
		return lim.rlim_cur == RLIM_INFINITY
			       ? -1
			       : (long long)(lim.rlim_cur >> 10);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/limits", d->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Max locked memory %31s", value) == 1)
			kib = *value == 'u' ? -1
					    : strtoll(value, NULL, 10) >> 10;
	if (f)
		(void)fclose(f);
	return kib;
}

static void judge_memlock(struct doctor *d)
{
	long long kib = memlock_kib(d);
	struct lf_note *n;

	if (kib < 0 || kib >= (long long)MEMLOCK_GIB << 20 ||
	    !doctor_has_rdma(d))
		return;
	n = lf_note(&d->notes, "LF-INS-09",
		    "locked memory of a process on a node with RDMA");
	lf_note_expected(n, "unlimited");
	lf_note_found(n, "%lld KiB", kib);
	lf_note_remedy(n, "LimitMEMLOCK=infinity in slurmd's unit; "
			  "PropagateResourceLimitsExcept=MEMLOCK");
}

static void judge_shm(struct doctor *d)
{
	char path[PATH_MAX];
	struct statvfs fs;
	struct lf_note *n;
	unsigned long long mib;

	if (d->pid)
		(void)snprintf(path, sizeof(path), "/proc/%d/root/dev/shm",
			       d->pid);
	if (statvfs(d->pid ? path : doctor_path(d, path, "/dev/shm"), &fs) < 0)
		return;
	mib = (unsigned long long)fs.f_blocks * fs.f_frsize >> 20;
	if (mib >= SHM_MIB)
		return;
	n = lf_note(&d->notes, "LF-INS-10", "size of /dev/shm");
	lf_note_expected(n, "at least %d MiB", SHM_MIB);
	lf_note_found(n, "%llu MiB", mib);
	lf_note_remedy(n, "in a container --shm-size=8g or --ipc=host");
}

/* "0: loongforge 0.1.0" of each node. */
static void judge_version_lines(struct doctor *d, char *out)
{
	char *next;

	for (; *out; out = next) {
		char *text = strstr(out, ": ");
		struct lf_note *n;

		next = out + strcspn(out, "\n");
		if (*next)
			*next++ = '\0';
		if (!text || !strcmp(text + 2, PACKAGE_STRING))
			continue;
		n = lf_note(&d->notes, "LF-INS-11",
			    "LoongForge on node %.*s of the job",
			    (int)(text - out), out);
		lf_note_expected(n, "%s, as here", PACKAGE_STRING);
		lf_note_found(n, "%.64s", text + 2);
		lf_note_remedy(n, "the same version on every node");
	}
}

/* Of the whole job, of which ours may be a step of fewer. */
static int job_nodes(const struct doctor *d)
{
	const struct lf_setting *s =
		lf_settings_get(&d->settings, "SLURM_JOB_NUM_NODES");
	uint64_t nodes = 0;

	return s && lf_parse_u64(s->value, 1, LF_NODES_MAX, &nodes) == 0
		       ? (int)nodes
		       : d->facts.nodes;
}

static void judge_versions(struct doctor *d)
{
	const struct lf_setting *s =
		lf_settings_get(&d->settings, "SLURM_JOB_ID");
	static char out[64 << 10];
	char job[64], nodes[32];
	char *args[] = { job,
			 "--overlap",
			 "--mem=0", /* the job's is given out */
			 nodes,
			 "--ntasks-per-node=1",
			 "--label",
			 "--input=none",
			 LF_BINDIR "/loongforge",
			 "--version",
			 NULL };
	int rc, count = job_nodes(d);

	if (!s || d->pid || count < 2)
		return;
	(void)snprintf(job, sizeof(job), "--jobid=%.40s", s->value);
	(void)snprintf(nodes, sizeof(nodes), "--nodes=%d", count);
	rc = doctor_run(d, "srun", args, VERSIONS_MS, out, sizeof(out));
	if (rc == 0)
		judge_version_lines(d, out);
	else if (rc != -ETIMEDOUT)
		doctor_aside(d, "versions on the job's nodes: srun did not "
				"run");
}

static void judge_off(struct doctor *d, const struct site *site)
{
	const char *slash = strrchr(site->config, '/');
	char path[PATH_MAX], buf[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.*s/off",
		       slash ? (int)(slash - site->config) : 1,
		       slash ? site->config : ".");
	if (access(doctor_path(d, buf, path), F_OK) == 0)
		lf_note_remedy(lf_note(&d->notes, "LF-INS-13",
				       "%.160s: LoongForge, or its gate, is "
				       "switched off on this node",
				       path),
			       "remove the file to switch it on");
}

void doctor_install(struct doctor *d)
{
	static struct site site;
	bool node;

	doctor_slurm(d, &site);
	node = judge_settings(d, &site);
	if (site.listed)
		judge_programs(d);
	if (node || (site.listed && in_job(d)))
		judge_seg(d, &site);
	judge_off(d, &site);
	judge_memlock(d);
	judge_shm(d);
	judge_versions(d);
}
