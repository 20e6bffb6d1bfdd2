/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/child.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/hash.h"
#include "hw/bounded.h"
#include "hw/expect.h"
#include "hw/live.h"
#include "probe.h"

enum {
	NOBODY = 65534,
	/* A device whose sysfs hangs: twice this and one look fit into
	 * LF_GATE_MS. */
	FACTS_MS = 1000
};

static const char *value(const struct probe *p, enum lf_key_id id)
{
	return p->conf.values.text[id];
}

static void unseen(struct lf_verdict *v, const char *why)
{
	memset(v, 0, sizeof(*v));
	v->verdict = LF_RESULT_UNKNOWN;
	for (int c = 0; c < LF_CLAUSES; c++)
		v->clause[c] = LF_RESULT_UNKNOWN;
	(void)snprintf(v->unseen, sizeof(v->unseen), "%s", why);
	lf_clean(v->unseen, "");
}

/* Other people's text is parsed by a child that is nobody; its answer is as
 * strictly read as any verdict. */
static int read_recording(const struct probe *p, int ms, struct lf_verdict *v,
			  struct lf_err *e)
{
	static char out[LF_VERDICT_MAX];
	char file[PATH_MAX], machine[PATH_MAX], software[PATH_MAX];
	char *argv[10] = { LF_BINDIR "/loongforge", "check", "--verdict",
			   "--from", file };
	int n = 5;
	struct lf_child c = { .argv = argv,
			      .deadline_ms = ms,
			      .uid = NOBODY,
			      .gid = NOBODY,
			      .out = out,
			      .size = sizeof(out) };
	int rc;

	if (!probe_path(p, value(p, LF_KEY_GATE_RECORDING), file,
			sizeof(file)) ||
	    !probe_path(p, value(p, LF_KEY_GATE_MACHINE), machine,
			sizeof(machine)))
		return lf_err(e, -ENAMETOOLONG, "gate.recording: too long");
	if (*machine) {
		argv[n++] = "--expect";
		argv[n++] = machine;
	}
	probe_beside(p, "software.conf", software, sizeof(software));
	if (access(software, F_OK) == 0) {
		argv[n++] = "--software";
		argv[n++] = software;
	}
	rc = lf_child_run(&c, e);
	if (rc == 0)
		rc = lf_err_wrap(e, lf_verdict_parse(out, v, e), "%s", file);
	v->recorded = true;
	return rc;
}

static int judge_live(const struct probe *p, struct lf_hw *hw,
		      struct lf_verdict *v, struct lf_err *e)
{
	static struct lf_report report;
	struct lf_expect x;
	char machine[PATH_MAX], software[PATH_MAX];
	int rc;

	if (!probe_path(p, value(p, LF_KEY_GATE_MACHINE), machine,
			sizeof(machine)))
		return lf_err(e, -ENAMETOOLONG, "gate.machine: too long");
	rc = *machine ? lf_expect_read(machine, &x, e)
		      : lf_expect_choose(LF_HARDWAREDIR, hw, &x, e);
	if (rc < 0)
		return rc;
	probe_beside(p, "software.conf", software, sizeof(software));
	rc = lf_software_read(software, &x.software, e);
	if (rc < 0 && rc != -ENOENT)
		return rc;
	lf_judge(hw, &x, &report);
	lf_verdict_take(v, hw, &x, &report);
	return 0;
}

static int look(const struct probe *p, struct lf_verdict *v, struct lf_err *e)
{
	uint64_t begun = lf_clock_ms();
	struct lf_hw *hw = lf_hw_new();
	int rc;

	if (!hw)
		return lf_err(e, -ENOMEM, "no memory");
	rc = lf_hw_live(hw, NULL, LF_PROBE_MS, e);
	if (rc == 0 && *value(p, LF_KEY_GATE_RECORDING) && hw->gpus == 0)
		rc = read_recording(
			p, LF_PROBE_MS - (int)(lf_clock_ms() - begun), v, e);
	else if (rc == 0)
		rc = judge_live(p, hw, v, e);
	lf_hw_free(hw);
	return rc;
}

void probe_look(const struct probe *p, struct lf_verdict *v)
{
	struct lf_err e = { "" };

	memset(v, 0, sizeof(*v));
	if (look(p, v, &e) < 0)
		unseen(v, e.text);
}

static int read_sysfs(struct lf_hw *hw, const void *arg, struct lf_err *e)
{
	return lf_hw_live_sysfs(hw, "", e);
}

static uint64_t hash_of(const struct lf_hw *hw)
{
	uint64_t h = LF_HASH_START;

	for (int i = 0; i < hw->gpus; i++) {
		const struct lf_hw_gpu *g = &hw->gpu[i];

		h = lf_hash_text(h, g->bus);
		h = lf_hash(h, &g->pcie.width, sizeof(g->pcie.width));
	}
	for (int i = 0; i < hw->nics; i++) {
		const struct lf_hw_nic *n = &hw->nic[i];

		h = lf_hash_text(h, n->name);
		h = lf_hash(h, &n->port, sizeof(n->port));
		h = lf_hash(h, &n->state, sizeof(n->state));
		h = lf_hash(h, &n->rate_mbps, sizeof(n->rate_mbps));
	}
	return h;
}

uint64_t probe_facts(void)
{
	const struct lf_hw_bounded b = { read_sysfs, NULL, "PCI", FACTS_MS };
	struct lf_hw *hw = lf_hw_new();
	struct lf_err ignored;
	uint64_t h = 0;

	if (hw && lf_hw_bounded(hw, &b, &ignored) == 0)
		h = hash_of(hw);
	lf_hw_free(hw);
	return h;
}
