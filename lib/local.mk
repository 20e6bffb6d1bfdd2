# SPDX-License-Identifier: Apache-2.0
# Floors, low to high.  The plugin links $(plugin_base) and nothing above.
plugin_base = \
	lib/base/auto.h \
	lib/base/child.c lib/base/child.h \
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
	lib/base/hostlist.c lib/base/hostlist.h \
	lib/base/log.c lib/base/log.h \
	lib/base/save.c lib/base/save.h
liblf_wire_la_SOURCES = \
	lib/wire/msg.c lib/wire/msg.h \
	lib/wire/session.c lib/wire/session.h
liblf_keys_la_SOURCES = \
	lib/conf/keys.c lib/conf/keys.h \
	lib/conf/value.c lib/conf/value.h
liblf_conf_la_SOURCES = lib/conf/conf.c lib/conf/conf.h
liblf_conf_la_CPPFLAGS = $(AM_CPPFLAGS) $(CONFUSE_CFLAGS)
liblf_conf_la_LIBADD = liblf-keys.la $(CONFUSE_LIBS)

lib_LTLIBRARIES += libloongforge.la
include_HEADERS += lib/client/loongforge.h
libloongforge_la_SOURCES = lib/client/client.c
libloongforge_la_CFLAGS = $(AM_CFLAGS)
libloongforge_la_LIBADD = liblf-wire.la liblf-base.la
libloongforge_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-export-symbols-regex '^lf_(init|active|finalize|version|state)$$'
