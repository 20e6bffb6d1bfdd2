#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Options and their environment twins: what reaches which step, and what is refused where.

load plugin

setup_file() { suite_up; }
teardown_file() { suite_down; }
setup() { begin; }
teardown() { finish; }

is_on='/usr/bin/printenv LOONGFORGE_SOCKET'
threads='echo ${OMP_NUM_THREADS-unset} ${TORCH_FR_BUFFER_SIZE-unset}'

refused_here() { # TEXT COMMAND...: by the submit host, in one line of ours, and no job is made
	local text=$1 last
	shift
	last=$(last_job)
	try "$@"
	[ "$status" != 0 ]
	equal "$out" ''
	like "$err" "*: error: loongforge: $text*"
	equal "$(grep -c loongforge: <<<"$err")" 1 "lines of ours in $err"
	equal "$(last_job)" "$last" 'last job'
}

@test "without the option nothing is set and nothing is said" {
	try srun env
	equal "$status" 0
	equal "$(grep -v ^PATH= <<<"$out" | grep -iE 'loongforge|MASTER_|^RANK|OMP_|TORCH_|PYTHONPATH')" ''
	equal "$err" ''
}

@test "--loongforge and --loongforge=on start it" {
	for o in --loongforge --loongforge=on; do
		try srun $o $is_on
		equal "$status" 0
		like "$out" "loongforge/$(last_job).0.0/????????????????????????????????"
		equal "$err" ''
	done
}

@test "--loongforge=off is as without" {
	try srun --loongforge=off $is_on
	equal "$status" 1
	equal "$out" ''
}

@test "a bad value is refused on the submit host by srun, sbatch and salloc" {
	refused_here "--loongforge: expected on, check or off, found 'maybe' (LF-OPT-01)" srun --loongforge=maybe true
	refused_here "--loongforge: expected on, check or off, found 'maybe' (LF-OPT-01)" sbatch --loongforge=maybe --wrap true
	refused_here "--loongforge: expected on, check or off, found 'maybe' (LF-OPT-01)" salloc --loongforge=maybe true
}

@test "--loongforge-set: an unknown key, a bad value, another's key, no value: refused with the reason" {
	refused_here "--loongforge-set: unknown key 'env.thread' (LF-OPT-03)" srun --loongforge --loongforge-set=env.thread=no true
	refused_here "--loongforge-set: env.threads: expected yes or no, found 'maybe' (LF-OPT-03)" srun --loongforge --loongforge-set=env.threads=maybe true
	refused_here "--loongforge-set: log.dir: expected an absolute path, or empty, found 'here' (LF-OPT-03)" sbatch --loongforge-set=log.dir=here --wrap true
	refused_here "--loongforge-set: key 'launch.ports' belongs to the administrator (LF-OPT-03)" salloc --loongforge-set=launch.ports=1-20 true
	refused_here "--loongforge-set: expected KEY=VALUE, found 'env.threads' (LF-OPT-03)" srun --loongforge --loongforge-set=env.threads true
	refused_here "--loongforge-set: unknown key 'x' (LF-OPT-03)" srun --loongforge '--loongforge-set=env.threads=no;x=1' true
}

@test "--loongforge-set: repeated values are joined, also with --export=NONE" {
	for e in ALL NONE; do
		try srun --export=$e --loongforge --loongforge-set=env.threads=no --loongforge-set=env.recorder=no /bin/sh -c "$threads"
		equal "$both" 'unset unset' "--export=$e"
		try srun --export=$e --loongforge '--loongforge-set=env.threads=no;env.recorder=no' /bin/sh -c "$threads"
		equal "$both" 'unset unset' "--export=$e"
		try srun --export=$e --loongforge --loongforge-set=env.threads=no /bin/sh -c "$threads"
		equal "$both" 'unset 2000' "--export=$e"
	done
}

@test "--loongforge-set: a contradiction is refused, the same value twice is not" {
	refused_here "--loongforge-set: env.threads is given twice: no and yes (LF-OPT-03)" \
		srun --loongforge --loongforge-set=env.threads=no --loongforge-set=env.threads=yes true
	try srun --loongforge --loongforge-set=env.threads=no --loongforge-set=env.threads=no /bin/sh -c "$threads"
	equal "$both" 'unset 2000'
}

@test "--loongforge on and off in one command is refused" {
	refused_here "--loongforge is given twice, on and off; one value holds for all components (LF-OPT-02)" \
		srun --loongforge=on --loongforge=off true
}

@test "twin LOONGFORGE: on, off, bad; the command line wins" {
	try env LOONGFORGE=on srun $is_on
	like "$both" "loongforge/*"
	try env LOONGFORGE=on srun --export=NONE $is_on
	like "$both" "loongforge/*"
	try env LOONGFORGE=off srun $is_on
	equal "$status:$out" 1:
	refused_here "--loongforge: expected on, check or off, found 'maybe' (LF-OPT-01)" env LOONGFORGE=maybe srun true
	try env LOONGFORGE=Yes srun $is_on
	equal "$status:$err" 0:
	try env LOONGFORGE=0 srun $is_on
	equal "$status:$out" 1:
	try env LOONGFORGE=on srun --loongforge=off $is_on
	equal "$status:$out" 1:
	try env LOONGFORGE=off srun --loongforge $is_on
	like "$both" "loongforge/*"
	try env LOONGFORGE=off srun --loongforge=on $is_on
	like "$both" "loongforge/*"
}

@test "twin LOONGFORGE_SET: joined with the options, which win" {
	try env LOONGFORGE_SET=env.threads=no srun --loongforge /bin/sh -c "$threads"
	equal "$both" 'unset 2000'
	try env LOONGFORGE_SET=env.threads=no srun --loongforge --loongforge-set=env.recorder=no /bin/sh -c "$threads"
	equal "$both" 'unset unset'
	try env LOONGFORGE_SET=env.threads=no srun --loongforge --loongforge-set=env.threads=yes /bin/sh -c "$threads"
	equal "$both" '1 2000'
	try env LOONGFORGE_SET=env.threads=no srun --export=NONE --loongforge /bin/sh -c "$threads"
	equal "$both" 'unset 2000'
	refused_here "--loongforge-set: unknown key 'x' (LF-OPT-03)" env LOONGFORGE_SET=x=1 srun --loongforge true
}

@test "twin LOONGFORGE_LOG_LEVEL sets the log's level; --loongforge-set wins; a bad one is refused on the node" {
	log() { cat "$(home_of lfuser1)/.loongforge/$(last_job)"/0.*.log; }
	try env LOONGFORGE_LOG_LEVEL=ERROR srun --loongforge true
	equal "$status:$both:$(log)" 0::
	try env LOONGFORGE_LOG_LEVEL=ERROR srun --loongforge --loongforge-set=log.level=INFO true
	equal "$status:$both" 0:
	like "$(log)" '*INFO *'
	try env LOONGFORGE_LOG_LEVEL=LOUD srun -w "$n1" --loongforge true
	equal "$status" 1
	count "$err" "loongforge: $n1: LOONGFORGE_LOG_LEVEL: log.level: expected ERROR, WARN, INFO or DEBUG, found 'LOUD' (LF-OPT-03)" 1
	count "$err" 'loongforge: hint: ' 1
	count "$err" "srun: error: $n1: task 0: Exited with exit code 1" 1
	equal "$(wc -l <<<"$err")" 3
	equal "$(ended)" FAILED
}

@test "#SBATCH lines reach the batch step and the inner sruns, also with --export=NONE" {
	for e in ALL NONE; do
		batch <<-S
			#!/bin/sh
			#SBATCH --export=$e
			#SBATCH --loongforge
			#SBATCH --loongforge-set=env.threads=no
			#SBATCH --loongforge-set=env.recorder=no
			echo batch \$LOONGFORGE_SOCKET
			srun /bin/sh -c 'echo step \$LOONGFORGE_SOCKET \${OMP_NUM_THREADS-unset} \${TORCH_FR_BUFFER_SIZE-unset}'
		S
		equal "$state" COMPLETED
		like "$out" "batch loongforge/$job.4294967291.0/????????????????????????????????
step loongforge/$job.0.0/???????????????????????????????? unset unset"
	done
}

@test "an inner srun's own option wins over the job's" {
	batch --loongforge --loongforge-set=env.threads=no <<-'S'
		#!/bin/sh
		srun --loongforge=off /bin/sh -c 'echo off ${RANK-none}'
		srun --loongforge-set=env.threads=yes /bin/sh -c 'echo threads ${OMP_NUM_THREADS-unset}'
		srun /bin/sh -c 'echo threads ${OMP_NUM_THREADS-unset}'
	S
	equal "$state" COMPLETED
	equal "$out" $'off none\nthreads 1\nthreads unset'
	batch <<-'S'
		#!/bin/sh
		srun /bin/sh -c 'echo ${RANK-none}'
		srun --loongforge /bin/sh -c 'echo ${RANK-none}'
	S
	equal "$out" $'none\n0'
}

@test "sbatch's twins reach the inner sruns, joined with its options" {
	job=$(mine env LOONGFORGE=on LOONGFORGE_SET=env.threads=no sbatch --parsable -o %j.out --wrap "srun /bin/sh -c 'echo \$RANK \${OMP_NUM_THREADS-unset}'")
	wait_job "$job" COMPLETED
	equal "$(filter <"$(home_of lfuser1)/$job.out")" '0 unset'
	job=$(mine env LOONGFORGE=on LOONGFORGE_SET=env.threads=no sbatch --parsable -o %j.out --loongforge-set=env.recorder=no --wrap "srun /bin/sh -c '$threads'")
	wait_job "$job" COMPLETED
	equal "$(filter <"$(home_of lfuser1)/$job.out")" 'unset unset'
}

@test "salloc's options reach the steps of its command" {
	try salloc -Q --loongforge --loongforge-set=env.threads=no srun /bin/sh -c 'echo $RANK ${OMP_NUM_THREADS-unset}'
	equal "$status:$both" '0:0 unset'
	try salloc -Q srun --loongforge /bin/sh -c 'echo $RANK ${OMP_NUM_THREADS-unset}'
	equal "$status:$both" '0:0 1'
}

@test "het step: one value holds for all components, differing ones are refused" {
	cat >"$(home_of lfuser1)/het" <<-'S'
		srun --loongforge /bin/sh -c 'echo a ${RANK-none}' : /bin/sh -c 'echo b ${RANK-none}' | sort
		srun --loongforge --het-group=0,1 /bin/sh -c 'echo both ${RANK+set}'
		srun --loongforge=on /bin/sh -c 'echo c ${RANK-none}' : --loongforge=off true
	S
	try salloc -Q -n1 : -n1 sh het
	like "$out" $'a ?\nb ?\nboth set\nboth set' 
	count "$err" 'loongforge: --loongforge is given twice, on and off; one value holds for all components (LF-OPT-02)' 1
}

@test "--help shows the options" {
	for c in srun sbatch salloc; do
		try $c --help
		like "$out" *$'\n'*--loongforge=on\|check\|off*"Start LoongForge's orchestrator"*--loongforge-set=KEY=VALUE*loongforge.conf\(5\)*
	done
}

@test "a bad value that passed the client is refused on the node: two lines, FAILED, node idle" {
	sed 's/^PlugStackConfig=.*/PlugStackConfig=\/dev\/null/' "$SLURM_CONF" >"$LF_CLUSTER/noplug.conf"
	cp "$LF_CLUSTER"/etc/{gres,cgroup,job_container}.conf "$LF_CLUSTER/" 2>/dev/null || true
	chmod a+r "$LF_CLUSTER"/*.conf
	forged() { try env SLURM_CONF="$LF_CLUSTER/noplug.conf" "_SLURM_SPANK_OPTION_loongforge_$1=$2" srun -N2 -n4 "${@:3}"; }
	forged loongforge maybe true
	equal "$status" 1
	count "$err" "loongforge: $n1: --loongforge: expected on, check or off, found 'maybe' (LF-OPT-01)" 1
	equal "$(ended)" FAILED
}
