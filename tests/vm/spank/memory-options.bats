#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# An LWK gets as much memory, from such NUMA nodes, as the job and the site say; requests that no job can have are
# refused.

load ../helpers

setup_file()
{
	prepare
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
}

teardown()
{
	bed cp -p /root/lwk.conf.before /etc/slurm/lwk.conf
}

# memory OPTION...: prints of an LWK job on CPUs 4-7 its nodes, its MB, and "node:MB" for each NUMA
# node, in one line.
memory()
{
	local job

	job=$(submit user1 -n4 --lwk "$@" --wrap 'sleep 300')
	wait_for 60 bed sh -c "grep -qs '\"state\":\"active\"' /run/slurm-lwk/jobs/$job.json ||
		! squeue -h -j $job | grep -q ."
	bed lwkctl status --json | jq -r '.jobs[0].nodes, .jobs[0].memory / 1048576,
		([.lent[] | select(.kind != "cpu")] | group_by(.node)
			| map("\(.[0].node):\(map(.bytes) | add / 1048576)") | join(" "))' |
		paste -sd ' '
	as user1 scancel "$job"
	wait_for_job "$job"
}

run_memory()
{
	run memory "$@"
	echo "$*: $output"
}

@test "an LWK gets the job's memory without Linux's part, from the nodes of its CPUs" {
	run_memory --mem=600
	[[ $output == '1 536 1:536' ]]
	run_memory --mem=600 --lwk-mem=all --lwk-numa=local
	[[ $output == '1 536 1:536' ]]
}

@test "--lwk-mem takes a share of the job's memory, or a size" {
	run_memory --mem=600 --lwk-mem=50%
	[[ $output == '1 300 1:300' ]]
	run_memory --mem=600 --lwk-mem=128M
	[[ $output == '1 128 1:128' ]]
}

# bats test_tags=nightly
@test "--mem-per-cpu counts for all CPUs of the job on the node" {
	run_memory --mem-per-cpu=150
	[[ $output == '1 536 1:536' ]]
}

# bats test_tags=nightly
@test "with --mem=0 the share is one of the whole node" {
	run_memory --mem=0 --lwk-mem=25%
	quarter=$(bed scontrol show node | awk -F'[= ]+' '/RealMemory/ { print int($3 / 8) * 2 }')
	[[ $output == "1 $quarter "* ]]
}

# whole_node BYTES: an exclusive job without a number gets what the node can give away, at least so
# much, and Linux kills no process for it.
whole_node()
{
	local job record

	bed dmesg -C
	job=$(submit user1 --exclusive --mem=0 --lwk --wrap 'lwkctl status --json')
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	record=$(job_output user1 "$job")
	jq -c '.jobs[0] | {memory, nodes, runs, largest_run, switch_on_ms, steps}' <<<"$record"
	(($(jq '.jobs[0].memory' <<<"$record") >= $1))
	run -1 bed sh -c 'dmesg | grep -i "out of memory\|oom-kill"'
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/jobs)" ]'
}

# bats test_tags=nightly
@test "--exclusive --mem=0 gets what the whole node can give away" {
	whole_node $((1 << 30))
}

# bats test_tags=nightly
@test "--exclusive --mem=0 on a prepared node gets all of the job node at least" {
	bed sh -c 'lwkctl prepare >/dev/null'
	whole_node $((1792 << 20))
	bed sh -c 'lwkctl prepare --undo >/dev/null'
}

# bats test_tags=nightly
@test "--lwk-numa takes memory from other nodes" {
	run_memory --mem=320 --lwk-numa=bind=0
	[[ $output == '0 256 0:256' ]]
	# The system's node gives memory only where it is named.
	run_memory --mem=320 --lwk-numa=interleave
	[[ $output == '1 256 1:256' ]]
	bed sed -i 's/^SystemNodes =.*/SystemNodes = none/' /etc/slurm/lwk.conf
	run_memory --mem=320 --lwk-numa=interleave
	[[ $output == '0-1 256 0:128 1:128' ]]
}

# bats test_tags=nightly
@test "Numa= of the site holds for a job that says nothing else" {
	bed sed -i 's/^Numa =.*/Numa = bind=0/' /etc/slurm/lwk.conf
	run_memory --mem=320
	[[ $output == '0 256 0:256' ]]
	run_memory --mem=320 --lwk-numa=local
	[[ $output == '1 256 1:256' ]]
}

@test "--mem-bind chooses the nodes, unless --lwk-numa does" {
	run_memory --mem=320 --mem-bind=map_mem:0
	[[ $output == '0 256 0:256' ]]
	run_memory --mem=320 --mem-bind=verbose,mask_mem:0x1
	[[ $output == '0 256 0:256' ]]
	run_memory --mem=320 --mem-bind=local
	[[ $output == '1 256 1:256' ]]
	run_memory --mem=320 --mem-bind=map_mem:0 --lwk-numa=bind=1
	[[ $output == '1 256 1:256' ]]
}

# bats test_tags=nightly
@test "salloc and srun hand --mem-bind over" {
	run -0 as user1 salloc -n4 --mem=320 --lwk --mem-bind=map_mem:0 \
		sh -c 'cat /run/slurm-lwk/jobs/$SLURM_JOB_ID.json'
	[[ $output == *'"nodes":"0"'* ]]
	as user1 srun -n2 --mem=320 --lwk --mem-bind=map_mem:0 "$programs/sleeper" 600 &
	wait_for 60 bed sh -c 'grep -qs "\"state\":\"active\"" /run/slurm-lwk/jobs/*.json'
	run bed sh -c 'cat /run/slurm-lwk/jobs/*.json'
	bed scancel -u user1
	wait
	[[ $output == *'"nodes":"0"'* ]]
}

# bats test_tags=nightly
@test "a job that an LWK job submits inherits neither --lwk-mem nor --mem-bind" {
	job=$(submit user1 -n4 --mem=320 --lwk --lwk-mem=50% --mem-bind=map_mem:0 --wrap '
		sbatch --parsable --output=inner.out --dependency=afterany:$SLURM_JOB_ID -n4 --mem=320 \
			--lwk --wrap "cat /run/slurm-lwk/jobs/\$SLURM_JOB_ID.json"')
	wait_for_job "$job"
	inner=$(job_output user1 "$job" | head -n 1)
	wait_for_job "$inner"
	run as user1 cat inner.out
	[[ $output == *'"nodes":"1"'* && $output == *"\"memory\":$((256 << 20)),"* ]]
}

# bats test_tags=nightly
@test "a malformed request never leaves the user's command" {
	before=$(bed sh -c 'scontrol -o show job | wc -l')
	for amount in 0% 101% -1 18446744073709551615T 512 0M 5.5% much; do
		refused "--lwk-mem: expected all, 1% to 100%, or a size" "found \"$amount\"" -- \
			as user1 sbatch -c2 --lwk "--lwk-mem=$amount" --wrap true
	done
	for policy in near bind= bind=one bind=-1 bind=0- 'bind=0;id'; do
		refused "--lwk-numa: expected local, interleave, or bind=" "found \"$policy\"" -- \
			as user1 srun -c2 --lwk "--lwk-numa=$policy" "$programs/hello"
	done
	for binding in rank prefer,map_mem:0 map_mem:5000 mask_mem:0; do
		refused "--mem-bind=" 'map_mem:NODES or mask_mem:MASKS' -- \
			as user1 sbatch -c2 --lwk "--mem-bind=$binding" --wrap true
	done
	refused 'expected --lwk-mem with --lwk' 'found it alone' -- as user1 sbatch -c2 --lwk-mem=50% --wrap true
	refused 'expected --lwk-numa with --lwk' 'found it alone' -- as user1 salloc -c2 --lwk-numa=local true
	[[ $(bed sh -c 'scontrol -o show job | wc -l') == "$before" ]]
}

@test "a step cannot change what the allocation has" {
	run ! as user1 salloc -n2 --mem=320 --lwk srun --lwk-mem=50% "$programs/hello"
	[[ $output == *'expected --lwk-mem with --lwk, at the sbatch, salloc or srun that makes the allocation, found it at a step'* ]]
}

@test "a request that this node cannot fulfil is refused there" {
	refused 'NUMA nodes 7, found only 0-1 on this machine' -- \
		as user1 srun -c2 --mem=320 --lwk --lwk-numa=bind=7 "$programs/hello"
	refused '--lwk-mem: expected at most 256 MB for the LWK, found 1 GB' 'has 320 MB' -- \
		as user1 srun -c2 --mem=320 --lwk --lwk-mem=1G "$programs/hello"
	refused 'from the NUMA nodes 1 alone' 'these can give away' -- \
		as user1 srun -c2 --mem=2600 --lwk --lwk-numa=bind=1 "$programs/hello"
	bed sed -i 's/^SystemNodes =.*/SystemNodes = 4/' /etc/slurm/lwk.conf
	refused 'NUMA nodes 4 for the system (SystemNodes=); this machine has only 0-1' -- \
		as user1 srun -c2 --mem=320 --lwk "$programs/hello"
	run ! bed lwkctl check
	[[ $output == *'problem numa'*'NUMA nodes 4 for the system'* ]]
}

@test "with lwkctl plan any user plans for this node and for other machines" {
	run -0 as user1 lwkctl plan --cpus 4-7 --mem 600M --lwk-mem 50% --numa interleave --json
	[[ $(jq -r '[.lwk_cpus, .idle_cpus, .bytes, .memory[0].node, .memory[0].system,
		.memory[0].remote] | join(" ")' <<<"$output") == "5-7  $((300 << 20)) 1 false false" ]]
	testbed put "$top/tests/unit/topologies/xeon-2s-smt.xml" /tmp/xeon.xml
	run -0 as user1 lwkctl plan --topology /tmp/xeon.xml --cpus 8-11,24-27 --mem 1G \
		--hint nomultithread
	[[ $output == *'LWK: 3 CPUs, 960 MB of memory'* && $output == *'|LL|W-|W-|W-|..|'* ]]
}

@test "lwkctl plan names each wrong argument" {
	plan=(as user1 lwkctl plan --cpus 4-7 --mem 600M)
	refused 'expected --lwk-mem all, 1% to 100%' 'found "101%"' -- "${plan[@]}" --lwk-mem 101%
	refused 'expected --numa local' 'found "bind=x"' -- "${plan[@]}" --numa bind=x
	refused 'expected --hint nomultithread' 'found "fast"' -- "${plan[@]}" --hint fast
	refused 'NUMA nodes 2, found only 0-1' -- "${plan[@]}" --numa bind=2
	refused 'found 600 MB (the allocation has 600 MB on this node' -- "${plan[@]}" --lwk-mem 600M
	refused '/dev/zero: expected a regular file' -- "${plan[@]}" --topology /dev/zero
	refused '/etc: expected a regular file' -- "${plan[@]}" --topology /etc
	refused 'expected an hwloc topology (XML' -- "${plan[@]}" --topology /etc/passwd
	refused 'expected CPUs of this machine (0-7)' -- as user1 lwkctl plan --cpus 4-8 --mem 600M
	# The test bed has no lstopo. The plan that is printed would come in the midst of the message.
	without_the_plan()
	{
		"${plan[@]}" "$@" >/dev/null
	}
	refused 'install the package hwloc-nox' -- without_the_plan --svg /tmp/plan.svg
	run ! bed test -e /tmp/plan.svg
}

@test "the node is as before the jobs" {
	node_is_clean
}
