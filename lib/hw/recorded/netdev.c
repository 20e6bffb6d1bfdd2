/* SPDX-License-Identifier: Apache-2.0 */
/* `ibdev2netdev [-v]`.  Its "(Down)" speaks of the network interface, not of
 * the port. */
#include "config.h"

#include "hw/recorded/ib.h"

#include <stdio.h>
#include <string.h>

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
	struct lf_ib s = { .hw = hw };
	int port, up = strcmp(d->up, "(Up)") == 0;

	if (!up && strcmp(d->up, "(Down)") != 0)
		return lf_text_err(e, t, d->up,
				   "'%.20s' is neither (Up) nor "
				   "(Down)",
				   d->up);
	if (!lf_text_int(d->port, 1, LF_IB_PORTS, &port))
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
		(void)lf_ib_state(&s, word);
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
	return arrow || (t->cut && !lf_text_blank(t->line))
		       ? lf_text_err(e, t, end, NO_NETDEV)
		       : 0;
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

static int claims_netdev(const char *text, size_t n)
{
	return lf_text_any(text, n, is_netdev) ? 80 : 0;
}

const struct lf_hw_reader lf_hw_read_ibdev2netdev = { "ibdev2netdev",
						      claims_netdev,
						      read_ibdev2netdev };
