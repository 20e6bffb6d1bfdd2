# SPDX-License-Identifier: Apache-2.0
pkglibexec_PROGRAMS += loongforged
loongforged_SOURCES = orchestrator/main.c \
	orchestrator/cred.c orchestrator/cred.h \
	orchestrator/facts.c orchestrator/facts.h \
	orchestrator/facts_gather.c \
	orchestrator/group.c orchestrator/group.h \
	orchestrator/link.c orchestrator/link.h \
	orchestrator/record.c orchestrator/record.h \
	orchestrator/roster.c orchestrator/roster.h \
	orchestrator/start.c orchestrator/start.h \
	orchestrator/tasks.c orchestrator/tasks.h
loongforged_CPPFLAGS = $(AM_CPPFLAGS) $(UV_CFLAGS) $(ZMQ_CFLAGS) \
	$(SODIUM_CFLAGS)
loongforged_LDADD = liblf-hw.la liblf-wire.la liblf-keys.la liblf-base.la $(UV_LIBS) $(ZMQ_LIBS) \
	$(SODIUM_LIBS) $(MUNGE_LIBS)

bin_PROGRAMS += loongforge
loongforge_SOURCES = \
	orchestrator/cli/main.c orchestrator/cli/cli.h \
	orchestrator/cli/check.c \
	orchestrator/cli/config.c \
	orchestrator/cli/doctor.c orchestrator/cli/doctor.h \
	orchestrator/cli/doctor_install.c \
	orchestrator/cli/doctor_job.c \
	orchestrator/cli/doctor_machine.c \
	orchestrator/cli/doctor_run.c \
	orchestrator/cli/doctor_slurm.c orchestrator/cli/doctor_slurm.h \
	orchestrator/cli/machine.c orchestrator/cli/machine.h \
	orchestrator/cli/status.c \
	orchestrator/cli/svg.c orchestrator/cli/svg.h \
	orchestrator/cli/svg_layout.c orchestrator/cli/svg_layout.h \
	orchestrator/cli/topo.c
loongforge_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
loongforge_LDADD = liblf-verbs.la liblf-comm.la liblf-recorded.la liblf-expect.la liblf-hw.la liblf-conf.la liblf-wire.la liblf-base.la $(JANSSON_LIBS) $(IBVERBS_LIBS)

pkglibexec_PROGRAMS += loongforge-plan
loongforge_plan_SOURCES = orchestrator/plan/main.c \
	orchestrator/plan/addrs.c orchestrator/plan/addrs.h \
	orchestrator/plan/end.c orchestrator/plan/end.h \
	orchestrator/plan/env.c orchestrator/plan/env.h \
	orchestrator/plan/gate.c orchestrator/plan/gate.h \
	orchestrator/plan/numa.c orchestrator/plan/numa.h \
	orchestrator/plan/plan.c orchestrator/plan/plan.h \
	orchestrator/plan/ports.c orchestrator/plan/ports.h
loongforge_plan_LDADD = liblf-hw.la liblf-keys.la liblf-base.la
