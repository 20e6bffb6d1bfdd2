# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For the bats files of this folder (`load common`). A file starts its cluster in setup_file and ends it in teardown_file:
#   setup_file() { cluster_up --nodes 2; }   teardown_file() { cluster_down; }
# From outside come LF_PREFIX (where LoongForge is installed), LF_PROCTRACK (the variant) and LF_TMP (where clusters live).
# A cluster brings LF_CLUSTER (its folder), LF_RUN (the plugin's run folder) and SLURM_CONF.

LF_HERE=$(dirname "${BASH_SOURCE[0]}")
: "${LF_PREFIX:=/opt/loongforge}" "${LF_PROCTRACK:=linuxproc}" "${LF_TMP:=/var/tmp}"
export LF_HERE LF_PREFIX LF_PROCTRACK LF_TMP PATH="$PATH:/usr/sbin:/sbin"

# shellcheck disable=SC2120
plugin_line() { # [ARG...]: the plugstack line of the installed plugin, with this cluster's run folder
	echo "required $LF_PREFIX/lib/slurm/spank_loongforge.so run=$LF_RUN $*"
}
cluster_new() { # makes the folder; cluster_up does it by itself, but a --plugstack with plugin_line needs it first
	LF_CLUSTER=$(mktemp -d "$LF_TMP/lf.XXXXXX") && LF_RUN=$LF_CLUSTER/lf
	export LF_CLUSTER LF_RUN
}
cluster_up() { # [OPTION of cluster start...]: with the plugin, unless a --plugstack is given
	[ -d "${LF_CLUSTER:-}" ] || cluster_new
	# shellcheck disable=SC2119
	[[ " $* " = *" --plugstack "* ]] || set -- "$@" --plugstack "$(plugin_line)"
	mkdir -p "$LF_RUN/seg" && mount -t tmpfs -o size=64m,mode=755,nosuid,nodev,noexec tmpfs "$LF_RUN/seg"
	"$LF_HERE/cluster" users && "$LF_HERE/cluster" start "$LF_CLUSTER" --proctrack "$LF_PROCTRACK" "$@" || return 1
	eval "$("$LF_HERE/cluster" env "$LF_CLUSTER")"
	export SLURM_CONF
}
cluster_down() {
	local rc=0
	"$LF_HERE/cluster" stop "$LF_CLUSTER" || rc=1
	rm -rf --one-file-system "${LF_CLUSTER:?}"
	return $rc
}

home_of() { echo "$LF_CLUSTER/home/$1"; } # USER: the folder `as` runs in
as() { # USER COMMAND...: as that user, in a folder of his own, with nothing but SLURM_CONF in the environment
	local user=$1 home
	home=$(home_of "$1") && shift
	[ -d "$home" ] || install -d -o "$user" "$home"
	(cd "$home" && exec runuser -u "$user" -- env -i HOME="$home" USER="$user" LOGNAME="$user" LANG=C.UTF-8 \
		PATH="$LF_PREFIX/bin:/usr/bin:/bin" SLURM_CONF="$SLURM_CONF" "$@")
}

poll() { # SECONDS COMMAND...: true as soon as COMMAND is, false after SECONDS
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}
job_state() { scontrol -o show job "$1" 2>/dev/null | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
node_state() { scontrol -o show node "$1" | sed -n 's/.*State=\([^ ]*\).*/\1/p'; }
job_is() { [[ $(job_state "$1") = @($2) ]]; } # JOB PATTERN
wait_job() { # JOB PATTERN [SECONDS]: until the job's state matches, e.g. 'COMPLETED|FAILED'
	poll "${3:-30}" job_is "$1" "$2" && return
	echo "job $1: expected $2 within ${3:-30} s, found $(job_state "$1")" >&2
	return 1
}
all_idle() { [ -z "$(squeue -h -a -t R,CG,CF,S)" ] && ! sinfo -h -N -o %T | grep -qvx idle; }
wait_idle() { # [SECONDS]
	poll "${1:-30}" all_idle && return
	echo "nodes not idle within ${1:-30} s:" >&2
	{ squeue -a && sinfo -N -o '%N %T %E'; } >&2
	return 1
}

# ---- what a job leaves behind
snapshot() { # one sorted line for each thing of this cluster that must not outlive a job
	local p n
	{
		for p in $(pgrep -x loongforged) $(pgrep -x slurmstepd); do # ours have a log below the cluster's folder open
			if find "/proc/$p/fd" -lname "$LF_CLUSTER/*" -print -quit 2>/dev/null | grep -q .; then
				echo "process $p $(cat "/proc/$p/comm")"
			fi
		done
		for n in /proc/self/net/unix "$LF_CLUSTER"/netns/*; do
			case $n in
			/proc/*) cat "$n" ;;
			*) [ ! -e "$n" ] || nsenter --net="$n" cat /proc/self/net/unix ;;
			esac
		done 2>/dev/null | sed -n 's/.* \(@loongforge\)/socket \1/p'
		find "$LF_RUN/seg" /run/loongforge /dev/shm -mindepth 1 2>/dev/null | sed 's/^/file /'
		cut -d' ' -f2 /proc/self/mounts | sed 's/^/mount /'
		for n in "$LF_CLUSTER"/spool/*/; do
			find /sys/fs/cgroup -type d \( -path "*/slurm_$(basename "$n")/*/step_*" -o -path "*/$(basename "$n")_slurmstepd.scope/job_*" \) 2>/dev/null
		done | sed 's/^/cgroup /'
	} | sort
}
snapshot_same() { [ "$(snapshot)" = "$1" ]; }
assert_no_leftovers() { # BEFORE [SECONDS]: what `snapshot` printed before the jobs; waits a moment for the last exits
	poll "${2:-10}" snapshot_same "$1" && return
	echo "left behind (>) or gone (<) after ${2:-10} s:" >&2
	diff <(echo "$1") <(snapshot) >&2
	return 1
}
