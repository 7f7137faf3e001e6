#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Packages of the distribution work on the LWK as lwk-programs(7) says.

load ../helpers

setup_file()
{
	prepare
	testbed put "$top/tests/vm/programs/packages/table" "$programs/table"
}

teardown_file()
{
	node_is_clean
}

# documented: prints NAME and VERDICT of each row of the man page.
documented()
{
	sed -n '/^\.Ss Large packages/,$d; s/^\.It \([a-z0-9-]*\) Ta \(works\|differs\|fails\) Ta.*/\1 \2/p' "$top/doc/lwk-programs.7"
}

# bats test_tags=nightly
@test "each program of lwk-programs(7) does what the page says" {
	as user1 srun --quiet --lwk --lwk-launch=none -n1 -c6 --mem=900 \
		env programs="$programs" "$programs/table" >"$BATS_TEST_TMPDIR/found"
	(($(wc -l <"$BATS_TEST_TMPDIR/found") > 10))
	diff <(documented) "$BATS_TEST_TMPDIR/found" || {
		bed sh -c 'tail -n 40 /tmp/lwk-table.*'
		return 1
	}
}

@test "ranks of MPICH on one LWK talk through shared memory alone" {
	# Each rank has a CPU, and so has the thread that each starts.
	run -0 as user1 timeout 300 srun --quiet --lwk --lwk-report -n2 -c3 --mem=900 --mpi=pmi2 \
		"$programs/mpi-pairs" 1000
	echo "$output"
	[[ $output == *' MB/s'* && $output == *'2 ranks'* ]]
	# UCX asks Linux for network events with each message, unless ranks can copy each other's memory.
	[[ $output =~ delegated:.*\ ([0-9]+)\ wait ]]
	((BASH_REMATCH[1] < 500))
}

# bats test_tags=nightly
@test "memory comes from the NUMA nodes that a program asks for" {
	run -0 as user1 srun -Q -n1 -c7 --mem=2000 "$programs/policies"
	[[ $output == $'2 nodes\nand another program too' ]]
	run -0 as user1 srun -Q --lwk -n1 -c7 --mem=2000 "$programs/policies"
	echo "$output"
	[[ $output == $'2 nodes\nand another program too' ]]
}
