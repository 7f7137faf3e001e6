#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Device interrupts stay away from an LWK's CPUs, and have theirs again afterwards; irqbalance
# is told, and not stopped.

load helpers

setup_file()
{
	prepare
	affinities >"$BATS_FILE_TMPDIR/before"
}

teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel; pkill -x irqbalance; true'
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/jobs)" ]'
	while IFS=: read -r file cpus; do
		echo "echo $cpus >$file 2>/dev/null"
	done <"$BATS_FILE_TMPDIR/before" | bed sh
}

affinities()
{
	bed sh -c 'grep -H . /proc/irq/*/smp_affinity_list' | sort
}

# The interrupts that have a handler and can be moved: number and CPUs.
movable()
{
	bed sh -s <<-'EOF'
	cd /proc/irq
	for irq in [0-9]*; do
		[ -n "$(find $irq -mindepth 1 -type d)" ] || continue
		cpus=$(cat $irq/smp_affinity_list)
		! echo "$cpus" 2>/dev/null >$irq/smp_affinity_list || echo "$irq $cpus"
	done
	EOF
}

net_irq()
{
	bed sh -c 'basename $(dirname /proc/irq/*/virtio0-input.0)'
}

lwk_job()
{
	job=$(submit user1 --exclusive -n7 --mem=512 --lwk --lwk-mem=256M --wrap "srun -n1 $programs/nap 600")
	wait_for 90 has_printed user1 "$job" kernel=slurm-lwk
}

# to_irqbalance TEXT: says it, and prints the answer.
to_irqbalance()
{
	bed perl -MIO::Socket::UNIX -e '
		my $pid = `pgrep -x irqbalance`; chomp $pid;
		my $socket = IO::Socket::UNIX->new(Peer => "/run/irqbalance/irqbalance$pid.sock") ||
			IO::Socket::UNIX->new(Peer => "\0irqbalance$pid.sock") or die "no irqbalance";
		$socket->send($ARGV[0]); print <$socket>' "$1"
}

# banned_is MASK: what irqbalance leaves alone.
banned_is()
{
	local mask

	mask=$(banned) && ((16#${mask//,/} == 16#$1))
}

banned()
{
	to_irqbalance setup | grep -o 'BANNED [0-9a-f,]*' | cut -d' ' -f2
}

@test "on the OS CPUs while the LWK has its own, and as before afterwards" {
	# One whose driver chooses anew when CPUs go, and one whose driver does not.
	bed sh -c "echo 5-6 >/proc/irq/$(net_irq)/smp_affinity_list; echo 3 >/proc/irq/4/smp_affinity_list"
	before=$(affinities)
	lwk_job
	run -0 movable
	echo "$output"
	[[ $output == *"$(net_irq) 0"* && $output == *'4 0'* ]]
	# CPU 0 is the OS CPU, CPU 1 the assistant; all others are the LWK's.
	while read -r _ cpus; do
		[[ $cpus == 0 ]]
	done <<<"$output"
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

@test "what somebody sets meanwhile stands" {
	lwk_job
	bed sh -c 'echo 1 >/proc/irq/4/smp_affinity_list'
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	[[ $(bed cat /proc/irq/4/smp_affinity_list) == 1 ]]
	diff <(grep -v '^/proc/irq/4/' "$BATS_FILE_TMPDIR/before") <(affinities | grep -v '^/proc/irq/4/')
}

@test "two jobs, the first ends first" {
	before=$(affinities)
	a=$(submit user1 -n3 --mem=256 --lwk --wrap "srun -n1 $programs/nap 600")
	wait_for 90 has_printed user1 "$a" kernel=slurm-lwk
	b=$(submit user2 -n3 --mem=256 --lwk --wrap "srun -n1 $programs/nap 600")
	wait_for 90 has_printed user2 "$b" kernel=slurm-lwk
	bed scancel "$a"
	wait_for_job "$a"
	bed scancel "$b"
	wait_for_job "$b"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

@test "irqbalance is told, not stopped, and its settings come back" {
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

@test "irqbalance begins, and begins anew, while a job runs" {
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

@test "lwkctl irqs: what comes to which CPU, before and with the LWK" {
	lwk_job
	run -0 as user1 lwkctl irqs "$job" --interval 2
	echo "$output"
	[[ $output == *'LOC Local timer interrupts'* && $output == *'2    LWK'* ]]
	[[ $output == *"job $job, LWK on CPUs 2-7"*'before, from boot'*'with the LWK'* ]]
	run -0 bed lwkctl irqs "$job" --interval 2 --json
	# It naps: nothing comes, of any kind; Linux's CPUs have their ticks.
	[[ $(jq '.during.max' <<<"$output") == 0* ]]
	[[ $(jq '[.cpus[] | select(.lwk)] | length' <<<"$output") == 6 ]]
	[[ $(jq '[.cpus[] | select(.lwk | not) | .others > 0] | all' <<<"$output") == true ]]
	[[ $(jq '.before.max > 0 and .before.max >= .before.mean and .before.mean >= .before.min' <<<"$output") == true ]]
	# Over the same two seconds, each source's CPUs add up to the CPU's devices.
	[[ $(jq '[.sources[] | select(.device) | .cpus["0"]] | add - 0' <<<"$output") == \
		$(jq '.cpus[] | select(.cpu == 0) | .devices' <<<"$output") ]]
	run ! bed lwkctl irqs 99999
	[[ $output == *'knows no LWK job 99999'* ]]
	run -2 bed lwkctl irqs --interval 0
}

@test "lwkctl check names what cannot be moved" {
	run -0 bed lwkctl check
	[[ $output == *'note    interrupts'*'nobody can move them'*'(virtio'*'req.'* ]]
}
