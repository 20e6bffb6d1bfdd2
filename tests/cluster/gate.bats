#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The gate: what a policy makes of a node's verdict, with job and node states. The nodes are recorded machines (gate.recording); n1's is
# the one that is broken, n2's is good.

load plugin

setup_file() {
	LF_SKIP=
	if ls /proc/driver/nvidia/gpus/* >/dev/null 2>&1; then
		LF_SKIP="this machine has GPUs: recordings are refused here"
	elif [ "$LF_PROCTRACK" != linuxproc ] && [ -z "${LF_FULL:-}" ]; then
		LF_SKIP="the gate does not depend on it: with linuxproc, or LF_FULL=1"
	fi
	export LF_SKIP
	[ -z "$LF_SKIP" ] || return 0
	cluster_new
	mkdir -p "$LF_CLUSTER/conf" "$LF_CLUSTER/rec"
	LF_GIVEN=
	export LF_GIVEN
	cluster_up --prefix "$LF_NODE" --gpus 8 --cpus 8 --plugstack "$(plugin_line "config=$LF_CLUSTER/conf/loongforge.conf")"
	chmod 755 "$LF_CLUSTER/rec" "$LF_CLUSTER/conf"
	install -d -o lfuser1 "$(home_of lfuser1)"
}
teardown_file() { [ -n "$LF_SKIP" ] || suite_down; }
setup() {
	[ -z "$LF_SKIP" ] || skip "$LF_SKIP"
	rm -rf "$LF_CLUSTER/conf"/* "$LF_RUN"/*.verdict "$LF_RUN"/*.refuse
	record "$n1" a800.topo && record "$n2" a800.topo
	policy && begin
}
teardown() {
	[ -z "$LF_SKIP" ] || return 0
	umount -l "$LF_PREFIX/sbin" 2>/dev/null || true
	rm -rf "$LF_CLUSTER/copy" "$LF_CLUSTER/real-probe"
	[ -n "${BATS_TEST_COMPLETED:-}" ] || squeue -h -a -o %A | sort -u | xargs -r scancel
	resume && finish
}

data=$LF_HERE/../data/hw
record() { cp "$data/$2" "$LF_CLUSTER/rec/$1" && chmod 644 "$LF_CLUSTER/rec/$1"; } # NODE FILE
broken() { # CLAUSE: n1 fails in it
	case $1 in
	gpus)
		record "$n1" x8.xml
		printf 'product = "*A100*"\ngpus = 8\npcie_width = 8\n' >"$LF_CLUSTER/conf/$n1.machine"
		printf 'product = "*A800*"\n' >"$LF_CLUSTER/conf/$n2.machine"
		machine="machine = \"$LF_CLUSTER/conf/%n.machine\""
		;;
	nvlink) record "$n1" two_islands.xml ;;
	pcie) record "$n1" x8.xml ;;
	rdma) record "$n1" init.ibstat ;;
	affinity) record "$n1" far_nic.xml && want=2 ;; # of GPU 1
	fabric) record "$n1" fabric.smi ;;
	health) sed '/Remapping Failure Occurred/s/No/Yes/' "$data/remap.smi" >"$LF_CLUSTER/rec/$n1" ;;
	esac
}
code_of() { case $1 in gpus) echo LF-GPU-01 ;; nvlink) echo LF-NVL-01 ;; pcie) echo LF-PCI-02 ;; rdma) echo LF-NIC-01 ;; affinity) echo LF-AFF-01 ;; fabric) echo LF-FAB-01 ;; health) echo LF-ECC-03 ;; esac }
policy() { # [LINE of gate...] [-- LINE of check...] [-- LINE of breaker...]
	local section=gate
	{
		printf 'launch {\n\tdrain_seconds = 3\n\thello_seconds = 5\n}\ngate {\n\trecording = "%s"\n\t%s\n' "$LF_CLUSTER/rec/%n" "${machine:-}"
		for line in "$@"; do
			if [ "$line" = -- ]; then
				[ "$section" = gate ] && section=check || section=breaker
				printf '}\n%s {\n' "$section"
			else
				printf '\t%s\n' "$line"
			fi
		done
		echo '}'
	} >"$LF_CLUSTER/conf/loongforge.conf"
}
on='enforce = on'
reason() { scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*/\1/p'; }
drained() { [[ $(node_state "$1") = *DRAIN* ]]; }
resume() { # what the gate has drained
	local n
	for n in "$n1" "$n2"; do ! drained "$n" || scontrol update nodename="$n" state=resume; done
	poll 20 nobody_drained
}
nobody_drained() { ! drained "$n1" && ! drained "$n2"; }
want=1 # GPUs of the job
gpu() { try srun --gres=gpu:$want -w "$n1" "$@"; }
runs() { # [OPTION of srun...]: the job runs, the node stays up
	gpu "$@" sh -c 'echo ran'
	equal "$status:$out" 0:ran
	equal "$(ended)" COMPLETED
	nobody_drained
}
rejected() { # CODE [OPTION of srun...]: two lines, the job fails, the node stays up
	local code=$1
	shift
	gpu "$@" sh -c 'echo ran'
	equal "$status:$out" 1:
	equal "$(grep -c '^loongforge: ' <<<"$err")" 2 "lines in $err"
	like "$err" "*loongforge: $n1: *: expected *, found * ($code)*loongforge: hint: *"
	equal "$(ended)" FAILED
	nobody_drained
}
drains() { # CODE: the job is cancelled, the node drained with our reason
	gpu sh -c 'echo ran'
	[ "$status" != 0 ]
	equal "$out" ''
	poll 10 drained "$n1"
	like "$(reason "$n1")" "loongforge: *: expected *, found * ($1)"
	! drained "$n2"
	equal "$(ended)" CANCELLED
}

# ---- the default: nothing is blocked
@test "a good pair of recorded machines passes without a word" {
	try srun -N2 -n2 --gres=gpu:8 --loongforge sh -c 'echo ran'
	equal "$status:$err" 0:
	equal "$out" $'ran\nran'
	like "$(cat "$LF_RUN/$n1.verdict")" "*recorded=1*verdict=pass*"
}

@test "by default a broken machine is told to users of --loongforge, and blocks nobody" {
	broken nvlink && policy
	runs --loongforge
	like "$err" "loongforge: $n1: NVLink graph: expected *, found * (LF-NVL-01)*loongforge: hint: *"
	runs
	equal "$err" ''
	grep -q "gate: warn: $n1: NVLink graph" "$LF_CLUSTER/log/slurmd-$n1.log"
}

@test "gpus off: the job runs, nobody is told" { action_off gpus; }
@test "gpus warn: the job runs, the user is told" { action_warn gpus; }
@test "gpus reject: two lines, the job fails, the node stays" { action_reject gpus; }
@test "gpus drain: the node drains with our reason, the job does not run there" { action_drain gpus; }
@test "nvlink off: the job runs, nobody is told" { action_off nvlink; }
@test "nvlink warn: the job runs, the user is told" { action_warn nvlink; }
@test "nvlink reject: two lines, the job fails, the node stays" { action_reject nvlink; }
@test "nvlink drain: the node drains with our reason, the job does not run there" { action_drain nvlink; }
@test "pcie off: the job runs, nobody is told" { action_off pcie; }
@test "pcie warn: the job runs, the user is told" { action_warn pcie; }
@test "pcie reject: two lines, the job fails, the node stays" { action_reject pcie; }
@test "pcie drain: the node drains with our reason, the job does not run there" { action_drain pcie; }
@test "rdma off: the job runs, nobody is told" { action_off rdma; }
@test "rdma warn: the job runs, the user is told" { action_warn rdma; }
@test "rdma reject: two lines, the job fails, the node stays" { action_reject rdma; }
@test "rdma drain: the node drains with our reason, the job does not run there" { action_drain rdma; }
@test "affinity off: the job runs, nobody is told" { action_off affinity; }
@test "affinity warn: the job runs, the user is told" { action_warn affinity; }
@test "affinity reject: two lines, the job fails, the node stays" { action_reject affinity; }
@test "affinity drain: the node drains with our reason, the job does not run there" { action_drain affinity; }
@test "fabric off: the job runs, nobody is told" { action_off fabric; }
@test "fabric warn: the job runs, the user is told" { action_warn fabric; }
@test "fabric reject: two lines, the job fails, the node stays" { action_reject fabric; }
@test "fabric drain: the node drains with our reason, the job does not run there" { action_drain fabric; }
@test "health off: the job runs, nobody is told" { action_off health; }
@test "health warn: the job runs, the user is told" { action_warn health; }
@test "health reject: two lines, the job fails, the node stays" { action_reject health; }
@test "health drain: the node drains with our reason, the job does not run there" { action_drain health; }
action_off() { broken "$1" && policy "$on" -- "$1 = off" && runs --loongforge && equal "$(grep -c "($(code_of "$1"))" <<<"$err")" 0; }
action_warn() { broken "$1" && policy "$on" -- "$1 = warn" && runs --loongforge && like "$err" "*loongforge: $n1: * ($(code_of "$1"))*"; }
action_reject() { broken "$1" && policy "$on" -- "$1 = reject" && rejected "$(code_of "$1")"; }
action_drain() { broken "$1" && policy "$on" -- "$1 = drain" && drains "$(code_of "$1")"; }

# ---- who is looked at
@test "gate.jobs: gpu-jobs leaves others alone, all does not, asked looks for the option" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	try srun -w "$n1" echo ran
	equal "$status:$out" 0:ran
	policy "$on" 'jobs = all' -- 'nvlink = reject'
	try srun -w "$n1" echo ran
	equal "$status:$out" 1:
	policy "$on" 'jobs = asked' -- 'nvlink = reject'
	try srun -w "$n1" --gres=gpu:1 echo ran
	equal "$status:$out" 0:ran
	try srun -w "$n1" --loongforge echo ran
	equal "$status:$out" 1:
}

@test "reject looks at the job's GPUs only, drain at all of the node's" {
	broken affinity && policy "$on" -- 'affinity = reject' # of GPU 1
	try srun -w "$n1" --gres=gpu:1 echo ran
	equal "$status:$out" 0:ran
	try srun -w "$n1" --gres=gpu:2 echo ran
	equal "$status:$out" 1:
	policy "$on" -- 'affinity = drain'
	drains LF-AFF-01
}

@test "strict: what could not be looked at has failed" {
	policy "$on" 'strict = yes' -- 'pcie = reject' 'rdma = off' 'gdr = off'
	rejected LF-GATE-02
	policy "$on" -- 'pcie = reject'
	runs
}

@test "software of no known-good set is told of, never refused; a new list is read at once" {
	record "$n1" dgxa100.smi && policy "$on" -- 'software = drain'
	runs --loongforge
	equal "$(grep -c LF-SW <<<"$err")" 0
	echo 'set "ours" { driver = "9999-" }' >"$LF_CLUSTER/conf/software.conf"
	chmod 644 "$LF_CLUSTER/conf/software.conf"
	runs --loongforge
	like "$err" "*loongforge: $n1: driver version: expected 9999 or later (ours), found * (LF-SW-01)*"
}

# ---- users
@test "a user tightens a check for his own job, whatever is enforced" {
	broken nvlink && policy
	rejected LF-NVL-01 --loongforge --loongforge-set=check.nvlink=reject
	rejected LF-NVL-01 --loongforge --loongforge-set=check.nvlink=drain
}

@test "a user does not loosen a check" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	rejected LF-NVL-01 --loongforge --loongforge-set=check.nvlink=off
	rejected LF-NVL-01 --loongforge=off
	try env LOONGFORGE=off LOONGFORGE_SET='check.nvlink=off' srun -w "$n1" --gres=gpu:1 echo ran
	equal "$status:$out" 1:
}

@test "gate keys are the administrator's" {
	try srun --loongforge --loongforge-set=gate.enforce=warn true
	[ "$status" != 0 ]
	like "$err" "*key 'gate.enforce' belongs to the administrator (LF-OPT-03)*"
}

@test "--loongforge=check prints every node's verdict and runs nothing" {
	broken nvlink
	try srun -N2 -n4 --gres=gpu:8 --loongforge=check sh -c 'echo ran'
	equal "$status:$out" 3:
	like "$err" "*loongforge: $n1: verdict: fail, *"
	like "$err" "*loongforge: $n1: NVLink graph: * (LF-NVL-01)*"
	like "$err" "*loongforge: $n2: verdict: pass, *"
	record "$n1" a800.topo && rm "$LF_RUN"/*.verdict
	try srun -N2 -n4 --gres=gpu:8 --loongforge=check sh -c 'echo ran'
	equal "$status:$out" 0:
	equal "$(grep -c 'verdict: pass' <<<"$err")" 2
}

# ---- draining
@test "a drained node's batch job goes back to the queue, is not held, and ends on the other node" {
	broken nvlink && policy "$on"
	mine sbatch --parsable -o %j.out --gres=gpu:8 --wrap 'echo ran on $SLURMD_NODENAME' >"$LF_CLUSTER/job"
	job=$(cat "$LF_CLUSTER/job")
	poll 10 drained "$n1"
	like "$(reason "$n1")" 'loongforge: NVLink graph: * (LF-NVL-01)'
	wait_job "$job" COMPLETED 60
	equal "$(cat "$(home_of lfuser1)/$job.out")" "ran on $n2"
	equal "$(scontrol -o show job "$job" | grep -o 'Restarts=[0-9]*')" Restarts=1
}

@test "--no-requeue: the job is cancelled, never run there" {
	broken nvlink && policy "$on"
	job=$(mine sbatch --parsable --no-requeue -o %j.out -w "$n1" --gres=gpu:8 --wrap 'echo ran')
	wait_job "$job" 'CANCELLED|FAILED|NODE_FAIL' 20
	drained "$n1"
	[ ! -s "$(home_of lfuser1)/$job.out" ]
}

@test "salloc: the allocation is revoked, the node drained" {
	broken nvlink && policy "$on"
	try timeout 20 salloc -w "$n1" --gres=gpu:1 sh -c 'srun echo ran'
	[[ $out != *ran* ]]
	poll 10 drained "$n1"
	like "$(reason "$n1")" 'loongforge: * (LF-NVL-01)'
}

@test "array: every task ends on the other node" {
	broken nvlink && policy "$on"
	job=$(mine sbatch --parsable -o %A.%a.out --array=0-1 --gres=gpu:8 --wrap 'echo ran on $SLURMD_NODENAME')
	poll 60 array_done "$job"
	equal "$(cat "$(home_of lfuser1)/$job".?.out)" "ran on $n2"$'\n'"ran on $n2"
	drained "$n1"
}
array_done() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ] && [ -s "$(home_of lfuser1)/$1.1.out" ]; }

@test "het job: it does not run on the drained node" {
	broken nvlink && policy "$on"
	job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 : -w "$n2" --gres=gpu:1 --wrap 'echo ran')
	poll 15 drained "$n1"
	like "$(reason "$n1")" 'loongforge: * (LF-NVL-01)'
	[ ! -s "$(home_of lfuser1)/$job.out" ]
	scancel "$job"
}

@test "reject: a step over two nodes ends on both, a het step and a batch script's too" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	try srun -N2 -n4 --gres=gpu:1 sh -c 'echo ran; sleep 30'
	[ "$status" != 0 ]
	count "$err" "loongforge: $n1: NVLink graph: " 1
	count "$err" "loongforge: $n2: " 0
	try timeout 60 srun -w "$n1" --gres=gpu:1 sh -c 'echo ran; sleep 30' : -w "$n2" --gres=gpu:1 sh -c 'echo ran; sleep 30'
	[ "$status" != 0 ] && [ "$status" != 124 ]
	count "$err" "loongforge: $n1: NVLink graph: " 1
	job=$(mine sbatch --parsable -o %j.out -N2 --gres=gpu:1 --wrap 'srun -N2 echo ran')
	wait_job "$job" FAILED
	equal "$(grep -c ran "$(home_of lfuser1)/$job.out")" 0
	nobody_drained
}

@test "many jobs at once on one node: one verdict, every job judged" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	local i jobs=''
	for i in $(seq 6); do jobs+=" $(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 --wrap 'echo ran')"; done
	for i in $jobs; do
		wait_job "$i" FAILED
		count "$(cat "$(home_of lfuser1)/$i.out")" "loongforge: $n1: NVLink graph: " 1
	done
	poll 10 no_refusals
}

@test "never over another's reason" {
	broken nvlink && policy "$on"
	printf '#!/bin/sh\nscontrol update nodename=%s state=drain reason="disk is full"\n' "$n1" >"$LF_CLUSTER/other" && chmod 755 "$LF_CLUSTER/other"
	slow_probe "$LF_CLUSTER/other"
	gpu echo ran
	equal "$out" ''
	poll 10 drained "$n1"
	equal "$(reason "$n1")" 'disk is full'
}
slow_probe() { probe_with "PATH=/usr/bin:/bin $1"; } # COMMAND: runs it before the probe
probe_with() { # SHELL LINE: in front of the probe
	cp -a "$LF_PREFIX/sbin" "$LF_CLUSTER/copy" && mv "$LF_CLUSTER/copy/loongforge-probe" "$LF_CLUSTER/real-probe"
	printf '#!/bin/sh\n%s\nexec %s "$@"\n' "$1" "$LF_CLUSTER/real-probe" >"$LF_CLUSTER/copy/loongforge-probe"
	chmod 755 "$LF_CLUSTER/copy/loongforge-probe" && mount --bind "$LF_CLUSTER/copy" "$LF_PREFIX/sbin"
}

@test "breaker: when too many nodes were drained lately, the next is only warned about" {
	broken nvlink && policy "$on" -- 'nvlink = drain' -- 'nodes = 1' 'percent = 0'
	scontrol update nodename="$n2" state=drain reason='loongforge: NVLink graph: expected x, found y (LF-NVL-01)'
	gpu echo ran
	equal "$status:$out" 0:ran
	! drained "$n1"
	grep -q 'LF-GATE-03' "$LF_CLUSTER/log/slurmd-$n1.log"
}

@test "breaker: nodes that judge at the same moment do not drain more than it allows" {
	broken nvlink && record "$n2" two_islands.xml && policy "$on" -- 'nvlink = drain' -- 'nodes = 1' 'percent = 0'
	local i pids
	for i in 1 2 3; do
		pids=
		for n in "$n1" "$n2"; do health "$n" >/dev/null & pids+=" $!"; done
		for n in $pids; do wait "$n" || true; done
		! { drained "$n1" && drained "$n2"; }
		resume
	done
	try srun -N2 -n2 --gres=gpu:8 echo ran
	! { drained "$n1" && drained "$n2"; }
}
health() { env SLURMD_NODENAME="$1" "$LF_PREFIX/sbin/loongforge-probe" --health --config "$LF_CLUSTER/conf/loongforge.conf" --run "$LF_RUN"; }

@test "breaker: it counts in whatever time zone slurmd is" {
	broken nvlink && policy "$on" -- 'nvlink = drain' -- 'nodes = 1' 'percent = 0'
	scontrol update nodename="$n2" state=drain reason='loongforge: NVLink graph: expected x, found y (LF-NVL-01)'
	for tz in Asia/Shanghai UTC America/Los_Angeles; do
		run env TZ="$tz" SLURMD_NODENAME="$n1" "$LF_PREFIX/sbin/loongforge-probe" --health --config "$LF_CLUSTER/conf/loongforge.conf" --run "$LF_RUN"
		like "$output" '*LF-GATE-03*' "$tz"
		! drained "$n1"
	done
}

@test "a probe that is killed leaves no scontrol behind that drains the node later" {
	mkdir -p "$LF_CLUSTER/slurm"
	broken nvlink && policy "$on" "slurm = \"$LF_CLUSTER/slurm\""
	ln -sf "$(command -v sinfo)" "$LF_CLUSTER/slurm/sinfo"
	printf '#!/bin/sh\nsleep 2\nexec %s "$@"\n' "$(command -v scontrol)" >"$LF_CLUSTER/slurm/scontrol"
	chmod 755 "$LF_CLUSTER/slurm/scontrol"
	health "$n1" >/dev/null & # bats's own jobs are no children of a subshell
	sleep 1
	pkill -9 -x loongforge-prob
	sleep 3
	rm -r "$LF_CLUSTER/slurm"
	! drained "$n1"
}

@test "the switch turns the gate off at once, for refused jobs too" {
	broken nvlink && policy "$on"
	for text in '' gate; do
		printf '%s' "$text" >"$LF_CLUSTER/conf/off"
		runs
	done
	rm "$LF_CLUSTER/conf/off"
	drains LF-NVL-01
}

@test "enforce = warn harms nothing, whatever the checks say" {
	broken nvlink && policy -- 'nvlink = drain' 'pcie = reject'
	runs
	job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:8 --wrap 'echo ran')
	wait_job "$job" COMPLETED
	nobody_drained
}

@test "scontrol or sinfo that hang or are missing: the job runs, the node stays up" {
	local kind
	mkdir -p "$LF_CLUSTER/slurm"
	broken nvlink && policy "$on" "slurm = \"$LF_CLUSTER/slurm\""
	runs # missing
	printf '#!/bin/sh\nexec sleep 100\n' | tee "$LF_CLUSTER/slurm/sinfo" >"$LF_CLUSTER/slurm/scontrol"
	chmod 755 "$LF_CLUSTER/slurm"/*
	runs # hang
	grep -q 'sinfo: no answer within 3000 ms' "$LF_CLUSTER/log/slurmd-$n1.log"
	ln -sf "$(command -v sinfo)" "$LF_CLUSTER/slurm/sinfo"
	runs # scontrol hangs
	rm -r "$LF_CLUSTER/slurm"
}

# ---- verdict and refusal files
@test "a verdict is used again, until it is old, the policy changes, or the machine restarts" {
	runs
	local first
	first=$(grep ^time= "$LF_RUN/$n1.verdict")
	touch -d '1 hour ago' "$LF_RUN/$n1.verdict"
	sed -i 's/^verdict=.*/verdict=pass/; s/^machine=.*/machine=kept/' "$LF_RUN/$n1.verdict"
	job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 --wrap "grep ^machine= $LF_RUN/$n1.verdict")
	wait_job "$job" COMPLETED
	equal "$(cat "$(home_of lfuser1)/$job.out")" machine=kept 'cached'
	for line in 's/^boot=.*/boot=other/' 's/^time=.*/time=5/' 's/^basis=.*/basis=5/' 's/^facts=.*/facts=5/' '1s/.*/rubbish/' '$d'; do
		sed -i "s/^machine=.*/machine=kept/; $line" "$LF_RUN/$n1.verdict"
		job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 --wrap "grep ^machine= $LF_RUN/$n1.verdict")
		wait_job "$job" COMPLETED
		[ "$(cat "$(home_of lfuser1)/$job.out")" != machine=kept ] || { echo "$line" >&2 && return 1; }
	done
}

@test "a verdict that is a link, a stranger's, a folder, or huge is not believed" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	rejected LF-NVL-01
	sed 's/^verdict=.*/verdict=pass/; /^finding=/d; s/^time=.*/time=99999999999/' "$LF_RUN/$n1.verdict" >"$LF_CLUSTER/forged"
	for make in "ln -s $LF_CLUSTER/forged" "install -m 666 $LF_CLUSTER/forged" "install -o lfuser1 $LF_CLUSTER/forged" 'mkdir' 'truncate -s 100M'; do
		rm -rf "$LF_RUN/$n1.verdict" && $make "$LF_RUN/$n1.verdict"
		rejected LF-NVL-01
	done
	rm -rf "$LF_RUN/$n1.verdict"
}

@test "a refusal ends with its job" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 --wrap 'echo ran')
	wait_job "$job" FAILED
	like "$(cat "$(home_of lfuser1)/$job.out")" "loongforge: $n1: * (LF-NVL-01)*"
	poll 10 no_refusals
}
no_refusals() { [ -z "$(ls "$LF_RUN"/*.refuse 2>/dev/null)" ]; }

@test "a policy that names unknown checks: nothing is enforced, users are told" {
	broken nvlink && policy "$on" -- 'nvlnk = reject'
	runs --loongforge
	like "$err" "* (LF-CFG-01)*"
}

@test "the policy changes under a running job: it goes on, the next one is judged by the new" {
	broken nvlink && policy "$on" -- 'nvlink = warn'
	job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 --wrap 'srun echo first; while [ ! -e go ]; do sleep 0.2; done; srun echo second')
	poll 10 grep -q first "$(home_of lfuser1)/$job.out"
	policy "$on" -- 'nvlink = reject'
	rejected LF-NVL-01
	mine touch go
	wait_job "$job" COMPLETED
	equal "$(filter <"$(home_of lfuser1)/$job.out")" $'first\nsecond'
	rm "$(home_of lfuser1)/go"
}

@test "two slurmd of one host have a verdict each" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	rejected LF-NVL-01
	try srun -w "$n2" --gres=gpu:1 echo ran
	equal "$status:$out" 0:ran
	like "$(cat "$LF_RUN/$n2.verdict")" '*verdict=pass*'
}

@test "a recording that is missing, a folder, a pipe, or too large: unknown, with the file and the reason" {
	policy "$on"
	local rec=$LF_CLUSTER/rec/$n1
	for make in : 'mkdir' 'mkfifo' 'truncate -s 100M'; do
		rm -rf "$rec" && $make "$rec"
		run json
		equal "$status:$(member '["verdict"]' <<<"$output")" 0:unknown "$make"
		[ "$make" = mkfifo ] || like "$(member '["unseen"]' <<<"$output")" "*$rec*: *" "$make"
		rm -f "$LF_RUN/$n1.verdict"
	done
	runs
	rm -rf "$rec"
}

@test "%n stands for the node's name wherever it is" {
	mkdir "$LF_CLUSTER/rec/of.$n1" && record "of.$n1/$n1" a800.topo
	policy && sed -i "s|rec/%n|rec/of.%n/%n|" "$LF_CLUSTER/conf/loongforge.conf"
	run json
	equal "$(member '["verdict"]' <<<"$output")" pass
	rm -r "$LF_CLUSTER/rec/of.$n1"
}

@test "a verdict from the future is not believed" {
	job=$(mine sbatch --parsable -o %j.out -w "$n1" --gres=gpu:1 --wrap 'while [ ! -e go ]; do sleep 0.1; done; srun --loongforge=check true')
	wait_job "$job" RUNNING
	sed -i 's/^time=.*/time=99999999999/' "$LF_RUN/$n1.verdict"
	mine touch go
	wait_job "$job" COMPLETED
	like "$(cat "$(home_of lfuser1)/$job.out")" "*verdict: unknown: a verdict from the future*"
	rm "$(home_of lfuser1)/go"
}

@test "health within an allocation leaves its job alone" {
	broken nvlink && policy "$on"
	job=$(mine sbatch --parsable -o %j.out -w "$n2" --gres=gpu:1 --wrap 'sleep 60')
	wait_job "$job" RUNNING
	run env SLURM_JOB_ID="$job" SLURM_JOB_GPUS=0 SLURMD_NODENAME="$n1" "$LF_PREFIX/sbin/loongforge-probe" --health --config "$LF_CLUSTER/conf/loongforge.conf" --run "$LF_RUN"
	equal "$status" 3
	drained "$n1"
	job_is "$job" RUNNING
	scancel "$job"
}

@test "MIG and no GPU: not applicable" {
	record "$n1" mig.smi && policy "$on" -- 'nvlink = reject'
	runs
	record "$n1" amd.lspci && rm "$LF_RUN"/*.verdict
	runs
}

# ---- a probe that is not well
@test "a probe that crashes, hangs, or is missing: the job runs, the node stays up" {
	broken nvlink && policy "$on"
	cp -a "$LF_PREFIX/sbin" "$LF_CLUSTER/copy" && mount --bind "$LF_CLUSTER/copy" "$LF_PREFIX/sbin"
	printf '#!/bin/sh\nkill -SEGV $$\n' >"$LF_CLUSTER/copy/loongforge-probe"
	runs
	grep -q 'LF-GATE-01' "$LF_CLUSTER/log/slurmd-$n1.log"
	rm "$LF_CLUSTER/copy/loongforge-probe"
	runs
}

driver() { # LINE...: a driver with eight GPUs of the fake's, and these of its rules
	local i
	mkdir -p "$LF_CLUSTER/nv"
	[ -e "$LF_CLUSTER/nv/libnvidia-ml.so.1" ] ||
		cc -std=gnu11 -shared -fPIC -I "$LF_HERE/../../lib" -o "$LF_CLUSTER/nv/libnvidia-ml.so.1" "$LF_HERE/../fake/nvml.c"
	{
		printf 'driver 535.161.08\ncuda 12020\n'
		for i in $(seq 8); do
			printf 'gpu 00000000:%02X:00.0 GPU-%d 233010de NVIDIA H100 80GB HBM3\npcie 5 16 5 16 5\nstate 0 0 0 0 0\nplace 0 0 7\nfabric 3 0 0 1 0\nlinks 26562\n' "$i" "$i"
			for _ in $(seq 18); do echo 'link up - switch'; done
		done
		printf '%s\n' "$@"
	} >"$LF_CLUSTER/nv/rules"
	[ -e "$LF_CLUSTER/real-probe" ] || probe_with "export LD_LIBRARY_PATH=$LF_CLUSTER/nv LF_FAKE_NVML=$LF_CLUSTER/nv/rules"
}
json() { env SLURMD_NODENAME="$n1" "$LF_PREFIX/sbin/loongforge-probe" --json --config "$LF_CLUSTER/conf/loongforge.conf" --run "$LF_RUN"; }
member() { python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval("d" + sys.argv[1]))' "$1"; }

@test "a driver that hangs: unknown at 5.0 s, the job runs, nothing is left" {
	local start ms
	policy "$on"
	driver 'hang nvmlInit_v2 60'
	start=$(date +%s%3N)
	run json
	ms=$(($(date +%s%3N) - start))
	[ "$ms" -ge 4800 ] && [ "$ms" -le 5200 ] || { echo "$ms ms" >&2 && return 1; }
	equal "$(member '["verdict"]' <<<"$output")" unknown
	like "$(member '["unseen"]' <<<"$output")" '*found it hanging*'
	rm "$LF_RUN/$n1.verdict"
	runs --loongforge
	count "$err" "loongforge: $n1: hardware: unknown: " 1
	start=$(date +%s%3N)
	runs # that it hangs is known now
	[ $(($(date +%s%3N) - start)) -le 3000 ]
}

@test "a driver: whole, with a GPU lost, with nothing supported, crashing" {
	policy "$on"
	driver
	run json
	equal "$status:$(member '["clauses"]["nvlink"]' <<<"$output"):$(member '["recorded"]' <<<"$output")" 0:pass:False
	driver lost
	run json
	equal "$status" 3
	equal "$(member '["findings"][0]["code"]' <<<"$output")" LF-XID-01
	driver 'refuse all 3'
	run json
	equal "$status" 0
	driver 'crash nvmlInit_v2'
	run json
	equal "$status:$(member '["verdict"]' <<<"$output")" 0:unknown
	runs
}

@test "a recording is refused where a driver shows GPUs" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	driver
	runs
	grep -q '^recorded=0' "$LF_RUN/$n1.verdict"
}

@test "PrologFlags without Alloc: the gate stands before the first step" {
	cp "$LF_CLUSTER/etc/slurm.conf" "$LF_CLUSTER/slurm.conf.kept"
	sed -i '/^PrologFlags=/d' "$LF_CLUSTER/etc/slurm.conf" && scontrol reconfigure && sleep 1
	broken nvlink && policy "$on" -- 'nvlink = reject'
	rejected LF-NVL-01
	cp "$LF_CLUSTER/slurm.conf.kept" "$LF_CLUSTER/etc/slurm.conf" && scontrol reconfigure && sleep 1
}

@test "health: refreshes the verdict, and drains only where it is enforced" {
	broken nvlink && policy
	run env SLURMD_NODENAME="$n1" "$LF_PREFIX/sbin/loongforge-probe" --health --config "$LF_CLUSTER/conf/loongforge.conf" --run "$LF_RUN"
	equal "$status" 0
	nobody_drained
	grep -q '^verdict=fail' "$LF_RUN/$n1.verdict"
	policy "$on"
	run env SLURMD_NODENAME="$n1" "$LF_PREFIX/sbin/loongforge-probe" --health --config "$LF_CLUSTER/conf/loongforge.conf" --run "$LF_RUN"
	equal "$status" 3
	drained "$n1"
	like "$(reason "$n1")" 'loongforge: NVLink graph: * (LF-NVL-01)'
}

@test "as Slurm's HealthCheckProgram it drains a node that no job has tried" {
	broken nvlink && policy "$on"
	printf '#!/bin/sh\nSLURM_CONF=%s exec %s/sbin/loongforge-probe --health --config %s/conf/loongforge.conf --run %s\n' "$SLURM_CONF" "$LF_PREFIX" "$LF_CLUSTER" "$LF_RUN" >"$LF_CLUSTER/health"
	chmod 755 "$LF_CLUSTER/health"
	grep -q -- 'loongforge-probe --health$' "$LF_PREFIX/sbin/loongforge-health" # what is shipped, but for the paths
	cp "$LF_CLUSTER/etc/slurm.conf" "$LF_CLUSTER/slurm.conf.kept"
	printf 'HealthCheckProgram=%s/health\nHealthCheckInterval=1\n' "$LF_CLUSTER" >>"$LF_CLUSTER/etc/slurm.conf"
	scontrol reconfigure
	poll 15 drained "$n1"
	cp "$LF_CLUSTER/slurm.conf.kept" "$LF_CLUSTER/etc/slurm.conf" && scontrol reconfigure
	like "$(reason "$n1")" 'loongforge: NVLink graph: * (LF-NVL-01)'
	! drained "$n2"
	sleep 2
}

# ---- a hostile user
@test "a user cannot forge, remove or replace verdict, settings or refusal" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	rejected LF-NVL-01
	for f in "$n1.verdict" "$n1.settings" "$n1.99.refuse"; do
		run mine sh -c "echo forged >$LF_RUN/$f"
		[ "$status" != 0 ]
		run mine rm -f "$LF_RUN/$f"
		run mine ln -s /etc/passwd "$LF_RUN/$f.link"
		[ "$status" != 0 ]
	done
	[ -s "$LF_RUN/$n1.verdict" ] && [ -s "$LF_RUN/$n1.settings" ]
	rejected LF-NVL-01
}

@test "what root runs has slurmd's environment, and of the user's only SPANK_ names" {
	policy "$on"
	probe_with "env >$LF_CLUSTER/probe.env"
	try env EVIL=1 LD_PRELOAD=/tmp/evil.so LD_LIBRARY_PATH=/tmp PATH="/tmp:$PATH" SPANK_EVIL=1 srun --export=ALL -w "$n1" --gres=gpu:1 echo ran
	equal "$out" ran
	[ -s "$LF_CLUSTER/probe.env" ]
	equal "$(grep -vE '^(SLURM|SPANK_|CUDA_|ROCR_|ZE_|GPU_|PWD=|SHLVL=|_=|OLDPWD=)' "$LF_CLUSTER/probe.env")" ''
	equal "$(sed -n 's/^SLURM_JOB_GPUS=//p' "$LF_CLUSTER/probe.env")" 0
}

@test "a run folder that is not root's alone: nothing is written there, the job starts" {
	broken nvlink && policy "$on"
	local probe="$LF_PREFIX/sbin/loongforge-probe --node $n1 --config $LF_CLUSTER/conf/loongforge.conf"
	install -d -o lfuser1 "$LF_CLUSTER/theirs"
	install -d -m 777 "$LF_CLUSTER/open"
	ln -s "$LF_CLUSTER/conf" "$LF_CLUSTER/link"
	for d in theirs open link; do
		run env SLURM_JOB_ID=7 SLURM_JOB_GPUS=0 $probe --gate --run "$LF_CLUSTER/$d"
		equal "$status" 1
		like "$output" "$LF_CLUSTER/$d: *"
		equal "$(ls "$LF_CLUSTER/$d" | grep "$n1[.][vs0-9]")" ''
	done
	rm -r "$LF_CLUSTER"/{theirs,open,link}
}

@test "a run folder that cannot be written, and a drain that was not done: the job runs, the node stays up" {
	broken nvlink && policy "$on" "slurm = \"$LF_CLUSTER/none\""
	runs
	mount --bind "$LF_RUN" "$LF_RUN" && mount -o remount,bind,ro "$LF_RUN"
	gpu sh -c 'echo ran'
	umount "$LF_RUN"
	equal "$status:$out" 0:ran
	nobody_drained
}

@test "a user's environment does not reach the probe" {
	broken nvlink && policy "$on" -- 'nvlink = reject'
	for e in SLURMD_NODENAME="$n2" SLURM_JOB_GPUS= SLURM_CONF_X=1 LD_PRELOAD=/tmp/x.so SPANK_SLURM_JOB_GPUS= SLURM_JOB_PARTITION=x; do
		try env "$e" srun -w "$n1" --gres=gpu:1 echo ran
		equal "$status:$out" 1: "$e"
	done
}
