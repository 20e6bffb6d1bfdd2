# SPDX-License-Identifier: Apache-2.0
pkglibexec_PROGRAMS += loongforged
loongforged_SOURCES = orchestrator/main.c \
	orchestrator/cred.c orchestrator/cred.h \
	orchestrator/group.c orchestrator/group.h \
	orchestrator/link.c orchestrator/link.h \
	orchestrator/record.c orchestrator/record.h \
	orchestrator/start.c orchestrator/start.h \
	orchestrator/tasks.c orchestrator/tasks.h
loongforged_CPPFLAGS = $(AM_CPPFLAGS) $(UV_CFLAGS) $(ZMQ_CFLAGS) \
	$(SODIUM_CFLAGS)
loongforged_LDADD = liblf-wire.la liblf-keys.la liblf-base.la $(UV_LIBS) $(ZMQ_LIBS) \
	$(SODIUM_LIBS) $(MUNGE_LIBS)

bin_PROGRAMS += loongforge
loongforge_SOURCES = \
	orchestrator/cli/main.c orchestrator/cli/cli.h \
	orchestrator/cli/config.c \
	orchestrator/cli/status.c
loongforge_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
loongforge_LDADD = liblf-conf.la liblf-wire.la liblf-base.la $(JANSSON_LIBS)

pkglibexec_PROGRAMS += loongforge-plan
loongforge_plan_SOURCES = orchestrator/plan/main.c \
	orchestrator/plan/addrs.c orchestrator/plan/addrs.h \
	orchestrator/plan/env.c orchestrator/plan/env.h \
	orchestrator/plan/numa.c orchestrator/plan/numa.h \
	orchestrator/plan/plan.c orchestrator/plan/plan.h \
	orchestrator/plan/ports.c orchestrator/plan/ports.h
loongforge_plan_LDADD = liblf-keys.la liblf-base.la
