/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/software.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clean.h"
#include "conf/confuse.h"

static const char *const keys[LF_SOFTWARE_PARTS] = { "driver", "cuda", "nccl" };

static int on_range(cfg_t *cfg, cfg_opt_t *opt)
{
	const char *range = cfg_opt_getstr(opt);

	if (lf_range_valid(range) && strlen(range) < LF_HW_TEXT)
		return 0;
	cfg_error(cfg,
		  "%s: expected LOW-HIGH, LOW-, -HIGH or a version, found "
		  "'%.40s'",
		  cfg_opt_name(opt), range);
	return -1;
}

static int on_set(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *set = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);

	if (cfg_opt_size(opt) > LF_SOFTWARE_SETS) {
		cfg_error(cfg, "expected at most %d sets", LF_SOFTWARE_SETS);
		return -1;
	}
	for (int i = 0; i < LF_SOFTWARE_PARTS; i++)
		if (*cfg_getstr(set, keys[i]))
			return 0;
	cfg_error(cfg, "set '%.40s': expected driver, cuda or nccl, found none",
		  cfg_title(set));
	return -1;
}

static void take(cfg_t *cfg, struct lf_software *s)
{
	s->sets = (int)cfg_size(cfg, "set");
	for (int i = 0; i < s->sets; i++) {
		cfg_t *set = cfg_getnsec(cfg, "set", (unsigned)i);

		(void)snprintf(s->set[i].name, LF_HW_TEXT, "%s",
			       cfg_title(set));
		lf_clean(s->set[i].name, ""); /* it goes into verdicts */
		for (int k = 0; k < LF_SOFTWARE_PARTS; k++)
			(void)snprintf(s->set[i].range[k], LF_HW_TEXT, "%s",
				       cfg_getstr(set, keys[k]));
	}
}

int lf_software_read(const char *path, struct lf_software *s, struct lf_err *e)
{
	cfg_opt_t set[] = { CFG_STR(keys[0], "", CFGF_NONE),
			    CFG_STR(keys[1], "", CFGF_NONE),
			    CFG_STR(keys[2], "", CFGF_NONE), CFG_END() };
	cfg_opt_t all[] = { CFG_SEC("set", set,
				    CFGF_MULTI | CFGF_TITLE |
					    CFGF_NO_TITLE_DUPES),
			    CFG_END() };
	cfg_t *cfg = cfg_init(all, CFGF_NONE);
	int rc;

	if (!cfg)
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	for (int i = 0; i < LF_SOFTWARE_PARTS; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "set|%s", keys[i]);
		(void)cfg_set_validate_func(cfg, name, on_range);
	}
	(void)cfg_set_validate_func(cfg, "set", on_set);
	rc = lf_confuse_read(path, cfg, e);
	if (rc == 0)
		take(cfg, s);
	(void)cfg_free(cfg);
	return rc;
}
