# SPDX-License-Identifier: Apache-2.0
if BUILD_SPANK
slurmplugin_LTLIBRARIES = spank_loongforge.la
endif
spank_loongforge_la_SOURCES = $(plugin_base) \
	spank/dispatch.c \
	spank/epilog.c \
	spank/local.c spank/local.h \
	spank/memory.c spank/memory.h \
	spank/options.c spank/options.h \
	spank/prolog.c spank/prolog.h \
	spank/site.c spank/site.h \
	spank/spankapi.c spank/spankapi.h \
	spank/step.c spank/step.h
spank_loongforge_la_CPPFLAGS = $(AM_CPPFLAGS)
spank_loongforge_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^(plugin_(name|type|version)|slurm_spank_)'

sbin_PROGRAMS += loongforge-probe
sbin_SCRIPTS = spank/probe/loongforge-health
EXTRA_DIST += spank/probe/loongforge-health.in
CLEANFILES += spank/probe/loongforge-health
spank/probe/loongforge-health: $(srcdir)/spank/probe/loongforge-health.in Makefile
	$(AM_V_GEN)$(MKDIR_P) spank/probe && sed 's|@sbindir[@]|$(sbindir)|' \
		$(srcdir)/spank/probe/loongforge-health.in >$@ && chmod +x $@
loongforge_probe_SOURCES = \
	spank/probe/cache.c \
	spank/probe/gate.c \
	spank/probe/look.c \
	spank/probe/main.c \
	spank/probe/print.c spank/probe/print.h \
	spank/probe/probe.h \
	spank/probe/settings.c \
	spank/probe/slurm.c spank/probe/slurm.h
loongforge_probe_LDADD = liblf-expect.la liblf-hw.la liblf-conf.la liblf-base.la
