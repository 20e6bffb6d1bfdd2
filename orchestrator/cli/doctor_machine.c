/* SPDX-License-Identifier: Apache-2.0 */
/* The machine under a job, and its software, of which NCCL is the job's. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "comm/libnccl.h"
#include "doctor.h"
#include "hw/expect.h"
#include "hw/live.h"

static void take_facts(struct doctor *d, const struct lf_hw *hw)
{
	struct lf_lint_facts *f = &d->facts;

	f->gpus = hw->gpus ? hw->gpus : -1;
	for (int i = 0; i < hw->gpus; i++)
		if (hw->gpu[i].links_active > 0)
			f->nvlink = 1;
	for (int a = 0; a < hw->gpus; a++)
		for (int b = 0; b < a; b++)
			if (hw->nvlink[a][b] > 0)
				f->nvlink = 1;
	/* An active Ethernet port need not be meant for RDMA. */
	for (int i = 0; i < hw->nics; i++)
		if (hw->nic[i].state == LF_PORT_ACTIVE &&
		    hw->nic[i].layer == LF_LAYER_IB && !hw->nic[i].is_virtual)
			f->rdma = 1;
	if (f->rdma == 1 && (hw->node.peermem == 1 || hw->node.dmabuf == 1))
		f->gdr = 1;
}

/* Of the library that the job loads, or has loaded. */
static void take_nccl(const struct doctor *d, struct lf_hw *hw)
{
	static struct lf_libnccl_maps maps;
	char path[PATH_MAX];
	struct lf_libnccl l;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", d->pid);
	if (d->libnccl)
		(void)snprintf(path, sizeof(path), "%s", d->libnccl);
	else if (d->pid == 0 || lf_libnccl_maps(path, &maps, NULL) < 0 ||
		 maps.count == 0)
		return;
	else
		(void)doctor_job_path(d, path, maps.map[0].path);
	if (lf_libnccl_read(path, &l, NULL) == 0 && l.minor >= 0)
		(void)snprintf(hw->node.nccl, sizeof(hw->node.nccl), "2.%d.%d",
			       l.minor, l.patch);
}

static void judge(struct doctor *d, struct lf_hw *hw)
{
	static struct lf_report r;
	char path[PATH_MAX];
	struct lf_expect x;
	struct lf_err e;

	if (lf_expect_choose(LF_HARDWAREDIR, hw, &x, NULL) < 0)
		lf_expect_default(&x);
	if (lf_software_read(
		    doctor_path(d, path, LF_SYSCONFDIR "/software.conf"),
		    &x.software, &e) == -EINVAL)
		doctor_aside(d, "%.200s", e.text);
	take_nccl(d, hw);
	lf_judge(hw, &x, &r);
	for (int i = 0; i < r.findings; i++) {
		const struct lf_hw_finding *f = &r.finding[i];
		struct lf_note *n;

		/* Locked memory: of the job's process, in doctor_install. */
		if (f->result < LF_RESULT_WARN || !strcmp(f->code, "LF-MEM-02"))
			continue;
		n = lf_note(&d->notes, f->code, "%s", f->subject);
		lf_note_expected(n, "%s", f->expected);
		lf_note_found(n, "%s", f->found);
		if (f->remedy)
			lf_note_remedy(n, "%s", f->remedy);
	}
}

void doctor_machine(struct doctor *d, const struct recordings *from)
{
	struct lf_hw *hw = NULL;
	struct lf_err e;
	int rc;

	d->facts.gpus = d->facts.nvlink = d->facts.rdma = d->facts.gdr = -1;
	if (from->count == 0 && *d->root) {
		hw = lf_hw_new();
		rc = hw ? lf_hw_live_sysfs(hw, d->root, &e)
			: lf_err(&e, -ENOMEM, "no memory");
	} else {
		rc = machine_read(from, &hw, &e);
	}
	if (rc < 0) {
		doctor_aside(d, "the machine: %.200s", e.text);
	} else if (hw) {
		judge(d, hw);
		take_facts(d, hw);
	}
	lf_hw_free(hw);
}
