#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# On a node whose cores have two hardware threads an LWK gets whole cores. The test bed has CPUs that
# say they are Intel's, so Linux also isolates page tables.

load ../helpers

bed_name=$bed_name-threads

setup_file()
{
	testbed down
	testbed up --threads 2 --mem 2048
	prepare
}

teardown_file()
{
	testbed down
}

# lwk SRUN-ARG... -- COMMAND...: runs an LWK job whose command stays on its Linux side.
lwk()
{
	local options=()

	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	as user1 srun --mem=400 --lwk --lwk-launch=none "${options[@]}" "$@"
}

# bats test_tags=nightly
@test "an LWK gets both threads of its cores, Linux keeps a whole core" {
	run -0 lwk --exclusive -- sh -c 'lwkctl status; cat /sys/devices/system/cpu/online'
	echo "$output"
	[[ $output == *'CPUs 4-7, with Linux 2-3'* ]]
	[[ ${lines[-1]} == 0-3 ]]
	node_is_clean
}

# bats test_tags=nightly
@test "programs run on each of the threads" {
	# All are there at once: the first to end would leave its CPU to the last one.
	job=$(submit user1 --exclusive --mem=400 -n4 --lwk <<-EOF
	#!/bin/sh
	srun $programs/sleeper 600
	EOF
	)
	for cpu in 4 5 6 7; do
		wait_for 60 has_printed user1 "$job" "cpu=$cpu"
	done
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
}

# bats test_tags=nightly
@test "with --hint=nomultithread each core has one LWK CPU, and the core's other thread idles" {
	run -0 lwk --exclusive --hint=nomultithread -- sh -c '
		cat /sys/devices/system/cpu/online
		lwkexec /opt/lwk-tests/hello & lwkexec /opt/lwk-tests/hello & wait'
	echo "$output"
	[[ ${lines[0]} == 0-3 ]]
	[[ $output == *'cpu=4 '* && $output == *'cpu=6 '* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "a request for less than two cores is refused, with the number to ask for" {
	refused 'whole core' '-c 4' -- as user1 srun -n1 -c2 --mem=300 --lwk "$programs/hello"
	node_is_clean
}

# bats test_tags=nightly
@test "an odd number of CPUs is rounded up to whole cores, as Slurm allocates them" {
	run -0 lwk -n1 -c3 -- lwkctl status
	echo "$output"
	[[ $output == *'CPUs 6-7, with Linux 4-5'* || $output == *'CPUs 4-5, with Linux 2-3'* ]]
	node_is_clean
}
