#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Two hosts: each node in a network namespace of its own, so that sockets, ports and addresses are as between machines.

load plugin

setup_file() {
	cluster_new
	printf 'launch {\n\thello_seconds = 3\n\tports = "40000-40100"\n}\n' >"$LF_CLUSTER/loongforge.conf"
	LF_GIVEN=
	cluster_up --prefix "$LF_NODE" --netns --plugstack "$(plugin_line "config=$LF_CLUSTER/loongforge.conf")"
	export LF_GIVEN
	install -d -o lfuser1 "$(home_of lfuser1)"
}
teardown_file() { suite_down; }
setup() { begin; }
teardown() {
	link up
	at "$n2" ip rule del pref 1 2>/dev/null || true
	finish
}
at() { nsenter --net="$LF_CLUSTER/netns/$1" "${@:2}"; }                                  # NODE COMMAND...
link() { ip link set "lf$(sed 's/base=\([0-9]*\).*/\1/' "$LF_CLUSTER/run/facts").2" "$1"; } # up|down: of the second node
ready() { log_has "$job" 'the leader says ready'; }

@test "the group comes together, and a rendezvous on MASTER_ADDR works" {
	cat >"$(home_of lfuser1)/meet" <<-'S'
		import os, socket, loongforge as lf
		lf.init()
		at = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
		if os.environ["RANK"] == "0":
		    with socket.create_server(at) as s:
		        print(at[0], s.accept()[0].recv(5).decode())
		else:
		    while True:
		        try:
		            with socket.create_connection(at) as s: s.send(b"hello")
		            break
		        except ConnectionRefusedError: pass
	S
	try srun -N2 --loongforge "$PY" meet
	a=$(scontrol show node "$n1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
	like "$a" '10.*.1'
	equal "$status:$both" "0:$a hello"
}

@test "a node's sockets are its own: the same job on each sees one orchestrator" {
	try srun -N2 --loongforge sh -c 'sed -n "s|.*@\(loongforge/.*\)/.*|\1|p" /proc/self/net/unix | sort -u'
	job=$(last_job)
	equal "$(sort <<<"$out")" "loongforge/$job.0.0
loongforge/$job.0.1"
}

@test "loongforge status from a machine outside of the job" {
	hold --loongforge "$PY" -c 'import time, loongforge as lf; lf.init(); time.sleep(60)'
	poll 10 ready
	try loongforge status "$job"
	equal "$status" 0
	like "$out" "job $job, step 0, node $n1 (1 of 2, leads): ready, 2 of 2 nodes here, up *
  nodes  $n1 here, $n2 here
  tasks  1 of 1 connected: rank 0 (pid *)
  log    $(home_of lfuser1)/.loongforge/$job/0.$n1.log"
	try loongforge status --json "$job"
	equal "$(jq -c 'map([.job, .step, .node, .state, .present])' <<<"$out")" "[[$job,0,\"$n1\",\"ready\",2]]"
	mine scancel "$job"
}

@test "loongforge status from outside, of a job that srun itself made" {
	mine srun -Q -N2 --loongforge sleep 60 2>/dev/null &
	poll 10 sh -c '[ -n "$(squeue -h -t R -o %A)" ]'
	job=$(squeue -h -t R -o %A)
	poll 10 status_ready "$job"
	try loongforge status "$job"
	like "$out" "job $job, step 0, node $n1 (1 of 2, leads): ready, 2 of 2 nodes here, up *"
	mine scancel "$job"
	wait || true
}
status_ready() { mine loongforge status "$1" 2>/dev/null | grep -q ready; } # JOB

@test "loongforge status from outside, of a job without it" {
	job=$(mine sbatch --parsable -o %j.out --wrap 'sleep 60')
	wait_job "$job" RUNNING
	try loongforge status "$job"
	equal "$status:$out" 1:
	count "$err" "loongforge: job $job has no orchestrator on this node: does a step of it run with --loongforge now, and is it yours?" 1
	mine scancel "$job"
}

@test "hello does not come through: the node is named, the step ends" {
	at "$n2" ip rule add pref 1 ipproto tcp dport 40000-40100 blackhole || skip 'no routing rules by port'
	SECONDS=0
	try srun -N2 --loongforge sleep 60
	[ "$SECONDS" -le 8 ]
	[ "$status" != 0 ]
	count "$err" "loongforge: $n1: expected every node's hello within 3 s, found silent: $n2; the step is cancelled (LF-GRP-01)" 1
}

@test "the link goes down for a while under a running step: training goes on, rc 0" {
	hold --loongforge sleep 6
	poll 5 ready
	link down
	sleep 4
	link up
	wait_job "$job" COMPLETED
	equal "$(said)" ''
}
