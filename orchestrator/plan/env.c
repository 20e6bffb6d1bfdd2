/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostlist.h"

enum {
	VALUE_MAX = 1024, /* bytes of one value; longer ones are left alone */
	NOTE_MAX = 4096
};

/* One variable: its value, or false where there is nothing to say. */
struct rule {
	const char *name;
	enum lf_key_id key;
	bool (*value)(const struct plan *p, char *buf, size_t n);
	const char *why;
};

/* What srun found for a name that does not resolve: "NAME=ADDRESS,...". */
static bool address_of(const char *host, char *buf, size_t n)
{
	const char *at = getenv("SLURM_LOONGFORGE_ADDRS");
	size_t len = strlen(host);

	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, host, len) == 0 && at[len] == '=') {
			at += len + 1;
			(void)snprintf(buf, n, "%.*s", (int)strcspn(at, ","),
				       at);
			return true;
		}
	}
	return false;
}

static bool master_addr(const struct plan *p, char *buf, size_t n)
{
	const char *list = getenv("SLURM_STEP_NODELIST");
	char host[LF_NODE_NAME_MAX];

	if (p->nodes == 1)
		return snprintf(buf, n, "127.0.0.1") > 0;
	if (lf_hostlist_at(list ? list : "", 0, host, sizeof(host)) < 0)
		return false;
	return address_of(host, buf, n) || snprintf(buf, n, "%s", host) > 0;
}

static bool master_port(const struct plan *p, char *buf, size_t n)
{
	return snprintf(buf, n, "%u", p->ports.master) > 0;
}

/* A single task with several GPUs spawns its own workers and would take these
 * for its own; and the three belong together. */
static bool ranks_wanted(const struct plan *p)
{
	const char *gpus = getenv("CUDA_VISIBLE_DEVICES");

	if (env_is_users("RANK") || env_is_users("WORLD_SIZE") ||
	    env_is_users("LOCAL_RANK"))
		return false;
	return p->world > p->nodes || !gpus || !strchr(gpus, ',');
}

static bool rank(const struct plan *p, char *buf, size_t n)
{
	return ranks_wanted(p) && snprintf(buf, n, "@rank") > 0;
}

static bool world_size(const struct plan *p, char *buf, size_t n)
{
	return ranks_wanted(p) && snprintf(buf, n, "%u", p->world) > 0;
}

static bool local_rank(const struct plan *p, char *buf, size_t n)
{
	return ranks_wanted(p) && snprintf(buf, n, "@local_rank") > 0;
}

static bool threads(const struct plan *p, char *buf, size_t n)
{
	return p->cpus > 0 && snprintf(buf, n, "%u", p->cpus) > 0;
}

static bool recorder_size(const struct plan *p, char *buf, size_t n)
{
	return snprintf(buf, n, "2000") > 0; /* entries; torch: 0 is off */
}

static bool recorder_dump(const struct plan *p, char *buf, size_t n)
{
	return snprintf(buf, n, "1") > 0;
}

static const struct rule rules[] = {
	{ "MASTER_ADDR", LF_KEY_RENDEZVOUS, master_addr,
	  "first node of the step" },
	{ "MASTER_PORT", LF_KEY_RENDEZVOUS, master_port,
	  "from job and step, proved free on the first node" },
	{ "RANK", LF_KEY_RENDEZVOUS, rank, "SLURM_PROCID" },
	{ "WORLD_SIZE", LF_KEY_RENDEZVOUS, world_size, "SLURM_NTASKS" },
	{ "LOCAL_RANK", LF_KEY_RENDEZVOUS, local_rank, "SLURM_LOCALID" },
	{ "OMP_NUM_THREADS", LF_KEY_THREADS, threads, "CPUs of the task" },
	{ "TORCH_FR_BUFFER_SIZE", LF_KEY_RECORDER, recorder_size,
	  "flight recorder on" },
	{ "TORCH_NCCL_DUMP_ON_TIMEOUT", LF_KEY_RECORDER, recorder_dump,
	  "flight recorder writes when a collective hangs" },
};

bool env_is_users(const char *name)
{
	const char *at = getenv("LOONGFORGE_ENV_SET");
	size_t len = strlen(name);

	if (!getenv(name))
		return false;
	for (; at; at = strchr(at, ';')) {
		at += *at == ';';
		if (strncmp(at, name, len) == 0 && at[len] == '=')
			return strncmp(at + len, "=kept", 5) == 0;
	}
	return true;
}

static void set(struct lf_buf *out, struct lf_buf *note, const char *name,
		const char *value, const char *why)
{
	lf_buf_add(out, "env=%s\t%s\n", name, value);
	lf_buf_add(note, "%s%s=%s", note->len ? ";" : "", name, why);
}

static void apply(const struct plan *p, const struct rule *r,
		  struct lf_buf *out, struct lf_buf *note)
{
	char value[VALUE_MAX];

	if (!lf_keys_bool(&p->values, r->key))
		return;
	if (env_is_users(r->name))
		lf_buf_add(note, "%s%s=kept: the user's", note->len ? ";" : "",
			   r->name);
	else if (r->value(p, value, sizeof(value)) && !strpbrk(value, "\n\t"))
		set(out, note, r->name, value, r->why);
}

/* Last in the user's own path, so that nothing of the user's is hidden by it. */
static void add_python(const struct plan *p, struct lf_buf *out,
		       struct lf_buf *note)
{
	const char *old = getenv("PYTHONPATH");
	char path[VALUE_MAX * 4];

	if (!lf_keys_bool(&p->values, LF_KEY_PYTHON) ||
	    (old && strstr(old, LF_PYTHONDIR)))
		return;
	if (snprintf(path, sizeof(path), "%s%s" LF_PYTHONDIR, old ? old : "",
		     old && *old ? ":" : "") < (int)sizeof(path) &&
	    !strpbrk(path, "\n\t"))
		set(out, note, "PYTHONPATH", path,
		    "import loongforge, appended");
}

void env_plan(const struct plan *p, struct lf_buf *out)
{
	lf_autobuf struct lf_buf note = LF_BUF(NOTE_MAX);

	for (size_t i = 0; !p->lazy && i < sizeof(rules) / sizeof(*rules); i++)
		apply(p, &rules[i], out, &note);
	add_python(p, out, &note);
	if (p->lazy) { /* for the orchestrator that a client may start */
		set(out, &note, "LOONGFORGE_LOG_LEVEL",
		    p->values.text[LF_KEY_LOG_LEVEL], "log.level");
		set(out, &note, "LOONGFORGE_LOG_DIR",
		    p->values.text[LF_KEY_LOG_DIR], "log.dir");
	}
	set(out, &note, "LOONGFORGE_SOCKET", p->socket, "the orchestrator");
	lf_buf_add(out, "env=LOONGFORGE_ENV_SET\t%s\n", lf_buf_text(&note));
}
