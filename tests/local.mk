# SPDX-License-Identifier: Apache-2.0
TEST_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh --merge
AM_TESTS_ENVIRONMENT = CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	abs_builddir='$(abs_builddir)'; export abs_builddir;
TESTS = $(check_PROGRAMS) $(dist_check_SCRIPTS)
