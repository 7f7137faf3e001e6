#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# Large packages of Debian 12 work on the LWK as lwk-programs(7) says, in a test bed of their own:
# its machine has the packages of tests/vm/programs/packages/large/packages.

load ../helpers

bed_name=$bed_name-packages

setup_file()
{
	testbed down
	testbed up --release bookworm --packages "$top/tests/vm/programs/packages/large/packages" --cpus 8 --mem 6144
	prepare
	testbed put "$top/tests/vm/programs/packages/table" "$programs/table"
	testbed put "$top/tests/vm/programs/packages/large" "$programs/large"
}

teardown_file()
{
	testbed down
}

# documented: prints NAME and VERDICT of each row of the man page that is about these packages.
documented()
{
	sed -n '/^\.Ss Large packages/,/^\.El/s/^\.It \([a-z0-9+-]*\) Ta \(works\|differs\|fails\) Ta.*/\1 \2/p' \
		"$top/doc/lwk-programs.7"
}

# bats test_tags=nightly
@test "each large package of lwk-programs(7) does what the page says" {
	local names

	mapfile -t names < <(documented | sed 's/ .*//')
	as user1 srun --quiet --lwk --lwk-launch=none -n1 -c7 --mem=3000 \
		env programs="$programs" large_packages="$programs/large" "$programs/table" --large "${names[@]}" \
		>"$BATS_TEST_TMPDIR/found"
	((${#names[@]} >= 10))
	diff <(documented) "$BATS_TEST_TMPDIR/found" || {
		bed sh -c 'tail -n 40 /tmp/lwk-table.*'
		return 1
	}
}
