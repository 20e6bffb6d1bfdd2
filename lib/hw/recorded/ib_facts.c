/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "hw/recorded/ib.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	RATE_MAX = 6400 * 1000 /* Mb/s; the fastest sold has 800,000 */
};

/* NULL, or the name of what the value is not. */
typedef const char *(*setter)(struct lf_ib *s, const char *value);

/* The word of "4: ACTIVE", "Active", "PORT_ACTIVE (4)". */
static void word_of(const char *value, char *word, size_t n)
{
	size_t len;

	if (isdigit((unsigned char)*value) && value[1] == ':')
		value += 2 + strspn(value + 2, " ");
	if (strncmp(value, "PORT_", 5) == 0 &&
	    strncmp(value, "PORT_CONF", 9) != 0)
		value += 5;
	len = strcspn(value, " (");
	(void)snprintf(word, n, "%.*s", (int)(len < n ? len : n - 1), value);
}

static bool says_nothing(const char *value)
{
	return !*value || *value == '<' || *value == '?' ||
	       strncmp(value, "...", 3) == 0 ||
	       strncasecmp(value, "invalid", 7) == 0 ||
	       strncasecmp(value, "unknown", 7) == 0 ||
	       strncasecmp(value, "unspecified", 11) == 0 ||
	       strcasecmp(value, "N/A") == 0;
}

const char *lf_ib_state(struct lf_ib *s, const char *value)
{
	static const struct {
		const char *word;
		int state;
	} rows[] = {
		{ "ACTIVE", LF_PORT_ACTIVE },
		{ "DOWN", LF_PORT_DOWN },
		{ "INIT", LF_PORT_INIT },
		{ "INITIALIZE", LF_PORT_INIT },
		{ "INITIALIZING", LF_PORT_INIT },
		{ "ARMED", LF_PORT_ARMED },
		{ "ARM", LF_PORT_ARMED },
		{ "NOP", LF_PORT_UNKNOWN },
		{ "ACTIVE_DEFER", LF_PORT_UNKNOWN },
	};
	char word[32];

	word_of(value, word, sizeof(word));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcasecmp(word, rows[i].word) != 0)
			continue;
		lf_hw_set_port(s->hw, s->n, rows[i].state);
		return NULL;
	}
	return "state of a port";
}

/* As letters, so that LINK_UP is LinkUp and "Phy Test" is PHYTEST. */
static bool same_letters(const char *a, const char *b)
{
	while (*a && *b) {
		if (!isalpha((unsigned char)*a))
			a++;
		else if (tolower((unsigned char)*a++) !=
			 tolower((unsigned char)*b++))
			return false;
	}
	return !*b && !a[strspn(a, "0123456789 ()")];
}

static const char *set_phys(struct lf_ib *s, const char *value)
{
	static const char *const names[] = {
		"Sleep",    "Polling",
		"Disabled", "PortConfigurationTraining",
		"LinkUp",   "LinkErrorRecovery",
		"PhyTest"
	};

	/* libibverbs writes TRAINNING. */
	if (strncmp(value, "PORT_CONFIGURATION_TRAINN", 25) == 0)
		value = names[3];
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (!same_letters(value, names[i]))
			continue;
		lf_hw_set_text(s->hw, s->device, "physical state", s->n->phys,
			       names[i]);
		return NULL;
	}
	return strncasecmp(value, "No state change", 15) == 0
		       ? NULL
		       : "physical state";
}

static void set_mbps(struct lf_ib *s, int mbps)
{
	lf_hw_set_int(s->hw, s->device, "rate", &s->n->rate_mbps, mbps);
}

/* "400", "200 Gb/sec (4X HDR)" */
static const char *set_rate(struct lf_ib *s, const char *value)
{
	const char *rest;
	int mbps;

	if (!lf_text_milli(value, &mbps, &rest) || mbps <= 0 ||
	    mbps > RATE_MAX || (*rest && strncmp(rest, "Gb/sec", 6) != 0))
		return "rate";
	set_mbps(s, mbps);
	return NULL;
}

static const char *set_speed(struct lf_ib *s, const char *value)
{
	const char *rest;

	if (!lf_text_milli(value, &s->lane_mbps, &rest) ||
	    s->lane_mbps > RATE_MAX / 16 || strncmp(rest, "Gbps", 4) != 0)
		return "speed";
	if (s->width > 0)
		set_mbps(s, s->width * s->lane_mbps);
	return NULL;
}

/* "4X (2)" */
static const char *set_width(struct lf_ib *s, const char *value)
{
	if (!isdigit((unsigned char)*value) || !strchr(value, 'X'))
		return "width";
	s->width = *value - '0';
	if (isdigit((unsigned char)value[1]))
		s->width = s->width * 10 + value[1] - '0';
	if (s->width > 16)
		return "width";
	if (s->lane_mbps > 0)
		set_mbps(s, s->width * s->lane_mbps);
	return NULL;
}

static const char *set_lid(struct lf_ib *s, const char *value)
{
	int lid;

	if (!lf_text_int(value, 0, 0xffff, &lid))
		return "lid";
	lf_hw_set_int(s->hw, s->device, "SM lid", &s->n->sm_lid, lid);
	return NULL;
}

static const char *set_layer(struct lf_ib *s, const char *value)
{
	enum lf_hw_layer layer;

	if (strcasecmp(value, "InfiniBand") == 0 || strcmp(value, "IB") == 0)
		layer = LF_LAYER_IB;
	else if (strcasecmp(value, "Ethernet") == 0)
		layer = LF_LAYER_ETHERNET;
	else
		return "link layer";
	lf_hw_set_layer(s->hw, s->n, layer);
	return NULL;
}

/* The node's, in the form of sysfs: "fe00:0000:0000:0001". */
static const char *set_guid(struct lf_ib *s, const char *value)
{
	unsigned long long guid = 0;
	int digits = 0;
	const char *p = value;

	if (p[0] == '0' && p[1] == 'x')
		p += 2;
	for (; *p; p++) {
		if (*p == ':')
			continue;
		if (!isxdigit((unsigned char)*p) || ++digits > 16)
			return "GUID";
		guid = guid << 4 |
		       (isdigit((unsigned char)*p)
				? (unsigned)(*p - '0')
				: (unsigned)((*p | 0x20) - 'a' + 10));
	}
	if (guid)
		(void)snprintf(s->guid, sizeof(s->guid),
			       "%04llx:%04llx:%04llx:%04llx", guid >> 48,
			       guid >> 32 & 0xffff, guid >> 16 & 0xffff,
			       guid & 0xffff);
	return digits ? NULL : "GUID";
}

static const char *set_type(struct lf_ib *s, const char *value)
{
	(void)snprintf(s->type, sizeof(s->type), "%s", value);
	return NULL;
}

static const char *set_part(struct lf_ib *s, const char *value)
{
	return lf_text_int(value, 0, 0xffff, &s->part) ? NULL : "part id";
}

static const char *set_vendor(struct lf_ib *s, const char *value)
{
	return lf_text_int(value, 0, 0xffffff, &s->vendor) ? NULL : "vendor id";
}

struct row {
	const char *key;
	setter set;
	bool of_port;
};

static const struct row rows_of_all[] = {
	/* ibstat */
	{ "CA type", set_type, false },
	{ "Node GUID", set_guid, false },
	{ "State", lf_ib_state, true },
	{ "Physical state", set_phys, true },
	{ "Rate", set_rate, true },
	{ "SM lid", set_lid, true },
	{ "Link layer", set_layer, true },
	/* ibstatus */
	{ "phys state", set_phys, true },
	{ "rate", set_rate, true },
	{ "sm lid", set_lid, true },
	/* ibv_devinfo, and ibstatus where the keys are the same */
	{ "state", lf_ib_state, true },
	{ "link_layer", set_layer, true },
	{ "phys_state", set_phys, true },
	{ "sm_lid", set_lid, true },
	{ "active_width", set_width, true },
	{ "active_speed", set_speed, true },
	{ "node_guid", set_guid, false },
	{ "vendor_id", set_vendor, false },
	{ "vendor_part_id", set_part, false },
};

int lf_ib_fact(struct lf_ib *s, const struct lf_text *t, const char *key,
	       const char *value, struct lf_err *e)
{
	for (size_t i = 0; i < sizeof(rows_of_all) / sizeof(*rows_of_all);
	     i++) {
		const struct row *r = &rows_of_all[i];
		const char *want;

		if (strcmp(key, r->key) != 0 || (r->of_port && !s->n))
			continue;
		s->facts += r->of_port;
		if (says_nothing(value))
			return 0;
		want = r->set(s, value);
		return !want ? 0
			     : lf_text_err(e, t, value, "%s: '%.30s' is no %s",
					   key, value, want);
	}
	return 0;
}
