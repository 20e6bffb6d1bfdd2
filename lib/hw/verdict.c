/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/fs.h"
#include "base/parse.h"
#include "find/find.h"

static const char magic[] = "loongforge=verdict 1\n";

static uint64_t minors(const struct lf_hw *hw, uint64_t gpus)
{
	uint64_t out = 0;

	for (int i = 0; i < hw->gpus; i++) {
		int n = hw->gpu[i].minor;

		if (n < 0)
			n = hw->gpu[i].index < 0 ? i : hw->gpu[i].index;
		if (gpus >> i & 1 && n < 64)
			out |= UINT64_C(1) << n;
	}
	return out;
}

static void take(struct lf_verdict *v, const struct lf_hw *hw,
		 const struct lf_hw_finding *f)
{
	struct lf_verdict_finding *to = &v->finding[v->findings];

	if (v->findings == LF_VERDICT_FINDINGS) {
		v->dropped++;
		return;
	}
	v->findings++;
	(void)snprintf(to->code, sizeof(to->code), "%s", f->code);
	to->clause = f->clause;
	to->result = f->result;
	to->gpus = minors(hw, f->gpus);
	memcpy(to->subject, f->subject, sizeof(to->subject));
	memcpy(to->expected, f->expected, sizeof(to->expected));
	memcpy(to->found, f->found, sizeof(to->found));
	(void)snprintf(to->remedy, sizeof(to->remedy), "%s",
		       f->remedy ? f->remedy : "");
}

void lf_verdict_take(struct lf_verdict *v, const struct lf_hw *hw,
		     const struct lf_expect *x, const struct lf_report *r)
{
	memcpy(v->machine, x->name, sizeof(v->machine));
	memcpy(v->driver, hw->node.driver, sizeof(v->driver));
	v->gpus = hw->gpus;
	v->nics = hw->nics;
	v->verdict = r->verdict;
	memcpy(v->clause, r->clause, sizeof(v->clause));
	v->findings = 0;
	v->dropped = r->dropped;
	for (int rank = LF_RESULT_FAIL; rank > LF_RESULT_PASS; rank--)
		for (int i = 0; i < r->findings; i++)
			if ((int)r->finding[i].result == rank)
				take(v, hw, &r->finding[i]);
}

static void write_finding(const struct lf_verdict_finding *f,
			  struct lf_buf *out)
{
	lf_buf_add(out, "finding=%s\t%s\t%s\t%" PRIx64 "\t%s\t%s\t%s\t%s\n",
		   f->code, lf_clause_names[f->clause],
		   lf_result_names[f->result], f->gpus, f->subject, f->expected,
		   f->found, f->remedy);
}

void lf_verdict_write(const struct lf_verdict *v, struct lf_buf *out)
{
	lf_buf_add(out, "%sboot=%s\ntime=%" PRId64 "\n", magic, v->boot,
		   v->time);
	lf_buf_add(out, "basis=%016" PRIx64 "\nfacts=%016" PRIx64 "\n",
		   v->basis, v->facts);
	lf_buf_add(out, "recorded=%d\nunseen=%s\nmachine=%s\ndriver=%s\n",
		   v->recorded, v->unseen, v->machine, v->driver);
	lf_buf_add(out, "gpus=%d\nnics=%d\nverdict=%s\n", v->gpus, v->nics,
		   lf_result_names[v->verdict]);
	for (int c = 0; c < LF_CLAUSES; c++)
		lf_buf_add(out, "clause=%s\t%s\n", lf_clause_names[c],
			   lf_result_names[v->clause[c]]);
	for (int i = 0; i < v->findings; i++)
		write_finding(&v->finding[i], out);
	lf_buf_add(out, "dropped=%d\nend=\n", v->dropped);
}

static int name_in(const char *const names[], int count, const char *word)
{
	for (int i = 0; word && i < count; i++)
		if (strcmp(names[i], word) == 0)
			return i;
	return -EINVAL;
}

static int take_result(char *value, enum lf_result *out)
{
	int r = name_in(lf_result_names, LF_RESULT_FAIL + 1, value);

	if (r >= 0)
		*out = (enum lf_result)r;
	return r < 0 ? r : 0;
}

static int take_hash(const char *value, uint64_t *out)
{
	char *end;

	if (!value || !*value)
		return -EINVAL;
	errno = 0;
	*out = strtoull(value, &end, 16);
	return *end || errno ? -EINVAL : 0;
}

static int take_number(const char *value, int *out)
{
	uint64_t v;
	int rc = lf_parse_u64(value, 0, INT_MAX, &v);

	if (rc == 0)
		*out = (int)v;
	return rc;
}

static int take_text(const char *value, char *out, size_t n)
{
	return value && snprintf(out, n, "%s", value) < (int)n ? 0 : -EINVAL;
}

static int take_clause(char *value, struct lf_verdict *v)
{
	int c = name_in(lf_clause_names, LF_CLAUSES, strsep(&value, "\t"));

	return c < 0 || !value ? -EINVAL : take_result(value, &v->clause[c]);
}

static int take_finding(char *value, struct lf_verdict *v)
{
	struct lf_verdict_finding *f = &v->finding[v->findings];
	char *word[8];
	int c;

	for (int i = 0; i < 8; i++)
		word[i] = strsep(&value, "\t");
	c = name_in(lf_clause_names, LF_CLAUSES, word[1]);
	if (v->findings == LF_VERDICT_FINDINGS || !word[7] || value || c < 0)
		return -EINVAL;
	f->clause = (enum lf_clause_id)c;
	v->findings++;
	return take_result(word[2], &f->result) | take_hash(word[3], &f->gpus) |
	       take_text(word[0], f->code, sizeof(f->code)) |
	       take_text(word[4], f->subject, sizeof(f->subject)) |
	       take_text(word[5], f->expected, sizeof(f->expected)) |
	       take_text(word[6], f->found, sizeof(f->found)) |
	       take_text(word[7], f->remedy, sizeof(f->remedy));
}

static int take_time(const char *value, int64_t *out)
{
	uint64_t v;
	int rc = lf_parse_u64(value, 0, INT64_MAX, &v);

	*out = rc == 0 ? (int64_t)v : 0;
	return rc;
}

static int take_line(const char *key, char *value, struct lf_verdict *v)
{
	const struct {
		const char *key;
		char *text;
		size_t size;
		int *number;
		uint64_t *hash;
	} plain[] = {
		{ "boot", v->boot, sizeof(v->boot) },
		{ "unseen", v->unseen, sizeof(v->unseen) },
		{ "machine", v->machine, sizeof(v->machine) },
		{ "driver", v->driver, sizeof(v->driver) },
		{ "gpus", .number = &v->gpus },
		{ "nics", .number = &v->nics },
		{ "dropped", .number = &v->dropped },
		{ "basis", .hash = &v->basis },
		{ "facts", .hash = &v->facts },
	};

	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (strcmp(key, plain[i].key) == 0)
			return plain[i].text ? take_text(value, plain[i].text,
							 plain[i].size)
			       : plain[i].number
				       ? take_number(value, plain[i].number)
				       : take_hash(value, plain[i].hash);
	if (strcmp(key, "time") == 0)
		return take_time(value, &v->time);
	if (strcmp(key, "recorded") == 0) {
		v->recorded = strcmp(value, "1") == 0;
		return 0;
	}
	if (strcmp(key, "verdict") == 0)
		return take_result(value, &v->verdict);
	if (strcmp(key, "clause") == 0)
		return take_clause(value, v);
	return strcmp(key, "finding") == 0 ? take_finding(value, v) : -EINVAL;
}

int lf_verdict_parse(char *text, struct lf_verdict *v, struct lf_err *e)
{
	char *cursor = text + sizeof(magic) - 1, *key, *value;
	int rc, line = 2;

	memset(v, 0, sizeof(*v));
	if (strncmp(text, magic, sizeof(magic) - 1) != 0)
		return lf_err(e, -EINVAL,
			      "line 1: expected loongforge=verdict 1");
	for (; (rc = lf_parse_pair(&cursor, '\n', &key, &value)) > 0; line++) {
		if (strcmp(key, "end") == 0)
			return 0;
		if (take_line(key, value, v) != 0)
			break;
	}
	return lf_err(e, -EINVAL, "line %d: %s", line,
		      rc == 0 ? "cut off" : "not of this version");
}

int lf_verdict_read(const char *run, const char *node, struct lf_verdict *v,
		    struct lf_err *e)
{
	lf_autofree char *text = NULL;
	char path[PATH_MAX];
	int rc;

	(void)snprintf(path, sizeof(path), "%s/%s.verdict", run, node);
	rc = lf_fs_read(path, 0, LF_VERDICT_MAX, &text, e);
	if (rc == 0)
		rc = lf_err_wrap(e, lf_verdict_parse(text, v, e), "%s", path);
	return rc;
}

void lf_verdict_boot(char boot[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!f || !fgets(boot, 40, f))
		*boot = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	if (f)
		(void)fclose(f);
}

void lf_verdict_line(const struct lf_verdict *v, char *line, size_t n)
{
	size_t len;

	(void)snprintf(line, n, "%s, %s", lf_result_names[v->verdict],
		       *v->machine ? v->machine : "by the general rule");
	for (int r = LF_RESULT_FAIL; r > LF_RESULT_PASS; r--) {
		bool first = true;

		for (int c = 0; c < LF_CLAUSES; c++) {
			if ((int)v->clause[c] != r)
				continue;
			len = strlen(line);
			(void)snprintf(line + len, n - len, "%s%s",
				       first ? "; " : ", ", lf_clause_names[c]);
			first = false;
		}
		len = strlen(line);
		if (!first)
			(void)snprintf(line + len, n - len, " %s",
				       lf_result_names[r]);
	}
}
