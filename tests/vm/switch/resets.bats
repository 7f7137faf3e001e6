#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# A node whose power fails, or whose reset button is pressed, at any moment: after it has booted nothing
# is stale, and it takes LWK jobs again without an administrator.

load ../helpers

bed_name=$bed_name-resets

setup_file()
{
	testbed down
	testbed up --machines 2
	prepare 1
	prepare 2
	on 2 sync
	on 1 sync
}

teardown_file()
{
	testbed down
}

# reset_at MACHINE ORDER: has a job stand still at that moment of its switch, or run, and resets the machine.
reset_at()
{
	local program=sleeper\ 5

	[[ $2 != run ]] || program=spin
	[[ $2 == run ]] || on "$1" sh -c 'mkdir -p /run/slurm-lwk; echo "$1" >/run/slurm-lwk/fault' - "$2"
	submit user1 -w "node$1" --requeue -n2 --mem=512 --lwk --wrap "srun -n1 $programs/$program" >/dev/null
	if [[ $2 == run ]]; then
		wait_for 60 has_lwk "$1"
	else
		wait_for 120 on "$1" test -e /run/slurm-lwk/fault.met
	fi
	testbed reset --machine "$1"
}

# has_lwk MACHINE: true when an LWK runs there.
has_lwk()
{
	on "$1" sh -c 'lwkctl status --json | grep -q "\"state\": *\"active\""'
}

# takes_jobs MACHINE: true when nothing is stale there, and an LWK job runs.
takes_jobs()
{
	as user1 scancel -u user1
	wait_for 60 on 1 sh -c '! squeue -h | grep .'
	prepare "$1"
	node_is_clean "$1"
	run -0 on "$1" lwkctl check
	run -0 as user1 srun -w "node$1" -n2 --mem=512 --lwk "$programs/hello"
	[[ $output == *kernel=slurm-lwk* ]]
	node_is_clean "$1"
}

# bats test_tags=nightly
@test "a node that is reset while it switches or runs an LWK takes jobs again by itself" {
	for moment in 'on memory after hold' run 'off memory before hold'; do
		echo "# reset at: $moment" >&3
		reset_at 2 "$moment"
		wait_for 60 on 1 sh -c '[ "$(sinfo -h -n node2 -o %T)" = idle ] || squeue -h -w node2 | grep .'
		takes_jobs 2
	done
}
