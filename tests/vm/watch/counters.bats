#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
# tests: in order
#
# Counters on an LWK's CPUs are registered, started, stopped, read and removed, and agree with the
# LWK's statistics.

load ../helpers

setup_file()
{
	prepare
	# A program that makes system calls runs each time the file "go" comes; at the end, one that only
	# computes.
	job=$(submit user1 -n3 --mem=512 --lwk <<-EOF
	#!/bin/bash
	while [ ! -e over.\$SLURM_JOB_ID ]; do
		while [ ! -e go.\$SLURM_JOB_ID ]; do sleep 0.2; done
		rm go.\$SLURM_JOB_ID
		srun -n1 --overlap $programs/hammer 2
	done
	srun -n1 $programs/spin
	EOF
	)
	export job
	wait_for 60 bed sh -c "lwkctl info $job | grep 'state *running'"
}

teardown_file()
{
	as user1 scancel "$job"
	wait_for_job "$job"
	node_is_clean
}

counters()
{
	as user1 lwkctl counters "$job" "$@"
}

# value EVENT: prints the sum over all CPUs.
value()
{
	counters --json | jq --arg event "$1" '(.events | index($event)) as $i |
		if any(.cpus[]; .torn) then error("torn") else [.cpus[].values[$i]] | add end'
}

# stat EXPRESSION: prints what jq finds in the LWK's statistics.
stat()
{
	bed lwkctl stat "$job" --json | jq "$1"
}

ended()
{
	[[ $(bed lwkctl info "$job" --json | jq .processes) == 0 ]]
}

# hammered N: true when the program has ended N times.
hammered()
{
	(($(as user1 grep -c '^calls' "$job.out") == $1)) && ended
}

# hammer: runs the program from its start to its end.
hammer()
{
	local before

	before=$(as user1 grep -c '^calls' "$job.out" || true)
	as user1 touch "go.$job"
	wait_for 60 hammered $((before + 1))
}

@test "counters count what the LWK's statistics count" {
	counters set page-faults interrupts local-calls delegated-calls processes
	all='[.faults, (.interrupts | add), .local_calls, (.delegated_calls | add), .processes]'
	before=$(stat "$all")
	counters start
	hammer
	after=$(stat "$all")
	counters stop
	run -0 counters --json
	# The interrupts that started the counters, one for each CPU, are in the statistics only.
	jq -e --argjson before "$before" --argjson after "$after" '
		[.events[] | . == "interrupts"] as $own | (.cpus | length) as $n | .cpus as $cpus |
		[range(5) as $i | [$cpus[].values[$i]] | add] ==
		[range(5) as $i | $after[$i] - $before[$i] - (if $own[$i] then $n else 0 end)]' <<<"$output"
	jq -e '.running == false and [.cpus[].torn] == [false, false] and ([.cpus[].values[4]] | add) == 1' <<<"$output"
	calls=$(as user1 sed -n 's/^calls //p' "$job.out" | tail -n1)
	((calls > 0 && $(value delegated-calls) >= calls))
}

# bats test_tags=nightly
@test "stopped counters stand still and go on from there, new ones begin at 0" {
	counters set processes delegated-calls
	[[ $(value processes) == 0 ]]
	hammer
	[[ $(value processes) == 0 && $(value delegated-calls) == 0 ]]
	counters start
	hammer
	[[ $(value processes) == 1 ]]
	counters stop
	calls=$(value delegated-calls)
	((calls > 0))
	hammer
	[[ $(value processes) == 1 && $(value delegated-calls) == "$calls" ]]
	counters start
	hammer
	[[ $(value processes) == 2 ]]
	(($(value delegated-calls) > calls))
	run -0 counters
	[[ $output == counting$'\n'CPU*processes*delegated-calls*$'\nall'*' 2 '* ]]
	counters set processes
	[[ $(counters --json | jq -c '[.running, .events, [.cpus[].values[0]]]') == '[false,["processes"],[0,0]]' ]]
	counters remove
	[[ $(counters) == 'no counters' ]]
	for what in start stop; do
		run -1 counters "$what"
		[[ $output == *'have no counters; register some first'* ]]
	done
}

@test "hardware counters count, or are refused where the CPUs have none" {
	counters set page-faults
	if bed grep -qw arch_perfmon /proc/cpuinfo; then
		counters set instructions:u cycles branches
		counters start
		hammer
		counters stop
		(($(value instructions:u) > 1000 && $(value cycles) > 1000 && $(value branches) > 100))
		return
	fi
	for event in cycles instructions:u ref-cycles cache-references cache-misses:k branches branch-misses r01c0; do
		run -1 counters set interrupts "$event"
		[[ $output == *"not available here: expected a hardware counter for \"$event\", found CPUs that tell of no"* ]]
	done
	# Nothing has changed by that.
	[[ $(counters --json | jq -c .events) == '["page-faults"]' ]]
	counters remove
}

@test "unknown events, too many counters and other users' jobs are refused" {
	for event in nonsense r12345 page-faults:u ''; do
		run -1 counters set interrupts "$event"
		[[ $output == *'expected an event: cycles,'*"found \"$event\""* ]]
	done
	# shellcheck disable=SC2046  # seventeen words
	run -1 counters set $(yes interrupts | head -n 17)
	[[ $output == *'expected 17 counters, found room for 16'* ]]
	run -1 as user2 lwkctl counters "$job" set interrupts
	[[ $output == *"job $job belongs to user 1001"* ]]
	run -1 as user2 lwkctl counters "$job"
	run -1 as user1 lwkctl counters 4000000
	[[ $output == *'no LWK job 4000000'* ]]
	for arguments in set nonsense 'start now' 'read it'; do
		# shellcheck disable=SC2086  # words
		run -2 counters $arguments
	done
	run -2 as user1 lwkctl counters
	[[ $(counters) == 'no counters' ]]
}

@test "counters that are set on a frozen LWK count when it goes on" {
	as user1 lwkctl freeze "$job"
	counters set processes
	counters start
	as user1 lwkctl thaw "$job"
	hammer
	[[ $(value processes) == 1 ]]
	bed lwkctl counters "$job" remove
}

@test "a program computes on while counters are set, started, stopped and removed" {
	# The job goes on at once, so nobody can wait for the end of its last hammer.
	as user1 touch "over.$job" "go.$job"
	wait_for 120 has_printed user1 "$job" spinning
	counters set interrupts disturbances
	counters start
	for _ in {1..20}; do
		counters >/dev/null
	done
	# Reading has interrupted no program, and stopping does not count.
	counters stop
	run -0 counters --json
	echo "counters: $output"
	jq -e '[.cpus[].torn] | any | not' <<<"$output"
	jq -e '[.cpus[].values] | index([[0, 0]])' <<<"$output"
	jq -e '[.cpus[].values[1]] | add == 0' <<<"$output"
	bed bash -c 'for who in 1 2 3; do
			(for ((i = 0; i < $2; i++)); do
				for what in "set processes interrupts" start "read --json" stop remove; do
					said=$(timeout 120 lwkctl counters $1 $what 2>&1 >/dev/null); status=$?
					((status == 0)) || [[ $said == *"no counters"* ]] || echo "$what ended with $status: $said"
				done
			done) &
		done; wait' - "$job" "$(times 5 30)" >"$BATS_TEST_TMPDIR/said"
	cat "$BATS_TEST_TMPDIR/said"
	[[ ! -s $BATS_TEST_TMPDIR/said ]]
	run -0 bed lwkctl stat "$job" --json
	echo "statistics: $output"
	jq -e '[.cpus[].doing] | index("user")' <<<"$output"
	counters remove
}

@test "counters of an instance that ends give an answer or a reason" {
	id=$(submit user1 -n3 --mem=256 --lwk --wrap "srun -n1 $programs/hello; srun -n1 $programs/sleeper 3")
	wait_for 60 has_printed user1 "$id" 'LWK'
	run -0 bed bash -c 'while [[ -e /run/slurm-lwk/jobs/$1.json ]]; do
			for what in "set processes interrupts" start "read --json" stop remove; do
				said=$(timeout 20 lwkctl counters $1 $what 2>&1 >/dev/null); status=$?
				((++asked, status <= 1)) || echo "$what ended with $status: $said"
				((status == 0)) || [[ $said == lwkctl:* ]] || echo "$what said: $said"
			done
		done; echo "asked $asked times"' - "$id"
	echo "$output"
	[[ $output =~ ^asked\ [1-9][0-9]+\ times$ ]]
	wait_for_job "$id"
}
