#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# loongforge doctor on a live cluster: silent where all is well, and what is planted is found. Two nodes with networks of their own, so
# that MASTER_ADDR is a real one. The last tests break the cluster for those after them.

load plugin

setup_file() {
	cluster_new
	mkdir "$LF_CLUSTER/conf" && printf 'launch { drain_seconds = 4 }\n' >"$LF_CLUSTER/conf/loongforge.conf"
	touch -d '1 hour ago' "$LF_CLUSTER/conf/loongforge.conf"
	LF_GIVEN=
	cluster_up --prefix "$LF_NODE" --netns --plugstack "$(plugin_line "config=$LF_CLUSTER/conf/loongforge.conf")"
	export LF_GIVEN
	install -d -o lfuser1 "$(home_of lfuser1)"
}
teardown_file() { suite_down; }
setup() { begin; }
teardown() { finish; }

healthy='doctor: nothing found'
found() { # CODE...: in out, these and no other
	equal "$(grep -o '(LF-[A-Z]*-[0-9]*)' <<<"$out" | sort -u | tr -d '()' | xargs)" "$*" "findings in
$out"
}
in_namespace() { # NODE COMMAND: its slurmd once more, where COMMAND has changed the mounts
	local pid node=$1
	pid=$(<"$LF_CLUSTER/run/slurmd-$node.pid")
	kill "$pid" && poll 10 no_process "$pid"
	env -i PATH="$PATH" nsenter --net="$LF_CLUSTER/netns/$node" unshare --mount sh -c "$2 && exec slurmd -N $node -f $LF_CLUSTER/etc/slurm.conf" \
		</dev/null >>"$LF_CLUSTER/log/start.log" 2>&1 3>&-
	poll 10 is_new "$LF_CLUSTER/run/slurmd-$node.pid" "$pid" && wait_idle
}
no_process() { ! kill -0 "$1" 2>/dev/null; }
is_new() { [ -s "$1" ] && [ "$(<"$1")" != "$2" ]; } # PIDFILE OLD

@test "healthy: silent on the login node and in a job, before LoongForge has ever run there and after" {
	try loongforge doctor
	equal "$status:$both" "0:$healthy"
	for o in '' --loongforge; do
		try srun -N2 $o loongforge doctor
		equal "$status:$both" "0:$healthy
$healthy"
	done
	try salloc -Q -N2 --loongforge loongforge doctor
	equal "$status:$both" "0:$healthy"
	batch -N2 --loongforge --wrap 'loongforge doctor && srun loongforge doctor'
	equal "$state:$out" "COMPLETED:$healthy
$healthy
$healthy"
}

@test "a running process: debug switches left on, and the NCCLs that it maps" {
	command -v cc >/dev/null || skip 'no cc, which builds NCCLs'
	for v in 2.28.9 2.27.3; do
		mine mkdir $v
		echo "const char v[] = \"NCCL version $v+cuda12.9\";" | cc -shared -fPIC -x c -o "$(home_of lfuser1)/$v/libnccl.so.2" -
	done
	nccl=$(find /usr/lib /usr/local/lib /usr/local/cuda*/lib* -name libnccl.so.2 -print -quit 2>/dev/null) || true # a real one, if there is any
	nccl=${nccl:-$(home_of lfuser1)/2.28.9/libnccl.so.2}
	hold_options=(-n1)
	hold --loongforge env CUDA_LAUNCH_BLOCKING=1 NCCL_DEBUG=INFO LD_PRELOAD="$nccl ./2.27.3/libnccl.so.2" sleep 30
	poll 10 sleeps
	try loongforge doctor --pid "$pid"
	equal "$status" 3
	like "$out" "*NCCL_DEBUG=INFO*CUDA_LAUNCH_BLOCKING=1*"
	for l in "$nccl" 2.27.3/libnccl.so.2; do # in the order of their addresses
		like "$out" "*process $pid maps 2 NCCLs: expected one, found *$l* (LF-NCC-03)*"
	done
	found LF-ENV-10 LF-ENV-11 LF-NCC-03
	scancel "$job"
}
sleeps() { pid=$(pgrep -u lfuser1 -x sleep) && grep -q libnccl "/proc/$pid/maps"; }

@test "n2 has no line of ours in plugstack.conf, and another version" {
	cp "$LF_PREFIX/bin/loongforge" "$LF_CLUSTER/real"
	cat >"$LF_CLUSTER/other" <<-S
		#!/bin/sh
		[ "\$1" != --version ] || exec echo loongforge 0.0.9
		exec $LF_CLUSTER/real "\$@"
	S
	echo '# nothing' >"$LF_CLUSTER/empty"
	chmod 755 "$LF_CLUSTER/other"
	in_namespace "$n2" "mount --bind $LF_CLUSTER/empty $LF_CLUSTER/etc/plugstack.conf && mount --bind $LF_CLUSTER/other $LF_PREFIX/bin/loongforge"
	try salloc -Q -N2 srun -w "$n1" -N1 loongforge doctor
	equal "$status" 3
	found LF-INS-11
	like "$out" "loongforge: LoongForge on node ? of the job: expected loongforge *, as here, found loongforge 0.0.9 (LF-INS-11)*"
	try salloc -Q -w "$n2" srun loongforge doctor
	equal "$status" 3
	found LF-INS-01
	like "$out" "loongforge: $LF_CLUSTER/etc/plugstack.conf does not list spank_loongforge.so (LF-INS-01)*"
}

@test "no PrologFlags" {
	sed -i '/^PrologFlags=/d' "$LF_CLUSTER/etc/slurm.conf"
	scontrol reconfigure
	try loongforge doctor
	equal "$status" 3
	found LF-INS-05
}
