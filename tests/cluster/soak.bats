#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Many steps in a row: nothing is left after any, and none ends later than without us.

load plugin

setup_file() { suite_up; }
teardown_file() { suite_down; }
setup() { begin; }
teardown() { finish; }

@test "launches in a row, on one node and on two, leave nothing" {
	for i in $(seq "$((${LF_FULL:+180} + 20))"); do
		try srun -N$((i % 2 + 1)) -n2 --loongforge "$PY" -c 'import loongforge as lf; assert lf.init()'
		equal "$status:$both" 0: "launch $i"
		assert_no_leftovers "$before" 5
	done
}

@test "a step ends no later than without LoongForge (median of 10 pairs, within 0.3 s)" {
	cat >"$(home_of lfuser1)/pairs" <<-'S'
		for i in 1 2 3 4 5 6 7 8 9 10; do
			for how in --loongforge=off --loongforge; do
				t=$(date +%s%N)
				srun -N2 $how true 2>/dev/null
				echo $how $((($(date +%s%N) - t) / 1000000))
			done
		done
	S
	try salloc -Q -N2 sh pairs
	median() { sed -n "s/^$1 //p" <<<"$out" | sort -n | sed -n 5p; }
	with=$(median --loongforge) without=$(median --loongforge=off)
	echo "with $with ms, without $without ms" >&2
	[ $((with - without)) -le 300 ]
}
