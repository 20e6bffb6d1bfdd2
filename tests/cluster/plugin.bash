# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2119 # results are read by the tests
# For the bats files that test the plugin: `load plugin`. On top of common.bash: a cluster given from outside (LF_CLUSTER) is used
# instead of one of the file's own, nodes are named $n1 and $n2 (LF_NODE is the prefix), and every test ends with nothing left.

bats_require_minimum_version 1.5.0
# shellcheck source=tests/cluster/common.bash
. "$(dirname "${BASH_SOURCE[0]}")/common.bash"
export LC_ALL=C
: "${LF_NODE:=n}"
export LF_NODE n1=${LF_NODE}1 n2=${LF_NODE}2
PY=/usr/bin/python3 PYTHONDIR=$LF_PREFIX/share/loongforge/python
export PY PYTHONDIR

suite_up() { # [OPTION of cluster start...]: with options of its own a file cannot use what was given
	LF_GIVEN=
	if [ $# = 0 ] && [ -e "${LF_CLUSTER:-}/etc/slurm.conf" ]; then
		LF_GIVEN=1 SLURM_CONF=$LF_CLUSTER/etc/slurm.conf
		LF_RUN=$(sed -n 's/.*spank_loongforge.*[ \t]run=\([^ ]*\).*/\1/p' "$LF_CLUSTER/etc/plugstack.conf")
		: "${LF_RUN:=/run/loongforge}"
		export SLURM_CONF LF_RUN
	else
		unset LF_CLUSTER
		cluster_up --prefix "$LF_NODE" "$@"
	fi
	export LF_GIVEN
}
suite_down() { [ -n "$LF_GIVEN" ] || cluster_down; }

# ---- nothing is left: processes beyond what snapshot sees (those that opened no log), by the program they run
strays() { pgrep -f "^$LF_PREFIX/(libexec|sbin)/" || true; }
no_strays() { [ -z "$(strays)" ]; }
begin() { before=$(snapshot); }
finish() { # at the end of each test: nodes idle (never drained), nothing left
	[ -n "${BATS_TEST_COMPLETED:-}" ] || squeue -h -a -o %A | sort -u | xargs -r scancel # a failed test must not spoil the next
	wait_idle && assert_no_leftovers "$before" && poll 5 no_strays && return
	strays | xargs -r ps -o pid,stat,etime,args -p >&2
	return 1
}

# ---- what a user does and sees
mine() { as lfuser1 "$@"; }
filter() { # this machine may forbid to raise the locked-memory limit: a line a node is then right
	grep -v -e 'LF-MEM-01)$' -e 'hint: set LimitMEMLOCK=' -e '^srun: [Jj]ob ' -e '^srun: Step created' -e '^salloc: \(Granted\|Relinquishing\|Pending\|Waiting\|Nodes\|job\)' || true
}
try() { # COMMAND...: as lfuser1; sets status, output (without the lines above), out and err
	run --separate-stderr mine "$@"
	# shellcheck disable=SC2154
	out=$output err=$(filter <<<"$stderr")
	both=$out${err:+${out:+$'\n'}$err}
}
batch() { # [OPTION of sbatch...] <SCRIPT: runs it to its end; sets job, state and out
	job=$(mine sbatch --parsable -o %j.out "$@")
	wait_job "$job" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL' 60
	state=$(job_state "$job") out=$(filter <"$(home_of lfuser1)/$job.out")
}
equal() { # FOUND EXPECTED [WHAT]
	[ "$1" != "$2" ] || return 0
	printf '%s: expected\n%s\nfound\n%s\n' "${3:-text}" "$2" "$1" >&2
	return 1
}
like() { # FOUND PATTERN [WHAT]
	# shellcheck disable=SC2053
	[[ $1 != $2 ]] || return 0
	printf '%s: expected like\n%s\nfound\n%s\n' "${3:-text}" "$2" "$1" >&2
	return 1
}
count() { # FOUND TEXT NUMBER: lines with that text
	equal "$(grep -cF -e "$2" <<<"$1")" "$3" "lines with '$2' in
$1"
}
ended() { # [JOB]: its final state, a moment after srun knows it
	wait_job "${1:-$(last_job)}" 'COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL' 10 && job_state "${1:-$(last_job)}"
}
last_job() { scontrol -o show job 2>/dev/null | sed 's/^JobId=\([0-9]*\).*/\1/' | sort -n | tail -n 1; }

# ---- a job that runs while the test looks at it
hold() { # [OPTION of srun...] COMMAND...: a batch job with one such step; sets job, and waits until its orchestrators are there
	printf '#!/bin/bash\nexec srun %s\n' "$(printf '%q ' "$@")" >"$(home_of lfuser1)/hold"
	job=$(mine sbatch --parsable -o %j.out "${hold_options[@]}" hold)
	poll 10 held || { said >&2 && return 1; }
}
hold_options=(-N2)
held() { [ "$(orchestrators "$job" | wc -l)" = "$(squeue -h -j "$job" -o %D)" ] && log_has "$job" LoongForge; }
said() { filter <"$(home_of lfuser1)/$job.out"; }
logs() { cat "$(home_of lfuser1)/.loongforge/$1"/*.log 2>/dev/null; } # JOB
log_has() { logs "$1" | grep -qE "$2"; }                              # JOB REGEX
socket_of() { sed -n "s|.*@\(loongforge/$1\.${2:-0}\.${3:-0}/.*\)|\1|p" /proc/self/net/unix | head -n 1; } # JOB [STEP [NODEID]]
orchestrators() { # JOB: pids
	local p
	for p in $(pgrep -x loongforged); do
		if grep -qzE "^$1\." "/proc/$p/cmdline"; then echo "$p"; fi
	done
}
