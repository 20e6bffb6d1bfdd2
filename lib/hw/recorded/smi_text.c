/* SPDX-License-Identifier: Apache-2.0 */
/* `nvidia-smi -q`: sections by indentation, leaves "Key   : Value".
 *
 * A leaf is known by its path below the GPU ("PCI/GPU Link Info/Link
 * Width/Max"), so that a MIG device's or a process's leaves are no GPU's, and
 * what a newer driver adds is passed over.
 */
#include "config.h"

#include "hw/recorded/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	DEPTH = 8, /* sections within sections; 5 is the most seen */
	KEY = 64,
	MINOR_MAX = 1 << 20, /* of a device, in Linux */
	NVIDIA = 0x10de /* PCI vendor id */
};

struct section {
	int indent;
	char name[KEY];
};

struct smi {
	struct lf_hw *hw;
	struct lf_hw_gpu *g;
	char who[LF_HW_TEXT];
	int shown; /* GPUs in the text */
	int order; /* of the present one */
	int depth;
	struct section at[DEPTH];
	char path[DEPTH * (KEY + 1)];
	char clique[LF_HW_TEXT];
	/* Of several lines of the present GPU: sum, and the worst. */
	int64_t ecc;
	int fabric_ok;
	bool ended; /* the GPU's last part, its processes, was seen */
};

/* 0, or the name of what a value is not. */
typedef const char *(*setter)(struct smi *s, void *field, const char *value);

struct leaf {
	const char *path;
	setter set;
	size_t field; /* within struct lf_hw_gpu */
};

static const char *last_part(const struct smi *s)
{
	const char *slash = strrchr(s->path, '/');

	return slash ? slash + 1 : s->path;
}

static const char *set_int(struct smi *s, void *field, const char *value,
			   int min, int max)
{
	int v;

	if (!lf_text_int(value, min, max, &v))
		return "number that this can be";
	lf_hw_set_int(s->hw, s->who, s->path, field, v);
	return NULL;
}

static const char *set_gen(struct smi *s, void *field, const char *value)
{
	return set_int(s, field, value, 1, 9);
}

static const char *set_gen_now(struct smi *s, void *field, const char *value)
{
	int v;

	if (!lf_text_int(value, 1, 9, &v))
		return "number that this can be";
	lf_hw_set_gen(s->hw, s->who, &s->g->pcie, v);
	return NULL;
}

static const char *set_minor(struct smi *s, void *field, const char *value)
{
	return set_int(s, field, value, 0, MINOR_MAX);
}

static const char *set_width(struct smi *s, void *field, const char *value)
{
	char digits[8];

	(void)snprintf(digits, sizeof(digits), "%s", value);
	if (!*digits || digits[strlen(digits) - 1] != 'x')
		return "link width";
	digits[strlen(digits) - 1] = '\0';
	return set_int(s, field, digits, 1, 32);
}

static const char *set_pstate(struct smi *s, void *field, const char *value)
{
	int v;

	if (*value != 'P' || !lf_text_int(value + 1, 0, 15, &v))
		return "performance state";
	lf_hw_set_pstate(s->g, v);
	return NULL;
}

/* Of row remaps, where yes is the worse answer. */
static const char *set_yes(struct smi *s, void *field, const char *value)
{
	if (strcmp(value, "No") != 0 && strcmp(value, "Yes") != 0)
		return "Yes";
	lf_hw_set_high(s->hw, s->who, s->path, field, *value == 'Y');
	return NULL;
}

static const char *set_enabled(struct smi *s, void *field, const char *value)
{
	if (strcmp(value, "Disabled") != 0 && strcmp(value, "Enabled") != 0)
		return "Enabled";
	lf_hw_set_int(s->hw, s->who, s->path, field, *value == 'E');
	return NULL;
}

static const char *set_text(struct smi *s, void *field, const char *value)
{
	lf_hw_set_text(s->hw, s->who, s->path, field, value);
	return NULL;
}

static const char *set_bus(struct smi *s, void *field, const char *value)
{
	char bus[LF_HW_TEXT];

	lf_hw_bus(value, bus);
	return *bus ? set_text(s, field, bus) : "bus id";
}

/* "0x233010DE": device, vendor. */
static const char *set_device(struct smi *s, void *field, const char *value)
{
	char device[8];

	if (strlen(value) != 10)
		return "device id";
	(void)snprintf(device, sizeof(device), "%.6s", value);
	if (strcasecmp(value + 6, "10DE") != 0)
		return "device id of NVIDIA's";
	return set_int(s, field, device, 0, 0xffff);
}

static const char *set_fabric(struct smi *s, void *field, const char *value)
{
	static const struct {
		const char *text;
		enum lf_hw_fabric state;
	} rows[] = {
		{ "N/A", LF_FABRIC_NONE },
		{ "Not Supported", LF_FABRIC_NONE },
		{ "Not Started", LF_FABRIC_NOT_STARTED },
		{ "In Progress", LF_FABRIC_IN_PROGRESS },
		{ "Completed", LF_FABRIC_COMPLETED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcasecmp(value, rows[i].text) == 0) {
			lf_hw_set_fabric(s->hw, s->g, rows[i].state);
			return NULL;
		}
	return "state of a fabric";
}

/* Every bad sign holds, whatever the others say; a word that is not known says
 * nothing. */
static const char *set_fabric_ok(struct smi *s, void *field, const char *value)
{
	static const char *const good[] = { "Success", "Full", "Healthy",
					    "False" };
	static const char *const bad[] = { "Degraded", "Unhealthy",
					   "Limited Capacity", "True" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		if (strcmp(value, good[i]) == 0 && s->fabric_ok < 0)
			s->fabric_ok = 1;
		if (strcmp(value, bad[i]) == 0)
			s->fabric_ok = 0;
	}
	if (strcmp(last_part(s), "Status") == 0 &&
	    strcmp(value, "Success") != 0)
		s->fabric_ok = 0; /* any other word is an error's name */
	return NULL;
}

/* The clique's number and the cluster come in two lines, in any order. */
static const char *set_clique(struct smi *s, void *field, const char *value)
{
	char both[LF_HW_TEXT * 2];
	bool is_number = strcmp(last_part(s), "CliqueId") == 0;

	if (!*s->clique) {
		(void)snprintf(s->clique, sizeof(s->clique), "%s", value);
		return NULL;
	}
	(void)snprintf(both, sizeof(both), "%s.%s",
		       is_number ? s->clique : value,
		       is_number ? value : s->clique);
	both[LF_HW_TEXT - 1] = '\0';
	/* All zero: one machine, not part of a larger domain. */
	if (both[strspn(both, "0-")] == '.')
		return NULL;
	return set_text(s, field, both);
}

static const char *add_ecc(struct smi *s, void *field, const char *value)
{
	int v;

	if (!lf_text_int(value, 0, 0x7fffffff, &v))
		return "count of errors";
	s->ecc = (s->ecc < 0 ? 0 : s->ecc) + v;
	return NULL;
}

#define GPU(member) offsetof(struct lf_hw_gpu, member)

static const struct leaf leaves[] = {
	{ "Product Name", set_text, GPU(name) },
	{ "GPU UUID", set_text, GPU(uuid) },
	{ "Minor Number", set_minor, GPU(minor) },
	{ "MIG Mode/Current", set_enabled, GPU(mig) },
	{ "PCI/Bus Id", set_bus, GPU(bus) },
	{ "PCI/Device Id", set_device, GPU(device_id) },
	{ "PCI/GPU Link Info/PCIe Generation/Max", set_gen, GPU(pcie.max_gen) },
	{ "PCI/GPU Link Info/PCIe Generation/Current", set_gen_now },
	{ "PCI/GPU Link Info/PCIe Generation/Device Max", set_gen,
	  GPU(pcie.device_max_gen) },
	{ "PCI/GPU Link Info/PCIe Generation/Host Max", set_gen,
	  GPU(pcie.host_max_gen) },
	{ "PCI/GPU Link Info/Link Width/Max", set_width, GPU(pcie.max_width) },
	{ "PCI/GPU Link Info/Link Width/Current", set_width, GPU(pcie.width) },
	{ "Performance State", set_pstate },
	{ "ECC Errors/Volatile/SRAM Uncorrectable", add_ecc },
	{ "ECC Errors/Volatile/SRAM Uncorrectable Parity", add_ecc },
	{ "ECC Errors/Volatile/SRAM Uncorrectable SEC-DED", add_ecc },
	{ "ECC Errors/Volatile/DRAM Uncorrectable", add_ecc },
	{ "ECC Errors/Volatile/Double Bit/Total", add_ecc },
	{ "Remapped Rows/Pending", set_yes, GPU(remap_pending) },
	{ "Remapped Rows/Remapping Failure Occurred", set_yes,
	  GPU(remap_failed) },
	{ "Fabric/State", set_fabric },
	{ "Fabric/Status", set_fabric_ok },
	{ "Fabric/CliqueId", set_clique, GPU(clique) },
	{ "Fabric/ClusterUUID", set_clique, GPU(clique) },
	{ "Fabric/Health/Summary", set_fabric_ok },
	{ "Fabric/Health/Bandwidth", set_fabric_ok },
	{ "Fabric/Health/Route Recovery in progress", set_fabric_ok },
	{ "Fabric/Health/Route Unhealthy", set_fabric_ok },
};

/* What nvidia-smi prints where it has no value. */
static bool says_nothing(const char *value)
{
	static const char *const none[] = { "",
					    "N/A",
					    "ERR!",
					    "Unknown Error",
					    "Not Supported",
					    "Insufficient Permissions",
					    "GPU is lost",
					    "GPU requires reset" };
	size_t n = strlen(value);

	if (n >= 2 && value[0] == '[' && value[n - 1] == ']') {
		value++;
		n -= 2;
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (strncasecmp(value, none[i], n) == 0 && !none[i][n])
			return true;
	return false;
}

static int set_leaf(struct smi *s, const struct lf_text *t, const char *value,
		    struct lf_err *e)
{
	for (size_t i = 0; i < sizeof(leaves) / sizeof(*leaves); i++) {
		const struct leaf *l = &leaves[i];
		const char *want;

		if (strcmp(s->path, l->path) != 0)
			continue;
		/* "N/A" is how a GPU without NVSwitches speaks of them. */
		if (says_nothing(value) &&
		    !(l->set == set_fabric && strcmp(value, "N/A") == 0))
			return 0;
		want = l->set(s, (char *)s->g + l->field, value);
		/* Half a value at the end of a cut text proves nothing. */
		return !want || t->cut ?
			       0 :
			       lf_text_err(e, t, value, "%s: '%.30s' is no %s",
					   s->path, value, want);
	}
	return 0;
}

static int set_node(struct smi *s, const struct lf_text *t, const char *key,
		    const char *value, struct lf_err *e)
{
	struct lf_hw_node *node = &s->hw->node;
	int gpus;

	if (strcmp(key, "Driver Version") == 0)
		lf_hw_set_text(s->hw, "node", key, node->driver, value);
	if (strcmp(key, "CUDA Version") == 0 && !says_nothing(value))
		lf_hw_set_text(s->hw, "node", key, node->cuda, value);
	if (strcmp(key, "Attached GPUs") != 0)
		return 0;
	if (!lf_text_int(value, 0, 9999, &gpus))
		return lf_text_err(e, t, value, "'%.20s' is no number of GPUs",
				   value);
	lf_hw_set_int(s->hw, "node", key, &node->gpus_attached, gpus);
	return 0;
}

/* "GPU 00000000:19:00.0", at the left edge. */
static bool is_gpu_line(const char *line)
{
	char bus[LF_HW_TEXT];

	if (strncmp(line, "GPU ", 4) != 0 || strlen(line) > 24 ||
	    !strchr(line, ':'))
		return false;
	lf_hw_bus(line + 4, bus);
	return *bus != '\0';
}

static void end_gpu(struct smi *s)
{
	char why[LF_HW_TEXT * 2];

	if (!s->g)
		return;
	if (s->ended || s->ecc > 0) /* else more errors may have followed */
		lf_hw_set_ecc(s->hw, s->who, s->g, s->ecc);
	lf_hw_set_int(s->hw, s->who, "status of the NVLink fabric",
		      &s->g->fabric_ok, s->fabric_ok);
	if (s->ended)
		return;
	(void)snprintf(why, sizeof(why), "the section of %s is cut", s->who);
	lf_hw_mark_partial(s->hw, why);
}

static int begin_gpu(struct smi *s, const struct lf_text *t, struct lf_err *e)
{
	/* Counting gives the index only where none was left out. */
	int index = s->shown == s->hw->node.gpus_attached ? s->order : -1;

	end_gpu(s);
	s->g = lf_hw_gpu(s->hw, index, t->line + 4, NULL);
	if (!s->g)
		return lf_text_err(e, t, t->line, "more than %d GPUs",
				   LF_HW_GPUS);
	lf_hw_set_int(s->hw, t->line, "index", &s->g->index, index);
	s->order++;
	s->g->vendor = LF_VENDOR_NVIDIA;
	s->ended = false;
	s->depth = 0;
	s->ecc = s->fabric_ok = -1;
	s->clique[0] = '\0';
	(void)snprintf(s->who, sizeof(s->who), "GPU %.60s", s->g->bus);
	return 0;
}

/* Leaves the sections that end before a line of this indent. */
static void leave(struct smi *s, int indent)
{
	while (s->depth > 0 && s->at[s->depth - 1].indent >= indent)
		s->depth--;
}

static void enter(struct smi *s, int indent, const char *name)
{
	if (s->depth == DEPTH)
		return;
	s->at[s->depth].indent = indent;
	(void)snprintf(s->at[s->depth++].name, KEY, "%s", name);
}

static void set_path(struct smi *s, const char *key)
{
	size_t n = 0;

	for (int i = 0; i < s->depth; i++)
		n += (size_t)snprintf(s->path + n, sizeof(s->path) - n, "%s/",
				      s->at[i].name);
	(void)snprintf(s->path + n, sizeof(s->path) - n, "%.*s", KEY - 1, key);
}

static int read_line(struct smi *s, struct lf_text *t, struct lf_err *e)
{
	int indent = (int)strspn(t->line, " \t");
	char *key = t->line + indent, *value = NULL;

	if (is_gpu_line(t->line))
		return begin_gpu(s, t, e);
	if (!*key)
		return 0;
	/* A cut line may hold half a key, and half a number. */
	if (t->cut && s->g && !s->ended && strncmp(key, "Processes", 9) != 0) {
		lf_hw_mark_partial(s->hw, "the text ends in the middle");
		return 0;
	}
	if (strncmp(key, "Processes", 9) == 0)
		s->ended = true;
	if (!lf_text_pair(t->line, " : ", &value) && s->g) {
		leave(s, indent);
		enter(s, indent, key);
		return 0;
	}
	if (!value)
		return 0;
	if (!s->g)
		return set_node(s, t, key, value, e);
	leave(s, indent);
	set_path(s, key);
	return set_leaf(s, t, value, e);
}

static int count_gpus(const struct lf_text *start)
{
	struct lf_text t = *start;
	int n = 0;

	while (lf_text_line(&t))
		n += is_gpu_line(t.line);
	return n;
}

static bool is_failure(const char *line)
{
	return strncmp(line, "NVIDIA-SMI has failed", 21) == 0 ||
	       strncmp(line, "Failed to initialize NVML", 25) == 0;
}

static bool is_none(const char *line)
{
	return strncmp(line, "No devices were found", 21) == 0;
}

static int read_log(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	struct smi s = { .hw = hw, .shown = count_gpus(t), .ended = true };
	char why[LF_HW_TEXT];
	int rc = 0;

	while (rc == 0 && lf_text_line(t)) {
		if (is_failure(t->line))
			return lf_text_err(e, t, t->line,
					   "nvidia-smi failed there: %.80s",
					   t->line);
		if (is_none(t->line))
			hw->node.gpus_attached = 0;
		rc = read_line(&s, t, e);
	}
	if (rc)
		return rc;
	if (s.order == 0 && hw->node.gpus_attached != 0)
		return lf_text_err(e, t, t->line,
				   "no line 'GPU 00000000:..:..'");
	end_gpu(&s);
	if (s.order < hw->node.gpus_attached) {
		(void)snprintf(why, sizeof(why), "%d of %d GPUs are shown",
			       s.order, hw->node.gpus_attached);
		lf_hw_mark_partial(hw, why);
	}
	return 0;
}

static int read_smi(struct lf_hw *hw, const char *text, size_t n,
		    struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_log, e);
}

static bool is_title(const char *line)
{
	return strstr(line, "=NVSMI LOG=") != NULL ||
	       strncmp(line, "Attached GPUs ", 14) == 0;
}

static bool is_failed(const char *line)
{
	return is_failure(line) || is_none(line);
}

static int claims_smi(const char *text, size_t n)
{
	if (lf_text_any(text, n, is_title))
		return 90;
	if (lf_text_any(text, n, is_gpu_line))
		return 70;
	return lf_text_any(text, n, is_failed) ? 50 : 0;
}

const struct lf_hw_reader lf_hw_read_smi_text = { "nvidia-smi -q", claims_smi,
						  read_smi };
