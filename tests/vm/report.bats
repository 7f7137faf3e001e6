#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What is left of an LWK job when it has ended: its report, its record, its events.

load helpers

setup_file()
{
	prepare
}

@test "--lwk-report: one line, when the last program has ended" {
	run --separate-stderr -0 as user1 salloc -n3 --mem=512 --lwk --lwk-report srun -n2 "$programs/nap" 3
	# shellcheck disable=SC2154  # bats sets it
	[[ $(grep -c '^lwk: job' <<<"$stderr") == 1 ]]
	[[ $stderr =~ lwk:\ job\ [0-9]+:\ LWK\ lwk\ on\ CPUs\ .*memory\ peak\ [1-9].*delegated:\ [1-9] ]]
	run --separate-stderr -0 as user1 srun --lwk -n2 --mem=256M "$programs/hello"
	[[ $stderr != *'lwk: job'* ]]
}

@test "the record of a job that has ended" {
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/nap 2")
	wait_for_job "$job"
	node_is_clean
	record=$(bed tail -n1 /var/log/slurm-lwk/jobs.json)
	[[ $(jq -r '"\(.job_id) \(.image) \(.lwk_cpus | length > 0) \(.runs > 0) \(.instance_state) \(.switched_off)"' <<<"$record") == "$job lwk true true running true" ]]
	jq -e '.usage.delegated_calls.wait > 0 and .usage.memory_peak > 0 and (.usage.cpus | length) == 2 and
		(.switch_off_steps | length) > 0 and .ended >= .since' <<<"$record"
	[[ $(bed stat -c '%a %U' /var/log/slurm-lwk/jobs.json) == '640 root' ]]
}

@test "a record that cannot be written does not keep a job from ending" {
	bed sh -c 'mv /var/log/slurm-lwk /var/log/slurm-lwk.away; ln -s /dev/full /var/log/slurm-lwk'
	run -0 as user1 srun --lwk -n2 --mem=256M "$programs/hello"
	node_is_clean
	bed sh -c 'rm /var/log/slurm-lwk; mv /var/log/slurm-lwk.away /var/log/slurm-lwk'
}

@test "a program that needs more memory than there is: an event, a reason, and it is counted" {
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/nap 8; srun -n1 $programs/eat-memory; srun -n1 $programs/nap 3")
	wait_for 60 bed sh -c "lwkctl list | grep -q $job"
	as user1 timeout 120 lwkctl events "$job" >"$BATS_TEST_TMPDIR/events" || true
	wait_for_job "$job"
	run -0 cat "$BATS_TEST_TMPDIR/events"
	[[ $output == *' out of memory'* ]]
	run -0 job_output user1 "$job"
	[[ $output == *'killed, the LWK is out of memory'* ]]
	[[ $(bed tail -n1 /var/log/slurm-lwk/jobs.json | jq .usage.out_of_memory) == 1 ]]
	node_is_clean
}
