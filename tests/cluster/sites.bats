#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Sites of other kinds: private /tmp and /dev/shm for each job, no munge where LoongForge looks for it. Each test has a cluster of its own.

load plugin

setup() {
	unset LF_CLUSTER
	cluster_new
	install -d -o lfuser1 "$(home_of lfuser1)" 2>/dev/null || true
}
teardown() {
	local rc=0
	if [ -n "${hidden:-}" ]; then umount /run/munge; fi
	[ -z "${shown:-}" ] || finish || rc=1
	cluster_down && return $rc
}
up() { # [OPTION of cluster start...]
	cluster_up --prefix "$LF_NODE" "$@"
	install -d -o lfuser1 "$(home_of lfuser1)"
	shown=1
	begin
}

@test "job_container/tmpfs: orchestrator, sessions and the job's folder are there in the private namespace" {
	[[ $LF_CLUSTER/ != /tmp/* && $LF_PREFIX/ != /tmp/* ]] || skip "the jobs would not see $LF_CLUSTER or $LF_PREFIX"
	up --container-tmpfs
	cat >"$(home_of lfuser1)/task" <<-S
		import os, loongforge as lf
		open("/dev/shm/private", "w").close()
		print(lf.init(), lf.active(), os.listdir("$LF_RUN/seg") == [os.environ["SLURM_JOB_ID"] + ".0"], os.path.exists("$LF_CLUSTER/container"))
		open("$LF_RUN/seg/%s.0/file" % os.environ["SLURM_JOB_ID"], "w").close()
	S
	try srun -N2 --loongforge "$PY" task
	equal "$status:$both" $'0:True True True True\nTrue True True True'
	[ ! -e /dev/shm/private ]
	batch --loongforge --wrap "$PY task"
	equal "$state:$out" 'COMPLETED:True True True True'
}

# munge answers Slurm on a socket of its own; /run/munge is what LoongForge finds
hide_munge() {
	install -d -o munge -g munge -m 755 /run/munge
	mkdir "$LF_CLUSTER/munge" "$LF_CLUSTER/empty" && chmod 755 "$LF_CLUSTER/empty"
	mount --bind /run/munge "$LF_CLUSTER/munge"
	up --conf "AuthInfo=cred_expire=10,socket=$LF_CLUSTER/munge/munge.socket.2"
	mount --bind "$LF_CLUSTER/empty" /run/munge && hidden=1
}
quiet() { err=$(grep -v 'specified more than once' <<<"$err") both=$out${err:+${out:+$'\n'}$err}; }

@test "no munge: the nodes trust a secret that srun made, which no environment and no command line shows" {
	hide_munge
	cat >"$(home_of lfuser1)/task" <<-'S'
		import glob, re, loongforge as lf
		def read(f):
		    try:
		        return open(f, "rb").read()
		    except OSError: # another user's, or gone
		        return b""
		files = glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/environ")
		print(lf.init(), {m.decode() for f in files for m in re.findall(rb"[^\0]*_secret=|[0-9a-f]{64}", read(f))} or "nowhere")
	S
	try srun -N2 --loongforge "$PY" task
	quiet
	equal "$status:$both" $'0:True nowhere\nTrue nowhere'
	batch -N2 --loongforge --wrap "srun $PY task"
	equal "$state" COMPLETED "$out"
	equal "$(grep -v 'specified more than once' <<<"$out")" $'True nowhere\nTrue nowhere'
}

@test "munge is there but does not answer: said, the step ends at once" {
	hide_munge
	"$PY" -c 'import socket; socket.socket(socket.AF_UNIX).bind("/run/munge/munge.socket.2")'
	SECONDS=0
	try srun -N2 --loongforge sleep 60
	quiet
	[ "$SECONDS" -le 10 ]
	[ "$status" != 0 ]
	like "$err" *"loongforge: $LF_NODE"[12]": munge: "*"is munged running?; the step is cancelled (LF-GRP-01)"*
}
