#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What the orchestrators of a step tell each other about their nodes: alike is silent, different is told at lf_init, with both sides named.

load plugin

setup_file() { suite_up; }
teardown_file() { suite_down; }
setup() { begin && rm -f "$LF_RUN"/*.verdict; }
teardown() { rm -f "$LF_RUN"/*.verdict && finish; }

init='import loongforge as lf; print(lf.init())'
driver() { # NODE VERSION: as if the gate had seen it
	printf 'loongforge=verdict 1\nboot=%s\ntime=%s\nbasis=%s\ndriver=%s\nverdict=pass\nend=\n' "$(cat /proc/sys/kernel/random/boot_id)" \
		"$(date +%s)" "$(sed -n 's/^basis=//p' "$LF_RUN/$1.settings")" "$2" >"$LF_RUN/$1.verdict"
}

@test "nodes that are alike: nothing is said, the leader's log has every verdict" {
	try srun -N2 -n4 --gres=gpu:1 --loongforge $PY -c "$init"
	equal "$status:$err" 0:
	equal "$out" $'True\nTrue\nTrue\nTrue'
	log_has "$(last_job)" "$n1: hardware: "
	log_has "$(last_job)" "$n2: hardware: "
}

@test "a leader that comes late does not find the others' clocks slow" {
	cp -a "$LF_PREFIX/libexec/loongforge" "$LF_CLUSTER/copy" && mv "$LF_CLUSTER/copy/loongforged" "$LF_CLUSTER/copy/real"
	printf '#!/bin/sh\n[ "$SLURMD_NODENAME" != %s ] || sleep 4\nexec %s/libexec/loongforge/real "$@"\n' "$n1" "$LF_PREFIX" >"$LF_CLUSTER/copy/loongforged"
	chmod 755 "$LF_CLUSTER/copy/loongforged" && mount --bind "$LF_CLUSTER/copy" "$LF_PREFIX/libexec/loongforge"
	try srun -N2 -n4 --loongforge $PY -c "$init"
	umount "$LF_PREFIX/libexec/loongforge" && rm -r "$LF_CLUSTER/copy"
	equal "$status:$err" 0:
	equal "$out" $'True\nTrue\nTrue\nTrue'
}

@test "different drivers: rank 0 is told once, with both sides; status shows the verdicts" {
	job=$(mine sbatch --parsable -N2 -n4 --gres=gpu:1 -o %j.out --wrap "while [ ! -e go ]; do sleep 0.1; done; srun -N2 -n4 --loongforge $PY -c '$init; import time; time.sleep(4)'")
	wait_job "$job" RUNNING
	poll 5 test -s "$LF_RUN/$n2.settings"
	driver "$n1" 535.161.08 && driver "$n2" 550.54.15
	mine touch go
	poll 10 log_has "$job" LF-GRP-11
	run mine loongforge status "$job"
	like "$output" "*$n1: hardware: pass*$n2: hardware: pass*"
	wait_job "$job" COMPLETED
	rm "$(home_of lfuser1)/go"
	count "$(said)" "loongforge: GPU driver: expected 535.161.08 as on $n1, found 550.54.15 on $n2 (LF-GRP-11)" 1
	count "$(said)" True 4
}
