/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA devices and their ports. */
#include "config.h"

#include "hw/sysread.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "4: ACTIVE" */
static enum lf_hw_port port_state(const char *text)
{
	return isdigit((unsigned char)text[0]) && text[1] == ':' &&
			       text[0] >= '1' && text[0] <= '4'
		       ? (enum lf_hw_port)(text[0] - '0')
		       : LF_PORT_UNKNOWN;
}

/* "200 Gb/sec (4X HDR)", "2.5 Gb/sec" */
static int port_rate(const char *text)
{
	int gbps = 0, tenth = 0;
	char unit[4] = "";

	if (sscanf(text, "%5d.%1d %3s", &gbps, &tenth, unit) != 3 &&
	    (tenth = 0, sscanf(text, "%5d %3s", &gbps, unit)) != 2)
		return -1;
	return strcmp(unit, "Gb/") == 0 ? gbps * 1000 + tenth * 100 : -1;
}

static void set_port(struct lf_sysread *r, struct lf_hw_nic *n,
		     const char *base, const char *port)
{
	char buf[VALUE];
	unsigned lid;

	if (lf_sys_get(r, buf, sizeof(buf), "%s/ports/%s/state", base, port) >
	    0)
		lf_hw_set_port(r->hw, n, port_state(buf));
	if (lf_sys_get(r, buf, sizeof(buf), "%s/ports/%s/phys_state", base,
		       port) > 0 &&
	    strchr(buf, ':'))
		lf_hw_set_text(r->hw, n->name, "physical state", n->phys,
			       strchr(buf, ':') + 1 +
				       (strchr(buf, ':')[1] == ' '));
	if (lf_sys_get(r, buf, sizeof(buf), "%s/ports/%s/rate", base, port) > 0)
		lf_hw_set_int(r->hw, n->name, "rate", &n->rate_mbps,
			      port_rate(buf));
	if (lf_sys_get(r, buf, sizeof(buf), "%s/ports/%s/link_layer", base,
		       port) > 0)
		lf_hw_set_layer(r->hw, n,
				strcmp(buf, "InfiniBand") == 0 ? LF_LAYER_IB
				: strcmp(buf, "Ethernet") == 0
					? LF_LAYER_ETHERNET
					: LF_LAYER_UNKNOWN);
	if (lf_sys_get(r, buf, sizeof(buf), "%s/ports/%s/sm_lid", base, port) >
		    0 &&
	    (sscanf(buf, "0x%4x", &lid) == 1))
		lf_hw_set_int(r->hw, n->name, "SM LID", &n->sm_lid, (int)lid);
}

/* The interface whose port it is: dev_port counts from 0. */
static void set_netdev(struct lf_sysread *r, struct lf_hw_nic *n,
		       const char *bus)
{
	char path[PATH], buf[VALUE];
	struct lf_sys_names *names = r->names;

	(void)snprintf(path, sizeof(path), PCI "/%s/net", bus);
	if (!r->v->list(r->v, path, names))
		return;
	for (int i = 0; i < names->n; i++) {
		const char *net = names->name[i];

		if (names->n > 1 && n->port > 0 &&
		    lf_sys_get(r, buf, sizeof(buf), "%s/%s/dev_port", path,
			       net) > 0 &&
		    lf_sys_whole(buf) != n->port - 1)
			continue;
		if (!*n->alias && lf_sys_printable(net))
			(void)snprintf(n->alias, sizeof(n->alias), "%s", net);
		if (lf_sys_get(r, buf, sizeof(buf), "%s/%s/operstate", path,
			       net) > 0)
			lf_hw_set_int(r->hw, n->name, "interface up",
				      &n->netdev_up,
				      strcmp(buf, "up") == 0	 ? 1
				      : strcmp(buf, "down") == 0 ? 0
								 : -1);
		return;
	}
}

static void set_device(struct lf_sysread *r, struct lf_hw_nic *n,
		       const char *base, const char *bus)
{
	char buf[VALUE];
	int i = *bus ? lf_sys_add_chain(r, bus) : -1;

	if (lf_sys_get(r, buf, sizeof(buf), "%s/hca_type", base) > 0 &&
	    strncmp(buf, "MT", 2) == 0)
		lf_hw_set_text(r->hw, n->name, "card", n->type, buf);
	if (lf_sys_get(r, buf, sizeof(buf), "%s/node_guid", base) > 0 &&
	    strchr(buf, ':'))
		lf_hw_set_text(r->hw, n->name, "GUID", n->guid, buf);
	if (i < 0)
		return;
	if (!*n->type || r->tree->dev[i].device >= 0)
		lf_pci_to_nic(r->hw, n, &r->tree->dev[i]);
	lf_sys_set_pcie(r, &r->tree->dev[i], &n->pcie);
	set_netdev(r, n, bus);
	n->is_virtual = n->is_virtual || lf_sys_lent(r, bus);
}

static void add_port(struct lf_sysread *r, const char *base, const char *name,
		     const char *port, const char *bus)
{
	struct lf_hw_nic *n = lf_hw_nic(
		r->hw, name, port ? lf_sys_whole(port) : -1, *bus ? bus : NULL);

	if (!n) {
		lf_hw_mark_partial(r->hw, "more than 128 RDMA ports");
		return;
	}
	if (port)
		set_port(r, n, base, port);
	set_device(r, n, base, bus);
}

static void add_rdma(struct lf_sysread *r, const char *base, const char *name,
		     const char *bus)
{
	struct lf_sys_names *ports = calloc(1, sizeof(*ports));
	char path[PATH];

	(void)snprintf(path, sizeof(path), "%s/ports", base);
	if (!ports || !lf_sys_printable(name)) {
		free(ports);
		return;
	}
	if (!r->v->list(r->v, path, ports) || ports->n == 0)
		add_port(r, base, name, NULL, bus);
	for (int i = 0; i < ports->n; i++)
		if (lf_sys_whole(ports->name[i]) > 0)
			add_port(r, base, name, ports->name[i], bus);
	free(ports);
}

/* The last PCI address in a link's text, "" without. */
static void address_in(char *text, char out[LF_SYS_NAME])
{
	char *cursor = text, *part;

	out[0] = '\0';
	while ((part = strsep(&cursor, "/")) != NULL)
		if (lf_sys_is_address(part))
			(void)snprintf(out, LF_SYS_NAME, "%s", part);
}

/* By /sys/class/infiniband, whose links lead to the PCI devices. */
void lf_sys_rdma_by_class(struct lf_sysread *r)
{
	struct lf_sys_names *list = calloc(1, sizeof(*list));

	r->rdma_class = list && r->v->list(r->v, IB, list);
	for (int i = 0; r->rdma_class && i < list->n; i++) {
		char path[PATH], text[PATH] = "", bus[LF_SYS_NAME];
		bool soft;

		(void)snprintf(path, sizeof(path), IB "/%s", list->name[i]);
		(void)r->v->link(r->v, path, text, sizeof(text));
		soft = strstr(text, "/virtual/") != NULL;
		address_in(text, bus);
		if (!*bus) {
			char device[PATH];

			(void)snprintf(device, sizeof(device), IB "/%s/device",
				       list->name[i]);
			if (r->v->link(r->v, device, text, sizeof(text)))
				address_in(text, bus);
		}
		add_rdma(r, path, list->name[i], soft ? "" : bus);
		/* rxe, siw: RDMA made by software. */
		for (int n = 0; soft && n < r->hw->nics; n++)
			if (strcmp(r->hw->nic[n].name, list->name[i]) == 0)
				r->hw->nic[n].is_virtual = true;
	}
	free(list);
}

/* By PCI device, where a copy has no /sys/class/infiniband. */
void lf_sys_rdma_by_device(struct lf_sysread *r)
{
	struct lf_sys_names *list = calloc(1, sizeof(*list));

	for (int i = 0; list && i < r->devices->n; i++) {
		const char *bus = r->devices->name[i];
		char path[PATH];

		(void)snprintf(path, sizeof(path), PCI "/%s/infiniband", bus);
		if (!r->v->list(r->v, path, list))
			continue;
		for (int n = 0; n < list->n; n++) {
			char base[PATH + LF_SYS_NAME];

			(void)snprintf(base, sizeof(base), "%s/%s", path,
				       list->name[n]);
			add_rdma(r, base, list->name[n], bus);
		}
	}
	free(list);
}
