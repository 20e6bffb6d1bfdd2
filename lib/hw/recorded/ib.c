/* SPDX-License-Identifier: Apache-2.0 */
/* `ibstat`, `ibstatus` and `ibv_devinfo [-v]`.
 *
 * They list devices, their ports, and "key: value" of each, so one reader
 * serves all.  A port that is down shows a placeholder as its rate (10, 40).
 */
#include "config.h"

#include "hw/recorded/ib.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MELLANOX = 0x02c9 /* its OUI, as vendor id */
};

static void end_port(struct lf_ib *s)
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

static void end_device(struct lf_ib *s)
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

static int begin_device(struct lf_ib *s, const struct lf_text *t,
			const char *name, struct lf_err *e)
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

static void add_card(struct lf_ib *s)
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

static int begin_port(struct lf_ib *s, const struct lf_text *t,
		      const char *number, struct lf_err *e)
{
	char digits[8];
	int port;

	(void)snprintf(digits, sizeof(digits), "%.*s",
		       (int)strspn(number, "0123456789"), number);
	if (!*s->device)
		return lf_text_err(e, t, number, "a port before its device");
	if (!lf_text_int(digits, 1, LF_IB_PORTS, &port))
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

static int read_line(struct lf_ib *s, struct lf_text *t, struct lf_err *e)
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
	return lf_ib_fact(s, t, key, value, e);
}

static int read_ports(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	struct lf_ib s = { .hw = hw, .vendor = -1, .part = -1 };
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

const struct lf_hw_reader lf_hw_read_ibstat = { "ibstat", claims_ibstat,
						read_ib };
const struct lf_hw_reader lf_hw_read_ibstatus = { "ibstatus", claims_ibstatus,
						  read_ib };
const struct lf_hw_reader lf_hw_read_ibv_devinfo = { "ibv_devinfo",
						     claims_devinfo, read_ib };
