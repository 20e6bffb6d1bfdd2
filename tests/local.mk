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
	tests/unit/client_test \
	tests/unit/conf_test \
	tests/unit/cred_test \
	tests/unit/err_test \
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
	tests/unit/sock_test \
	tests/unit/start_test \
	tests/unit/value_test
# End of unit_tests

# What tests reach inside of programs.
check_LTLIBRARIES = tests/libinside.la
tests_libinside_la_SOURCES = \
	orchestrator/cred.c orchestrator/cred.h \
	orchestrator/plan/env.c orchestrator/plan/env.h \
	orchestrator/plan/numa.c orchestrator/plan/numa.h \
	orchestrator/plan/plan.c orchestrator/plan/plan.h \
	orchestrator/plan/ports.c orchestrator/plan/ports.h \
	orchestrator/start.c orchestrator/start.h
tests_libinside_la_CPPFLAGS = $(AM_CPPFLAGS) $(SODIUM_CFLAGS)
tests_libinside_la_LIBADD = liblf-conf.la liblf-wire.la liblf-base.la \
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
tests_unit_plugin_test_SOURCES = tests/unit/plugin_test.c \
	tests/fake/slurm.c tests/fake/slurm.h
tests_unit_plugin_test_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests
tests_unit_plugin_test_LDADD = $(LDADD) -ldl
tests_unit_plugin_test_LDFLAGS = $(AM_LDFLAGS) -export-dynamic

if HAVE_CMOCKA
check_LTLIBRARIES += tests/libunit.la
tests_libunit_la_SOURCES = tests/unit/unit.c tests/unit/unit.h
tests_libunit_la_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_libunit_la_LIBADD = tests/libinside.la $(CMOCKA_LIBS) -lpthread
check_PROGRAMS += $(unit_tests) tests/fake/loongforged
TESTS += $(unit_tests)
if BUILD_SPANK
check_LTLIBRARIES += tests/spank_loongforge_test.la
check_PROGRAMS += tests/unit/plugin_test
TESTS += tests/unit/plugin_test
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
		$(tests_libinside_la_SOURCES); do \
		case $$file in *.c) sources="$$sources $(srcdir)/$$file" ;; esac; \
	done; \
	$(MKDIR_P) tests/fuzz; failed=0; \
	for target in $(fuzz_tests); do \
		clang -std=gnu11 -g -O1 $(DEFS) $(DEFAULT_INCLUDES) \
			$(AM_CPPFLAGS) $(CONFUSE_CFLAGS) $(SODIUM_CFLAGS) \
			$(CPPFLAGS) -fsanitize=fuzzer,address,undefined \
			-fno-sanitize-recover=all -o $$target.libfuzzer \
			$(srcdir)/$$target.c $$sources \
			$(CONFUSE_LIBS) $(SODIUM_LIBS) $(MUNGE_LIBS) && \
		name=$${target##*/} && \
		$(srcdir)/tests/fuzz/run $$target.libfuzzer $${name%_fuzz} || \
		failed=1; \
	done; exit $$failed
.PHONY: fuzz

clean-local:
	rm -rf tests/libexec tests/fuzz/found tests/fuzz/*.libfuzzer
