#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Packages of the distribution on the LWK: lwk-programs(7) says what works, and this is where it is
# found out.

load ../helpers

setup_file()
{
	prepare
	testbed put "$top/tests/vm/programs/table" "$programs/table"
}

teardown_file()
{
	node_is_clean
}

# The rows of the man page: NAME VERDICT.
documented()
{
	sed -n 's/^\.It \([a-z0-9-]*\) Ta \(works\|differs\|fails\) Ta.*/\1 \2/p' "$top/doc/lwk-programs.7"
}

@test "each program of lwk-programs(7) does what it says there" {
	as user1 srun --quiet --lwk --lwk-launch=none -n1 -c6 --mem=900 \
		env programs="$programs" "$programs/table" >"$BATS_TEST_TMPDIR/found"
	(($(wc -l <"$BATS_TEST_TMPDIR/found") > 10))
	diff <(documented) "$BATS_TEST_TMPDIR/found" || {
		bed sh -c 'tail -n 40 /tmp/lwk-table.*'
		return 1
	}
}

@test "MPICH: ranks on one LWK talk through shared memory alone" {
	# A CPU for each rank, and for the thread that each starts.
	run -0 as user1 env UCX_TLS=posix,self timeout 300 srun --quiet --lwk -n2 -c3 --mem=900 --mpi=pmi2 \
		"$programs/mpi-pairs"
	[[ $output == *' MB/s'* && $output == *'2 ranks'* ]]
}

@test "memory comes from the NUMA nodes that a program asks for" {
	run -0 as user1 srun -Q -n1 -c7 --mem=2000 "$programs/policies"
	[[ $output == $'2 nodes\nand another program too' ]]
	run -0 as user1 srun -Q --lwk -n1 -c7 --mem=2000 "$programs/policies"
	echo "$output"
	[[ $output == $'2 nodes\nand another program too' ]]
}
