#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A step that does not ask for LoongForge: what srun and slurmstepd do beyond what they do with a plugin that does nothing, as strace sees
# it. Node n1 has our plugin, n2 the other, each between two more that mark every hook in the trace (tests/bench/noop_plugin.c).

load common

munge='access("/run/munge/munge.socket.2", F_OK)' # asked for in both processes; not an open

setup_file() {
	local cc=${CC:-cc} noop=$LF_HERE/../bench/noop_plugin.c k
	for k in strace "$cc"; do command -v "$k" >/dev/null || skip "$k is not installed"; done
	cluster_new
	"$cc" -shared -fPIC -o "$LF_CLUSTER/noop.so" "$noop" || return 1
	cp "$LF_CLUSTER"/{noop,before}.so && cp "$LF_CLUSTER"/{noop,after}.so
	cluster_up --nodes 2 --node-plugstack "n1=$(between "$(plugin_line)")" --node-plugstack "n2=$(between "required $LF_CLUSTER/noop.so")"
	trace n1 ours
	trace n2 noop
	trace n1 flag --loongforge
}
teardown_file() { [ -z "${LF_CLUSTER:-}" ] || cluster_down; }

between() { # LINE: of plugstack.conf, between the two that mark
	printf '%s\n' "required $LF_CLUSTER/before.so as=before marks=1" "$1" "required $LF_CLUSTER/after.so as=after marks=1"
}
traced() { ! grep -qx $'TracerPid:\t0' /proc/"$1"/task/*/status; }
stepd_ended() { # FILE: each process in it that became slurmstepd has ended
	awk '/execve\(".*\/slurmstepd"/ { n++; step[$1] = 1 }
		step[$1] && /exit_group\(/ { n--; step[$1] = 0; seen = 1 }
		END { exit !seen || n }' "$1"
}
trace() { # NODE NAME [OPTION...]: of a step inside an allocation of that node, into srun.NAME and stepd.NAME
	local node=$1 name=$2 home job slurmd strace
	local -a how=(strace -f -qq -s 300 -e 'trace=%file,%network,%process' -o)
	local -x SLURM_CONF=$LF_CLUSTER/etc/$node/slurm.conf
	shift 2
	home=$(home_of lfuser1)
	job=$(as lfuser1 salloc --no-shell -w "$node" 2>&1 | sed -n 's/.*job allocation //p')
	slurmd=$(cat "$LF_CLUSTER/run/slurmd-$node.pid")
	"${how[@]}" "$LF_CLUSTER/slurmd.$name" -p "$slurmd" 3>&- &
	strace=$!
	poll 10 traced "$slurmd"
	as lfuser1 "${how[@]}" "$home/srun.$name" srun -Q --jobid="$job" -N1 -n1 "$@" true
	poll 10 stepd_ended "$LF_CLUSTER/slurmd.$name"
	kill -INT "$strace"
	wait "$strace" || true
	scancel "$job" && wait_idle
	mv "$home/srun.$name" "$LF_CLUSTER"
	# A process is the step's when slurmstepd was executed in it, or when such a process made it.
	awk '/execve\(".*\/slurmstepd"/ { step[$1] = 1 }
		step[$1] { print }
		step[$1] && /clone|fork/ && / = [0-9]+$/ { step[$NF] = 1 }' "$LF_CLUSTER/slurmd.$name" >"$LF_CLUSTER/stepd.$name"
}

opened() { # FILE: names it asked to open or execute, one sorted line each; numbers (of jobs, processes, nodes) as N
	sed -nE 's/^[0-9]+ +(open|openat|openat2|creat|execve)\((AT_FDCWD, )?"([^"]*)".*/\3/p' "$1" | sed -E 's/[0-9]+/N/g' | sort -u
}
more_opened() { # srun|stepd NAME: what it opened that it does not open with the no-op plugin
	comm -23 <(opened "$LF_CLUSTER/$1.$2") <(opened "$LF_CLUSTER/$1.noop")
}
inside() { # FILE: system calls between the marks before and after a hook, in their process; not those of Slurm's own logging
	awk '/"\/lf-mark\/before\// { hook[$1] = 1; next } /"\/lf-mark\/after\// { hook[$1] = 0 } hook[$1]' "$1" |
		grep -vE '^[0-9]+ +(<\.\.\. |---|newfstatat\([0-9]+, "",)' | sed -E 's/^[0-9]+ +//'
}
hooks() { # FILE: the hooks that were marked, in order of their names
	grep -o '/lf-mark/after/[a-z_]*' "$1" | sed 's/.*\///' | sort -u | tr '\n' ' '
}

@test "the traces hold every hook of a step" {
	for name in ours noop flag; do
		[ "$(hooks "$LF_CLUSTER/srun.$name")" = "init init_post_opt local_user_init " ]
		[ "$(hooks "$LF_CLUSTER/stepd.$name")" = "init init_post_opt task_exit task_init task_init_privileged task_post_fork " ]
	done
}

@test "without the flag srun and slurmstepd open the plugin's file and no other" {
	plugin=$(sed -E 's/[0-9]+/N/g' <<<"$LF_PREFIX/lib/slurm/spank_loongforge.so")
	for who in srun stepd; do
		echo "$who: $(more_opened $who ours)"
		[ "$(more_opened $who ours)" = "$plugin" ]
	done
}

@test "without the flag the hooks touch no file, socket or process, but ask whether the gate refused the job" {
	refusal='^access(".*[.][0-9]*[.]refuse", F_OK) = -1 ENOENT'
	for who in srun stepd; do
		run inside "$LF_CLUSTER/$who.ours"
		echo "$who: $output"
		[ "$(printf %s "$output" | grep -vF "$munge" | grep -cv "$refusal")" = 0 ]
	done
}

@test "with the flag the same traces show what is started" {
	more_opened stepd flag | grep -qx '.*/libexec/loongforge/loongforge-plan'
	more_opened stepd flag | grep -qx '.*/libexec/loongforge/loongforged'
	inside "$LF_CLUSTER/stepd.flag" | grep -q '^bind('
}
