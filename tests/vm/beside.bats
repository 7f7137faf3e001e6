#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Jobs beside each other on one node: two LWK jobs of two users on two NUMA nodes,
# and a Linux-only job. Each has its own CPUs and memory, and sees its own LWK.

load helpers

setup_file()
{
	prepare
	# Larger first: it fills NUMA node 1, so that the other gets node 0's CPUs.
	first=$(submit user1 -n4 --mem=768 --lwk --wrap "
		ls /dev/lwk
		srun -n3 $programs/nap 60 & srun -n1 --overlap --lwk-launch=none $programs/nap 60; wait")
	wait_for 60 has_printed user1 "$first" kernel=slurm-lwk
	second=$(submit user2 -n2 --mem=768 --lwk --wrap "ls /dev/lwk; srun -n1 $programs/nap 600")
	wait_for 60 has_printed user2 "$second" kernel=slurm-lwk
	linux=$(submit user2 -n1 --mem=256 --wrap "ls /dev/lwk; srun -n1 $programs/nap 600")
	wait_for 60 has_printed user2 "$linux" kernel=
	export first second linux
}

# allocation JOB: its CPUs, one a line.
allocation()
{
	local list
	list=$(bed scontrol -o show job -d "$1" | grep -o 'CPU_IDs=[0-9,-]*')
	bed hwloc-calc --version >/dev/null 2>&1 || true
	sed 's/CPU_IDs=//; s/,/\n/g' <<<"$list" | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done
}

cpus()
{
	job_output "$1" "$2" | sed -n 's/.*cpu=//p' | sort -n
}

status_of()
{
	bed lwkctl status --json
}

@test "all three run at once" {
	for job in $first $second $linux; do
		job_is "$job" JobState=RUNNING
	done
	run -0 status_of
	[[ $(grep -o "\"job_id\":[0-9]*" <<<"$output" | sort -u | wc -l) == 2 ]] || {
		echo "$output"
		return 1
	}
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

@test "each LWK's memory is of the NUMA node of its CPUs" {
	run -0 bed lwkctl status
	echo "$output"
}

@test "an LWK job sees its own instance only, another's can be opened by nobody else" {
	one=$(job_output user1 "$first" | grep -x '[0-9]')
	two=$(job_output user2 "$second" | grep -x '[0-9]')
	[[ $one && $two && $one != "$two" ]]
	run -0 bed stat -c '%a %U' /dev/lwk/"$one" /dev/lwk/"$two"
	[[ $output == $'600 user1\n600 user2' ]]
	run ! as user2 lwkexec --device /dev/lwk/"$one" "$programs/hello"
	[[ $output != *kernel=* ]]
}

@test "ending one leaves the others alone" {
	online=$(bed cat /sys/devices/system/cpu/online)
	as user1 scancel "$first"
	wait_for_job "$first"
	wait_for 30 bed sh -c "[ \"\$(cat /sys/devices/system/cpu/online)\" != '$online' ]"
	for job in $second $linux; do
		job_is "$job" JobState=RUNNING
	done
	run -0 as user2 env SLURM_JOB_ID="$second" srun -n1 --overlap --lwk-launch=none \
		sh -c 'cat "$LWK_DEVICE" 2>&1; ls /dev/lwk'
	[[ $output == *"$(job_output user2 "$second" | grep -x '[0-9]')"* ]]
}

@test "and all of it comes back" {
	as user2 scancel "$second" "$linux"
	wait_for_job "$second"
	wait_for_job "$linux"
	node_is_clean
}
