# SPDX-License-Identifier: Apache-2.0
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh --merge
TEST_LOG_DRIVER = $(LOG_DRIVER)
LOG_COMPILER = $(srcdir)/tests/unit/run
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	abs_builddir='$(abs_builddir)'; export abs_builddir; \
	srcdir='$(srcdir)'; export srcdir; \
	tidy_cflags='$(CPPFLAGS) $(UV_CFLAGS) $(ZMQ_CFLAGS) $(SODIUM_CFLAGS) $(JANSSON_CFLAGS) $(CONFUSE_CFLAGS)'; \
	export tidy_cflags;
TESTS = $(dist_check_SCRIPTS) $(fuzz_tests)

# Gates: rules that a machine can check.
dist_check_SCRIPTS += \
	tests/banned.test \
	tests/codes.test \
	tests/exports.test \
	tests/functions.test \
	tests/layers.test \
	tests/plugin-size.test \
	tests/python.test
EXTRA_DIST += tests/tap.sh tests/unit/run tests/unit/python_test.py

# A unit test is one file, tests/unit/NAME_test.c, linked with all that is
# below it; default sources and LDADD keep this list a list.
unit_tests = \
	tests/unit/buf_test \
	tests/unit/child_test \
	tests/unit/clean_test \
	tests/unit/client_test \
	tests/unit/conf_test \
	tests/unit/cred_test \
	tests/unit/err_test \
	tests/unit/facts_test \
	tests/unit/find_test \
	tests/unit/fs_test \
	tests/unit/hostlist_test \
	tests/unit/keys_test \
	tests/unit/launch_test \
	tests/unit/lifeline_test \
	tests/unit/msg_test \
	tests/unit/numa_test \
	tests/unit/parse_test \
	tests/unit/plan_test \
	tests/unit/ports_test \
	tests/unit/save_test \
	tests/unit/session_test \
	tests/unit/slurm_test \
	tests/unit/sock_test \
	tests/unit/start_test \
	tests/unit/value_test
# End of unit_tests

# What tests reach inside of programs.
check_LTLIBRARIES = tests/libinside.la
tests_libinside_la_SOURCES = \
	orchestrator/cred.c orchestrator/cred.h \
	orchestrator/facts.c orchestrator/facts.h \
	orchestrator/plan/env.c orchestrator/plan/env.h \
	orchestrator/plan/gate.c orchestrator/plan/gate.h \
	orchestrator/plan/numa.c orchestrator/plan/numa.h \
	orchestrator/plan/plan.c orchestrator/plan/plan.h \
	orchestrator/plan/ports.c orchestrator/plan/ports.h \
	orchestrator/start.c orchestrator/start.h \
	spank/probe/slurm.c spank/probe/slurm.h
tests_libinside_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
tests_libinside_la_LIBADD = liblf-hw.la liblf-conf.la liblf-wire.la liblf-base.la \
	$(SODIUM_LIBS) $(MUNGE_LIBS)
LDADD = tests/libunit.la

# The client as the library has it, but with programs that are not installed.
tests_unit_client_test_SOURCES = tests/unit/client_test.c lib/client/client.c
tests_unit_client_test_CPPFLAGS = $(AM_CPPFLAGS) \
	-ULF_LIBEXECDIR -DLF_LIBEXECDIR='"$(abs_builddir)"'

# The plugin once more, as it would be if the programs were installed there,
# and a host for it.
tests_spank_loongforge_test_la_SOURCES = $(spank_loongforge_la_SOURCES)
tests_spank_loongforge_test_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-ULF_LIBEXECDIR -DLF_LIBEXECDIR='"$(abs_builddir)/tests/libexec"' \
	-ULF_SBINDIR -DLF_SBINDIR='"$(abs_builddir)/tests/libexec"'
tests_spank_loongforge_test_la_LDFLAGS = \
	$(spank_loongforge_la_LDFLAGS) -rpath /nowhere
plugin_host = tests/unit/plugin_host.c tests/unit/plugin_host.h \
	tests/fake/slurm.c tests/fake/slurm.h
tests_unit_plugin_test_SOURCES = tests/unit/plugin_test.c $(plugin_host)
tests_unit_plugin_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
tests_unit_plugin_test_LDADD = $(LDADD) -ldl
tests_unit_plugin_test_LDFLAGS = $(AM_LDFLAGS) -export-dynamic
tests_unit_plugin_step_test_SOURCES = tests/unit/plugin_step_test.c \
	$(plugin_host)
tests_unit_plugin_step_test_CPPFLAGS = $(tests_unit_plugin_test_CPPFLAGS)
tests_unit_plugin_step_test_LDADD = $(LDADD) -ldl
tests_unit_plugin_step_test_LDFLAGS = $(tests_unit_plugin_test_LDFLAGS)
# Both link programs into tests/libexec.  By a variable, since a plain target
# would take the place of automake's own.
plugin_step_log = tests/unit/plugin_step_test.log
$(plugin_step_log): tests/unit/plugin_test.log

if HAVE_CMOCKA
check_LTLIBRARIES += tests/libunit.la
tests_libunit_la_SOURCES = tests/unit/unit.c tests/unit/unit.h
tests_libunit_la_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_libunit_la_LIBADD = tests/libinside.la $(CMOCKA_LIBS) -lpthread
check_PROGRAMS += $(unit_tests) tests/fake/loongforged
TESTS += $(unit_tests)
if BUILD_SPANK
check_LTLIBRARIES += tests/spank_loongforge_test.la
check_PROGRAMS += tests/unit/plugin_test tests/unit/plugin_step_test
TESTS += tests/unit/plugin_test tests/unit/plugin_step_test
endif
endif

# Fuzzing: `make check` replays the corpus, `make fuzz` looks for more.
fuzz_tests = \
	tests/fuzz/conf_fuzz \
	tests/fuzz/hostlist_fuzz \
	tests/fuzz/keys_fuzz \
	tests/fuzz/msg_fuzz \
	tests/fuzz/plan_fuzz \
	tests/fuzz/start_fuzz \
	tests/fuzz/value_fuzz
check_PROGRAMS += $(fuzz_tests)
EXTRA_DIST += tests/fuzz/corpus tests/fuzz/fuzz.h tests/fuzz/run

check_LTLIBRARIES += tests/libreplay.la
tests_libreplay_la_SOURCES = tests/fuzz/replay.c tests/fuzz/fuzz.h
tests_libreplay_la_LIBADD = tests/libinside.la
tests_fuzz_conf_fuzz_LDADD = tests/libreplay.la
tests_fuzz_hostlist_fuzz_LDADD = tests/libreplay.la
tests_fuzz_keys_fuzz_LDADD = tests/libreplay.la
tests_fuzz_msg_fuzz_LDADD = tests/libreplay.la
tests_fuzz_plan_fuzz_LDADD = tests/libreplay.la
tests_fuzz_start_fuzz_LDADD = tests/libreplay.la
tests_fuzz_value_fuzz_LDADD = tests/libreplay.la

fuzz:
	@command -v clang >/dev/null || { echo "fuzz: skipped: no clang"; exit 0; }; \
	for file in $(liblf_base_la_SOURCES) $(liblf_wire_la_SOURCES) \
		$(liblf_keys_la_SOURCES) $(liblf_conf_la_SOURCES) \
		$(liblf_hw_la_SOURCES) $(tests_libinside_la_SOURCES); do \
		case $$file in *.c) sources="$$sources $(srcdir)/$$file" ;; esac; \
	done; \
	$(MKDIR_P) tests/fuzz; failed=0; \
	for target in $(fuzz_tests); do \
		clang -std=gnu11 -g -O1 $(DEFS) $(DEFAULT_INCLUDES) \
			$(AM_CPPFLAGS) $(CONFUSE_CFLAGS) $(SODIUM_CFLAGS) \
			$(CPPFLAGS) -fsanitize=fuzzer,address,undefined \
			-fno-sanitize-recover=all -o $$target.libfuzzer \
			$(srcdir)/$$target.c $$sources \
			$(CONFUSE_LIBS) $(SODIUM_LIBS) $(MUNGE_LIBS) -ldl && \
		name=$${target##*/} && \
		$(srcdir)/tests/fuzz/run $$target.libfuzzer $${name%_fuzz} || \
		failed=1; \
	done; exit $$failed
.PHONY: fuzz

clean-local:
	rm -rf tests/libexec tests/fuzz/found tests/fuzz/*.libfuzzer

# Hardware: readers, judge, `loongforge topo` and `check`.  What they say of
# every recording is in tests/data/hw.
dist_check_SCRIPTS += tests/hw_index.test tests/output.test
EXTRA_DIST += tests/data/hw tests/bench/check
hw_tests = \
	tests/unit/hw_expect_test \
	tests/unit/hw_hwloc_test \
	tests/unit/hw_ib_test \
	tests/unit/hw_judge_test \
	tests/unit/hw_lspci_test \
	tests/unit/hw_merge_test \
	tests/unit/hw_nccl_test \
	tests/unit/hw_nvlink_test \
	tests/unit/hw_nvml_test \
	tests/unit/hw_policy_test \
	tests/unit/hw_read_test \
	tests/unit/hw_smi_text_test \
	tests/unit/hw_smi_xml_test \
	tests/unit/hw_software_test \
	tests/unit/hw_sysfs_test \
	tests/unit/hw_topo_test \
	tests/unit/hw_verbs_test \
	tests/unit/hw_verdict_test \
	tests/unit/hw_xml_test
EXTRA_DIST += tests/unit/hw_fixture.h tests/unit/hw_unit.h
AM_TESTS_ENVIRONMENT += LF_SHARED=$${LF_SHARED-'$(abs_srcdir)/../shared'}; \
	export LF_SHARED;
# The doctor: lint of variables, symptoms in logs, libnccl.
dist_check_SCRIPTS += tests/doctor.test
hw_tests += \
	tests/unit/libnccl_test \
	tests/unit/lint_test \
	tests/unit/ncclconf_test \
	tests/unit/symptom_test
comm_ldadd = $(LDADD) liblf-comm.la liblf-base.la
tests_unit_libnccl_test_LDADD = $(comm_ldadd)
tests_unit_lint_test_LDADD = $(comm_ldadd)
tests_unit_ncclconf_test_LDADD = $(comm_ldadd)
tests_unit_symptom_test_LDADD = $(comm_ldadd)
hw_ldadd = $(LDADD) liblf-recorded.la liblf-expect.la liblf-hw.la liblf-conf.la liblf-base.la
tests_unit_hw_expect_test_LDADD = $(hw_ldadd)
tests_unit_hw_hwloc_test_LDADD = $(hw_ldadd)
tests_unit_hw_ib_test_LDADD = $(hw_ldadd)
tests_unit_hw_judge_test_LDADD = $(hw_ldadd)
tests_unit_hw_lspci_test_LDADD = $(hw_ldadd)
tests_unit_hw_merge_test_LDADD = $(hw_ldadd)
tests_unit_hw_nccl_test_LDADD = $(hw_ldadd)
tests_unit_hw_nvlink_test_LDADD = $(hw_ldadd)
tests_unit_hw_nvml_test_LDADD = $(hw_ldadd)
tests_unit_hw_policy_test_LDADD = $(hw_ldadd)
tests_unit_hw_read_test_LDADD = $(hw_ldadd)
tests_unit_hw_smi_text_test_LDADD = $(hw_ldadd)
tests_unit_hw_smi_xml_test_LDADD = $(hw_ldadd)
tests_unit_hw_software_test_LDADD = $(hw_ldadd)
tests_unit_hw_sysfs_test_LDADD = $(hw_ldadd)
tests_unit_hw_topo_test_LDADD = $(hw_ldadd)
tests_unit_hw_verbs_test_SOURCES = tests/unit/hw_verbs_test.c \
	tests/fake/verbs.c tests/fake/verbs.h
tests_unit_hw_verbs_test_CPPFLAGS = $(AM_CPPFLAGS) $(IBVERBS_CFLAGS) \
	-I$(srcdir)/tests
tests_unit_hw_verbs_test_LDADD = liblf-verbs.la $(hw_ldadd)
tests_unit_hw_verdict_test_LDADD = $(hw_ldadd)
tests_unit_hw_xml_test_LDADD = $(hw_ldadd)

# NVML for machines without a GPU; -rpath makes them loadable.
check_LTLIBRARIES += tests/fake/nvml.la tests/fake/nvml-old.la
tests_fake_nvml_la_SOURCES = tests/fake/nvml.c
tests_fake_nvml_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_fake_nvml_old_la_SOURCES = tests/fake/nvml.c
tests_fake_nvml_old_la_CPPFLAGS = $(AM_CPPFLAGS) -DLF_FAKE_NVML_OLD
tests_fake_nvml_old_la_LDFLAGS = -module -avoid-version -rpath /nowhere

if HAVE_CMOCKA
check_PROGRAMS += $(hw_tests)
TESTS += $(hw_tests)
endif

hw_fuzz = \
	tests/fuzz/hw_dmesg_fuzz \
	tests/fuzz/hw_hwloc_xml_fuzz \
	tests/fuzz/hw_ibdev2netdev_fuzz \
	tests/fuzz/hw_ibstat_fuzz \
	tests/fuzz/hw_ibstatus_fuzz \
	tests/fuzz/hw_ibv_devinfo_fuzz \
	tests/fuzz/hw_lspci_fuzz \
	tests/fuzz/hw_nccl_xml_fuzz \
	tests/fuzz/hw_nvlink_remote_fuzz \
	tests/fuzz/hw_nvlink_status_fuzz \
	tests/fuzz/hw_read_fuzz \
	tests/fuzz/hw_smi_text_fuzz \
	tests/fuzz/hw_smi_xml_fuzz \
	tests/fuzz/hw_sysfs_json_fuzz \
	tests/fuzz/hw_topo_fuzz \
	tests/fuzz/hw_topo_p2p_fuzz \
	tests/fuzz/hw_verdict_fuzz
check_PROGRAMS += $(hw_fuzz)
TESTS += $(hw_fuzz)
EXTRA_DIST += tests/fuzz/hw_fuzz.h
hw_fuzz_ldadd = tests/libreplay.la liblf-recorded.la liblf-expect.la liblf-hw.la liblf-base.la
tests_fuzz_hw_dmesg_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_hwloc_xml_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_ibdev2netdev_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_ibstat_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_ibstatus_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_ibv_devinfo_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_lspci_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_nccl_xml_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_nvlink_remote_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_nvlink_status_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_read_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_smi_text_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_smi_xml_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_sysfs_json_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_topo_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_topo_p2p_fuzz_LDADD = $(hw_fuzz_ldadd)
tests_fuzz_hw_verdict_fuzz_LDADD = $(hw_fuzz_ldadd)

# All readers are fed all recordings: foreign ones, too, are to be refused.
fuzz-hw:
	@command -v clang >/dev/null || { echo "fuzz: skipped: no clang"; exit 0; }; \
	for file in $(liblf_base_la_SOURCES) $(liblf_keys_la_SOURCES) \
		$(liblf_conf_la_SOURCES) $(liblf_hw_la_SOURCES) \
		$(liblf_expect_la_SOURCES) $(liblf_recorded_la_SOURCES); do \
		case $$file in *.c) sources="$$sources $(srcdir)/$$file" ;; esac; \
	done; \
	$(MKDIR_P) tests/fuzz; failed=0; \
	for target in $(hw_fuzz); do \
		clang -std=gnu11 -g -O1 $(DEFS) $(DEFAULT_INCLUDES) \
			$(AM_CPPFLAGS) $(CONFUSE_CFLAGS) $(EXPAT_CFLAGS) \
			$(JANSSON_CFLAGS) $(CPPFLAGS) \
			-fsanitize=fuzzer,address,undefined \
			-fno-sanitize-recover=all -o $$target.libfuzzer \
			$(srcdir)/$$target.c $$sources $(CONFUSE_LIBS) \
			$(EXPAT_LIBS) $(JANSSON_LIBS) -ldl && \
		name=$${target##*/} && \
		$(srcdir)/tests/fuzz/run $$target.libfuzzer $${name%_fuzz} \
			$(srcdir)/tests/data/hw || \
		failed=1; \
	done; exit $$failed
fuzz: fuzz-hw
.PHONY: fuzz-hw
# End of hardware
