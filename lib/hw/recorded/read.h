/* SPDX-License-Identifier: Apache-2.0 */
/* read - other people's text and XML into the model; user side only.
 *
 * One reader a format, one file each, listed in the table of read.c, which
 * finds the format by content, never by name.  A reader adds to the model what
 * the recording shows and nothing else.  Damaged, cut or foreign input gives
 * "LINE:COLUMN: what" as an error and leaves *hw as it was, or, where a
 * sensible part could be read, marks the model partial with the reason.
 * Input is hostile: at most LF_HW_READ_MAX bytes, no recursion without a bound,
 * no entity expansion.  Text is NUL-terminated and may hold ANSI escapes,
 * carriage returns, lost tabs; readers get it cleaned (no escapes, no \r).
 */
#ifndef LF_HW_READ_H
#define LF_HW_READ_H

#include "hw/model.h"

#define LF_HW_READ_MAX (32u << 20) /* bytes; the largest known lstopo is 1 MB */

struct lf_hw_reader {
	const char *name; /* "nvidia-smi topo -m" */
	/* 0 .. 100: how sure that the text is this format. */
	int (*claims)(const char *text, size_t n);
	int (*read)(struct lf_hw *hw, const char *text, size_t n,
		    struct lf_err *e);
};

extern const struct lf_hw_reader lf_hw_read_topo; /* topo.c */
extern const struct lf_hw_reader lf_hw_read_topo_p2p; /* topo.c */
extern const struct lf_hw_reader lf_hw_read_nvlink_status; /* nvlink.c */
extern const struct lf_hw_reader lf_hw_read_nvlink_remote; /* nvlink.c */
extern const struct lf_hw_reader lf_hw_read_smi_text; /* smi_text.c */
extern const struct lf_hw_reader lf_hw_read_smi_xml; /* smi_xml.c */
extern const struct lf_hw_reader lf_hw_read_ibstat; /* ib.c */
extern const struct lf_hw_reader lf_hw_read_ibstatus; /* ib.c */
extern const struct lf_hw_reader lf_hw_read_ibv_devinfo; /* ib.c */
extern const struct lf_hw_reader lf_hw_read_ibdev2netdev; /* netdev.c */
extern const struct lf_hw_reader lf_hw_read_lspci; /* lspci.c */
extern const struct lf_hw_reader lf_hw_read_dmesg; /* dmesg.c */
extern const struct lf_hw_reader lf_hw_read_nccl_xml; /* nccl_xml.c */
extern const struct lf_hw_reader lf_hw_read_hwloc_xml; /* hwloc_xml.c */
extern const struct lf_hw_reader lf_hw_read_sysfs_json; /* sysfs_json.c */

/* Adds one recording, any format: a file, or a folder that is a sysfs tree.
 * The error names path, line and column.  *format (may be NULL) is set to the
 * reader's name. */
int lf_hw_read_path(struct lf_hw *hw, const char *path, const char **format,
		    struct lf_err *e);
/* The same for text in memory (fuzzers, tests). */
int lf_hw_read_text(struct lf_hw *hw, const char *text, size_t n,
		    const char **format, struct lf_err *e);

#endif
