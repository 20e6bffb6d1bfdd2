#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A real training: PyTorch's DDP on two nodes with two ranks each.

load plugin

setup_file() { ! torch || suite_up; }
teardown_file() { ! torch || suite_down; }
setup() { torch || skip 'python3-torch is not installed'; begin; }
teardown() { ! torch || finish; }
torch() { "$PY" -c 'import torch.distributed' 2>/dev/null; }

@test "DDP on 2 x 2 ranks: the loss falls, both orchestrators see their ranks" {
	hold_options=(-N2 -n4 --ntasks-per-node=2)
	install -d -o lfuser1 "$(home_of lfuser1)"
	cp "$LF_HERE/train_ddp.py" "$(home_of lfuser1)/"
	hold --loongforge "$PY" train_ddp.py --seconds 3 --pace 0.01
	poll 30 eval '[ "$(mine loongforge status "$job" | grep -cE " ready,| 2 of 2 connected")" = 4 ]'
	try loongforge status --json "$job"
	equal "$(jq -c 'sort_by(.nodeid) | map([.node, .state, (.task_list | map(.rank) | sort)])' <<<"$out")" "[[\"$n1\",\"ready\",[0,1]],[\"$n2\",\"ready\",[2,3]]]"
	wait_job "$job" COMPLETED 60
	out=$(said)
	like "$out" *"loongforge yes: connected to loongforge/$job.0.0/"*
	like "$out" *'ranks 4 device cpu backend gloo'*
	like "$out" *'loss fell from '*' on 4 ranks'
}
