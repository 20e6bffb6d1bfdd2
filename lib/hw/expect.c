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

#include "base/clean.h"
#include "conf/confuse.h"

enum key {
	NAME,
	PRODUCT,
	GPUS,
	NVLINKS,
	PAIR_NVLINKS,
	PCIE_GEN,
	PCIE_WIDTH,
	NICS,
	NIC_RATE,
	NIC_INCLUDE,
	NIC_EXCLUDE,
	NEAR_NIC,
	KEYS
};

static const struct {
	const char *name;
	long min, max; /* of a number */
} keys[KEYS] = {
	[NAME] = { "name" },
	[PRODUCT] = { "product" },
	[GPUS] = { "gpus", 0, LF_HW_GPUS },
	[NVLINKS] = { "nvlinks", -1, LF_HW_LINKS },
	[PAIR_NVLINKS] = { "pair_nvlinks", 0, LF_HW_LINKS },
	[PCIE_GEN] = { "pcie_gen", 1, 7 },
	[PCIE_WIDTH] = { "pcie_width", 1, 16 },
	[NICS] = { "nics", 0, LF_HW_NICS },
	[NIC_RATE] = { "nic_rate_gbps", 0, 6400 },
	[NIC_INCLUDE] = { "nic_include" },
	[NIC_EXCLUDE] = { "nic_exclude" },
	[NEAR_NIC] = { "near_nic" },
};

/* The line on which each was given, or 0.  libconfuse's callbacks carry no
 * pointer of ours; parsing is not reentrant. */
static int line_of[KEYS];

static int check_number(cfg_t *cfg, enum key k, long v)
{
	if (v < keys[k].min || v > keys[k].max)
		cfg_error(cfg, "%s: expected %ld to %ld, found %ld",
			  keys[k].name, keys[k].min, keys[k].max, v);
	else if (k == PCIE_WIDTH && (v & (v - 1)))
		cfg_error(cfg, "%s: expected 1, 2, 4, 8 or 16, found %ld",
			  keys[k].name, v);
	else
		return 0;
	return -1;
}

static int check_text(cfg_t *cfg, enum key k, const char *text)
{
	if (strlen(text) >= LF_HW_TEXT)
		cfg_error(cfg, "%s: expected at most %d bytes, found %zu",
			  keys[k].name, LF_HW_TEXT - 1, strlen(text));
	else if ((k == NIC_INCLUDE || k == NIC_EXCLUDE) && strpbrk(text, " \t"))
		cfg_error(cfg,
			  "%s: expected names parted by commas only, "
			  "found '%s'",
			  keys[k].name, text);
	else
		return 0;
	return -1;
}

static int on_value(cfg_t *cfg, cfg_opt_t *opt)
{
	int k = 0;

	while (strcmp(keys[k].name, cfg_opt_name(opt)) != 0)
		k++;
	if (line_of[k] > 0) {
		cfg_error(cfg, "%s: given before, on line %d", keys[k].name,
			  line_of[k]);
		return -1;
	}
	line_of[k] = cfg->line;
	if (opt->type == CFGT_INT)
		return check_number(cfg, (enum key)k, cfg_opt_getnint(opt, 0));
	if (opt->type == CFGT_STR)
		return check_text(cfg, (enum key)k, cfg_opt_getstr(opt));
	return 0;
}

/* Whether a pattern of the list `out` takes away a name of the list `in`. */
static bool excluded(const char *in, const char *out)
{
	char names[LF_HW_TEXT], patterns[LF_HW_TEXT], *at = names, *name;

	(void)snprintf(names, sizeof(names), "%s", in);
	while ((name = strsep(&at, ",")) != NULL) {
		char *rest = patterns, *pattern;

		(void)snprintf(patterns, sizeof(patterns), "%s", out);
		while ((pattern = strsep(&rest, ",")) != NULL)
			if (*name && fnmatch(pattern, name, 0) == 0)
				return true;
	}
	return false;
}

/* Two keys that cannot both hold; the later line is named. */
static int contradiction(const struct lf_expect *x, const char *path,
			 struct lf_err *e)
{
	static const char any_name[] = "which only * can match, for its length";
	const struct {
		bool bad;
		enum key a, b;
		const char *what;
	} rules[] = {
		{ x->nvlinks < 0 && x->pair_nvlinks > 0, PAIR_NVLINKS, NVLINKS,
		  "pair_nvlinks, but nvlinks expects none" },
		{ x->nvlinks > 0 && x->pair_nvlinks > x->nvlinks, PAIR_NVLINKS,
		  NVLINKS, "pair_nvlinks is more than nvlinks" },
		{ x->gpus == 1 && x->pair_nvlinks > 0, PAIR_NVLINKS, GPUS,
		  "pair_nvlinks, but gpus is 1" },
		{ x->gpus > 0 && !*x->product, GPUS, PRODUCT,
		  "gpus without product" },
		{ excluded(x->include, x->exclude), NIC_INCLUDE, NIC_EXCLUDE,
		  "nic_exclude takes out what nic_include names" },
		{ x->nics > 0 && excluded(any_name, x->exclude), NICS,
		  NIC_EXCLUDE, "nics, but nic_exclude takes out all" },
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		int a = line_of[rules[i].a], b = line_of[rules[i].b];

		if (rules[i].bad)
			return lf_err(e, -EINVAL, "%s:%d: %s", path,
				      a > b ? a : b, rules[i].what);
	}
	return 0;
}

static void take(cfg_t *cfg, struct lf_expect *x)
{
	lf_expect_default(x);
	(void)snprintf(x->name, sizeof(x->name), "%s",
		       cfg_getstr(cfg, keys[NAME].name));
	(void)snprintf(x->product, sizeof(x->product), "%s",
		       cfg_getstr(cfg, keys[PRODUCT].name));
	lf_clean(x->name, ""); /* it goes into verdicts */
	(void)snprintf(x->include, sizeof(x->include), "%s",
		       cfg_getstr(cfg, keys[NIC_INCLUDE].name));
	(void)snprintf(x->exclude, sizeof(x->exclude), "%s",
		       cfg_getstr(cfg, keys[NIC_EXCLUDE].name));
	x->gpus = (int)cfg_getint(cfg, keys[GPUS].name);
	x->nvlinks = (int)cfg_getint(cfg, keys[NVLINKS].name);
	x->pair_nvlinks = (int)cfg_getint(cfg, keys[PAIR_NVLINKS].name);
	x->pcie_gen = (int)cfg_getint(cfg, keys[PCIE_GEN].name);
	x->pcie_width = (int)cfg_getint(cfg, keys[PCIE_WIDTH].name);
	x->nics = (int)cfg_getint(cfg, keys[NICS].name);
	x->nic_rate_mbps = (int)cfg_getint(cfg, keys[NIC_RATE].name) * 1000;
	x->affinity_any = !cfg_getbool(cfg, keys[NEAR_NIC].name);
}

int lf_expect_read(const char *path, struct lf_expect *x, struct lf_err *e)
{
	cfg_opt_t opts[] = { CFG_STR(keys[NAME].name, "", CFGF_NONE),
			     CFG_STR(keys[PRODUCT].name, "", CFGF_NONE),
			     CFG_INT(keys[GPUS].name, 0, CFGF_NONE),
			     CFG_INT(keys[NVLINKS].name, 0, CFGF_NONE),
			     CFG_INT(keys[PAIR_NVLINKS].name, 0, CFGF_NONE),
			     CFG_INT(keys[PCIE_GEN].name, 4, CFGF_NONE),
			     CFG_INT(keys[PCIE_WIDTH].name, 16, CFGF_NONE),
			     CFG_INT(keys[NICS].name, 0, CFGF_NONE),
			     CFG_INT(keys[NIC_RATE].name, 0, CFGF_NONE),
			     CFG_STR(keys[NIC_INCLUDE].name, "", CFGF_NONE),
			     CFG_STR(keys[NIC_EXCLUDE].name, "", CFGF_NONE),
			     CFG_BOOL(keys[NEAR_NIC].name, cfg_true, CFGF_NONE),
			     CFG_END() };
	struct lf_expect next = { 0 };
	cfg_t *cfg = cfg_init(opts, CFGF_NONE);
	int rc;

	if (!cfg)
		return lf_err(e, -ENOMEM, "%s: no memory", path);
	memset(line_of, 0, sizeof(line_of));
	for (int k = 0; k < KEYS; k++)
		(void)cfg_set_validate_func(cfg, keys[k].name, on_value);
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
