/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's log: what it says of the IOMMU. */
#include "config.h"

#include "hw/recorded/text.h"

#include <string.h>

/* "iommu: Default domain type: Translated" */
static const char *domain_type(const char *line)
{
	static const char key[] = "iommu: Default domain type:";
	const char *p = strstr(line, key);

	return p ? p + strlen(key) + strspn(p + strlen(key), " ") : NULL;
}

static int read_log(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	bool any = false;

	while (lf_text_line(t)) {
		const char *type = domain_type(t->line);
		bool on = type && strncmp(type, "Translated", 10) == 0;

		if (!type || (!on && t->cut))
			continue;
		if (!on && strncmp(type, "Passthrough", 11) != 0)
			return lf_text_err(e, t, type,
					   "'%.20s' is no type of a domain",
					   type);
		lf_hw_set_high(hw, "node", "IOMMU", &hw->node.iommu, on);
		any = true;
	}
	return any ? 0 : lf_text_err(e, t, t->line, "nothing on the IOMMU");
}

static int read_dmesg(struct lf_hw *hw, const char *text, size_t n,
		      struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_log, e);
}

static bool is_iommu(const char *line)
{
	return domain_type(line) != NULL;
}

static int claims_dmesg(const char *text, size_t n)
{
	return lf_text_any(text, n, is_iommu) ? 60 : 0;
}

const struct lf_hw_reader lf_hw_read_dmesg = { "dmesg", claims_dmesg,
					       read_dmesg };
