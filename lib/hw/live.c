/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/live.h"

#include <errno.h>

#include "hw/bounded.h"

static int read_all(struct lf_hw *hw, const void *library, struct lf_err *e)
{
	int rc = lf_hw_live_sysfs(hw, "", e);

	if (rc == 0)
		rc = lf_hw_live_nvml(hw, library, e);
	return rc == -ENOENT ? 0 : rc; /* no driver: sysfs says what there is */
}

int lf_hw_live(struct lf_hw *hw, const char *library, int deadline_ms,
	       struct lf_err *e)
{
	const struct lf_hw_bounded b = { read_all, library, "GPU", deadline_ms };

	return lf_hw_bounded(hw, &b, e);
}
