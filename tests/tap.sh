# SPDX-License-Identifier: Apache-2.0
# tap - for the gates: `try NAME COMMAND...` is one case, which passes when the
# command prints nothing; `skip NAME REASON`; `finish` at the end.
# shellcheck shell=sh
: "${srcdir:=.}"
tap_count=0
tap_failed=0

try() {
	tap_name=$1
	shift
	tap_count=$((tap_count + 1))
	tap_found=$("$@" 2>&1)
	if [ -z "$tap_found" ]; then
		echo "ok $tap_count - $tap_name"
		return
	fi
	echo "not ok $tap_count - $tap_name"
	echo "$tap_found" | sed 's/^/# /'
	tap_failed=1
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

finish() {
	echo "1..$tap_count"
	exit "$tap_failed"
}
