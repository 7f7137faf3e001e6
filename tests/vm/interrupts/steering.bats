#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Device interrupts stay away from an LWK's CPUs, and have theirs again afterwards; irqbalance
# is told, and not stopped.

load ../helpers

setup_file()
{
	prepare
	testbed put "$top/build/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
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

# An interrupt of a device that goes away while it is moved.
unbind() { bed sh -c 'echo i8042 >/sys/bus/platform/drivers/i8042/unbind'; }
bind() { bed sh -c 'echo i8042 >/sys/bus/platform/drivers/i8042/bind'; }

@test "a device that goes away while an LWK job runs, and comes back" {
	before=$(affinities)
	lwk_job
	unbind
	bed scancel "$job"
	wait_for_job "$job"
	node_is_clean
	bind
	# What has nobody's affinity has the default one; nothing else may differ.
	diff <(grep -vE '^/proc/irq/(1|12)/' <<<"$before") <(affinities | grep -vE '^/proc/irq/(1|12)/')
}

@test "a job that is cancelled while interrupts are being steered" {
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

# ---- --quiet-irqs ----

# Three CPUs, 1-3 when nobody else has them.
quiet_job()
{
	job=$(submit user1 -n3 --mem=256 --quiet-irqs --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user1 "$job" runs
}

end_job()
{
	bed scancel "$1"
	wait_for_job "$1"
	wait_for 30 bed sh -c "! test -e /run/slurm-lwk/jobs/$1.json"
}

# none_on CPUS: no interrupt that can be moved may come to one of these, a pattern.
none_on()
{
	local cpus interrupts

	interrupts=$(movable)
	[[ -n $interrupts ]]
	while read -r _ cpus; do
		[[ $(expand "$cpus") != *[$1]* ]] || { echo "on $1: $interrupts"; return 1; }
	done <<<"$interrupts"
}

# expand LIST: "0-2,5" as "0125".
expand()
{
	local part

	for part in ${1//,/ }; do
		seq -s '' "${part%-*}" "${part#*-}"
	done | tr -d '\n'
}

@test "--quiet-irqs: on free cores while the job runs, on the OS CPU when there is none, and as before" {
	bed sh -c 'echo 2 >/proc/irq/4/smp_affinity_list'
	before=$(affinities)
	quiet_job
	none_on 0-3
	run -0 bed lwkctl status
	[[ $output == *"job $job of user 1001: quiet"*'kept away from CPUs 1-3'* ]]
	run -0 as user1 lwkctl irqs "$job" --interval 2
	[[ $output == *"job $job, quiet on CPUs 1-3"*'before, from boot'*'now, devices'* ]]
	[[ $(as user1 lwkctl irqs "$job" --interval 2 --json | jq .during.max) == 0* ]]
	# Those free cores get a job.
	other=$(submit user2 -n4 --mem=256 --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user2 "$other" runs
	wait_for 40 none_on 1-7
	end_job "$other"
	end_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

@test "--quiet-irqs: what somebody sets meanwhile is kept away, too, and stands afterwards" {
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

@test "--quiet-irqs: two jobs at once, the first ends first" {
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

@test "--quiet-irqs beside an LWK job that takes the free cores" {
	before=$(affinities)
	quiet_job
	quiet=$job
	lwk=$(submit user2 -n4 --mem=512 --lwk --lwk-mem=256M --wrap "srun -n1 $programs/nap 600")
	wait_for 90 has_printed user2 "$lwk" kernel=slurm-lwk
	none_on 1-7
	end_job "$quiet"
	end_job "$lwk"
	node_is_clean
	diff <(echo "$before") <(affinities)

	# The other way round: what the LWK job brings back must not come to the quiet one.
	lwk=$(submit user2 -n4 --mem=512 --lwk --lwk-mem=256M --wrap "srun -n1 $programs/nap 600")
	wait_for 90 has_printed user2 "$lwk" kernel=slurm-lwk
	quiet_job
	none_on 1-7
	end_job "$lwk"
	none_on 1-3
	end_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
}

@test "--quiet-irqs: a killed watcher, slurmd restarted" {
	before=$(affinities)
	quiet_job
	bed pkill -KILL -x lwkctl
	bed sh -c 'echo 3 >/proc/irq/4/smp_affinity_list'
	# slurmd starts it anew.
	bed sh -c 'pid=$(cat /run/slurmd.pid); kill -9 $pid
		while kill -0 $pid 2>/dev/null; do sleep 0.1; done; setsid slurmd </dev/null >/dev/null 2>&1'
	wait_for 60 bed pgrep -x lwkctl
	wait_for 40 none_on 0-3
	bed pkill -KILL -x lwkctl
	end_job "$job"
	node_is_clean
	diff <(echo "$before" | grep -v '^/proc/irq/4/') <(affinities | grep -v '^/proc/irq/4/')
}

@test "--quiet-irqs: lwkctl reset brings all back, and a job that ended while slurmd was away" {
	before=$(affinities)
	quiet_job
	run -0 bed lwkctl reset
	diff <(echo "$before") <(affinities)
	end_job "$job"

	quiet_job
	bed sh -s "$job" <<-'END'
	pid=$(cat /run/slurmd.pid)
	kill -9 "$pid" $(pgrep slurmstepd) $(pgrep -u user1) $(pgrep -x sleep)
	scancel "$1"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	setsid slurmd </dev/null >/dev/null 2>&1
	END
	wait_for_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities)
	# And it watches no more.
	wait_for 40 bed sh -c '! pgrep -x lwkctl'
}

@test "--quiet-irqs: killed at any write, the next pass goes on from there" {
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

@test "--quiet-irqs: a job with all cores has each interrupt on one CPU, and they take turns" {
	before=$(affinities)
	bed switch-once quiet 901 1000 0-7
	# ssh's own traffic is the one that there is.
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

@test "--quiet-irqs: irqbalance is told, also one that begins in the middle" {
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
	# It may itself choose CPU 0.
	wait_for 40 none_on 1-3
	end_job "$job"
	node_is_clean
	wait_for 30 banned_is 0
	# A job with all cores: these interrupts, and no CPUs.
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

@test "--quiet-irqs: a device that goes away meanwhile" {
	before=$(affinities | grep -vE '^/proc/irq/(1|12)/')
	quiet_job
	unbind
	wait_for 40 bed sh -c '! grep -q i8042 /run/slurm-lwk/quiet.json'
	bind
	end_job "$job"
	node_is_clean
	diff <(echo "$before") <(affinities | grep -vE '^/proc/irq/(1|12)/')
}

@test "--quiet-irqs: bad use" {
	before=$(affinities)
	refused '--quiet-irqs is for jobs without --lwk' 'Leave one of the two out' -- \
		as user1 srun -n1 --quiet-irqs --lwk true
	refused '--quiet-irqs goes with the sbatch, salloc or srun that makes the allocation' -- \
		as user1 salloc -n1 srun --quiet-irqs true
	run ! as user1 srun -n1 --quiet-irqs=yes true
	# A step of a quiet job is none of an LWK, whatever it asks for.
	refused 'is a Linux-only job' -- as user1 salloc -n1 --quiet-irqs srun --lwk true
	# Without lwk.conf nobody knows the OS CPUs: it runs, and the user reads why it is not quiet.
	bed mv /etc/slurm/lwk.conf /etc/slurm/lwk.conf.away
	run as user1 srun -n1 --quiet-irqs echo runs
	bed mv /etc/slurm/lwk.conf.away /etc/slurm/lwk.conf
	echo "$output"
	[[ $status == 0 && $output == *runs* ]]
	[[ $output == *'has no quiet from device interrupts on this node'*'/etc/slurm/lwk.conf'*'It runs without.'* ]]
	node_is_clean
	diff <(echo "$before") <(affinities)
}

@test "lwkctl irqs --watch ends with ^C, and with its job" {
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
