#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The harness itself: what the other files of this folder build on. Loads no plugin, so that a failure here is not the project's.

load common

setup_file() { cluster_up --plugstack '# none'; }
teardown_file() { cluster_down; }
setup() { before=$(snapshot); }
teardown() { wait_idle; }

@test "a step runs on both nodes, as an ordinary user" {
	run as lfuser1 srun -Q -N2 sh -c 'echo $SLURMD_NODENAME $(id -un)'
	[ "$status" = 0 ]
	[ "$(sort <<<"$output")" = $'n1 lfuser1\nn2 lfuser1' ]
}

@test "gpu gres is handed out" {
	run as lfuser1 srun -Q -N1 --gres=gpu:2 sh -c 'echo $CUDA_VISIBLE_DEVICES'
	[ "$output" = 0,1 ]
}

@test "a requeued job runs again within seconds" {
	job=$(as lfuser1 sbatch --parsable -N2 --wrap 'srun -N2 true; [ -n "$SLURM_RESTART_COUNT" ] || { scontrol requeue $SLURM_JOB_ID; sleep 60; }')
	wait_job "$job" COMPLETED 60
	assert_no_leftovers "$before"
}

@test "scancel ends a running step and leaves nothing" {
	job=$(as lfuser1 sbatch --parsable -N2 --wrap 'srun -N2 sleep 60')
	wait_job "$job" RUNNING
	as lfuser1 scancel "$job"
	wait_job "$job" CANCELLED
	wait_idle
	assert_no_leftovers "$before"
}

@test "assert_no_leftovers sees what is left" {
	touch "$LF_RUN/seg/left"
	run assert_no_leftovers "$before" 0
	rm "$LF_RUN/seg/left"
	[ "$status" = 1 ]
	[[ "$output" = *"> file "*"/seg/left" ]]
}
