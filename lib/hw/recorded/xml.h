/* SPDX-License-Identifier: Apache-2.0 */
/* xml - hostile XML as events: expat with bounds.
 *
 * Depth, elements and text are bounded and entity declarations refused, so that
 * time and memory follow the size of the input, which read.c bounds.  Errors
 * begin with "LINE:COLUMN: ".
 */
#ifndef LF_HW_XML_H
#define LF_HW_XML_H

#include <stdbool.h>
#include <stddef.h>

#include "hw/model.h"

#define LF_XML_DEPTH	128    /* lstopo of a deep PCI tree: 30 */
#define LF_XML_ELEMENTS 500000 /* the largest lstopo known: 12000 */
#define LF_XML_TEXT	65536  /* bytes of one element's text; 200 seen */
#define LF_XML_TAG	65536  /* bytes of one tag or comment; 3000 seen */

struct lf_xml;

struct lf_xml_events {
	/* Return 0, or what lf_xml_fail returned.  attr: name, value, ...,
	 * NULL; text: that of an element without children, trimmed, else "". */
	int (*open)(struct lf_xml *x, void *arg, const char *name,
		    const char **attr);
	int (*close)(struct lf_xml *x, void *arg, const char *name,
		     const char *text);
	/* Whether something worth having was read; lf_xml_read_part asks. */
	bool (*any)(void *arg);
};

/* 0; -ENODATA: the text ends too early (what was closed was told); -EINVAL: not
 * well-formed; -E2BIG: past a bound; -EPERM: entities; or a handler's code. */
int lf_xml_read(const char *text, size_t n, const struct lf_xml_events *events,
		void *arg, struct lf_err *e);
/* The same, where a part is better than nothing: if there is any by then, an
 * early end marks the model partial instead.  After an error the model is as it
 * was. */
int lf_xml_read_part(struct lf_hw *hw, const char *text, size_t n,
		     const struct lf_xml_events *events, void *arg,
		     struct lf_err *e);
/* In a handler: an error at the place where the parser is. */
int lf_xml_fail(struct lf_xml *x, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The attribute's value, or NULL. */
const char *lf_xml_attr(const char **attr, const char *name);
/* A whole number from 0 to max of an attribute or text, or -1. */
int lf_xml_int(const char *text, int max);
/* Whether the first element is `name`. */
bool lf_xml_root(const char *text, size_t n, const char *name);

#endif
