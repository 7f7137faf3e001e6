#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
# tests: in order
#
# Two LWK jobs of two users on two NUMA nodes and a Linux-only job run side by side. Each has its own
# CPUs and memory, and sees its own LWK.

load ../helpers

setup_file()
{
	prepare
	# The larger one comes first and fills NUMA node 1, so that the other gets CPUs of node 0.
	first=$(submit user1 -n4 --mem=768 --lwk --wrap "
		ls /dev/lwk; srun -n3 $programs/sleeper 600")
	wait_for 60 has_printed user1 "$first" kernel=slurm-lwk
	second=$(submit user2 -n2 --mem=768 --lwk --wrap "
		ls /dev/lwk; srun -n1 $programs/hello; srun -n1 $programs/on-signals 15")
	wait_for 60 has_printed user2 "$second" waiting
	linux=$(submit user2 -n1 --mem=256 --wrap "ls /dev/lwk; srun -n1 $programs/sleeper 600")
	wait_for 60 has_printed user2 "$linux" kernel=
	export first second linux
}

# allocation JOB: its CPUs, one a line.
allocation()
{
	bed scontrol -o show job -d "$1" | grep -o 'CPU_IDs=[0-9,-]*' | sed 's/CPU_IDs=//; s/,/\n/g' |
		while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done
}

# cpus USER JOB: the CPUs that its programs ran on.
cpus()
{
	job_output "$1" "$2" | grep -o 'cpu=[0-9]*' | cut -d= -f2 | sort -n
}

# record JOB FIELD: a field of the job's record on the node.
record()
{
	bed lwkctl status --json | jq -r --argjson job "$1" --arg field "$2" \
		'.jobs[] | select(.job_id == $job) | .[$field]'
}

@test "all three jobs run at once, two of them on LWKs" {
	for job in $first $second $linux; do
		job_is "$job" JobState=RUNNING
	done
	[[ $(record "$first" state) == active && $(record "$second" state) == active ]]
	[[ -z $(record "$linux" state) ]]
}

@test "each program is on a CPU of its own job" {
	for which in "user1 $first" "user2 $second" "user2 $linux"; do
		# shellcheck disable=SC2086  # two words
		cpus $which >"$BATS_TEST_TMPDIR/used"
		allocation "${which#* }" | sort -n >"$BATS_TEST_TMPDIR/allocated"
		[[ -s $BATS_TEST_TMPDIR/used ]]
		while read -r cpu; do
			grep -qx "$cpu" "$BATS_TEST_TMPDIR/allocated" || {
				echo "$which: CPU $cpu; allocated: $(cat "$BATS_TEST_TMPDIR/allocated")"
				return 1
			}
		done <"$BATS_TEST_TMPDIR/used"
	done
}

@test "each LWK has CPUs and memory of a NUMA node of its own" {
	echo "$first: CPUs $(record "$first" lwk_cpus), nodes $(record "$first" nodes)"
	echo "$second: CPUs $(record "$second" lwk_cpus), nodes $(record "$second" nodes)"
	[[ $(record "$first" nodes) == 1 && $(record "$second" nodes) == 0 ]]
	[[ $(record "$first" lwk_cpus) == 5-7 ]]
	[[ $(record "$second" lwk_cpus) == [123] ]]
}

@test "an LWK job sees its own instance only, and no other user can open it" {
	one=$(job_output user1 "$first" | grep -xE '[0-9]+')
	two=$(job_output user2 "$second" | grep -xE '[0-9]+')
	[[ $one && $two && $one != "$two" ]]
	run -0 bed stat -c '%a %U' /dev/lwk/"$one" /dev/lwk/"$two"
	[[ $output == $'600 user1\n600 user2' ]]
	run ! as user2 lwkexec --device /dev/lwk/"$one" "$programs/hello"
	[[ $output != *kernel=* ]]
}

@test "the end of one job leaves the others alone" {
	as user1 scancel "$first"
	wait_for_job "$first"
	wait_for 30 bed test ! -e /run/slurm-lwk/jobs/"$first".json
	job_is "$linux" JobState=RUNNING
	# The program on the other LWK still takes its signal.
	as user2 scancel --signal=TERM "$second".1
	wait_for 30 has_printed user2 "$second" 'signal 15 came'
}

@test "the node is as before the jobs" {
	as user2 scancel "$linux"
	wait_for_job "$second"
	wait_for_job "$linux"
	node_is_clean
}
