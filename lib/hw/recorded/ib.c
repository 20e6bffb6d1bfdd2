/* SPDX-License-Identifier: Apache-2.0 */
/* `ibstat`, `ibstatus`, `ibv_devinfo [-v]` and `ibdev2netdev [-v]`.
 *
 * The first three list devices, their ports, and "key: value" of each; their
 * keys differ, what these mean does not, so one reader serves all.  A port that
 * is down shows a placeholder as its rate (10, 40).  ibdev2netdev's "(Down)"
 * speaks of the network interface, not of the port.
 */
#include "config.h"

#include "hw/recorded/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MELLANOX = 0x02c9, /* its OUI, as vendor id */
	PORTS = 255,
	RATE_MAX = 6400 * 1000 /* Mb/s; the fastest sold has 800,000 */
};

struct ib {
	struct lf_hw *hw;
	struct lf_hw_nic *n; /* NULL: no port yet */
	char device[LF_HW_TEXT], type[LF_HW_TEXT], guid[LF_HW_TEXT];
	int vendor, part; /* ibv_devinfo */
	int width, lane_mbps;
	int ports;	 /* of this device */
	int facts, most; /* known keys of this port, and of the fullest */
};

/* NULL, or the name of what the value is not. */
typedef const char *(*setter)(struct ib *s, const char *value);

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

static const char *set_state(struct ib *s, const char *value)
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

static const char *set_phys(struct ib *s, const char *value)
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
	return strncasecmp(value, "No state change", 15) == 0 ?
		       NULL :
		       "physical state";
}

static void set_mbps(struct ib *s, int mbps)
{
	lf_hw_set_int(s->hw, s->device, "rate", &s->n->rate_mbps, mbps);
}

/* "400", "200 Gb/sec (4X HDR)" */
static const char *set_rate(struct ib *s, const char *value)
{
	const char *rest;
	int mbps;

	if (!lf_text_milli(value, &mbps, &rest) || mbps <= 0 ||
	    mbps > RATE_MAX || (*rest && strncmp(rest, "Gb/sec", 6) != 0))
		return "rate";
	set_mbps(s, mbps);
	return NULL;
}

static const char *set_speed(struct ib *s, const char *value)
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
static const char *set_width(struct ib *s, const char *value)
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

static const char *set_lid(struct ib *s, const char *value)
{
	int lid;

	if (!lf_text_int(value, 0, 0xffff, &lid))
		return "lid";
	lf_hw_set_int(s->hw, s->device, "SM lid", &s->n->sm_lid, lid);
	return NULL;
}

static const char *set_layer(struct ib *s, const char *value)
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
static const char *set_guid(struct ib *s, const char *value)
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
		guid = guid << 4 | (isdigit((unsigned char)*p) ?
					    (unsigned)(*p - '0') :
					    (unsigned)((*p | 0x20) - 'a' + 10));
	}
	if (guid)
		(void)snprintf(s->guid, sizeof(s->guid),
			       "%04llx:%04llx:%04llx:%04llx", guid >> 48,
			       guid >> 32 & 0xffff, guid >> 16 & 0xffff,
			       guid & 0xffff);
	return digits ? NULL : "GUID";
}

static const char *set_type(struct ib *s, const char *value)
{
	(void)snprintf(s->type, sizeof(s->type), "%s", value);
	return NULL;
}

static const char *set_part(struct ib *s, const char *value)
{
	return lf_text_int(value, 0, 0xffff, &s->part) ? NULL : "part id";
}

static const char *set_vendor(struct ib *s, const char *value)
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
	{ "State", set_state, true },
	{ "Physical state", set_phys, true },
	{ "Rate", set_rate, true },
	{ "SM lid", set_lid, true },
	{ "Link layer", set_layer, true },
	/* ibstatus */
	{ "phys state", set_phys, true },
	{ "rate", set_rate, true },
	{ "sm lid", set_lid, true },
	/* ibv_devinfo, and ibstatus where the keys are the same */
	{ "state", set_state, true },
	{ "link_layer", set_layer, true },
	{ "phys_state", set_phys, true },
	{ "sm_lid", set_lid, true },
	{ "active_width", set_width, true },
	{ "active_speed", set_speed, true },
	{ "node_guid", set_guid, false },
	{ "vendor_id", set_vendor, false },
	{ "vendor_part_id", set_part, false },
};

static void end_port(struct ib *s)
{
	char why[LF_HW_TEXT * 2];

	if (*s->device && s->facts < s->most) {
		(void)snprintf(why, sizeof(why), "the facts of %s are cut",
			       s->device);
		lf_hw_mark_partial(s->hw, why);
	}
	if (s->facts > s->most)
		s->most = s->facts;
	s->facts = 0;
	s->width = s->lane_mbps = 0;
}

static void end_device(struct ib *s)
{
	char why[LF_HW_TEXT * 2];

	if (!*s->device)
		return;
	if (s->ports) {
		end_port(s);
		return;
	}
	(void)snprintf(why, sizeof(why), "no port of %s is shown", s->device);
	lf_hw_mark_partial(s->hw, why);
}

static int begin_device(struct ib *s, const struct lf_text *t, const char *name,
			struct lf_err *e)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");

	if (n == 0 || n >= 64)
		return lf_text_err(e, t, name, "'%.20s' names no device", name);
	end_device(s);
	(void)snprintf(s->device, sizeof(s->device), "%.*s", (int)n, name);
	s->n = NULL;
	s->type[0] = s->guid[0] = '\0';
	s->vendor = s->part = -1;
	s->ports = 0;
	return 0;
}

static void add_card(struct ib *s)
{
	char type[LF_HW_TEXT];

	(void)snprintf(type, sizeof(type), "%s", s->type);
	if (s->vendor == MELLANOX && s->part > 0)
		(void)snprintf(type, sizeof(type), "MT%d", s->part);
	lf_hw_set_text(s->hw, s->device, "type", s->n->type, type);
	lf_hw_set_text(s->hw, s->device, "GUID", s->n->guid, s->guid);
	if (strncmp(type, "MT", 2) == 0 || s->vendor == MELLANOX ||
	    strncmp(s->device, "mlx", 3) == 0)
		s->n->vendor = LF_VENDOR_NVIDIA;
}

static int begin_port(struct ib *s, const struct lf_text *t, const char *number,
		      struct lf_err *e)
{
	char digits[8];
	int port;

	(void)snprintf(digits, sizeof(digits), "%.*s",
		       (int)strspn(number, "0123456789"), number);
	if (!*s->device)
		return lf_text_err(e, t, number, "a port before its device");
	if (!lf_text_int(digits, 1, PORTS, &port))
		return lf_text_err(e, t, number, "'%.20s' is no port", number);
	if (s->ports)
		end_port(s);
	s->n = lf_hw_nic(s->hw, s->device, port, NULL);
	if (!s->n)
		return lf_text_err(e, t, number, "more than %d ports",
				   LF_HW_NICS);
	s->ports++;
	s->hw->nics_shown = true;
	add_card(s);
	return 0;
}

static int set_fact(struct ib *s, const struct lf_text *t, const char *key,
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
		return !want ? 0 :
			       lf_text_err(e, t, value, "%s: '%.30s' is no %s",
					   key, value, want);
	}
	return 0;
}

/* Where a line begins a device, its name, else NULL. */
static const char *device_of(const char *line)
{
	const char *p = lf_text_after(line, "CA '");

	if (!p)
		p = lf_text_after(line, "Infiniband device '");
	return p ? p : lf_text_after(line, "hca_id:");
}

/* Where a line begins a port, its number, else NULL.  ibstatus has both in
 * one. */
static const char *port_of(const char *line)
{
	const char *p = lf_text_after(line, "Port ");

	if (p && (!isdigit((unsigned char)*p) || !strchr(p, ':')))
		p = NULL;
	if (!p && lf_text_after(line, "Infiniband device '")) {
		p = strstr(line, "' port ");
		return p ? p + strlen("' port ") : line + strlen(line);
	}
	return p ? p : lf_text_after(line, "port:");
}

static int read_line(struct ib *s, struct lf_text *t, struct lf_err *e)
{
	const char *device = device_of(t->line), *port = port_of(t->line);
	char *key, *value;
	int rc = 0;

	if (device)
		rc = begin_device(s, t, device, e);
	if (rc == 0 && port)
		rc = begin_port(s, t, port, e);
	if (device || port)
		return rc;
	key = lf_text_pair(t->line, ":", &value);
	/* A number that ends with the text may be half a number. */
	if (!key || (t->cut && isdigit((unsigned char)*value)))
		return 0;
	return set_fact(s, t, key, value, e);
}

static int read_ports(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	struct ib s = { .hw = hw, .vendor = -1, .part = -1 };
	bool any = false;

	while (lf_text_line(t)) {
		bool torn = t->cut && any;
		int rc = read_line(&s, t, torn ? NULL : e);

		any = any || s.n;
		if (rc && torn) {
			lf_hw_mark_partial(hw, "the text ends in the middle");
			break;
		}
		if (rc)
			return rc;
	}
	if (!*s.device)
		return lf_text_err(e, t, t->line, "no device is named");
	if (!any)
		return lf_text_err(e, t, t->line, "no port of %s is shown",
				   s.device);
	end_device(&s);
	return 0;
}

static int read_ib(struct lf_hw *hw, const char *text, size_t n,
		   struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_ports, e);
}

#define NO_NETDEV "no 'DEVICE port N ==> NAME (Up)'"

/* One line of ibdev2netdev: [BUS] NAME [card] port N [(STATE)] ==> NET (Up) */
struct netdev {
	const char *bus, *name, *port, *state, *net, *up;
};

static bool split_netdev(char *line, struct netdev *d)
{
	char *cell[64];
	int n = lf_text_cells(line, cell, 64), arrow = 0, port;

	memset(d, 0, sizeof(*d));
	while (arrow < n && strcmp(cell[arrow], "==>") != 0)
		arrow++;
	port = arrow - 1;
	while (port > 0 && strcmp(cell[port], "port") != 0)
		port--;
	if (port < 1 || port + 1 >= arrow || arrow + 2 >= n)
		return false;
	d->bus = strchr(cell[0], ':') ? cell[0] : NULL;
	if (d->bus && port < 2)
		return false;
	d->name = cell[d->bus ? 1 : 0];
	d->port = cell[port + 1];
	d->state = port + 2 < arrow ? cell[port + 2] : NULL;
	d->net = cell[arrow + 1];
	d->up = cell[arrow + 2];
	return true;
}

static int add_netdev(struct lf_hw *hw, const struct lf_text *t,
		      const struct netdev *d, struct lf_err *e)
{
	struct ib s = { .hw = hw };
	int port, up = strcmp(d->up, "(Up)") == 0;

	if (!up && strcmp(d->up, "(Down)") != 0)
		return lf_text_err(e, t, d->up,
				   "'%.20s' is neither (Up) nor "
				   "(Down)",
				   d->up);
	if (!lf_text_int(d->port, 1, PORTS, &port))
		return lf_text_err(e, t, d->port, "'%.20s' is no port",
				   d->port);
	s.n = lf_hw_nic(hw, d->name, port, d->bus);
	if (!s.n)
		return lf_text_err(e, t, d->name, "more than %d ports",
				   LF_HW_NICS);
	hw->nics_shown = true;
	(void)snprintf(s.device, sizeof(s.device), "%.60s", d->name);
	if (strncmp(d->name, "mlx", 3) == 0)
		s.n->vendor = LF_VENDOR_NVIDIA;
	if (!*s.n->alias)
		(void)snprintf(s.n->alias, sizeof(s.n->alias), "%.60s", d->net);
	lf_hw_set_int(hw, s.device, "netdev", &s.n->netdev_up, up);
	if (d->state && *d->state == '(') {
		char word[32];

		(void)snprintf(word, sizeof(word), "%.*s",
			       (int)strcspn(d->state + 1, ")"), d->state + 1);
		(void)set_state(&s, word);
	}
	return 0;
}

static bool is_netdev(const char *text)
{
	char line[LF_TEXT_LINE];
	struct netdev d;

	(void)snprintf(line, sizeof(line), "%s", text);
	return split_netdev(line, &d);
}

static int read_netdev(struct lf_hw *hw, struct lf_text *t, bool *is,
		       struct lf_err *e)
{
	bool arrow = strstr(t->line, "==>") != NULL;
	const char *end = t->line + strlen(t->line);
	struct netdev d;

	*is = split_netdev(t->line, &d);
	if (*is)
		return add_netdev(hw, t, &d, e);
	return arrow || (t->cut && !lf_text_blank(t->line)) ?
		       lf_text_err(e, t, end, NO_NETDEV) :
		       0;
}

static int read_netdevs(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	int n = 0;

	while (lf_text_line(t)) {
		bool torn = t->cut && n, is;
		int rc;

		if (lf_text_dots(t->line))
			lf_hw_mark_partial(hw, "the author left lines out");
		rc = read_netdev(hw, t, &is, torn ? NULL : e);
		if (rc && !torn)
			return rc;
		if (rc)
			lf_hw_mark_partial(hw, "the text ends in the middle");
		n += is;
	}
	return n ? 0 : lf_text_err(e, t, t->line, NO_NETDEV);
}

static int read_ibdev2netdev(struct lf_hw *hw, const char *text, size_t n,
			     struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_netdevs, e);
}

static bool is_ca(const char *line)
{
	return lf_text_after(line, "CA '") != NULL;
}

static bool is_status(const char *line)
{
	return lf_text_after(line, "Infiniband device '") != NULL;
}

static bool is_hca(const char *line)
{
	return lf_text_after(line, "hca_id:") != NULL;
}

static int claims_ibstat(const char *text, size_t n)
{
	return lf_text_any(text, n, is_ca) ? 80 : 0;
}

static int claims_ibstatus(const char *text, size_t n)
{
	return lf_text_any(text, n, is_status) ? 80 : 0;
}

static int claims_devinfo(const char *text, size_t n)
{
	return lf_text_any(text, n, is_hca) ? 80 : 0;
}

static int claims_netdev(const char *text, size_t n)
{
	return lf_text_any(text, n, is_netdev) ? 80 : 0;
}

const struct lf_hw_reader lf_hw_read_ibstat = { "ibstat", claims_ibstat,
						read_ib };
const struct lf_hw_reader lf_hw_read_ibstatus = { "ibstatus", claims_ibstatus,
						  read_ib };
const struct lf_hw_reader lf_hw_read_ibv_devinfo = { "ibv_devinfo",
						     claims_devinfo, read_ib };
const struct lf_hw_reader lf_hw_read_ibdev2netdev = { "ibdev2netdev",
						      claims_netdev,
						      read_ibdev2netdev };
