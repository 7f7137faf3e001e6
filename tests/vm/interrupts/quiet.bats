#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# A Linux-only job with --quiet-irqs has no device interrupts on its CPUs while it runs.

load affinities

# quiet_job: starts $job on three CPUs, 1-3 when they are free.
quiet_job()
{
	job=$(submit user1 -n3 --mem=256 --quiet-irqs --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user1 "$job" runs
}

# end_job JOB: cancels it and waits until its record is gone.
end_job()
{
	bed scancel "$1"
	wait_for_job "$1"
	wait_for 30 bed sh -c "! test -e /run/slurm-lwk/jobs/$1.json"
}

# none_on PATTERN: true when no interrupt that can be moved goes to such a CPU.
none_on()
{
	local cpus interrupts

	interrupts=$(movable)
	[[ -n $interrupts ]]
	while read -r _ cpus; do
		[[ $(expand "$cpus") != *[$1]* ]] || { echo "on $1: $interrupts"; return 1; }
	done <<<"$interrupts"
}

# is_undisturbed: true when no device interrupts the job's CPUs for two seconds. Linux moves an interrupt
# when it next comes, so that each may come once more on the CPU that it leaves.
is_undisturbed()
{
	local report

	report=$(as user1 lwkctl irqs "$job" --interval 2 --json)
	[[ $(jq '.during.max == 0' <<<"$report") == true ]] || { echo "$report"; return 1; }
}

# expand LIST: prints "0125" for "0-2,5".
expand()
{
	local part

	for part in ${1//,/ }; do
		seq -s '' "${part%-*}" "${part#*-}"
	done | tr -d '\n'
}

@test "interrupts go to free cores, to the OS CPU when no core is free, and back at the end" {
	bed sh -c 'echo 2 >/proc/irq/4/smp_affinity_list'
	before=$(affinities)
	quiet_job
	none_on 0-3
	run -0 bed lwkctl status
	[[ $output == *"job $job of user 1001: quiet"*'kept away from CPUs 1-3'* ]]
	run -0 as user1 lwkctl irqs "$job" --interval 2
	[[ $output == *"job $job, quiet on CPUs 1-3"*'before, from boot'*'now, devices'* ]]
	wait_for 60 is_undisturbed
	# Now a job takes the free cores.
	other=$(submit user2 -n4 --mem=256 --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user2 "$other" runs
	wait_for 40 none_on 1-7
	end_job "$other"
	end_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "interrupts that an administrator moves stay off the job's CPUs, and stay put at the end" {
	before=$(affinities | grep -v '^/proc/irq/[48]/')
	quiet_job
	bed sh -c 'echo 3 >/proc/irq/4/smp_affinity_list; echo 6 >/proc/irq/8/smp_affinity_list'
	wait_for 40 none_on 0-3
	[[ $(bed cat /proc/irq/8/smp_affinity_list) == 6 ]]
	end_job "$job"
	node_is_clean
	[[ $(bed cat /proc/irq/4/smp_affinity_list) == 3 ]]
	[[ $(bed cat /proc/irq/8/smp_affinity_list) == 6 ]]
	diff <(echo "$before") <(affinities | grep -v '^/proc/irq/[48]/')
}

# bats test_tags=nightly
@test "two quiet jobs at once have no interrupts, and the first may end first" {
	before=$(affinities)
	quiet_job
	first=$job
	quiet_job
	second=$job
	none_on 0-6
	end_job "$first"
	none_on 4-6
	end_job "$second"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=version-2,nightly
@test "a job's cgroup that Slurm has left behind keeps interrupts from no core" {
	quiet_job
	scope=$(bed sh -c 'dirname "$(ls -d /sys/fs/cgroup/*/*_slurmstepd.scope/job_*)"')
	bed sh -c "mkdir $scope/job_99999 && echo 4-7 >$scope/job_99999/cpuset.cpus"
	# Wherever interrupts are, the next pass has them on free cores.
	other=$(submit user2 -n1 --mem=256 --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user2 "$other" runs
	run wait_for 40 none_on 0-4
	# Tests that follow must not meet it when this one fails.
	bed rmdir "$scope/job_99999"
	((status == 0)) || { echo "$output"; return 1; }
	end_job "$other"
	end_job "$job"
	node_is_clean
}

# bats test_tags=nightly
@test "a quiet job beside an LWK job on the free cores has no interrupts" {
	before=$(affinities)
	quiet_job
	quiet=$job
	lwk=$(submit user2 -n4 --mem=512 --lwk --lwk-mem=256M --wrap "srun -n1 $programs/sleeper 600")
	wait_for 90 has_printed user2 "$lwk" kernel=slurm-lwk
	none_on 1-7
	end_job "$quiet"
	end_job "$lwk"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "interrupts of an LWK job that started first and ends first do not come to a quiet job" {
	before=$(affinities)
	lwk=$(submit user2 -n4 --mem=512 --lwk --lwk-mem=256M --wrap "srun -n1 $programs/sleeper 600")
	wait_for 90 has_printed user2 "$lwk" kernel=slurm-lwk
	quiet_job
	none_on 1-7
	end_job "$lwk"
	none_on 1-3
	end_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "slurmd that restarts starts a killed watcher again" {
	before=$(affinities)
	quiet_job
	bed pkill -KILL -x lwkctl
	bed sh -c 'echo 3 >/proc/irq/4/smp_affinity_list'
	stop_daemon slurmd -KILL
	start_daemon slurmd
	wait_for 60 bed pgrep -x lwkctl
	wait_for 40 none_on 0-3
	bed pkill -KILL -x lwkctl
	end_job "$job"
	node_is_clean
	diff <(echo "$before" | grep -v '^/proc/irq/4/') <(affinities | grep -v '^/proc/irq/4/')
}

# bats test_tags=nightly
@test "interrupts go back by lwkctl reset, and after a job that ended while slurmd was down" {
	before=$(affinities)
	quiet_job
	run -0 bed lwkctl reset
	diff <(echo "$before") <(affinities)
	end_job "$job"

	quiet_job
	crash_slurmd_and scancel "$job"
	start_daemon slurmd
	wait_for_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
	# The watcher has ended.
	wait_for 40 bed sh -c '! pgrep -x lwkctl'
}

# bats test_tags=nightly
@test "lwkctl reset completes a pass that was killed at any write" {
	before=$(affinities)
	run -0 bed bash -s "$(times 6 2)" <<-'EOF'
	for ((n = 1; n <= 23; n += $1)); do
		strace -o /dev/null -e trace=none -e inject=write:signal=SIGKILL:when=$n \
			switch-once quiet 900 1000 1-6 >/dev/null 2>&1
		lwkctl reset >/dev/null || exit
		! test -e /run/slurm-lwk/quiet.json || { echo "write $n"; cat /run/slurm-lwk/quiet.json; exit 1; }
	done
	EOF
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "a quiet job on all cores has each interrupt on one CPU, and the CPUs take turns" {
	before=$(affinities)
	bed switch-once quiet 901 1000 0-7
	# The test's own ssh connection makes the interrupts.
	run -0 bed cat "/proc/irq/$(net_irq)/smp_affinity_list"
	[[ $output == [0-7] ]]
	first=$output
	another_cpu()
	{
		[[ $(bed cat "/proc/irq/$(net_irq)/smp_affinity_list") != "$first" ]]
	}
	wait_for 60 another_cpu
	bed switch-once off 901
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "irqbalance leaves a quiet job's CPUs alone, also when it starts in the middle" {
	bed sh -c 'mkdir -p /run/irqbalance; irqbalance --interval=2'
	wait_for 30 banned
	to_irqbalance 'settings cpus 7'
	wait_for 30 banned_is 80
	quiet_job
	wait_for 30 banned_is 8e
	first=$job
	quiet_job
	wait_for 30 banned_is fe
	end_job "$first"
	wait_for 30 banned_is f0
	end_job "$job"
	wait_for 30 banned_is 80
	quiet_job
	bed sh -c 'pkill -x irqbalance; while pgrep -x irqbalance >/dev/null; do sleep 0.1; done; irqbalance --interval=2'
	wait_for 60 banned_is 0e
	# irqbalance itself may choose CPU 0.
	wait_for 40 none_on 1-3
	end_job "$job"
	node_is_clean
	wait_for 30 banned_is 0
	# For a job with all cores irqbalance leaves interrupts alone, and bans no CPUs.
	bed switch-once quiet 902 1000 0-7
	wait_for 30 leaves_alone "$(net_irq)"
	banned_is 0
	bed switch-once off 902
	node_is_clean
	run ! leaves_alone "$(net_irq)"
}

leaves_alone()
{
	to_irqbalance setup | grep -q " IRQ $1 "
}

# bats test_tags=nightly
@test "a device that goes away while a job is quiet leaves its record" {
	before=$(affinities | grep -vE '^/proc/irq/(1|12)/')
	quiet_job
	unbind
	wait_for 40 bed sh -c '! grep -q i8042 /run/slurm-lwk/quiet.json'
	bind
	end_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities | grep -vE '^/proc/irq/(1|12)/')
}

# bats test_tags=nightly
@test "--quiet-irqs is refused with --lwk, in a step and with a value" {
	before=$(affinities)
	refused 'expected --quiet-irqs or --lwk, found both' 'leave one of the two out' -- \
		as user1 srun -n1 --quiet-irqs --lwk true
	refused 'expected --quiet-irqs at the sbatch, salloc or srun' 'found it at a step' -- \
		as user1 salloc -n1 srun --quiet-irqs true
	run ! as user1 srun -n1 --quiet-irqs=yes true
	# A step of a quiet job cannot ask for an LWK.
	refused 'is a Linux-only job' -- as user1 salloc -n1 --quiet-irqs srun --lwk true
	# Without lwk.conf the OS CPUs are unknown: the job runs, and its user reads why it is not quiet.
	bed mv /etc/slurm/lwk.conf /etc/slurm/lwk.conf.away
	run as user1 srun -n1 --quiet-irqs echo runs
	bed mv /etc/slurm/lwk.conf.away /etc/slurm/lwk.conf
	echo "$output"
	[[ $status == 0 && $output == *runs* ]]
	[[ $output == *'has no quiet from device interrupts on this node'*'/etc/slurm/lwk.conf'*'it runs without'* ]]
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "lwkctl irqs --watch ends by Ctrl-C and with its job" {
	quiet_job
	bed sh -c "lwkctl irqs $job --watch --interval 1 >/tmp/watch; echo \$? >/tmp/watched" &
	watching=$!
	run -0 bed bash -c 'lwkctl irqs --watch --interval 1 >/tmp/watch.all & watching=$!
		until (($(grep -c ^SOURCE /tmp/watch.all) >= 2)); do sleep 0.2; done
		kill -INT $watching; wait $watching'
	wait_for 30 bed sh -c "[ \$(grep -c 'job $job, quiet on CPUs' /tmp/watch) -ge 2 ]"
	end_job "$job"
	wait "$watching"
	[[ $(bed cat /tmp/watched) == 0 ]]
}
