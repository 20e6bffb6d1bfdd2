/* SPDX-License-Identifier: Apache-2.0 */
/* What a job runs with: environment, nccl.conf, and the NCCL that it maps. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "comm/libnccl.h"
#include "doctor.h"

enum {
	PROC_MAX = 4 << 20 /* bytes of an environment: ARG_MAX is 2 MiB */
};

/* The whole of a file of /proc, whose size is not known beforehand. */
static int read_proc(const char *path, char **text, size_t *len)
{
	lf_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : 1;
	char *buf = malloc(PROC_MAX + 1);

	*len = 0;
	while (buf && *len < PROC_MAX && got > 0) {
		got = read(fd, buf + *len, PROC_MAX - *len);
		*len += got > 0 ? (size_t)got : 0;
	}
	if (!buf || got < 0) {
		int rc = buf ? -errno : -ENOMEM;

		free(buf);
		return rc;
	}
	buf[*len] = '\0';
	*text = buf;
	return 0;
}

static int read_environment(struct doctor *d, struct lf_err *e)
{
	lf_autofree char *text = NULL;
	char path[64], origin[64];
	size_t len;
	int rc = 0;

	for (char **p = environ; d->pid == 0 && *p && rc == 0; p++)
		rc = lf_settings_add_pair(&d->settings, *p, "environment");
	if (d->pid == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/%d/environ", d->pid);
	(void)snprintf(origin, sizeof(origin), "environment of %d", d->pid);
	rc = read_proc(path, &text, &len);
	if (rc < 0)
		return lf_err(e, rc, "%s: %s", path, strerror(-rc));
	for (char *p = text; p < text + len; p += strlen(p) + 1)
		(void)lf_settings_add_pair(&d->settings, p, origin);
	return 0;
}

static long number(const struct doctor *d, const char *name)
{
	const struct lf_setting *s = lf_settings_get(&d->settings, name);
	long v = s ? strtol(s->value, NULL, 10) : 0; /* "4(x2)" is 4 */

	return v > 0 && v < 65536 ? v : 0;
}

static int first_number(const struct doctor *d, const char *const *names)
{
	for (; *names; names++)
		if (number(d, *names))
			return (int)number(d, *names);
	return 0;
}

static void read_ifaces(struct doctor *d)
{
	char path[PATH_MAX];
	DIR *dir = opendir(doctor_path(d, path, "/sys/class/net"));
	const struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' &&
		    n + strlen(e->d_name) + 2 < sizeof(d->ifaces))
			n += (size_t)snprintf(d->ifaces + n,
					      sizeof(d->ifaces) - n, "%s%s",
					      n ? "," : "", e->d_name);
	if (dir)
		(void)closedir(dir);
	d->facts.ifaces = n ? d->ifaces : NULL;
}

static bool readable(const char *path, void *arg)
{
	char buf[PATH_MAX];

	return *path != '/' ||
	       access(doctor_job_path(arg, buf, path), R_OK) == 0;
}

static void read_conf(struct doctor *d, const char *path)
{
	char buf[PATH_MAX];
	struct lf_err e;
	int rc = lf_ncclconf_read(doctor_job_path(d, buf, path), &d->settings,
				  &d->notes, &e);

	if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR)
		lf_note_remedy(lf_note(&d->notes, "LF-ENV-21",
				       "not read by NCCL: %.200s", e.text),
			       "make it a file that the job's user may read");
}

/* As NCCL does: NCCL_CONF_FILE in the place of ~/.nccl.conf, then /etc. */
static void read_confs(struct doctor *d)
{
	const struct lf_setting *own =
		lf_settings_get(&d->settings, "NCCL_CONF_FILE");
	const struct lf_setting *home = lf_settings_get(&d->settings, "HOME");
	char path[PATH_MAX];

	if (own && (d->facts.nccl == 0 || d->facts.nccl >= 23)) {
		read_conf(d, own->value);
	} else if (home && *home->value) {
		(void)snprintf(path, sizeof(path), "%.4000s/.nccl.conf",
			       home->value);
		read_conf(d, path);
	}
	read_conf(d, "/etc/nccl.conf");
}

static void read_torch(struct doctor *d, const char *dir)
{
	char path[PATH_MAX], buf[PATH_MAX], line[256];
	unsigned minor;
	FILE *f;

	(void)snprintf(buf, sizeof(buf), "%.4000s/version.py", dir);
	f = fopen(doctor_job_path(d, path, buf), "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "__version__ = '2.%3u", &minor) == 1)
			d->facts.torch = (int)minor;
	if (f)
		(void)fclose(f);
}

static bool profiled(const struct doctor *d)
{
	const struct lf_setting *s =
		lf_settings_get(&d->settings, "NCCL_PROFILER_PLUGIN");

	return s && *s->value && strcmp(s->value, "none") != 0;
}

static void judge_plugs(struct doctor *d, const struct lf_libnccl *nccl)
{
	static const char *const names[LF_PLUGS] = { "NCCL_TUNER_PLUGIN",
						     "NCCL_PROFILER_PLUGIN",
						     "NCCL_ENV_PLUGIN",
						     "NCCL_NET_PLUGIN" };

	for (int k = 0; k < LF_PLUGS; k++) {
		const struct lf_setting *s =
			lf_settings_get(&d->settings, names[k]);
		struct lf_libnccl plug;
		char buf[PATH_MAX];

		if (s && *s->value == '/' &&
		    lf_libnccl_read(doctor_job_path(d, buf, s->value), &plug,
				    NULL) == 0)
			lf_libnccl_judge_plug(s->value, k, &plug, nccl,
					      &d->notes);
	}
}

static void judge_nccl(struct doctor *d, const char *name, const char *path)
{
	struct lf_libnccl l;
	struct lf_err e;
	int rc = lf_libnccl_read(path, &l, &e);

	if (rc == -EACCES || rc == -EPERM) {
		doctor_aside(d, "%.200s", e.text);
		return;
	}
	if (rc < 0) {
		lf_note_remedy(
			lf_note(&d->notes, "LF-NCC-04", "%.200s", e.text),
			"install it anew");
		return;
	}
	lf_libnccl_judge(name, &l, profiled(d), &d->notes);
	if (l.minor < 0)
		return;
	d->facts.nccl = l.minor;
	judge_plugs(d, &l);
}

static void judge_maps(struct doctor *d, const struct lf_libnccl_maps *m)
{
	char buf[PATH_MAX];
	struct lf_note *n;

	if (m->count == 0)
		doctor_aside(d, "process %d has no NCCL yet", d->pid);
	if (m->count > 1) {
		n = lf_note(&d->notes, "LF-NCC-03", "process %d maps %d NCCLs",
			    d->pid, m->count);
		lf_note_expected(n, "one");
		lf_note_found(n, "%.70s and %.70s", m->map[0].path,
			      m->map[1].path);
		lf_note_remedy(n, "keep nvidia-nccl-cu12 or -cu13, and take "
				  "the other from LD_LIBRARY_PATH");
	}
	for (int i = 0; i < m->count; i++) {
		if (m->map[i].deleted)
			lf_note_remedy(
				lf_note(&d->notes, "LF-NCC-05",
					"%.200s: replaced since process %d "
					"mapped it",
					m->map[i].path, d->pid),
				"restart the job: ranks must not differ");
		else
			judge_nccl(d, m->map[i].path,
				   doctor_job_path(d, buf, m->map[i].path));
	}
	if (*m->torch)
		read_torch(d, m->torch);
}

static void look_at_nccl(struct doctor *d)
{
	static struct lf_libnccl_maps maps;
	char path[64];
	struct lf_err e;

	if (d->libnccl)
		judge_nccl(d, d->libnccl, d->libnccl);
	if (d->pid == 0)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%d/maps", d->pid);
	if (lf_libnccl_maps(path, &maps, &e) < 0)
		doctor_aside(d, "%.200s", e.text);
	else
		judge_maps(d, &maps);
}

/* The scripts on the process's command line. */
static void look_at_scripts(struct doctor *d)
{
	lf_autofree char *text = NULL;
	char path[PATH_MAX];
	size_t len = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", d->pid);
	if (d->pid == 0 || read_proc(path, &text, &len) < 0)
		return;
	for (char *p = text; p < text + len; p += strlen(p) + 1) {
		size_t n = strlen(p);

		if (n < 4 || n > 3000 || strcmp(p + n - 3, ".py") != 0)
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%d/%s%s", d->pid,
			       *p == '/' ? "root" : "cwd/", p);
		doctor_script(d, path);
	}
}

int doctor_job(struct doctor *d, struct lf_err *e)
{
	static const char *const nodes[] = { "SLURM_STEP_NUM_NODES",
					     "SLURM_NNODES",
					     "SLURM_JOB_NUM_NODES", NULL };
	static const char *const tasks[] = { "SLURM_STEP_TASKS_PER_NODE",
					     "SLURM_TASKS_PER_NODE",
					     "SLURM_NTASKS_PER_NODE", NULL };
	int rc = read_environment(d, e);

	if (rc < 0)
		return rc;
	look_at_nccl(d);
	read_confs(d);
	read_ifaces(d);
	d->facts.nodes = first_number(d, nodes);
	d->facts.tasks = first_number(d, tasks);
	d->facts.readable = readable;
	d->facts.arg = d;
	lf_lint(&d->settings, &d->facts, &d->notes);
	look_at_scripts(d);
	return 0;
}
