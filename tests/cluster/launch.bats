#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What a step finds when LoongForge started it: environment, orchestrators, sessions, status.

load plugin

setup_file() { suite_up && install -m 755 "$LF_HERE"/{talk,flood} "$LF_CLUSTER/" && mkdir -p "$(home_of lfuser1)" && chown lfuser1: "$(home_of lfuser1)"; }
teardown_file() { suite_down; }
setup() { begin; }
teardown() { finish; }

show() { # NAME...: a task's command that prints those variables
	local n text=
	for n; do text+=" \${$n-unset}"; done
	echo "echo \$SLURM_PROCID$text"
}
note() { tr ';' '\n' <<<"$out" | sed -n "s/^$1=//p"; } # NAME: why it was set, from LOONGFORGE_ENV_SET

# ---- environment
@test "one node: the rendezvous is 127.0.0.1, ranks are Slurm's" {
	try srun -n3 --loongforge sh -c "$(show MASTER_ADDR RANK WORLD_SIZE LOCAL_RANK)"
	equal "$status:$err" 0:
	equal "$(sort <<<"$out")" $'0 127.0.0.1 0 3 0\n1 127.0.0.1 1 3 1\n2 127.0.0.1 2 3 2'
}

@test "two nodes: one address and one port for all, ranks and local ranks are Slurm's" {
	try srun -N2 -n4 --ntasks-per-node=2 --loongforge sh -c 'echo $MASTER_ADDR $MASTER_PORT $RANK $WORLD_SIZE $LOCAL_RANK = $SLURM_PROCID $SLURM_LOCALID'
	equal "$status:$err" 0:
	port=$(cut -d' ' -f2 <<<"$out" | sort -u)
	[ "$port" -ge 20000 ] && [ "$port" -le 29999 ]
	a=$(scontrol show node "$n1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
	equal "$(sort -k3 <<<"$out")" "$a $port 0 4 0 = 0 0
$a $port 1 4 1 = 1 1
$a $port 2 4 0 = 2 0
$a $port 3 4 1 = 3 1"
}

@test "LOONGFORGE_ENV_SET says what was set and why" {
	try srun -c2 --loongforge printenv LOONGFORGE_ENV_SET
	equal "$(tr ';' '\n' <<<"$out" | sed 's/=.*//' | tr '\n' ' ')" \
		'MASTER_ADDR MASTER_PORT RANK WORLD_SIZE LOCAL_RANK OMP_NUM_THREADS TORCH_FR_BUFFER_SIZE TORCH_NCCL_DUMP_ON_TIMEOUT PYTHONPATH LOONGFORGE_SOCKET '
	equal "$(note RANK)" SLURM_PROCID
	equal "$(note OMP_NUM_THREADS)" 'CPUs of the task'
}

@test "the user's values win and are noted" {
	try env MASTER_PORT=1234 RANK=7 OMP_NUM_THREADS=5 srun --loongforge sh -c "$(show MASTER_PORT RANK WORLD_SIZE LOCAL_RANK OMP_NUM_THREADS)"
	equal "$status:$both" '0:0 1234 7 unset unset 5'
	try env MASTER_PORT=1234 RANK=7 srun --loongforge printenv LOONGFORGE_ENV_SET
	equal "$(note MASTER_PORT) $(note RANK) $(note WORLD_SIZE)" "kept: the user's kept: the user's "
}

@test "a step started from a step gets values of its own" {
	try srun --loongforge sh -c 'srun --overlap --loongforge printenv RANK SLURM_STEP_ID LOONGFORGE_SOCKET'
	like "$both" "0
1
loongforge/$(last_job).1.0/*"
	try srun --loongforge sh -c 'srun --overlap --loongforge=off printenv LOONGFORGE_SOCKET'
	equal "$status:$out" 1:
}

@test "one task with several GPUs gets no RANK; with one GPU, or as one of several tasks, it does" {
	try srun --gres=gpu:2 --loongforge sh -c "$(show MASTER_ADDR RANK WORLD_SIZE LOCAL_RANK)"
	equal "$both" '0 127.0.0.1 unset unset unset'
	try srun --gres=gpu:1 --loongforge sh -c "$(show RANK WORLD_SIZE LOCAL_RANK)"
	equal "$both" '0 0 1 0'
	try srun -n2 --gres=gpu:2 --loongforge sh -c "$(show RANK WORLD_SIZE LOCAL_RANK)"
	equal "$(sort <<<"$both")" $'0 0 2 0\n1 1 2 1'
}

@test "OMP_NUM_THREADS is the task's CPUs" {
	try srun -c3 --loongforge sh -c "$(show OMP_NUM_THREADS)"
	equal "$both" '0 3'
}

@test "PYTHONPATH is appended to; env.python=no leaves it alone" {
	try srun --loongforge printenv PYTHONPATH
	equal "$both" "$PYTHONDIR"
	try env PYTHONPATH=/a:/b srun --loongforge printenv PYTHONPATH
	equal "$both" "/a:/b:$PYTHONDIR"
	try env PYTHONPATH=@x srun --loongforge printenv PYTHONPATH
	equal "$both" "@x:$PYTHONDIR"
	try env PYTHONPATH=/a srun --loongforge --loongforge-set=env.python=no printenv PYTHONPATH
	equal "$both" /a
}

@test "env.rendezvous=no sets no rendezvous" {
	try srun --loongforge --loongforge-set=env.rendezvous=no sh -c "$(show MASTER_ADDR MASTER_PORT RANK WORLD_SIZE LOCAL_RANK OMP_NUM_THREADS)"
	equal "$both" '0 unset unset unset unset unset 1'
}

@test "MASTER_PORT taken: refused at once, the holder named, the whole step ends" {
	cat >"$(home_of lfuser1)/taken" <<-S
		port=\$($LF_PREFIX/libexec/loongforge/loongforge-plan step "job=\$SLURM_JOB_ID
		step=0
		nodeid=1
		nodes=2" on '' | sed -n 's/^env=MASTER_PORT\t//p')
		echo port \$port
		$PY -c "import socket, time; s = socket.socket(); s.bind(('', \$port)); s.listen(); time.sleep(60)" &
		echo pid \$!
		sleep 0.5
		srun --loongforge -N2 -n4 sleep 60
		echo rc \$?
		kill %1
	S
	SECONDS=0
	try salloc -Q -N2 -n4 bash taken
	[ "$SECONDS" -le 8 ]
	port=$(sed -n 's/^port //p' <<<"$out") pid=$(sed -n 's/^pid //p' <<<"$out")
	like "$out" *'rc '[1-9]*
	count "$err" "loongforge: $n1: MASTER_PORT: expected port $port to be free, found it held by pid $pid (LF-PRT-01)" 1
	count "$err" 'loongforge: hint: start again (the next step takes another port), or set MASTER_PORT yourself' 1
	count "$err" 'loongforge:' 2
}

@test "an environment of 5 MB gets through (Linux takes at most 6)" {
	try bash -c 'ulimit -s unlimited; v=$(printf "%0100000d" 0); for i in $(seq 50); do export V$i=$v; done; srun --loongforge sh -c '\''echo ${#V1} ${#V50} $RANK'\'
	equal "$status:$both" '0:100000 100000 0'
}

# ---- orchestrators
@test "both nodes' orchestrators come together; they log in the submission folder" {
	try srun -N2 --loongforge "$PY" -c 'import loongforge as lf; print(lf.init(), lf.active())'
	equal "$status:$both" $'0:True True\nTrue True'
	l=$(home_of lfuser1)/.loongforge/$(last_job)
	equal "$(cd "$l" && echo *)" "0.$n1.log 0.$n2.log"
	for text in 'group: all 2 nodes are here' 'group: the leader says ready' 'tasks: hello from rank 0, pid ' 'tasks: hello from rank 1, pid '; do
		count "$(cat "$l"/*)" " INFO  $text" 1
	done
}

@test "log.dir puts the logs elsewhere" {
	d=$(home_of lfuser1)/elsewhere/a
	try srun -w "$n1" --loongforge --loongforge-set=log.dir="$d" true
	equal "$status:$both:$(ls "$d")" "0::0.$n1.log"
}

@test "loongforge status: inside, outside, --json" {
	hold_options=(-N2 -n4 --ntasks-per-node=2)
	hold --loongforge "$PY" -c 'import time, loongforge as lf; lf.init(); time.sleep(60)'
	poll 10 eval '[ "$(mine loongforge status "$job" | grep -cE " ready,| 2 of 2 connected")" = 4 ]'
	try loongforge status "$job"
	equal "$status:$err" 0:
	out=$(sed -E 's/up [0-9.]+ s/up T s/; s/LoongForge [0-9.]+, pid [0-9]+$/V, pid P/; s/pid [0-9]+\)/pid P)/g' <<<"$out")
	like "$out" *"job $job, step 0, node $n1 (1 of 2, leads): ready, 2 of 2 nodes here, up T s, V, pid P
  nodes  $n1 here, $n2 here
  tasks  2 of 2 connected: rank ? (pid P), rank ? (pid P)
  log    $(home_of lfuser1)/.loongforge/$job/0.$n1.log"*
	like "$out" *"job $job, step 0, node $n2 (2 of 2): ready, up T s, V, pid P
  tasks  2 of 2 connected: rank ? (pid P), rank ? (pid P)
  log    $(home_of lfuser1)/.loongforge/$job/0.$n2.log"*
	try loongforge status --json "$job"
	equal "$(jq -c 'sort_by(.nodeid) | map([.job, .step, .node, .nodeid, .nodes, .state, .tasks, .connected, (.task_list | map(.rank) | sort)])' <<<"$out")" \
		"[[$job,0,\"$n1\",0,2,\"ready\",2,2,[0,1]],[$job,0,\"$n2\",1,2,\"ready\",2,2,[2,3]]]"
	try srun --jobid="$job" --overlap -N1 -n1 loongforge status
	like "$both" *"job $job, step 0, node $n1 (1 of 2, leads): ready, 2 of 2 nodes here"*
	mine scancel "$job"
}

@test "loongforge status in a batch script whose step has all the memory" {
	batch -N1 <<-S
		#!/bin/sh
		srun sleep 4 &
		sleep 1
		loongforge status 2>&1
		wait
	S
	count "$out" "loongforge: job $job has no orchestrator on this node: " 1
}

@test "loongforge status of a job without it says so" {
	job=$(mine sbatch --parsable -o %j.out --wrap 'sleep 60')
	wait_job "$job" RUNNING
	try loongforge status "$job"
	equal "$status:$out" 1:
	count "$err" "loongforge: job $job has no orchestrator on this node: does a step of it run with --loongforge now, and is it yours?" 1
	mine scancel "$job"
	wait_job "$job" CANCELLED
	try loongforge status "$job"
	[ "$status" != 0 ]
}

@test "several steps of a job at once on one node, each with its own" {
	batch -n3 <<-'S'
		#!/bin/sh
		for i in 1 2 3; do srun -n1 --overlap --loongforge sh -c 'echo $SLURM_STEP_ID $MASTER_PORT $LOONGFORGE_SOCKET; sleep 2' & done
		wait
	S
	equal "$state" COMPLETED
	equal "$(cut -d' ' -f1 <<<"$out" | sort)" $'0\n1\n2'
	equal "$(cut -d' ' -f2 <<<"$out" | sort -u | wc -l)" 3 'different ports'
	equal "$(sed 's|.*loongforge/[0-9]*\.||; s|/.*||' <<<"$out" | sort)" $'0.0\n1.0\n2.0'
}

@test "the elements of an array are jobs of their own" {
	a=$(mine sbatch --parsable -a 1-3 -o a%a.out --wrap "srun --loongforge sh -c 'echo \$SLURM_JOB_ID \$RANK \$LOONGFORGE_SOCKET; ls $LF_RUN/seg'")
	for i in 1 2 3; do wait_job "${a}_$i" COMPLETED; done
	for i in 1 2 3; do
		read -r id rank socket < <(filter <"$(home_of lfuser1)/a$i.out")
		equal "$rank" 0
		like "$socket" "loongforge/$id.0.0/*"
		count "$(<"$(home_of lfuser1)/a$i.out")" "$id.0" 2
	done
}

@test "a requeued job has a new folder, with the restart count in its name" {
	rm -f "$(home_of lfuser1)/folders"
	job=$(mine sbatch --parsable -o %j.out --wrap "srun --loongforge sh -c 'cd $LF_RUN/seg && stat -c \"%n %U %a\" \$SLURM_JOB_ID.*' >>folders
		[ -n \"\$SLURM_RESTART_COUNT\" ] || { scontrol requeue \$SLURM_JOB_ID; sleep 60; }")
	wait_job "$job" COMPLETED 60
	equal "$(<"$(home_of lfuser1)/folders")" "$job.0 lfuser1 700
$job.1 lfuser1 700"
}

# ---- batch and interactive steps
lazy='import os, loongforge as lf; print(lf.init(), lf.active(), "RANK" in os.environ, flush=True)'
@test "batch step: nothing runs before lf.init() starts it, and it ends with the step" {
	batch -w "$n1" --loongforge <<-S
		#!/bin/sh
		pgrep -u lfuser1 -x loongforged
		$PY -c '$lazy; os.system("loongforge status --local")'
		$PY -c '$lazy'
	S
	equal "$state" COMPLETED
	like "$out" "True True False
job $job, step batch, node $n1 (1 of 1, leads): ready, 1 of 1 nodes here, up *
  nodes  $n1 here
  tasks  1 of 1 connected: rank 0 (pid *)
  log    $(home_of lfuser1)/.loongforge/$job/batch.$n1.log
True True False"
	count "$(logs "$job")" 'ending: the last client has gone' 2
}

@test "batch step without a client: nothing ever runs" {
	batch --loongforge --wrap 'sleep 1'
	equal "$state:$out" COMPLETED:
	[ ! -e "$(home_of lfuser1)/.loongforge/$job" ]
}

@test "interactive step: lf.init() starts it as well" {
	try salloc -Q --loongforge srun --interactive "$PY" -c "$lazy"
	equal "$status:$both" '0:True True False'
}

# ---- who may talk to it, and what
@test "two users on one node: each sees his own, neither reaches the other's" {
	hold_options=(-n1 -w "$n1")
	hold --loongforge sleep 60
	name=$(socket_of "$job")
	two=$(as lfuser2 sbatch --parsable -n1 -w "$n1" -o %j.out --wrap 'srun --loongforge sleep 60')
	poll 10 eval '[ -n "$(socket_of $two)" ]'
	run as lfuser2 loongforge status
	equal "$(grep -c "^job" <<<"$output"):$(grep -c "^job $two, step 0, node $n1" <<<"$output")" 1:1
	run as lfuser2 "$LF_CLUSTER/talk" "$name" 'hello protocol=1 version=0 rank=0 local_rank=0'
	equal "$output" closed
	poll 5 log_has "$job" "WARN  tasks: refused pid [0-9]+ of uid $(id -u lfuser2): expected uid $(id -u lfuser1) \(LF-SES-01\)"
	run as lfuser2 env PYTHONPATH="$PYTHONDIR" LOONGFORGE_SOCKET="$name" "$PY" -c 'import loongforge as lf; print(lf.init())'
	equal "$status" 0
	like "$output" "loongforge: going on without an orchestrator: *$name: belongs to uid $(id -u lfuser1), expected $(id -u lfuser2) or root
False"
	as lfuser2 scancel "$two"
	mine scancel "$job"
}

@test "a client of another protocol is refused by name, others are served on" {
	hold_options=(-n1 -w "$n1")
	hold --loongforge sleep 60
	try "$LF_CLUSTER/talk" "$(socket_of "$job")" 'hello protocol=99 version=9.9.9 rank=0 local_rank=0'
	out=$(sed 's/%20/ /g; s/%3A/:/g; s/%28/(/g; s/%29/)/g; s/%2C/,/g' <<<"$out")
	like "$out" "refuse kind=protocol reason=loongforge: $n1: client library: expected protocol 1 (LoongForge *), found 99 (9.9.9): rebuild or reinstall it (LF-VER-01)"
	try "$LF_CLUSTER/talk" "$(socket_of "$job")" 'hello protocol=1 version=0 rank=0 local_rank=0'
	like "$out" "welcome protocol=1 *"
	mine scancel "$job"
}

@test "rubbish on the socket costs its sender the session, nobody else" {
	hold_options=(-n1 -w "$n1")
	hold --loongforge sleep 60
	name=$(socket_of "$job")
	for p in '\0\1\2\xff' "$(printf '%09000d' 0)" 'hello protocol=%' 'hello =' 'a b c' "verb $(seq -s ' ' -f 'k%.0f=v' 100)"; do
		try "$LF_CLUSTER/talk" "$name" "$p"
		equal "$out" closed "answer to ${p:0:40}"
	done
	try "$LF_CLUSTER/talk" "$name" 'nonsense a=b' 'hello protocol=1 version=0 rank=0 local_rank=0'
	like "$out" 'refuse kind=verb *
welcome protocol=1 *'
	[ "$(orchestrators "$job" | wc -l)" = 1 ]
	equal "$(logs "$job" | grep -c 'WARN  tasks: pid [0-9]* dropped: ')" 6
	mine scancel "$job"
}

@test "a stranger floods the leader's doors: the nodes come together all the same" {
	as lfuser2 "$LF_CLUSTER/flood" 8 >"$LF_CLUSTER/flooded" &
	for i in 1 2; do
		try srun -N2 -n2 --loongforge "$PY" -c 'import loongforge as lf; print(lf.init())'
		equal "$status:$out" "0:True
True"
	done
	wait
	like "$(<"$LF_CLUSTER/flooded")" 'flooded [1-9]*'
}
