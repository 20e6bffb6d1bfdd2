/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/judging.h"

#include <stdarg.h>
#include <string.h>

#include "hw/graph.h"

const char *const lf_clause_names[LF_CLAUSES] = {
	"gpus",	  "nvlink", "pcie", "rdma", "affinity", "fabric",
	"health", "gdr",    "host", "peer", "software", "model"
};
const char *const lf_result_names[] = { "n/a", "pass", "unknown", "warn",
					"fail" };

void lf_worsen(struct judging *j, enum lf_result result)
{
	if (result > j->r->clause[j->clause])
		j->r->clause[j->clause] = result;
}

struct lf_hw_finding *lf_finding(struct judging *j, const char *code,
				 enum lf_result result, const char *subject,
				 ...)
{
	static struct lf_hw_finding nowhere;
	struct lf_report *r = j->r;
	struct lf_hw_finding *f = &nowhere;
	va_list ap;

	lf_worsen(j, result);
	if (r->findings == LF_REPORT_FINDINGS)
		r->dropped++;
	else
		f = &r->finding[r->findings++];
	*f = (struct lf_hw_finding){ .code = code,
				     .clause = j->clause,
				     .result = result };
	va_start(ap, subject);
	(void)vsnprintf(f->subject, sizeof(f->subject), subject, ap);
	va_end(ap);
	return f;
}

static const char *gpu_label(const struct lf_hw *hw, int i, char *buf, size_t n)
{
	const struct lf_hw_gpu *g = &hw->gpu[i];

	if (*g->bus)
		(void)snprintf(buf, n, "GPU%d (%s)",
			       g->index >= 0 ? g->index : i, g->bus);
	else
		(void)snprintf(buf, n, "GPU%d", g->index >= 0 ? g->index : i);
	return buf;
}

struct lf_hw_finding *lf_finding_gpu(struct judging *j, const char *code,
				     enum lf_result result, int i,
				     const char *what)
{
	char label[LF_HW_TEXT];
	struct lf_hw_finding *f =
		lf_finding(j, code, result, "%s: %s",
			   gpu_label(j->hw, i, label, sizeof(label)), what);

	f->gpus = UINT64_C(1) << i;
	return f;
}

static bool other_vendor(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		if (hw->gpu[i].vendor == LF_VENDOR_OTHER)
			return true;
	return false;
}

bool lf_any_mig(const struct lf_hw *hw)
{
	for (int i = 0; i < hw->gpus; i++)
		if (hw->gpu[i].mig == 1)
			return true;
	return false;
}

void lf_judge_gpus(struct judging *j)
{
	struct lf_hw_finding *f;

	if (j->x->gpus == 0)
		return;
	if (j->hw->gpus < j->x->gpus && j->hw->partial) {
		lf_worsen(j, LF_RESULT_UNKNOWN);
		return;
	}
	lf_worsen(j, LF_RESULT_PASS);
	if (j->hw->gpus >= j->x->gpus)
		return;
	f = lf_finding(j, "LF-GPU-01", LF_RESULT_FAIL, "GPUs of the node");
	SAY(f->expected, "%d", j->x->gpus);
	SAY(f->found, "%d", j->hw->gpus);
	f->remedy = "a GPU has fallen off the bus: reset or replace it";
}

void lf_judge_model(struct judging *j)
{
	for (int i = 0; i < j->hw->conflicts; i++) {
		const struct lf_hw_conflict *c = &j->hw->conflict[i];
		struct lf_hw_finding *f =
			lf_finding(j, "LF-REC-01", LF_RESULT_WARN,
				   "%.40s: %.40s: readings "
				   "contradict each other",
				   c->subject, c->what);

		f->gpus = c->gpus;
		SAY(f->expected, "%s", c->first);
		SAY(f->found, "%s", c->second);
		f->remedy = "are they of one machine, and of one time?";
	}
}

void lf_expect_default(struct lf_expect *e)
{
	*e = (struct lf_expect){ .pcie_gen = 4, .pcie_width = 16 };
}

void lf_judge(struct lf_hw *hw, const struct lf_expect *expect,
	      struct lf_report *report)
{
	static void (*const judges[LF_CLAUSES])(struct judging *) = {
		lf_judge_gpus,	 lf_judge_nvlink,   lf_judge_pcie,
		lf_judge_rdma,	 lf_judge_affinity, lf_judge_fabric,
		lf_judge_health, lf_judge_gdr,	    lf_judge_host,
		lf_judge_peer,	 lf_judge_software, lf_judge_model
	};
	struct judging j = { hw, expect, report, LF_CLAUSE_GPUS };

	memset(report, 0, sizeof(*report));
	lf_graph_close(hw);
	for (int c = 0; c < LF_CLAUSES && !other_vendor(hw); c++) {
		j.clause = (enum lf_clause_id)c;
		judges[c](&j);
	}
	for (int c = 0; c < LF_CLAUSES; c++)
		if (report->clause[c] != LF_RESULT_UNKNOWN &&
		    report->clause[c] > report->verdict)
			report->verdict = report->clause[c];
}
