#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
# also nightly: bookworm --release bookworm --append testbed.cpuset_v2_mode, cpusets
#
# The module's uses of Linux's internals can be turned off by their names: jobs run all the same, and
# only what each is for is missing. With cgroup version 1 they need cpusets in cpuset_v2_mode.

load ../helpers

all=calls,crash-stop,broadcasts,cpusets,tlb-flush,cpu-time,memory

setup_file()
{
	prepare
}

teardown_file()
{
	without ''
	node_is_clean
}

# without TRICKS: loads the module so.
without()
{
	bed sh -c 'rmmod lwkpart 2>/dev/null; modprobe lwkpart tricks_off="$1"' - "$1" || return
	[[ $(bed cat /sys/module/lwkpart/parameters/tricks_off) == "$1" ]]
}

# run_job: runs one; sets $calls, carried out by the module, and what Linux has seen of a program that
# computes for 2 seconds at least with 100 MB: $seconds and $kbytes. Meanwhile Linux patches its code,
# for which it interrupts all CPUs; $others is the number of interrupts of the LWK's CPU that its proxies
# did not send.
run_job()
{
	job=$(submit user1 -n2 --mem=448 --lwk --wrap "busybox time -v lwkexec $programs/hold-memory 100 2 patched.\$SLURM_JOB_ID 2>&1
		lwkexec busybox cat /etc/hostname /etc/hostname /etc/hostname /proc/self/lwk")
	wait_for 60 has_printed user1 "$job" holding
	bed sh -c 'for on in 1 0 1 0; do echo $on >/proc/sys/kernel/sched_schedstats; done'
	as user1 touch "patched.$job"
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 job_output user1 "$job"
	echo "$output"
	calls=$(sed -n 's/^kernel_calls //p' <<<"$output")
	seconds=$(sed -n 's/.*User time (seconds): \([0-9]*\).*/\1/p' <<<"$output")
	kbytes=$(sed -n 's/.*Maximum resident set size (kbytes): //p' <<<"$output")
	others=$(awk '$1 == "interrupts" { print $2 - doorbells } $1 == "doorbells" { doorbells = $2 }' <(tac <<<"$output"))
	[[ $calls && $seconds && $kbytes && $others ]]
}

# bats test_tags=version-2
@test "without all tricks a job runs, and just what they are for is missing" {
	without "$all"
	run_job
	((calls == 0 && seconds == 0 && kbytes < 60000 && others > 0))
	run bed lwkctl check
	[[ $output == *"tricks"*"$all"* ]]
	run bed dmesg
	[[ $output == *'the trick "crash-stop" is turned off: an LWK goes on while'* ]]
}

# bats test_tags=version-2
@test "with all tricks it is there" {
	without ''
	run_job
	((calls > 0 && seconds >= 1 && kbytes > 90000 && others == 0))
	run bed lwkctl check
	[[ $output == *'tricks'*'all of Linux'* ]]
}

# bats test_tags=version-2
@test "a name that is no trick is refused" {
	run ! without calls,magic
	run -0 bed sh -c 'dmesg | grep -c "expected names of tricks separated by commas, found .magic"'
	run ! bed test -e /sys/module/lwkpart
}

# bats test_tags=version-2,nightly
@test "a job runs without each trick alone" {
	for trick in ${all//,/ }; do
		without "$trick"
		run_job
	done
}

# bats test_tags=cpusets,version-1,nightly
@test "without the trick cpusets jobs run where the hierarchy was mounted with cpuset_v2_mode" {
	without cpusets
	run_job
	# The LWK of this release's Linux has an interrupt more, with all tricks, too.
	((calls > 0 && seconds >= 1 && kbytes > 90000 && others <= 1))
	# The CPUs that were lent are in Slurm's cpusets still.
	as user1 srun --exclusive true
	run_job
	run bed lwkctl check
	[[ $output == *'tricks'*'cpusets'* ]]
	run bed dmesg
	[[ $output == *'the trick "cpusets" is turned off'* && $output != *'a hierarchy without cpuset_v2_mode'* ]]
}
