#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# lwkctl prepare on other machines than the usual one, each in a test bed of its own: one NUMA
# node, one divided by numa=fake=, and one with systemd, whose unit runs it early in boot.

load ../helpers

setup()
{
	bed_name+=-prepare
}

teardown()
{
	testbed down
}

movable_blocks()
{
	bed sh -c 'grep -lx Movable /sys/devices/system/memory/memory*/valid_zones | wc -l'
}

# bats test_tags=nightly
@test "with one NUMA node prepare changes nothing and says what to boot with" {
	testbed up --nodes 1 --mem 1024
	run -0 bed lwkctl prepare
	[[ $output == *'one NUMA node'*'nothing is changed'*'numa=fake=N'* ]]
	bed test ! -e /run/slurm-lwk/prepared.json
	[[ $(bed cat /proc/irq/default_smp_affinity) == ff ]]
	run -0 bed lwkctl prepare --undo
	run bed lwkctl check
	[[ $output == *'not prepared'*'numa=fake=N'* ]]
}

# bats test_tags=nightly
@test "of a node divided by numa=fake=4 the first part is the system's" {
	testbed up --nodes 1 --mem 3072 --append numa=fake=4
	run -0 bed lwkctl prepare --json
	[[ $(jq -c '[.usable, .system_nodes, .job_nodes]' <<<"$output") == '[true,"0","1-3"]' ]]
	run -0 bed lwkctl prepare --undo
}

# Debian's systemd uses cgroup version 2.
# bats test_tags=nightly
@test "the systemd unit prepares the node before slurmd starts, and undoes it when stopped" {
	testbed up --init systemd --cgroup v2 --append systemd.wants=slurm-lwk-prepare.service
	run -0 bed systemctl is-active slurm-lwk-prepare.service
	# All that follows works in the unit's sandbox.
	run -0 bed systemctl show -P ProtectSystem -P NoNewPrivileges -P CapabilityBoundingSet slurm-lwk-prepare.service
	[[ $output == *strict* && $output == *yes* && $output == *cap_sys_admin* && $output != *cap_sys_module* ]]
	run bed journalctl -b -u slurm-lwk-prepare.service
	[[ $output == *'interrupts: '*' moved'* && $output != *'ermission denied'* && $output != *'not permitted'* ]]
	# The kernel may keep a block at first: a second run may complete the first, and undoes nothing.
	before=$(movable_blocks)
	run -0 bed lwkctl prepare --json
	[[ $(jq -c '[.usable, .services.changed]' <<<"$output") == '[true,0]' ]]
	(($(jq '.nodes[0].changed' <<<"$output") == $(movable_blocks) - before))
	[[ $(bed cat /sys/fs/cgroup/system.slice/slurmctld.service/cpuset.mems.effective) == 0 ]]
	[[ $(bed cat /sys/fs/cgroup/system.slice/slurmd.service/cpuset.mems.effective) == 0-1 ]]
	run -0 as user1 srun -n4 grep Mems_allowed_list /proc/self/status
	[[ $output == *0-1* ]]
	job=$(submit user1 -n4 --mem=1088 --lwk --wrap 'lwkctl status')
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	[[ $output == *'memory 1024 MB on NUMA nodes 1, '* ]]
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/jobs)" ]'
	bed systemctl stop slurm-lwk-prepare.service
	[[ $(movable_blocks) == 0 ]]
	# systemd tells the kernel when it has time.
	wait_for 60 bed grep -qx 0-1 /sys/fs/cgroup/system.slice/slurmctld.service/cpuset.mems.effective
	bed test ! -e /run/systemd/system/service.d/10-slurm-lwk.conf
}
