/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "machine.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "hw/live.h"
#include "hw/recorded/read.h"
#include "hw/verbs.h"

enum {
	DRIVER_MS = 30000, /* without persistence mode each GPU wakes first */
	VERBS_MS = 10000   /* some milliseconds a device */
};

/* Limits of the asking process, which a job's are not; said as such. */
static void read_limits(struct lf_hw *hw)
{
	struct rlimit lim;
	struct statvfs shm;

	if (getrlimit(RLIMIT_MEMLOCK, &lim) == 0)
		hw->node.memlock_kib = lim.rlim_cur == RLIM_INFINITY
					       ? -2
					       : (int64_t)(lim.rlim_cur / 1024);
	if (statvfs("/dev/shm", &shm) == 0) {
		hw->node.shm_mib = (int64_t)shm.f_blocks *
				   (int64_t)shm.f_frsize / (1 << 20);
		hw->node.shm_free_mib = (int64_t)shm.f_bavail *
					(int64_t)shm.f_frsize / (1 << 20);
	}
}

void recordings_add(struct recordings *r, struct argp_state *state, char *arg)
{
	if (r->count == MACHINE_FILES)
		argp_error(state, "expected at most %d files", MACHINE_FILES);
	r->file[r->count++] = arg;
}

int machine_software(const char *path, struct lf_expect *x, struct lf_err *e)
{
	int rc = lf_software_read(path ? path : LF_SYSCONFDIR "/software.conf",
				  &x->software, e);

	return rc == -ENOENT && !path ? 0 : rc;
}

int machine_read(const struct recordings *from, struct lf_hw **out,
		 struct lf_err *e)
{
	struct lf_hw *hw = lf_hw_new();
	int rc = 0;

	if (!hw)
		return lf_err(e, -ENOMEM, "no memory");
	if (from->count == 0) {
		rc = lf_hw_live(hw, NULL, DRIVER_MS, e);
		if (rc == 0)
			rc = lf_hw_verbs(hw, "", VERBS_MS, e);
		read_limits(hw);
	}
	for (int i = 0; rc == 0 && i < from->count; i++)
		rc = lf_hw_read_path(hw, from->file[i], NULL, e);
	if (rc == 0)
		*out = hw;
	else
		lf_hw_free(hw);
	return rc;
}
