# SPDX-License-Identifier: Apache-2.0
# Floors, low to high.  The plugin links $(plugin_base) and nothing above.
plugin_base = \
	lib/base/auto.h \
	lib/base/child.c lib/base/child.h \
	lib/base/clean.c lib/base/clean.h \
	lib/base/clock.c lib/base/clock.h \
	lib/base/err.c lib/base/err.h \
	lib/base/fs.c lib/base/fs.h \
	lib/base/launch.c lib/base/launch.h \
	lib/base/lifeline.c lib/base/lifeline.h \
	lib/base/limits.h \
	lib/base/parse.c lib/base/parse.h \
	lib/base/sock.c lib/base/sock.h \
	lib/find/find.h lib/find/text.c

noinst_LTLIBRARIES += liblf-base.la liblf-keys.la liblf-wire.la liblf-conf.la
liblf_base_la_SOURCES = $(plugin_base) \
	lib/base/buf.c lib/base/buf.h \
	lib/base/hash.h \
	lib/base/hostlist.c lib/base/hostlist.h \
	lib/base/log.c lib/base/log.h \
	lib/base/save.c lib/base/save.h \
	lib/find/print.c \
	lib/base/sock_peer.c
liblf_wire_la_SOURCES = \
	lib/wire/msg.c lib/wire/msg.h \
	lib/wire/session.c lib/wire/session.h
liblf_keys_la_SOURCES = \
	lib/conf/keys.c lib/conf/keys.h \
	lib/conf/value.c lib/conf/value.h
liblf_conf_la_SOURCES = \
	lib/conf/conf.c lib/conf/conf.h \
	lib/conf/confuse.c lib/conf/confuse.h
liblf_conf_la_CPPFLAGS = $(AM_CPPFLAGS) $(CONFUSE_CFLAGS)
liblf_conf_la_LIBADD = liblf-keys.la $(CONFUSE_LIBS)

# What root's probe may link of it: libc and dlopen only.
noinst_LTLIBRARIES += liblf-hw.la liblf-expect.la liblf-recorded.la
liblf_hw_la_SOURCES = \
	lib/hw/bounded.c lib/hw/bounded.h \
	lib/hw/graph.c lib/hw/graph.h \
	lib/hw/judge.c lib/hw/judge.h lib/hw/judging.h \
	lib/hw/judge_host.c lib/hw/judge_nvlink.c lib/hw/judge_pcie.c \
	lib/hw/judge_peer.c lib/hw/judge_rdma.c lib/hw/judge_software.c \
	lib/hw/links.c lib/hw/links.h \
	lib/hw/live.c lib/hw/live.h \
	lib/hw/merge.c \
	lib/hw/model.c lib/hw/model.h \
	lib/hw/nvml.c lib/hw/nvml.h lib/hw/nvml_api.h \
	lib/hw/nvml_gpu.c lib/hw/nvml_links.c \
	lib/hw/parts.c lib/hw/parts.h \
	lib/hw/pci.c lib/hw/pci.h \
	lib/hw/policy.c lib/hw/policy.h \
	lib/hw/software.c lib/hw/software.h \
	lib/hw/sysfs.c \
	lib/hw/sysread.h \
	lib/hw/sysview.c lib/hw/sysview.h \
	lib/hw/sysview_node.c lib/hw/sysview_rdma.c \
	lib/hw/verdict.c lib/hw/verdict.h
liblf_hw_la_LIBADD = -ldl
# Expected machines and known-good software: the administrator's files.
liblf_expect_la_SOURCES = lib/hw/expect.c lib/hw/expect.h lib/hw/learn.c \
	lib/hw/software_read.c
liblf_expect_la_CPPFLAGS = $(AM_CPPFLAGS) $(CONFUSE_CFLAGS)
liblf_expect_la_LIBADD = $(CONFUSE_LIBS)
# Of the user's side as well, and of `loongforge` alone, which has libibverbs
# itself: a test has a fake in its place.
noinst_LTLIBRARIES += liblf-verbs.la
liblf_verbs_la_SOURCES = lib/hw/verbs.c lib/hw/verbs.h
liblf_verbs_la_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS)

# Other people's text and XML: the user's side.
liblf_recorded_la_SOURCES = \
	lib/hw/recorded/dmesg.c \
	lib/hw/recorded/hwloc_model.c \
	lib/hw/recorded/hwloc_xml.c lib/hw/recorded/hwloc_xml.h \
	lib/hw/recorded/ib.c lib/hw/recorded/ib.h \
	lib/hw/recorded/ib_facts.c \
	lib/hw/recorded/lspci.c lib/hw/recorded/lspci.h \
	lib/hw/recorded/lspci_model.c \
	lib/hw/recorded/nccl_xml.c \
	lib/hw/recorded/netdev.c \
	lib/hw/recorded/nvlink.c \
	lib/hw/recorded/read.c lib/hw/recorded/read.h \
	lib/hw/recorded/smi_text.c \
	lib/hw/recorded/smi_xml.c \
	lib/hw/recorded/sysfs_json.c \
	lib/hw/recorded/text.c lib/hw/recorded/text.h \
	lib/hw/recorded/topo.c lib/hw/recorded/topo.h \
	lib/hw/recorded/topo_matrix.c \
	lib/hw/recorded/xml.c lib/hw/recorded/xml.h
liblf_recorded_la_CPPFLAGS = $(AM_CPPFLAGS) $(EXPAT_CFLAGS) $(JANSSON_CFLAGS)
liblf_recorded_la_LIBADD = $(EXPAT_LIBS) $(JANSSON_LIBS)

# Other people's environments, logs and libraries; libc only.
noinst_LTLIBRARIES += liblf-comm.la
liblf_comm_la_SOURCES = \
	lib/comm/elf.c lib/comm/elf.h \
	lib/comm/libnccl.c lib/comm/libnccl.h \
	lib/comm/lint.c lib/comm/lint.h \
	lib/comm/match.c lib/comm/match.h \
	lib/comm/ncclconf.c \
	lib/comm/ncclfit.c \
	lib/comm/ncclmaps.c \
	lib/comm/note.c lib/comm/note.h \
	lib/comm/rules.c lib/comm/rules.h \
	lib/comm/script.c lib/comm/script.h \
	lib/comm/settings.c \
	lib/comm/symptom.c lib/comm/symptom.h \
	lib/comm/symptoms.c \
	lib/comm/value.c \
	lib/comm/vars.c lib/comm/vars.h

lib_LTLIBRARIES += libloongforge.la
include_HEADERS += lib/client/loongforge.h
libloongforge_la_SOURCES = lib/client/client.c
libloongforge_la_CFLAGS = $(AM_CFLAGS)
libloongforge_la_LIBADD = liblf-wire.la liblf-base.la
libloongforge_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-export-symbols-regex '^lf_(init|active|finalize|version|state)$$'
