/* SPDX-License-Identifier: Apache-2.0 */
/* `lspci -vv` (link, ACS and NUMA lines), and `lspci -nn` inventories.
 *
 * Devices are collected first; lspci_model.c makes a model of them.  That a
 * bridge port is "(downgraded)" says nothing: it compares the port with itself.
 */
#include "config.h"

#include "hw/recorded/lspci.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	DEVICES = 8192 /* with virtual functions; 400 is much */
};

/* "19:00.0 ", "0000:19:00.0 ": the length, or 0. */
static size_t bus_length(const char *line)
{
	size_t hex = strspn(line, "0123456789abcdefABCDEF");
	const char *p = line + hex;

	if (hex >= 4 && hex <= 8 && *p == ':') {
		p++;
		hex = strspn(p, "0123456789abcdefABCDEF");
		p += hex;
	}
	if (hex != 2 || *p++ != ':')
		return 0;
	if (strspn(p, "0123456789abcdefABCDEF") != 2 || p[2] != '.' ||
	    p[3] < '0' || p[3] > '7' || p[4] != ' ')
		return 0;
	return (size_t)(p + 4 - line);
}

static bool is_device_line(const char *line)
{
	size_t n = bus_length(line);

	return n && strchr(line + n, ':') &&
	       isalnum((unsigned char)line[n + 1]);
}

static bool is_class(const char *text, const char *name)
{
	return strncmp(text, name, strlen(name)) == 0;
}

static bool has(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

static enum kind kind_of(const char *text)
{
	bool vga = is_class(text, "VGA compatible controller");
	bool accelerator = is_class(text, "3D controller") ||
			   is_class(text, "Display controller") ||
			   is_class(text, "Processing accelerators");
	bool ethernet = is_class(text, "Ethernet controller") ||
			is_class(text, "Network controller");

	if ((vga || accelerator) && has(text, "NVIDIA"))
		return GPU;
	/* A VGA controller of others is the console's. */
	if (accelerator && (has(text, "AMD/ATI") || has(text, "Intel")))
		return FOREIGN_GPU;
	if (is_class(text, "Infiniband controller") ||
	    (ethernet && has(text, "Mellanox")) ||
	    has(text, "Elastic Fabric Adapter"))
		return NIC;
	return is_class(text, "PCI bridge") ? BRIDGE : OTHER;
}

/* "[10de:20b2]", or "NVIDIA Corporation Device 2330". */
static int id_of(const char *text)
{
	const char *p = text, *device = strstr(text, "Corporation Device ");
	char hex[8] = "0x";
	int id;

	while ((p = strchr(p, '[')) != NULL) {
		p++;
		if (strspn(p, "0123456789abcdef") != 4 || p[4] != ':' ||
		    strspn(p + 5, "0123456789abcdef") != 4 || p[9] != ']')
			continue;
		(void)snprintf(hex + 2, 5, "%s", p + 5);
		return lf_text_int(hex, 0, 0xffff, &id) ? id : -1;
	}
	if (!device)
		return -1;
	device += strlen("Corporation Device ");
	if (strspn(device, "0123456789abcdef") != 4)
		return -1;
	(void)snprintf(hex + 2, 5, "%s", device);
	return lf_text_int(hex, 0, 0xffff, &id) ? id : -1;
}

/* The number in "MT4129", which is the PCI device id in decimal. */
static int card_of(const char *text, int id)
{
	static const struct {
		const char *name;
		int mt;
	} rows[] = {
		{ "[ConnectX-8]", 4131 },    { "[ConnectX-7]", 4129 },
		{ "[ConnectX-6 Dx]", 4125 }, { "[ConnectX-6]", 4123 },
		{ "[ConnectX-5]", 4119 },    { "[ConnectX-4]", 4115 },
	};

	if (!has(text, "Mellanox"))
		return -1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows) && id < 0; i++)
		if (has(text, rows[i].name))
			id = rows[i].mt;
	return id;
}

static struct device *last_of(const struct list *l)
{
	return l->n ? &l->d[l->n - 1] : NULL;
}

static struct device *grow(struct list *l)
{
	struct device *d;

	if (l->n == l->size) {
		int size = l->size ? l->size * 2 : 128;

		d = realloc(l->d, (size_t)size * sizeof(*d));
		if (!d)
			return NULL;
		l->d = d;
		l->size = size;
	}
	d = &l->d[l->n++];
	*d = (struct device){ .secondary = -1,
			      .id = -1,
			      .mt = -1,
			      .numa = -1,
			      .redirects = -1,
			      .cap = { -1, -1 },
			      .now = { -1, -1 } };
	return d;
}

static int add_device(struct list *l, const struct lf_text *t, struct lf_err *e)
{
	size_t n = bus_length(t->line);
	const char *text = t->line + n + 1;
	char bus[LF_HW_TEXT];
	struct device *d;
	unsigned device;

	if (l->n == DEVICES)
		return lf_text_err(e, t, t->line, "more than %d devices",
				   DEVICES);
	d = grow(l);
	if (!d)
		return lf_err(e, -ENOMEM, "no memory for devices");
	(void)snprintf(bus, sizeof(bus), "%.*s", (int)n, t->line);
	lf_hw_bus(bus, d->bus);
	if (sscanf(d->bus, "%8x:%2x:%2x", &d->domain, &d->number, &device) < 3)
		return lf_text_err(e, t, t->line, "no bus id");
	d->kind = kind_of(text);
	d->id = id_of(text);
	if (d->kind == NIC)
		d->mt = card_of(text, d->id);
	return 0;
}

/* "2.5GT/s" .. "128GT/s" to 1 .. 7; 0: not known to lspci; -1: neither. */
static int gen_of(const char *speed)
{
	static const int milli[] = { 2500,  5000,  8000,  16000,
				     32000, 64000, 128000 };
	const char *rest;
	int v;

	if (strncasecmp(speed, "unknown", 7) == 0 ||
	    strncasecmp(speed, "<unknown>", 9) == 0)
		return 0;
	if (!lf_text_milli(speed, &v, &rest) || strncmp(rest, "GT/s", 4) != 0)
		return -1;
	for (int i = 0; i < 7; i++)
		if (v == milli[i])
			return i + 1;
	return -1;
}

static int width_of(const char *text)
{
	char digits[8];
	int v;

	if (*text != 'x')
		return -1;
	(void)snprintf(digits, sizeof(digits), "%.*s",
		       (int)strspn(text + 1, "0123456789"), text + 1);
	return lf_text_int(digits, 0, 32, &v) ? v : -1;
}

static int read_link(struct link *k, const struct lf_text *t, struct lf_err *e)
{
	const char *speed = strstr(t->line, "Speed ");
	const char *width = strstr(t->line, "Width ");
	const char *end = t->line + strlen(t->line);
	int gen, lanes;

	if (!speed || !width)
		return lf_text_err(e, t, end, "no Speed and Width");
	speed += strlen("Speed ");
	width += strlen("Width ");
	gen = gen_of(speed);
	lanes = width_of(width);
	if (gen < 0)
		return lf_text_err(e, t, speed, "'%.12s' is no PCIe speed",
				   speed);
	if (lanes < 0)
		return lf_text_err(e, t, width, "'%.8s' is no width", width);
	k->gen = gen > 0 ? gen : -1;
	k->width = lanes > 0 ? lanes : -1;
	return 0;
}

static int read_link_line(struct list *l, const struct lf_text *t,
			  struct lf_err *e)
{
	struct device *d = last_of(l);
	bool cap = lf_text_after(t->line, "LnkCap:") != NULL;

	if (!d) {
		d = grow(l);
		if (!d)
			return lf_err(e, -ENOMEM, "no memory for devices");
		d->kind = GPU;
		l->nameless = true;
	}
	if (l->nameless && (cap ? d->cap.gen > 0 : d->now.gen > 0))
		return lf_text_err(e, t, t->line,
				   "links of several devices, none named");
	return read_link(cap ? &d->cap : &d->now, t, e);
}

static int read_buses(struct device *d, const struct lf_text *t,
		      struct lf_err *e)
{
	const char *p = strstr(t->line, "secondary=");
	char hex[8] = "0x";

	if (!p)
		return lf_text_err(e, t, t->line, "no secondary bus");
	p += strlen("secondary=");
	(void)snprintf(hex + 2, 3, "%.2s", p);
	if (!lf_text_int(hex, 0, 255, &d->secondary))
		return lf_text_err(e, t, p, "'%.4s' is no bus", p);
	return 0;
}

static int read_attribute(struct list *l, const struct lf_text *t,
			  struct lf_err *e)
{
	const char *line = t->line, *p;
	struct device *d = last_of(l);

	if (lf_text_after(line, "LnkCap:") || lf_text_after(line, "LnkSta:"))
		return read_link_line(l, t, e);
	if (!d)
		return 0;
	if (lf_text_after(line, "Bus: primary="))
		return read_buses(d, t, e);
	if ((p = lf_text_after(line, "NUMA node:")) != NULL) {
		if (*p != '-' && !lf_text_int(p, 0, LF_HW_NUMA - 1, &d->numa))
			return lf_text_err(e, t, p, "'%.8s' is no NUMA node",
					   p);
	} else if (lf_text_after(line, "ACSCtl:")) {
		d->redirects =
			has(line, "ReqRedir+") || has(line, "CmpltRedir+");
	} else if ((p = lf_text_after(line, "Kernel driver in use:"))) {
		d->no_driver = strcmp(p, "nvidia") != 0;
	} else if (has(line, "Express (v") && has(line, "Root Port")) {
		d->is_root = true;
	}
	return 0;
}

static int read_line(struct list *l, const struct lf_text *t, struct lf_err *e)
{
	if (is_device_line(t->line))
		return add_device(l, t, e);
	/* Half a line proves nothing. */
	if (lf_text_dots(t->line) || (t->cut && *t->line)) {
		l->partial = true;
		return 0;
	}
	return read_attribute(l, t, e);
}

static int read_into(struct lf_hw *hw, struct lf_text *t, struct list *l,
		     struct lf_err *e)
{
	int rc = 0, *at;

	while (rc == 0 && lf_text_line(t))
		rc = read_line(l, t, e);
	if (rc == 0 && l->n == 0)
		rc = lf_text_err(e, t, t->line, "no line of a device");
	if (rc)
		return rc;
	if (last_of(l)->cap.gen > 0 && last_of(l)->now.gen < 0)
		l->partial = true; /* LnkSta follows LnkCap */
	at = calloc((size_t)l->n, sizeof(*at));
	rc = at ? lf_lspci_add(hw, l, at, e)
		: lf_err(e, -ENOMEM, "no memory for devices");
	free(at);
	return rc;
}

static int read_devices(struct lf_hw *hw, struct lf_text *t, struct lf_err *e)
{
	struct list l = { 0 };
	int rc = read_into(hw, t, &l, e);

	free(l.d);
	return rc;
}

static int read_lspci(struct lf_hw *hw, const char *text, size_t n,
		      struct lf_err *e)
{
	return lf_text_read(hw, text, n, read_devices, e);
}

static bool is_link(const char *line)
{
	const char *p = lf_text_after(line, "LnkSta:");

	return p && strncmp(p, "Speed", 5) == 0;
}

static int claims_lspci(const char *text, size_t n)
{
	if (lf_text_any(text, n, is_device_line))
		return 80;
	return lf_text_any(text, n, is_link) ? 60 : 0;
}

const struct lf_hw_reader lf_hw_read_lspci = { "lspci", claims_lspci,
					       read_lspci };
