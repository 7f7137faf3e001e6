#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# The LWK and its other processes go on, whatever a process does, and whenever it ends.
# All tests share one allocation, and start their programs with lwkexec.

load ../lwk/allocation

# goes_on: true when the LWK still runs programs.
goes_on()
{
	run -0 inside lwkexec "$programs/hello"
}

@test "a process is killed while its threads wait and pass on signals" {
	# shellcheck disable=SC2016
	run -0 inside sh -c 'for round in 1 2 3; do
		lwkexec "$1/killed-waiters" 24
		echo "status $?"
	done' sh "$programs"
	echo "$output"
	[[ $(grep -c 'status 137' <<<"$output") == 3 ]]
	goes_on
}

@test "a process ends while a thread that waits asks its proxy to pass on a signal" {
	# shellcheck disable=SC2016
	run -0 inside sh -c '"$1/ended-waiter" /dev/lwk/[0-9]*' sh "$programs"
	goes_on
}

@test "a child that borrows memory ends while it gives some back, and its parent has new memory in that place" {
	# shellcheck disable=SC2016
	run -0 inside sh -c '"$1/ended-borrower" /dev/lwk/[0-9]*' sh "$programs"
	goes_on
}

# On a busy host the call may be over before the other thread kills. The peak is the instance's, so each try
# wants more than those before it.
@test "a process is killed in the midst of a call that takes long" {
	for size in 200 300 400 500; do
		run inside lwkexec "$programs/killed-populating" "$size"
		echo "$output"
		[[ $output == *ms*Killed* ]]
		run -0 bed lwkctl stat "$job"
		echo "$output"
		peak=$(awk 'NR == 3 { print $7 }' <<<"$output")
		((peak > size * 9 / 10)) || break
	done
	((peak > 0 && peak <= size * 9 / 10))
	goes_on
}

@test "handlers return to frames that they have spoilt" {
	run -0 inside lwkexec "$programs/bad-frames" "$(times 15 500)"
	echo "$output"
	[[ $output == *'all of it is right'* ]]
	goes_on
}
