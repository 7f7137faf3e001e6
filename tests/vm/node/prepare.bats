#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
# tests: in order
#
# lwkctl prepare makes the memory of the NUMA nodes for jobs movable, and --undo gives back exactly
# what prepare has changed.

load ../helpers

memory=/sys/devices/system/memory

setup_file()
{
	prepare
	bed sh -c 'lwkctl prepare --undo >/dev/null'
	facts >"$BATS_FILE_TMPDIR/before"
}

teardown_file()
{
	bed sh -c 'pkill -x eat-memory; lwkctl prepare --undo'
}

# facts: prints all that prepare may change: the zone of each memory block, the CPUs of each
# interrupt, the cpuset of each daemon.
facts()
{
	bed bash -s <<-EOF
	cd $memory && grep -H . memory*/state memory*/valid_zones
	grep -H . /proc/irq/default_smp_affinity /proc/irq/*/smp_affinity_list
	for name in slurmctld munged slurmd; do
		echo "\$name" \$(cat /proc/\$(pidof -s \$name)/cgroup | grep -E '^0::|cpuset')
	done
	EOF
}

# json FILTER: prints what jq finds in the last report of `lwkctl prepare --json`.
json()
{
	jq -er "$1" "$BATS_FILE_TMPDIR/report"
}

prepare_node()
{
	bed lwkctl prepare --json >"$BATS_FILE_TMPDIR/report"
}

movable_blocks()
{
	bed sh -c "grep -lx Movable $memory/memory*/valid_zones | wc -l"
}

# put_off_line: has Linux give up a block of the node for jobs, and prints its number. Pages of the kernel
# keep some blocks, never the same.
put_off_line()
{
	bed sh -c "cd $memory"'
		for block in $(ls -d ../node/node1/memory* | sed "s/.*memory//" | sort -rn); do
			grep -qx Normal "memory$block/valid_zones" || continue
			! echo offline >"memory$block/state" || { echo "$block"; exit; }
		done 2>/dev/null
		exit 1'
}

# in_root_cgroup SCRIPT: runs it outside sshd's service, which `lwkctl prepare` keeps on the system's nodes
# where systemd started it.
in_root_cgroup()
{
	bed sh -c "[ ! -e /sys/fs/cgroup/cgroup.procs ] || echo \$\$ >/sys/fs/cgroup/cgroup.procs; $1"
}

@test "an ordinary user is refused" {
	run -1 as user1 lwkctl prepare
	[[ $output == *'as root'*'sudo'* ]]
	run -1 as user1 lwkctl prepare --undo
	[[ $output == *'as root'* ]]
	run -2 bed lwkctl prepare --undo --dry-run
	[[ $output == *'found "both"'* ]]
}

@test "--dry-run changes nothing" {
	run -0 bed lwkctl prepare --dry-run
	[[ $output == *'nothing is changed'*'NUMA node 1, for jobs'* ]]
	[[ $(facts) == "$(cat "$BATS_FILE_TMPDIR/before")" ]]
	bed test ! -e /run/slurm-lwk/prepared.json
}

@test "check says that the node is not prepared" {
	run bed lwkctl check
	[[ $output == *'NUMA node 1: '*'it is not prepared'*'slurm-lwk-prepare.service'* ]]
}

@test "prepare makes the job node's memory movable" {
	prepare_node
	[[ $(json .usable) == true && $(json .system_nodes) == 0 && $(json .job_nodes) == 1 ]]
	# The kernel keeps the first and the last of a node, and some more, by what ran there before.
	(($(json '.nodes[0].movable') >= $(json '.nodes[0].blocks / 2 | floor'))) || { json '.nodes[0]'; return 1; }
	[[ $(movable_blocks) == $(json '.nodes[0].movable') ]]
	[[ $(json '.nodes[0] | .movable + .offline + (.kept | length) == .blocks') == true ]]
	[[ $(json '[.nodes[0].kept[] | select(.why == "")] | length') == 0 ]]
	[[ $(bed stat -c '%a %U' /run/slurm-lwk/prepared.json) == '600 root' ]]
}

@test "all interrupts that can be moved are on the OS CPUs" {
	[[ $(bed cat /proc/irq/default_smp_affinity) =~ ^0*1$ ]]
	kept=$(json '[.interrupts.kept[].irq] | join(" ")')
	bed bash -s -- "$kept" <<-'EOF'
	for dir in /proc/irq/*/; do
		irq=$(basename "$dir")
		[[ " $1 " == *" $irq "* || -z $(ls -d "$dir"*/ 2>/dev/null) ]] ||
			[[ $(cat "$dir/smp_affinity_list") == 0 ]] || { echo "interrupt $irq"; exit 1; }
	done
	EOF
}

@test "services are on the system node, and slurmd is not bound" {
	[[ $(json .services.why) == '' ]]
	bed sh -c 'grep -qx "Mems_allowed_list:	0" /proc/$(pidof -s slurmctld)/status'
	bed sh -c 'grep -qx "Cpus_allowed_list:	0" /proc/$(pidof -s slurmctld)/status'
	run -0 as user1 srun -n4 sh -c 'grep -E "^(Cpus|Mems)_allowed_list" /proc/self/status'
	[[ $output == *'Mems_allowed_list:	0-1'* && $output != *'Cpus_allowed_list:	0'$'\n'* ]]
}

@test "prepare that runs twice undoes nothing" {
	before=$(facts)
	blocks=$(movable_blocks)
	prepare_node
	# The second run may complete what the kernel refused at first.
	(($(json '.nodes[0].changed') == $(movable_blocks) - blocks))
	[[ $(json .interrupts.changed) == 0 ]]
	diff <(echo "$before") <(facts) | grep '^>' >"$BATS_TEST_TMPDIR/new" || true
	run ! grep -v 'valid_zones:Movable$' "$BATS_TEST_TMPDIR/new"
}

@test "check says that the node is prepared" {
	run bed lwkctl check
	[[ $output == *'NUMA node 1: '*'are movable'* && $output != *'not prepared'* ]]
}

@test "an LWK job's memory is one contiguous run" {
	job=$(submit user1 -n4 --mem=704 --lwk --wrap 'lwkctl status --json; sleep 60')
	wait_for 60 has_printed user1 "$job" largest_run
	run -0 job_output user1 "$job"
	[[ $(jq '.jobs[0].nodes' <<<"$output") == '"1"' ]]
	[[ $(jq '.jobs[0] | [.memory, .runs, .largest_run] | tostring' <<<"$output") == '"[671088640,1,671088640]"' ]]
}

@test "while memory is lent neither prepare nor --undo changes anything" {
	before=$(facts)
	run -1 bed lwkctl prepare
	[[ $output == *'nothing is lent'*'lwkctl status'* ]]
	run -1 bed lwkctl prepare --undo
	[[ $output == *'nothing is lent'* ]]
	run -0 bed lwkctl prepare --dry-run
	[[ $(facts) == "$before" ]]
	bed scancel --user user1
	wait_for 60 bed sh -c '[ -z "$(squeue -h)" ] && [ -z "$(ls /run/slurm-lwk/jobs)" ]'
}

@test "--undo restores what was before" {
	run -0 bed lwkctl prepare --undo
	diff <(facts) "$BATS_FILE_TMPDIR/before"
	bed test ! -e /run/slurm-lwk/prepared.json
	run -0 bed lwkctl prepare --undo
	[[ $(facts) == "$(cat "$BATS_FILE_TMPDIR/before")" ]]
}

@test "a block that an administrator has off-line stays off-line by prepare and by --undo" {
	block=$(put_off_line)
	before=$(facts)
	prepare_node
	[[ $(json '.nodes[0].offline') == 1 ]]
	[[ $(bed cat $memory/memory"$block"/state) == offline ]]
	run -0 bed lwkctl prepare --undo
	[[ $(facts) == "$before" ]]
	bed sh -c "echo online_kernel >$memory/memory$block/state"
	diff <(facts) "$BATS_FILE_TMPDIR/before"
}

@test "a prepare that is killed is completed by the next one, or undone" {
	for after in 0.1 0.3 0.6 1; do
		bed sh -c "timeout -s KILL $after lwkctl prepare >/dev/null; true"
	done
	prepare_node
	[[ $(movable_blocks) == $(json '.nodes[0].movable') ]]
	[[ $(bed sh -c "cat $memory/memory*/state | sort -u") == online ]]
	bed sh -c 'timeout -s KILL 0.5 lwkctl prepare --undo >/dev/null; true'
	run -0 bed lwkctl prepare --undo
	diff <(facts) "$BATS_FILE_TMPDIR/before"
}

@test "a block that a killed prepare left off-line becomes movable by the next one" {
	block=$(put_off_line)
	bed sh -c "umask 077
		echo '{\"pending\":{\"block\":$block,\"online\":\"online_kernel\"}}' >/run/slurm-lwk/prepared.json"
	prepare_node
	[[ $(json '.nodes[0].offline') == 0 ]]
	[[ $(movable_blocks) == $(json '.nodes[0].movable') ]]
	run -0 bed lwkctl prepare --undo
	diff <(facts) "$BATS_FILE_TMPDIR/before"
}

@test "--undo finds a block that a killed prepare made movable and did not note" {
	block=$(put_off_line)
	bed sh -c "umask 077
		echo '{\"pending\":{\"block\":$block,\"online\":\"online_kernel\"}}' >/run/slurm-lwk/prepared.json
		echo online_movable >$memory/memory$block/state"
	run -0 bed lwkctl prepare --undo
	[[ $output == *'own use: 1'* ]]
	diff <(facts) "$BATS_FILE_TMPDIR/before"
}

@test "an LWK job gets other blocks than those with pinned memory" {
	prepare_node
	# Pages that vmsplice(2) holds in a pipe cannot be moved.
	in_root_cgroup 'setsid numactl --membind=1 /opt/lwk-tests/pin-memory 8 >/run/pinned 2>&1 &'
	wait_for 30 bed grep -q pinned /run/pinned
	job=$(submit user1 -n4 --mem=1344 --lwk --wrap 'lwkctl status --json')
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 job_output user1 "$job"
	(($(jq '.jobs[0].memory' <<<"$output") == 1280 << 20))
	bed pkill -x pin-memory
}

@test "--undo names a pinned block, and the next --undo restores it" {
	prepare_node
	in_root_cgroup 'setsid numactl --membind=1 /opt/lwk-tests/pin-memory 8 >/run/pinned 2>&1 &'
	wait_for 30 bed grep -q pinned /run/pinned
	run -1 bed lwkctl prepare --undo
	[[ $output == *'stays: it does not go off-line: something in it is pinned'* ]]
	bed test -e /run/slurm-lwk/prepared.json
	bed pkill -x pin-memory
	run -0 bed lwkctl prepare --undo
	diff <(facts) "$BATS_FILE_TMPDIR/before"
}

@test "the node is as before" {
	node_is_clean
}
