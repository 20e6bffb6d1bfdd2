#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What goes wrong, provoked by real means, and what becomes of the job and the node: a node is never drained, a job fails only where the
# fault is a refusal. Each node has a plugstack.conf and a configuration of its own, and short limits.

load plugin

setup_file() {
	local n
	cluster_new
	for n in "$n1" "$n2"; do mkdir -p "$LF_CLUSTER/conf/$n" && short >"$LF_CLUSTER/conf/$n/loongforge.conf"; done
	LF_GIVEN=
	cluster_up --prefix "$LF_NODE" --node-plugstack "$n1=$(line "$n1")" --node-plugstack "$n2=$(line "$n2")" --plugstack "$(plugin_line)"
	export LF_GIVEN
	install -d -o lfuser1 "$(home_of lfuser1)"
}
teardown_file() { suite_down; }
setup() { hold_options=(-N2) && restore && begin; }
teardown() { restore && finish; }

short() { printf 'launch {\n\tdrain_seconds = 3\n\thello_seconds = 3\n}\n'; }
line() { plugin_line "config=$LF_CLUSTER/conf/$1/loongforge.conf"; } # NODE
restore() {
	local n
	for n in libexec/loongforge sbin; do umount -l "$LF_PREFIX/$n" 2>/dev/null || true; done
	rm -rf "$LF_CLUSTER/copy"
	[ -z "${seg_gone:-}" ] || { umount "$LF_RUN/seg" 2>/dev/null || true; rm -rf "$LF_RUN/seg" && mkdir "$LF_RUN/seg" && mount_seg; }
	for n in "$n1" "$n2"; do
		line "$n" >"$LF_CLUSTER/etc/$n/plugstack.conf"
		rm -rf "$LF_CLUSTER/conf/$n/off" "$LF_RUN/$n.settings"
		short >"$LF_CLUSTER/conf/$n/loongforge.conf" && chmod 644 "$LF_CLUSTER/conf/$n/loongforge.conf"
		touch -d '1 hour ago' "$LF_CLUSTER/conf/$n/loongforge.conf" # else the next prolog would write the settings anew
	done
}
mount_seg() { mount -t tmpfs -o "size=64m,mode=755,nosuid,nodev,noexec${1:+,$1}" tmpfs "$LF_RUN/seg"; }
no_seg() { umount "$LF_RUN/seg" && rmdir "$LF_RUN/seg" && seg_gone=1; }
programs() { # DIR COMMAND...: runs COMMAND in a copy of PREFIX/DIR, which stands for it until the test ends
	cp -a "$LF_PREFIX/$1" "$LF_CLUSTER/copy" && (cd "$LF_CLUSTER/copy" && "${@:2}") && mount --bind "$LF_CLUSTER/copy" "$LF_PREFIX/$1"
}
hangs() { printf '#!/bin/sh\nkill -STOP $$\n' >"$1" && chmod 755 "$1"; }

refused() { # TEXT HINT: by each of two nodes, in these two lines, or by the one that was first and ended the others; the job fails
	try srun -N2 -n4 --loongforge true
	[ "$status" != 0 ]
	[[ $err != *"loongforge: $n2: "* ]] || count "$err" "loongforge: $n2: $1" 1
	[[ $err != *"loongforge: $n1: "* ]] || count "$err" "loongforge: $n1: $1" 1
	[[ $err = *"loongforge: $LF_NODE"[12]": $1"*"loongforge: hint: $2"* ]]
	[ "$(grep -c 'loongforge: ' <<<"$err")" -le 4 ]
	equal "$(ended)" FAILED
}
told() { # TEXT HINT: as refused, but the job runs
	try srun -N2 -n4 --loongforge sh -c 'echo $RANK'
	equal "$status" 0
	equal "$(sort <<<"$out")" $'0\n1\n2\n3'
	each_node "$1" "$2"
	equal "$(ended)" COMPLETED
}
each_node() { # TEXT HINT; NODE in the text is the node's name
	local n
	for n in "$n1" "$n2"; do count "$err" "loongforge: $n: ${1//NODE/$n}" 1; done
	count "$err" "loongforge: hint: $2" 2
	count "$err" 'loongforge: ' 4
}
untold() { # the job runs and nobody is told
	try srun -N2 -n4 --loongforge sh -c 'echo $RANK'
	equal "$status:$err" 0:
	equal "$(sort <<<"$out")" $'0\n1\n2\n3'
}
whole='is LoongForge whole on this node'

# ---- programs
@test "loongforged is missing: refused" {
	programs libexec/loongforge rm loongforged
	refused "$LF_PREFIX/libexec/loongforge/loongforged: could not be started: No such file or directory (LF-LCH-02)" "$whole, and before pyxis in plugstack.conf?"
}

@test "loongforged may not be executed: refused" {
	programs libexec/loongforge chmod -x loongforged
	refused "$LF_PREFIX/libexec/loongforge/loongforged: could not be started: Permission denied (LF-LCH-02)" "$whole, and before pyxis in plugstack.conf?"
}

@test "loongforged ends at once: training goes on" {
	programs libexec/loongforge cp /bin/false loongforged
	try srun --loongforge "$PY" -c 'import loongforge as lf; print(lf.init())'
	equal "$status:$out" 0:False
	like "$err" 'loongforge: *'
}

@test "loongforge-plan is missing: refused on the node; --loongforge-set refused on the submit host" {
	programs libexec/loongforge rm loongforge-plan
	refused "$LF_PREFIX/libexec/loongforge/loongforge-plan: cannot be run (LF-LCH-02)" "$whole?"
	last=$(last_job)
	try srun --loongforge --loongforge-set=env.threads=no true
	[ "$status" != 0 ]
	count "$err" "loongforge: --loongforge-set: $LF_PREFIX/libexec/loongforge/loongforge-plan: cannot be run (LF-OPT-03)" 1
	equal "$(last_job)" "$last"
}

@test "loongforge-plan hangs: killed after 5 s, refused" {
	programs libexec/loongforge hangs loongforge-plan
	SECONDS=0
	try srun -w "$n1" --loongforge true
	[ "$SECONDS" -le 7 ]
	[ "$status" != 0 ]
	count "$err" "loongforge: $n1: $LF_PREFIX/libexec/loongforge/loongforge-plan: no answer within 5000 ms, killed (LF-LCH-02)" 1
	equal "$(ended)" FAILED
}

@test "loongforge-probe is missing, or hangs: the prolog passes, the job runs" {
	rm -f "$LF_RUN"/*.settings
	programs sbin rm loongforge-probe
	untold
	umount -l "$LF_PREFIX/sbin" && rm -rf "$LF_CLUSTER/copy"
	programs sbin hangs loongforge-probe
	untold
}

# ---- folders and files
@test "no folder for segments: nothing is said" {
	no_seg
	untold
}

@test "the folder for segments is full, a file, a link, writable by others: told, the job runs" {
	hint='the job runs without memory segments; ask your administrator to look at that folder'
	no_seg
	mkdir "$LF_RUN/seg" && mount_seg nr_inodes=1
	told "$LF_RUN/seg: $(($(last_job) + 1)).0: No space left on device (LF-SEG-01)" "$hint"
	umount "$LF_RUN/seg" && rmdir "$LF_RUN/seg" && touch "$LF_RUN/seg"
	told "$LF_RUN/seg: Not a directory (LF-SEG-01)" "$hint"
	rm "$LF_RUN/seg" && ln -s /tmp "$LF_RUN/seg"
	told "$LF_RUN/seg: Not a directory (LF-SEG-01)" "$hint"
	rm "$LF_RUN/seg" && mkdir -m 777 "$LF_RUN/seg"
	told "$LF_RUN/seg: not trusted: expected owner root and writable by nobody else, found uid 0, mode 777 (LF-SEG-01)" "$hint"
	equal "$(find "$LF_RUN/seg" -mindepth 1)" ''
}

@test "nothing is mounted for segments: no folder is made on what lies below" {
	no_seg
	mkdir "$LF_RUN/seg"
	try srun -N2 --loongforge sh -c "ls $LF_RUN/seg"
	equal "$status:$both" 0:
}

@test "a FIFO lies where the log goes: told, the job runs" {
	job=$(($(last_job) + 1))
	mine sh -c "mkdir -p .loongforge/$job && mkfifo .loongforge/$job/0.$n1.log"
	try srun -N2 --loongforge true
	equal "$status" 0
	like "$err" "*loongforge: $n1: no log: * (LF-LOG-01)*"
}

@test "the settings are writable by others, or a link: told, built-in values hold; the next prolog mends them" {
	hint='ask your administrator; built-in values hold'
	job=$(mine salloc --no-shell -N2 2>&1 | sed -n 's/.*job allocation //p') # its prolog has run
	chmod 666 "$LF_RUN"/*.settings
	distrusted "$LF_RUN/NODE.settings: not trusted: expected owner root and writable by nobody else, found uid 0, mode 666 (LF-CFG-01)"
	for n in "$n1" "$n2"; do rm -f "$LF_RUN/$n.settings" && ln -s /etc/passwd "$LF_RUN/$n.settings"; done
	distrusted "$LF_RUN/NODE.settings: Too many levels of symbolic links (LF-CFG-01)"
	mine scancel "$job"
	wait_idle
	untold # the prolog has mended them
	count "$(cat "$LF_RUN"/*.settings)" launch.hello_seconds=3 2
}
distrusted() {
	try env SLURM_SUBMIT_DIR="$(home_of lfuser1)" srun --jobid="$job" -N2 --loongforge sh -c 'echo $RANK'
	equal "$status:$(sort <<<"$out")" $'0:0\n1'
	each_node "$1" "$hint"
}

conf() { # COMMAND...: on each node's configuration
	local n
	for n in "$n1" "$n2"; do "$@" "$LF_CLUSTER/conf/$n/loongforge.conf"; done
}
@test "the configuration is cut, unknown, or writable by others: told, the job runs" {
	hint='ask your administrator; built-in values hold'
	f=$LF_CLUSTER/conf/NODE/loongforge.conf
	cut_off() { printf 'launch {\n\tdrain_seconds = ' >"$1"; }
	conf cut_off
	told "$f:1: section is not closed: expected '}', found the end of the file (LF-CFG-01)" "$hint"
	unknown() { echo 'launch { drain_second = 3 }' >"$1"; }
	conf unknown
	told "$f:1: no such option 'drain_second' (LF-CFG-01)" "$hint"
	conf short_into
	conf chmod 666
	told "$f: not trusted: expected owner root and writable by nobody else, found uid 0, mode 666 (LF-CFG-01)" "$hint"
}
short_into() { short >"$1"; }

@test "no configuration: built-in values, nothing is said" {
	untold
	count "$(cat "$LF_RUN"/*.settings)" launch.hello_seconds=3 2
	conf rm -f
	rm "$LF_RUN"/*.settings
	untold
	count "$(cat "$LF_RUN"/*.settings)" launch.hello_seconds=30 2
}

# ---- a node without it
silent() { # NODE OTHER TEXT: OTHER reports, the step is cancelled within 8 s
	SECONDS=0
	try srun -N2 -n2 --loongforge sleep 60
	[ "$SECONDS" -le 8 ]
	[ "$status" != 0 ]
	count "$err" "loongforge: $2: $3; the step is cancelled (LF-GRP-01)" 1
	count "$err" 'loongforge: hint: is the plugin installed and listed in plugstack.conf on every node, and nowhere switched off (/etc/loongforge/off)?' 1
	like "$(ended)" '@(CANCELLED|FAILED)'
}

@test "no plugin on the second node: named, the step ends" {
	echo '# none' >"$LF_CLUSTER/etc/$n2/plugstack.conf"
	silent "$n2" "$n1" "expected every node's hello within 3 s, found silent: $n2"
}

@test "no plugin on the first node: named, the step ends" {
	echo '# none' >"$LF_CLUSTER/etc/$n1/plugstack.conf"
	silent "$n1" "$n2" "expected an orchestrator on $n1 within 3 s, found none"
}

@test "a client that waits for a silent node is told why" {
	echo '# none' >"$LF_CLUSTER/etc/$n2/plugstack.conf"
	try srun -N2 --loongforge "$PY" -c 'import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try:
	import loongforge as lf
except ImportError:
	time.sleep(60)
try:
	lf.init()
except lf.Error as e:
	sys.exit(f"Error: {e}")'
	[ "$status" != 0 ]
	like "$err" *"Error: loongforge: $n1: expected every node's hello within 3 s, found silent: $n2"*
}

@test "off on all nodes: as without LoongForge, the user is told once a node" {
	for n in "$n1" "$n2"; do touch "$LF_CLUSTER/conf/$n/off"; done
	try srun -N2 --loongforge sh -c 'echo ${RANK-none}'
	equal "$status:$out" $'0:none\nnone'
	equal "$(find "$LF_RUN/seg" -mindepth 1)" ''
}

@test "off on one node: that node is named" {
	touch "$LF_CLUSTER/conf/$n2/off"
	silent "$n2" "$n1" "expected every node's hello within 3 s, found silent: $n2"
}

@test "off for the gate only: LoongForge stays on" {
	for n in "$n1" "$n2"; do echo gate >"$LF_CLUSTER/conf/$n/off"; done
	untold
}

# ---- ends of all kinds
client='import time, loongforge as lf; lf.init(); print("up", flush=True)
for i in range(100):
	if not lf.active(): break
	time.sleep(0.1)
print("alone", flush=True); time.sleep(1)'
up() { [ "$(said | grep -cx up)" = "$1" ]; }

@test "an orchestrator is killed: training goes on, rc 0" {
	hold --loongforge "$PY" -c "$client"
	poll 10 up 2
	# shellcheck disable=SC2046
	kill -9 $(orchestrators "$job" | head -n 1)
	poll 5 eval 'said | grep -qx alone'
	# shellcheck disable=SC2046
	kill -9 $(orchestrators "$job")
	wait_job "$job" 'COMPLETED'
	equal "$(said | sort)" $'alone\nalone\nup\nup'
}

@test "an orchestrator that hangs is killed after drain_seconds and named, rc 0" {
	hold --loongforge sleep 2
	# shellcheck disable=SC2046
	kill -STOP $(orchestrators "$job")
	SECONDS=0
	wait_job "$job" 'COMPLETED'
	[ "$SECONDS" -ge 3 ] && [ "$SECONDS" -le 8 ]
	equal "$(said | sort)" "loongforge: $n1: orchestrator did not end within 3 s, killed (LF-LCH-03)
loongforge: $n2: orchestrator did not end within 3 s, killed (LF-LCH-03)"
}

@test "a task is killed: Slurm says so, nothing else changes" {
	try srun -N2 --loongforge sh -c '[ $RANK = 0 ] || kill -9 $$'
	equal "$status" 137
	count "$err" "srun: error: $n2: task 1: Killed" 1
	count "$err" loongforge: 0
	equal "$(ended)" FAILED
}

@test "scancel" {
	hold --loongforge sh -c 'echo up; sleep 60'
	poll 10 up 2
	SECONDS=0
	mine scancel "$job"
	wait_job "$job" CANCELLED
	wait_idle 10
	[ "$SECONDS" -le 5 ]
	count "$(said)" loongforge: 0
}

@test "scancel of a task that does not listen: KillWait ends it" {
	hold --loongforge sh -c 'trap "" TERM; echo up; sleep 60 & wait; sleep 60'
	poll 10 up 2
	mine scancel "$job"
	wait_idle 25
	equal "$(ended "$job")" CANCELLED
}

@test "time limit" {
	[ -n "${LF_FULL:-}" ] || skip 'takes more than a minute (LF_FULL=1)'
	job=$(mine sbatch --parsable -N2 -t 1 -o %j.out --wrap 'srun --loongforge sleep 300')
	wait_job "$job" TIMEOUT 120
}

@test "Ctrl-C twice ends srun and the step" {
	(cd / && exec >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- && mine env --default-signal=INT srun -N2 --loongforge sleep 60) &
	poll 10 eval '[ "$(pgrep -u lfuser1 -x sleep | wc -l)" = 2 ]'
	p=$(pgrep -u lfuser1 -ox srun)
	SECONDS=0
	kill -INT "$p" && sleep 0.3 && kill -INT "$p"
	wait $! || rc=$?
	[ "${rc:-0}" != 0 ] && [ "$SECONDS" -le 5 ]
	equal "$(filter <"$BATS_TEST_TMPDIR/out" | grep -c loongforge:)" 0
}

@test "slurmstepd is killed: the orchestrator goes away by itself" {
	[ "$LF_PROCTRACK" != cgroup ] || skip 'the tasks stay in a cgroup that nobody empties'
	hold_options=(-n1)
	hold --loongforge sleep 4
	stepd=$(pgrep -f "^slurmstepd: \[$job\.0\]")
	kill -9 "$stepd"
	poll 3 eval '[ -z "$(orchestrators "$job")" ]'
	pkill -u lfuser1 -x sleep || true
	mine scancel "$job"
}

# ---- the job's folder
@test "the job's folder goes with the job, whatever its user did to it; links are not followed" {
	h=$(home_of lfuser1)
	mine mkdir -p "$h/victim/d" && mine touch "$h/victim/d/f"
	batch -N1 <<-S
		#!/bin/sh
		srun --loongforge sh -c 'cd $LF_RUN/seg/\$SLURM_JOB_ID.0 && mkdir -p a/b && ln -s $h/victim a/b/link && ln -s $h/victim link && ln -s / root &&
			ln -s $LF_RUN/seg a/seg && head -c 100000 /dev/zero >data && mkfifo fifo && touch -- "-rf" "* *" && mkdir shut && touch shut/f && chmod 0 shut && ls'
	S
	equal "$state" COMPLETED
	equal "$(wc -l <<<"$out")" 8
	wait_idle
	[ -e "$h/victim/d/f" ]
	equal "$(find "$LF_RUN/seg" -mindepth 1)" ''
}

@test "the job's folder stays while the job has steps to come" {
	batch -N1 <<-S
		#!/bin/sh
		srun --loongforge touch $LF_RUN/seg/\$SLURM_JOB_ID.0/kept
		srun --loongforge ls $LF_RUN/seg/\$SLURM_JOB_ID.0
	S
	equal "$state:$out" COMPLETED:kept
}
