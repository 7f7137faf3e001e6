#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Device interrupts stay away from an LWK's CPUs and have their own CPUs again afterwards; irqbalance learns of the
# LWK's CPUs and runs on.

load affinities

lwk_job()
{
	job=$(submit user1 --exclusive -n7 --mem=512 --lwk --lwk-mem=256M --wrap "srun -n1 $programs/sleeper 600")
	wait_for 90 has_printed user1 "$job" kernel=slurm-lwk
}

@test "interrupts are on the OS CPUs while an LWK runs, and where they were afterwards" {
	# The network's driver chooses CPUs again when CPUs go off-line; the driver of interrupt 4 does not.
	bed sh -c "echo 5-6 >/proc/irq/$(net_irq)/smp_affinity_list; echo 3 >/proc/irq/4/smp_affinity_list"
	before=$(affinities)
	lwk_job
	run -0 movable
	echo "$output"
	[[ $output == *"$(net_irq) 0"* && $output == *'4 0'* ]]
	# CPU 0 is the OS CPU, CPU 1 the assistant CPU; the LWK has all others.
	while read -r _ cpus; do
		[[ $cpus == 0 ]]
	done <<<"$output"
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "an interrupt that an administrator moves while an LWK runs stays there" {
	lwk_job
	bed sh -c 'echo 1 >/proc/irq/4/smp_affinity_list'
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	[[ $(bed cat /proc/irq/4/smp_affinity_list) == 1 ]]
	diff <(grep -v '^/proc/irq/4/' "$BATS_FILE_TMPDIR/before") <(affinities | grep -v '^/proc/irq/4/')
}

# bats test_tags=nightly
@test "interrupts are where they were after two jobs of which the first ends first" {
	before=$(affinities)
	a=$(submit user1 -n3 --mem=256 --lwk --wrap "srun -n1 $programs/sleeper 600")
	wait_for 90 has_printed user1 "$a" kernel=slurm-lwk
	b=$(submit user2 -n3 --mem=256 --lwk --wrap "srun -n1 $programs/sleeper 600")
	wait_for 90 has_printed user2 "$b" kernel=slurm-lwk
	bed scancel "$a"
	wait_for_job "$a"
	bed scancel "$b"
	wait_for_job "$b"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

# bats test_tags=nightly
@test "irqbalance leaves the LWK's CPUs alone, runs on, and gets its settings back" {
	bed sh -c 'mkdir -p /run/irqbalance; irqbalance --interval=2'
	wait_for 30 banned
	pid=$(bed pgrep -x irqbalance)
	to_irqbalance 'settings cpus 3'
	wait_for 30 banned_is 08
	lwk_job
	lwk=$(bed sh -c "grep -o '\"lwk_cpus\":\"[0-9,-]*' /run/slurm-lwk/jobs/$job.json | grep -o '[0-9,-]*\$'")
	[[ $lwk == 2-7 ]]
	echo "banned: $(banned)"
	wait_for 30 banned_is fc
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	wait_for 30 banned_is 08
	[[ $(bed pgrep -x irqbalance) == "$pid" ]]
}

# bats test_tags=nightly
@test "irqbalance that starts or restarts while an LWK runs leaves no CPU banned" {
	lwk_job
	bed sh -c 'mkdir -p /run/irqbalance; irqbalance --interval=2'
	wait_for 30 banned
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	lwk_job
	bed sh -c 'pkill -x irqbalance; while pgrep -x irqbalance >/dev/null; do sleep 0.1; done; irqbalance --interval=2'
	wait_for 30 banned
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	banned_is 0
}

# bats test_tags=nightly
@test "lwkctl irqs counts the interrupts of each CPU before and with the LWK" {
	lwk_job
	run -0 as user1 lwkctl irqs "$job" --interval 2
	echo "$output"
	[[ $output == *'LOC Local timer interrupts'* && $output == *'2    LWK'* ]]
	[[ $output == *"job $job, LWK on CPUs 2-7"*'before, from boot'*'with the LWK'* ]]
	run -0 bed lwkctl irqs "$job" --interval 2 --json
	# The program sleeps, so the LWK's CPUs have no interrupts; Linux's CPUs have their ticks.
	[[ $(jq '.during.max == 0' <<<"$output") == true ]]
	[[ $(jq '[.cpus[] | select(.lwk)] | length' <<<"$output") == 6 ]]
	[[ $(jq '[.cpus[] | select(.lwk | not) | .others > 0] | all' <<<"$output") == true ]]
	[[ $(jq '.before.max > 0 and .before.max >= .before.mean and .before.mean >= .before.min' <<<"$output") == true ]]
	# The counts of a CPU's sources add up to its count of devices.
	[[ $(jq '[.sources[] | select(.device) | .cpus["0"]] | add - 0' <<<"$output") == \
		$(jq '.cpus[] | select(.cpu == 0) | .devices' <<<"$output") ]]
	run ! bed lwkctl irqs 99999
	[[ $output == *'knows no LWK job 99999'* ]]
	run -2 bed lwkctl irqs --interval 0
}

@test "lwkctl check names the interrupts that cannot be moved" {
	run -0 bed lwkctl check
	[[ $output == *'note    interrupts'*'nobody can move them'*'(virtio'*'req.'* ]]
}

# bats test_tags=nightly
@test "other interrupts are where they were when a device goes away during an LWK job" {
	before=$(affinities)
	lwk_job
	unbind
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	bind
	# The device's own interrupts have the default CPUs now; no others may differ.
	diff <(grep -vE '^/proc/irq/(1|12)/' <<<"$before") <(affinities | grep -vE '^/proc/irq/(1|12)/')
}

# bats test_tags=nightly
@test "interrupts are where they were after jobs that are cancelled while they are moved" {
	before=$(affinities)
	for lwk in --lwk --quiet-irqs; do
		for ((i = 0; i < $(times 2 6); i++)); do
			job=$(submit user1 -n3 --mem=256 "$lwk" --wrap 'sleep 600')
			sleep "$((RANDOM % 2)).$((RANDOM % 10))"
			bed scancel "$job"
			wait_for_job "$job"
		done
	done
	node_is_clean
	diff <(echo "$before") <(affinities)
}
