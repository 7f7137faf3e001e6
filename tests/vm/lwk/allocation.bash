# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Setup and words of files whose tests all run programs with lwkexec in one allocation.

load ../helpers

setup_file()
{
	prepare
	allocate
}

teardown_file()
{
	as user1 scancel "$job"
	wait_for_job "$job"
}

# same PROGRAM [ARGUMENT]... <INPUT: true when output and status are the same on LWK and Linux.
same()
{
	local input
	input=$(cat)

	# shellcheck disable=SC2016
	inside sh -c 'input=$1 && shift && printf "%s\n" "$input" | lwkexec "$@" >/tmp/lwk-same 2>&1
		echo "status $?" >>/tmp/lwk-same
		printf "%s\n" "$input" | "$@" >/tmp/linux-same 2>&1
		echo "status $?" >>/tmp/linux-same
		diff /tmp/linux-same /tmp/lwk-same && cat /tmp/lwk-same' sh "$input" "$@"
}
