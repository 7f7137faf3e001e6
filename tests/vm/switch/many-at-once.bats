#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Many jobs begin at the same moment on a node that has room for few of them.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
}

# bats test_tags=nightly
@test "of fifty switches at once each ends in time, with an LWK or with the reason why not" {
	run -0 bed bash -s <<-'EOF'
	cd "$(mktemp -d)"
	for ((i = 0; i < 50; i++)); do
		first=$((1 + i % 3 * 2))
		switch-once on $((9001 + i)) 1000 $first-$((first + 1)) 256M >$i.on 2>&1 &
	done
	wait
	cat -- *.on
	for ((i = 0; i < 50; i++)); do
		switch-once off $((9001 + i)) >$i.off 2>&1 &
	done
	wait
	cat -- *.off
	EOF
	echo "$output"
	jq -es '
		map(select(.state)) as $on | map(select(.state | not)) as $off |
		($on | length) == 50 and ([$on[].job_id] | unique | length) == 50 and
		([$on[] | select(.state == "active")] | length) == 3 and
		($on | all(.state == "active" or
			(.state == "refused" and (.reason | test("are lent to an LWK already"))))) and
		($off | length) == 50 and ($on + $off | all(.call_us < 240e6))' <<<"$output"
	node_is_clean
}

# bats test_tags=nightly
@test "each task of a large array has an LWK of its own" {
	last=$(($(times 40 200) - 1))
	# shellcheck disable=SC2016  # text for another shell
	submit user1 "--array=0-$last" --lwk -n3 --mem=256 \
		--wrap 'srun -n1 /opt/lwk-tests/hello | grep kernel=slurm-lwk && echo "task $SLURM_ARRAY_TASK_ID has run"'
	# shellcheck disable=SC2016  # the machine's shell expands it
	wait_for 1200 bed sh -c 'tasks=$(squeue -h --user=user1) && [ -z "$tasks" ]'
	run -0 as user1 sh -c 'cat ./*.out | grep "has run" | sort -k2n | uniq -c'
	echo "$output"
	# Each has run once.
	[[ ${#lines[@]} == $((last + 1)) && $(grep -c '^ *1 task ' <<<"$output") == $((last + 1)) ]]
	node_is_clean
}
