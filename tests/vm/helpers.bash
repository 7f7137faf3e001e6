# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the tests in the test bed have in common. Its name is $LWK_TESTBED, or `default`.

# shellcheck disable=SC2154  # bats sets status and output

bats_require_minimum_version 1.5.0

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
bed_name=${LWK_TESTBED:-default}
# Where the programs of tests/vm/programs are in the machine.
programs=/opt/lwk-tests

testbed()
{
	local verb=$1
	shift

	"$top/contrib/testbed/testbed" "$verb" --name "$bed_name" "$@"
}

# bed COMMAND...: as root, on node1.
bed()
{
	testbed exec -- "$@"
}

# on MACHINE COMMAND...: as root.
on()
{
	local machine=$1
	shift

	testbed exec --machine "$machine" -- "$@"
}

# as USER COMMAND...
as()
{
	local user=$1
	shift

	testbed exec --user "$user" -- "$@"
}

# prepare [MACHINE]: node1 by itself. Call it from setup_file.
prepare()
{
	local machine=${1-1}

	if ! on "$machine" test -e "$programs/ready"; then
		on "$machine" mkdir -p "$programs"
		(
			cd "$top/build/tests/vm/programs" &&
				find . -type f -executable -print0 | tar -c --null -T -
		) | on "$machine" tar -x --no-same-owner -C "$programs"
		on "$machine" touch "$programs/ready"
	fi
	# What Linux has before the first LWK job; later tests compare with it.
	on "$machine" sh -c 'test -e /run/lwk-tests.before || {
		cat /sys/devices/system/cpu/online; grep MemTotal /proc/meminfo; } >/run/lwk-tests.before'
}

# submit USER SBATCH-ARG... [<SCRIPT]: prints the job id; the job's output is ~/ID.out.
submit()
{
	local user=$1
	shift

	as "$user" sbatch --parsable --output=%j.out "$@"
}

# job_is ID FIELD=PATTERN...: the job's record, as Slurm shows it.
job_is()
{
	local id=$1 record
	shift

	record=$(bed scontrol -o show job "$id")
	for pattern; do
		# shellcheck disable=SC2053  # a pattern it is
		[[ " $record " == *" "$pattern" "* ]] || {
			echo "job $id: wanted $pattern; found: $record"
			return 1
		}
	done
}

# wait_for SECONDS COMMAND...: until the command succeeds; so long on a host that has nothing else
# to do, and three times that on any. To look costs an emulated machine much: it looks ever less often.
wait_for()
{
	local end=$((SECONDS + 3 * $1)) pause
	local -a pauses=(0.2 0.3 0.4 0.6 0.8)
	shift

	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || {
			echo "waited in vain for: $*"
			"$@"
			return 1
		}
		pause=${pauses[0]:-1}
		pauses=("${pauses[@]:1}")
		sleep "$pause"
	done
}

over()
{
	job_is "$1" 'JobState=@(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY|DEADLINE)'
}

# Slurm writes down which jobs end; to read that costs little, and to ask it much.
wait_for_job()
{
	# shellcheck disable=SC2016  # the machine's shell expands it
	bed bash -c 'exec 3< <(exec timeout 700 tail -n +1 -F /var/log/slurm/jobs.log 2>&1)
		grep -qm 1 "^JobId=$1 " <&3; kill $!' - "$1" || true
	wait_for 30 over "$1"
}

# has_printed USER ID TEXT: in the output of a job that still runs, too.
has_printed()
{
	as "$1" grep -qs -- "$3" "$2.out"
}

# job_output USER ID
job_output()
{
	as "$1" cat "$2.out"
}

# refused TEXT... -- COMMAND...: an srun that fails, with each text in what the user reads.
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
		[[ $output == *"$text"* ]] || { echo "wanted in the output: $text"; return 1; }
	done
}

# For awk: the kernel's log without Linux's report that it finds no room for what is in a memory
# block that is to go off-line; the switch takes another block then.
without_reports='
	/page allocation failure/ { inside = 1; report = "" }
	!inside { print; next }
	{ report = report $0 "\n" }
	/<\/TASK>/ { inside = 0; if (report !~ /offline_pages/) printf "%s", report }'

# forget_kills N: the kernel tells of each kill with a trace, which node_is_clean would not like.
forget_kills()
{
	# shellcheck disable=SC2016  # the machine's shell expands it
	run bed sh -c 'dmesg | awk "$1" | grep -cE "WARNING:|BUG:|Oops|Call Trace"' - "$without_reports"
	[[ $output == "$1" ]] || { bed dmesg; return 1; }
	bed dmesg -C
}

# node_is_clean [MACHINE]: in Linux-only mode with all it had before, and ready for
# jobs; node1 by itself.
node_is_clean()
{
	local machine=${1-1}

	wait_for 60 on "$machine" sh -c '
		now=$(sinfo -h -n "$(hostname)" -o %T; squeue -h -w "$(hostname)")
		echo "Slurm: $now"
		# The backfill scheduler takes its time to forget that it had plans.
		[ "$now" = idle ] || [ "$now" = planned ]'
	# Memory of Linux jobs that an LWK job had pushed away is being brought home.
	wait_for 60 on "$machine" sh -c '! ls /run/slurm-lwk/jobs/*.away'
	on "$machine" sh -s "$without_reports" <<-'EOF'
	status=0
	bad() { echo "node is not clean: $*"; status=1; }

	now=$(cat /sys/devices/system/cpu/online; grep MemTotal /proc/meminfo)
	[ "$now" = "$(cat /run/lwk-tests.before)" ] ||
		bad "wanted $(cat /run/lwk-tests.before); found $now"
	[ -z "$(ls -A /dev/lwk 2>/dev/null)" ] || bad "instances: $(ls /dev/lwk)"
	[ -z "$(ls -A /run/slurm-lwk/jobs 2>/dev/null)" ] || bad "records: $(ls /run/slurm-lwk/jobs)"
	[ "$(lwkctl status --json | tr -d ' \n')" = '{"jobs":[],"lent":[]}' ] ||
		bad "lwkctl status: $(lwkctl status --json)"
	leftover=$(find /sys/fs/cgroup -type d -name 'job_[0-9]*')
	[ -z "$leftover" ] || bad "cgroups: $leftover"
	log=$(dmesg | awk "$1" | grep -E -B 12 -A 20 'WARNING:|BUG:|Oops|Call Trace')
	[ -z "$log" ] || bad "kernel log: $log"
	node=$(scontrol -o show node "$(hostname)")
	case $node in
	*' State=IDLE '* | *' State=IDLE+PLANNED '*) ;;
	*) bad "Slurm: $node" ;;
	esac
	exit $status
	EOF
}

# offer_faulty_image ARGUMENT: --lwk=faulty has it; teardown_file brings lwk.conf back.
offer_faulty_image()
{
	# shellcheck disable=SC2016  # the machine's shell expands this
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		printf "\n[image faulty]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=%s\n" "$1" \
			>>/etc/slurm/lwk.conf' - "$1"
}
