# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The words that all tests in the test bed use. The bed's name is $LWK_TESTBED, or `default`.

# shellcheck disable=SC2154  # bats sets status and output

bats_require_minimum_version 1.5.0

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bed_name=${LWK_TESTBED:-default}
# The directory of the machine that has all programs of the folders of tests/vm/programs.
programs=/opt/lwk-tests

testbed()
{
	local verb=$1
	shift

	"$top/contrib/testbed/testbed" "$verb" --name "$bed_name" "$@"
}

# built: prints the directory where the project was built for the bed's release and kernel.
built()
{
	testbed status --built
}

# bed COMMAND...: runs it as root on node1.
bed()
{
	testbed exec -- "$@"
}

# on MACHINE COMMAND...: runs it as root on that machine.
on()
{
	local machine=$1
	shift

	testbed exec --machine "$machine" -- "$@"
}

# as USER COMMAND...: runs it as that user on node1.
as()
{
	local user=$1
	shift

	testbed exec --user "$user" -- "$@"
}

# times CHECK NIGHTLY: prints a loop's number of rounds, in contrib/check and in its nightly run.
times()
{
	echo "$((${LWK_NIGHTLY:-0} ? $2 : $1))"
}

# prepare [MACHINE]: puts the tests' programs there, node1 by default. Call it from setup_file.
prepare()
{
	local machine=${1-1}

	if ! on "$machine" test -e "$programs/ready"; then
		on "$machine" mkdir -p "$programs"
		(
			cd "$(built)/tests/vm/programs" &&
				find . -mindepth 2 -type f -executable -print0 |
				tar -c --null --transform='s,.*/,,' -T -
		) | on "$machine" tar -x --no-same-owner -C "$programs"
		on "$machine" touch "$programs/ready"
	fi
	# node_is_clean compares what Linux has with what it had before the first LWK job.
	on "$machine" sh -c 'test -e /run/lwk-tests.before || {
		cat /sys/devices/system/cpu/online; grep MemTotal /proc/meminfo; } >/run/lwk-tests.before'
}

# stop_daemon NAME [SIGNAL [MACHINE]]: ends slurmd or slurmctld, and waits until it has ended.
stop_daemon()
{
	on "${3-1}" sh -s "$1" "${2--TERM}" <<-'EOF'
	pid=$(cat "/run/$1.pid")
	kill "$2" "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	EOF
}

# start_daemon NAME [MACHINE [ARGUMENT]...]: starts slurmd or slurmctld as the machine's init does.
start_daemon()
{
	on "${2-1}" /usr/lib/testbed/start-daemon "$1" "${@:3}"
}

# crash_slurmd_and COMMAND...: slurmd and all processes of user1's job die at once, as in a crash, and the
# command has slurmctld end the job.
crash_slurmd_and()
{
	bed sh -s "$@" <<-'EOF'
	pid=$(cat /run/slurmd.pid)
	kill -9 "$pid" $(pgrep slurmstepd) $(pgrep -u user1) $(pgrep -x sleep)
	"$@"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	EOF
}

# submit USER SBATCH-ARG... [<SCRIPT]: prints the job's id. The job's output is ~/ID.out.
submit()
{
	local user=$1
	shift

	as "$user" sbatch --parsable --output=%j.out "$@"
}

# job_is ID FIELD=PATTERN...: true when Slurm's record of the job has these fields.
job_is()
{
	local id=$1 record
	shift

	record=$(bed scontrol -o show job "$id")
	for pattern; do
		# shellcheck disable=SC2053  # a pattern it is
		[[ " $record " == *" "$pattern" "* ]] || {
			echo "job $id: expected $pattern, found: $record"
			return 1
		}
	done
}

# patience: prints how often the seconds of wait_for pass before a test gives up. The kernels that report errors
# take many times as long.
patience()
{
	case $(built) in
	*-debug | *-kcsan) echo 12 ;;
	*) echo 3 ;;
	esac
}

# wait_for SECONDS COMMAND...: waits until the command succeeds, at most three times SECONDS, which
# is enough on a host that has nothing else to do. A command in the machine is repeated there,
# because a connection for each look costs much more than the look.
wait_for()
{
	local seconds there

	patience=${patience:-$(patience)}
	seconds=$((patience * $1))
	shift
	there="$(declare -f repeat_until); repeat_until \"\$@\""
	[[ $1 != has_printed ]] || set -- as "$2" grep -qs -- "$4" "$3.out"
	case $1 in
	bed) bed bash -c "$there" - "$seconds" "${@:2}" ;;
	as | on) "$1" "$2" bash -c "$there" - "$seconds" "${@:3}" ;;
	*) repeat_until "$seconds" "$@" ;;
	esac
}

# repeat_until SECONDS COMMAND...: repeats the command until it succeeds.
repeat_until()
{
	local end=$((SECONDS + $1))
	shift

	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || {
			echo "waited in vain for: $*"
			"$@"
			return 1
		}
		sleep 0.3
	done
}

over()
{
	job_is "$1" 'JobState=@(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY|DEADLINE)'
}

# wait_for_job ID: waits for the job's end. Slurm logs each end, and its log costs less to read
# than its daemon costs to ask.
wait_for_job()
{
	# shellcheck disable=SC2016  # the machine's shell expands it
	bed bash -c 'exec 3< <(exec timeout 700 tail -n +1 -F /var/log/slurm/jobs.log 2>&1)
		grep -qm 1 "^JobId=$1 " <&3; kill $!' - "$1" || true
	wait_for 30 over "$1"
}

# allocate: has user1 get an LWK of three CPUs on one NUMA node for all tests of a file, which cancels $job at
# its end. (Slurm 24.11 takes the CPUs of one task from two nodes.)
allocate()
{
	job=$(submit user1 --lwk --ntasks=4 --mem=640M --time=60 --wrap 'sleep 3600')
	export job
	wait_for 60 job_is "$job" JobState=RUNNING
	wait_for 60 bed sh -c 'ls /dev/lwk/*'
}

# inside COMMAND...: runs it on the Linux side of what allocate() got.
inside()
{
	as user1 timeout 120 srun --jobid "$job" --overlap --ntasks=1 --lwk-launch=none "$@"
}

# has_printed USER ID TEXT: true when the job's output has TEXT, also while the job runs.
has_printed()
{
	as "$1" grep -qs -- "$3" "$2.out"
}

# job_output USER ID: prints it.
job_output()
{
	as "$1" cat "$2.out"
}

# refused TEXT... -- COMMAND...: true when the command fails and prints each text.
refused()
{
	local -a texts=()

	while [[ $1 != -- ]]; do
		texts+=("$1")
		shift
	done
	shift
	run ! "$@"
	echo "$output"
	for text in "${texts[@]}"; do
		[[ $output == *"$text"* ]] || { echo "expected in the output: $text"; return 1; }
	done
}

# An awk program that drops three reports from the kernel's log. Linux found no room for what is in a
# memory block that is to go off-line; the switch takes another block then. And a CPU went off-line while
# Linux's own deadline server counted as a task of it (from 6.8; a fault of Linux, harmless): no task but
# the CPU's stopper is listed then. And KCSAN, where the kernel has it, found a race in functions that are
# not lwkpart.ko's.
without_reports='
	function end_report() {
		known = report ~ /offline_pages/
		if (warning)
			known = report ~ /Dying CPU not properly vacated/ && report !~ /pid: [0-9]+, name: [^m]/
		if (race)
			known = 1
		if (!known)
			printf "%s", report
		inside = ended = 0
	}
	ended && !/enqueued tasks|pid: [0-9]/ { end_report() }
	!inside && (/page allocation failure|cut here/ || /BUG: KCSAN:/ && !/\[lwkpart\]/) {
		inside = 1; warning = /cut here/; race = /KCSAN/; report = ""
	}
	!inside { print; next }
	{ report = report $0 "\n" }
	race && /====================/ { end_report() }
	!race && !warning && /<\/TASK>/ { end_report() }
	warning && /end trace/ { ended = 1 }
	END { if (inside) end_report() }'

# forget_kills N: clears the kernel's log of N reports that a process was killed for want of memory;
# node_is_clean would take them for faults.
forget_kills()
{
	# shellcheck disable=SC2016  # the machine's shell expands it
	run bed sh -c 'dmesg | awk "$1" | grep -cE "WARNING:|BUG:|Oops|Call Trace"' - "$without_reports"
	[[ $output == "$1" ]] || { bed dmesg; return 1; }
	bed dmesg -C
}

# node_is_clean [MACHINE]: true when the machine, node1 by default, is in Linux-only mode, has all
# that it had before the first LWK job, and is ready for jobs.
node_is_clean()
{
	local machine=${1-1}

	wait_for 60 on "$machine" sh -c '
		now=$(sinfo -h -n "$(hostname)" -o %T; squeue -h -w "$(hostname)")
		echo "Slurm: $now"
		# The backfill scheduler forgets its plans only at its next pass.
		[ "$now" = idle ] || [ "$now" = planned ]'
	# Memory that moved away for an LWK job is still being brought home.
	wait_for 60 on "$machine" sh -c '! ls /run/slurm-lwk/jobs/*.away'
	on "$machine" sh -s "$without_reports" <<-'EOF'
	status=0
	bad() { echo "node is not clean: $*"; status=1; }

	now=$(cat /sys/devices/system/cpu/online; grep MemTotal /proc/meminfo)
	[ "$now" = "$(cat /run/lwk-tests.before)" ] ||
		bad "expected $(cat /run/lwk-tests.before), found $now"
	[ -z "$(ls -A /dev/lwk 2>/dev/null)" ] || bad "instances: $(ls /dev/lwk)"
	[ -z "$(ls -A /run/slurm-lwk/jobs 2>/dev/null)" ] || bad "records: $(ls /run/slurm-lwk/jobs)"
	[ "$(lwkctl status --json | tr -d ' \n')" = '{"jobs":[],"lent":[]}' ] ||
		bad "lwkctl status: $(lwkctl status --json)"
	# On scancel Slurm's external step gives up its privileges for a moment, to shut down X11 forwarding, and
	# may be removing its cgroups then (Slurm 24.11, mgr.c, _shutdown_x11_forward()). Slurm has logged that.
	for job in $(sed -n 's/.*\[\([0-9]*\)\.extern\] error: Unable to move pid .*/\1/p' /var/log/slurm/slurmd.log); do
		find /sys/fs/cgroup -depth -type d -path "*/job_$job/*" -exec rmdir {} + 2>/dev/null
		find /sys/fs/cgroup -depth -type d -name "job_$job" -exec rmdir {} + 2>/dev/null
	done
	leftover=$(find /sys/fs/cgroup -type d -name 'job_[0-9]*')
	[ -z "$leftover" ] || bad "cgroups: $leftover"
	log=$(dmesg | awk "$1" | grep -E -B 12 -A 20 'WARNING:|BUG:|Oops|Call Trace')
	[ -z "$log" ] || bad "kernel log: $log"
	node=$(scontrol -o show node "$(hostname)")
	case $node in
	*' State=IDLE '* | *' State=IDLE+PLANNED '* | *' State=IDLE+DYNAMIC_NORM '*) ;;
	*) bad "Slurm: $node" ;;
	esac
	exit $status
	EOF
}

# offer_faulty_image ARGUMENT: adds an image to lwk.conf, for --lwk=faulty, that boots with the
# argument. Bring lwk.conf back in teardown_file.
offer_faulty_image()
{
	# shellcheck disable=SC2016  # the machine's shell expands this
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		printf "\n[image faulty]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=%s\n" "$1" \
			>>/etc/slurm/lwk.conf' - "$1"
}
