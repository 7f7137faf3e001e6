#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# The node comes back, whatever fails or dies at whatever moment of a switch: the cells of `matrix`.
# The whole matrix is nightly, and otherwise by hand: contrib/check --only 'faults:whole'.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/switch-steps" /usr/local/bin/switch-steps
	testbed put "$top/tests/vm/switch/matrix" /usr/local/bin/matrix
}

# matrix ARG...: its table is the output.
matrix()
{
	run bed env without_reports="$without_reports" matrix "$@"
	printf '# %s\n' "${lines[@]}" >&3
	((status == 0))
}

@test "a few random cells of the fault matrix hold" {
	matrix --count 2 --seed "${LWK_TEST_SEED:-$((SRANDOM % 1000000))}" 'fail$|kill$'
	node_is_clean
}

# bats test_tags=nightly
@test "the whole fault matrix holds" {
	matrix
	node_is_clean
}
