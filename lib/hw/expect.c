/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/expect.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/confuse.h"

static int contradiction(const struct lf_expect *x, const char *path,
			 struct lf_err *e)
{
	const struct {
		bool bad;
		const char *what;
	} rules[] = {
		{ x->gpus < 0 || x->gpus > LF_HW_GPUS, "gpus: 0 to 64" },
		{ x->nvlinks < -1 || x->nvlinks > LF_HW_LINKS,
		  "nvlinks: -1 (none expected) to 72" },
		{ x->nvlinks < 0 && x->pair_nvlinks > 0,
		  "pair_nvlinks without nvlinks" },
		{ x->nvlinks > 0 && x->pair_nvlinks > x->nvlinks,
		  "pair_nvlinks is more than nvlinks" },
		{ x->pcie_gen < 0 || x->pcie_gen > 7, "pcie_gen: 1 to 7" },
		{ x->pcie_width < 0 || x->pcie_width > 16 ||
			  (x->pcie_width & (x->pcie_width - 1)),
		  "pcie_width: 1, 2, 4, 8 or 16" },
		{ x->nics < 0 || x->nics > LF_HW_NICS, "nics: 0 to 128" },
		{ !*x->product && x->gpus > 0, "gpus without product" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].bad)
			return lf_err(e, -EINVAL, "%s: %s", path,
				      rules[i].what);
	return 0;
}

static void take(cfg_t *cfg, struct lf_expect *x)
{
	lf_expect_default(x);
	(void)snprintf(x->name, sizeof(x->name), "%s", cfg_getstr(cfg, "name"));
	(void)snprintf(x->product, sizeof(x->product), "%s",
		       cfg_getstr(cfg, "product"));
	(void)snprintf(x->include, sizeof(x->include), "%s",
		       cfg_getstr(cfg, "nic_include"));
	(void)snprintf(x->exclude, sizeof(x->exclude), "%s",
		       cfg_getstr(cfg, "nic_exclude"));
	x->gpus = (int)cfg_getint(cfg, "gpus");
	x->nvlinks = (int)cfg_getint(cfg, "nvlinks");
	x->pair_nvlinks = (int)cfg_getint(cfg, "pair_nvlinks");
	x->pcie_gen = (int)cfg_getint(cfg, "pcie_gen");
	x->pcie_width = (int)cfg_getint(cfg, "pcie_width");
	x->nics = (int)cfg_getint(cfg, "nics");
	x->nic_rate_mbps = (int)cfg_getint(cfg, "nic_rate_gbps") * 1000;
	x->affinity_any = !cfg_getbool(cfg, "near_nic");
}

int lf_expect_read(const char *path, struct lf_expect *x, struct lf_err *e)
{
	cfg_opt_t opts[] = { CFG_STR("name", "", CFGF_NONE),
			     CFG_STR("product", "", CFGF_NONE),
			     CFG_INT("gpus", 0, CFGF_NONE),
			     CFG_INT("nvlinks", 0, CFGF_NONE),
			     CFG_INT("pair_nvlinks", 0, CFGF_NONE),
			     CFG_INT("pcie_gen", 4, CFGF_NONE),
			     CFG_INT("pcie_width", 16, CFGF_NONE),
			     CFG_INT("nics", 0, CFGF_NONE),
			     CFG_INT("nic_rate_gbps", 0, CFGF_NONE),
			     CFG_STR("nic_include", "", CFGF_NONE),
			     CFG_STR("nic_exclude", "", CFGF_NONE),
			     CFG_BOOL("near_nic", cfg_true, CFGF_NONE),
			     CFG_END() };
	struct lf_expect next = { 0 };
	cfg_t *cfg = cfg_init(opts, CFGF_NONE);
	int rc;

	if (!cfg)
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	rc = lf_confuse_read(path, cfg, e);
	if (rc == 0) {
		take(cfg, &next);
		rc = contradiction(&next, path, e);
	}
	(void)cfg_free(cfg);
	if (rc == 0)
		*x = next;
	return rc;
}

static bool fits(const struct lf_expect *x, const struct lf_hw *hw)
{
	if (!*x->product || hw->gpus == 0)
		return false;
	if (x->gpus > 0 && x->gpus != hw->gpus &&
	    x->gpus != hw->node.gpus_attached)
		return false;
	for (int i = 0; i < hw->gpus; i++)
		if (fnmatch(x->product, hw->gpu[i].name, FNM_CASEFOLD) != 0)
			return false;
	return true;
}

static int is_conf(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && strcmp(d->d_name + n - 5, ".conf") == 0;
}

int lf_expect_choose(const char *dir, const struct lf_hw *hw,
		     struct lf_expect *x, struct lf_err *e)
{
	struct dirent **list = NULL;
	int n = scandir(dir, &list, is_conf, alphasort), found = 0;

	lf_expect_default(x);
	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];
		struct lf_expect one = { 0 };

		(void)snprintf(path, sizeof(path), "%s/%s", dir,
			       list[i]->d_name);
		free(list[i]);
		if (found != 0)
			continue;
		found = lf_expect_read(path, &one, e);
		if (found == 0 && fits(&one, hw)) {
			*x = one;
			found = 1;
		}
	}
	free(list);
	return found;
}
