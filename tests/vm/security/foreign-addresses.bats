#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# A program on the LWK hands addresses that are not its own to calls: those that Linux carries out for
# it, whether by a server, the module or the proxy, and those of the LWK itself, which run in ring 0.

load ../helpers

setup_file()
{
	prepare
}

teardown_file()
{
	node_is_clean
}

@test "no call reads or writes memory that is not the program's" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 as user1 srun -Q -n1 -c3 --mem=400 --lwk --lwk-launch=none sh -c '
		for LWK_CALLS in server kernel proxy; do
			export LWK_CALLS
			lwkexec "$0/foreign-addresses"
		done
		lwkexec "$0/hello"
		lwkctl info "$SLURM_JOB_ID"' "$programs"
	echo "$output"
	[[ ${lines[0]} == '9'[0-9][0-9]' tries, 0 wrong' && ${lines[1]} == "${lines[0]}" && ${lines[2]} == "${lines[0]}" ]]
	[[ $output == *kernel=slurm-lwk* && $output =~ state\ +running ]]
	node_is_clean
}
