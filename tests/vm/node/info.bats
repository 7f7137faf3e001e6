#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# lwkctl node tells what a node has lent and could lend, and agrees with Linux and the ledger.

load ../helpers

setup_file()
{
	prepare
}

# The jobs of a test must not be there in the next test.
teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel'
	wait_for 60 bed sh -c '! ls /run/slurm-lwk/jobs/*.json'
}

teardown_file()
{
	node_is_clean
}

# node FILTER: prints what jq finds in lwkctl node --json.
node()
{
	bed lwkctl node --json | jq -r "$1"
}

# bats test_tags=nightly
@test "an idle node has lent nothing and could lend what Linux has free" {
	[[ $(node '"\(.instances) \(.lent_cpus) \(.lent) \([.nodes[].lent] | add)"') == '0  0 0' ]]
	os_cpus=$(bed awk -F= '/^OsCpus/ { gsub(" ", "", $2); print $2 }' /etc/slurm/lwk.conf)
	run -0 bed cat /sys/devices/system/cpu/online
	[[ $output == 0-* && $(node .free_cpus) == "$((${os_cpus##*-} + 1))-${output#*-}" ]]
	# Free large pages are counted among the free small ones, and no node has more free than in all.
	node '.nodes[] | select(.free_2m > .free_4k or .free_1g > .free_2m or .free_4k > .total
		or .largest_free > .free_2m)' | grep . && return 1
	# Free pages are most of what could be lent just after boot; blocks with holes are left out.
	for n in $(node '.nodes[].node'); do
		free=$(bed awk '/MemFree/ { print $4 * 1024 }' "/sys/devices/system/node/node$n/meminfo")
		could=$(node ".nodes[] | select(.node == $n).free_4k")
		((could >= free - (192 << 20)))
	done
	run -0 bed lwkctl node
	[[ $output == *'lent        to 0 LWK instances: CPUs none, 0 MB'*'0* '*'* kept for the system'* ]]
	# Jobs find it by a feature, which it has as long as nothing is wrong with it.
	run -0 bed lwkctl node --features
	[[ $output == 'Feature=lwk' ]]
	refused 'lwkctl node: config: ' -- bed lwkctl node --features --config /none
	[[ $output != *Feature* ]]
}

@test "the memory of a job is free before, lent while it runs, and free again afterwards" {
	# The switch drops clean caches; they go now, too, so that before and after can be compared.
	bed sh -c 'sync; echo 3 >/proc/sys/vm/drop_caches'
	before=$(node '.nodes[1].free_4k')
	job=$(submit user1 -n4 --mem=576 --lwk --wrap 'sleep 300')
	wait_for 60 bed grep -qs '"state":"active"' "/run/slurm-lwk/jobs/$job.json"
	info=$(bed lwkctl node --json)
	record=$(bed lwkctl status --json | jq -c '.jobs[0]')
	[[ $(jq -r '"\(.instances) \(.lent_cpus) \(.lent) \(.nodes[1].lent) \(.nodes[1].lent_cpus)"' <<<"$info") == \
		"1 $(jq -r '"\(.lwk_cpus) \(.memory) \(.memory) \(.lwk_cpus)"' <<<"$record")" ]]
	[[ $(jq '.nodes[1].largest_lent' <<<"$info") == $(jq .largest_run <<<"$record") ]]
	# About 512 MB less are free, because a block counts only while nothing in it is unmovable.
	after=$(jq '.nodes[1].free_4k' <<<"$info")
	echo "free before $before, with the job $after"
	((before - after > 320 << 20 && before - after < 1 << 30))
	run -0 bed lwkctl metrics
	[[ $output == *'lwk_lent_cpus 3'* && $output == *'lwk_lent_memory_bytes{node="1"} 536870912'* ]]
	as user1 scancel "$job"
	wait_for_job "$job"
	wait_for 30 bed sh -c '! test -e /run/slurm-lwk/jobs/'"$job.json"
	bed sh -c 'sync; echo 3 >/proc/sys/vm/drop_caches'
	((after + (320 << 20) < $(node '.nodes[1].free_4k')))
	[[ $(node '"\(.instances) \(.lent)"') == '0 0' ]]
}

# bats test_tags=nightly
@test "the memory of a prepared node is whole, and an LWK gets the run that was promised" {
	bed lwkctl prepare >/dev/null
	largest=$(node '.nodes[1].largest_free')
	job=$(submit user1 --exclusive --mem=0 --lwk --wrap 'lwkctl status --json')
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run=$(job_output user1 "$job" | jq '.jobs[0].largest_run')
	echo "promised $largest, found $run"
	((run >= largest - (256 << 20)))
	bed lwkctl prepare --undo >/dev/null || true
}

@test "lwkctl node refuses users other than root and a missing configuration" {
	run -1 as user1 lwkctl node
	[[ $output == *'expected to run as root'* ]]
	run -1 bed lwkctl node --config /nonexistent
	[[ $output == *'/nonexistent: No such file'* ]]
	run -2 bed lwkctl node 4
}

# bats test_tags=nightly
@test "lwkctl bench has all of its figures from an idle node, and leaves it idle" {
	refused 'lwkctl: expected --cpus and --mem, found "no --mem"' -- bed lwkctl bench --cpus 2-3
	refused 'expected CPUs of this machine (0-7)' -- bed lwkctl bench --cpus 2-99 --mem 256M
	job=$(submit user1 -n1 --mem=100 --wrap 'echo runs; sleep 300')
	wait_for 60 has_printed user1 "$job" runs
	refused 'expected an idle node, found a Slurm job on it; drain the node' -- \
		bed lwkctl bench --cpus 2-3 --mem 256M
	bed scancel "$job"
	wait_for_job "$job"
	run -0 bed sh -c 'lwkctl bench --cpus 1-3 --mem 300M --count 2 --seconds 0.1 --svg /root/bench.svg --json 2>/dev/null'
	echo "$output"
	[[ $(jq -c '[.linux, .lwk | .[] > 0] | unique' <<<"$output") == '[true]' ]]
	[[ $(jq '[.switch_on, .switch_off | .us[] > 0 | select(.)] | length' <<<"$output") == 4 ]]
	bed xmllint --noout /root/bench.svg || bed grep -q '</svg>' /root/bench.svg
	# A signal while a program runs on the LWK, which computes for long.
	run ! bed timeout --signal=INT --foreground 25 lwkctl bench --cpus 1-3 --mem 300M --count 1 --seconds 600
	wait_for 60 bed sh -c '! ls /run/slurm-lwk/jobs/*.json'
	node_is_clean
}
