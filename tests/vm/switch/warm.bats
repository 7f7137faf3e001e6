#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# With KeepWarm= the next LWK job boots on the CPUs and memory of the last one, and no other job ever
# lacks them.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before'
	keep 600
}

teardown_file()
{
	bed sh -c 'mv /root/lwk.conf.before /etc/slurm/lwk.conf; lwkctl reset'
	node_is_clean
}

teardown()
{
	bed lwkctl cool
}

# keep SECONDS: sets KeepWarm=.
keep()
{
	bed sed -i -e '/^KeepWarm/d' -e "s/^SwitchTimeout.*/&\nKeepWarm = $1/" /etc/slurm/lwk.conf
}

# lwk_job USER CPUS PROGRAM...: runs an LWK job to its end; $output is the program's.
lwk_job()
{
	local user=$1 cpus=$2
	shift 2

	run -0 as "$user" timeout 240 srun --ntasks=1 --cpus-per-task="$cpus" --mem=512 --lwk "$@"
	wait_for 60 bed sh -c '[ -z "$(squeue -h)" ] && [ "$(sinfo -h -o %T)" != completing ]'
}

# steps_of JOB: prints the names of its switch's steps.
steps_of()
{
	bed cat "/run/slurm-lwk/jobs/$1.json" | jq -r '[.steps[].name] | join(" ")'
}

# warm_job: prints the id of the job whose partition is warm; fails without a warm partition.
warm_job()
{
	bed lwkctl status --json | jq -er '.jobs[] | select(.state == "warm") | .job_id'
}

is_warm()
{
	warm_job >/dev/null
}

@test "the next job takes over the warm partition and boots without taking memory" {
	lwk_job user1 4 "$programs/hello"
	first=$(warm_job)
	run -0 bed lwkctl status
	[[ $output == *"job $first of user "*': warm since '*'are kept for another LWK job, for '*' s'* ]]
	[[ $(bed cat /sys/devices/system/cpu/online) != 0-7 ]]
	# No user has a device any more.
	[[ -z $(bed find /dev/lwk -type c -not -uid 0) ]]
	# No cgroup has stayed.
	[[ -z $(bed find /sys/fs/cgroup -name 'slurm-lwk*') ]]
	lwk_job user2 4 sh -c "getconf _NPROCESSORS_ONLN; $programs/hello"
	[[ $output == *$'3\n'*LWK* ]]
	second=$(warm_job)
	((second > first))
	[[ $(steps_of "$second") == *' adopt '*' boot '* && $(steps_of "$second") != *' memory '* ]]
	[[ -z $(bed sh -c "ls /run/slurm-lwk/jobs/$first.*" 2>/dev/null) ]]
	bed lwkctl cool
	node_is_clean
}

# Tasks would come to them, and waiting until none is there any more is most of the time that taking a CPU takes.
@test "the CPUs of a partition that is kept warm are parked again before Linux gives them tasks" {
	local callbacks

	bed switch-once on 900 1000 4-7 400M
	bed sh -c 'cd /sys/kernel/tracing 2>/dev/null && test -e trace || mount -t tracefs tracefs /sys/kernel/tracing
		cd /sys/kernel/tracing && echo >trace && echo 1 >events/cpuhp/cpuhp_enter/enable'
	bed switch-once ended 900
	callbacks=$(bed sh -c 'cd /sys/kernel/tracing && echo 0 >events/cpuhp/cpuhp_enter/enable && cat trace')
	is_warm
	[[ $(grep -c '(takedown_cpu)' <<<"$callbacks") == 3 ]]
	# Linux 5.10 cannot take a CPU down that is not up.
	if bed sh -c '! case $(uname -r) in 5.10.*) ;; *) false ;; esac'; then
		run ! grep -F '(sched_cpu_activate)' <<<"$callbacks"
	fi
	# An LWK starts on them, and Linux gets them back.
	bed switch-once on 901 1000 4-7 400M
	[[ $(steps_of 901) == *' adopt '*' boot '* ]]
	bed switch-once ended 901
	bed lwkctl cool
	node_is_clean
}

@test "the next user finds nothing of the last one's memory" {
	lwk_job user1 4 "$programs/secret" leave 300
	[[ $output == *'left 300 MB of 0x5e'* ]]
	lwk_job user2 4 "$programs/secret" look 300
	[[ $output == *'found 0 bytes in 300 MB'* ]]
	[[ $(steps_of "$(warm_job)") == *' adopt '* ]]
	bed lwkctl cool
	node_is_clean
}

@test "a Linux-only job has all CPUs and all memory before it starts" {
	lwk_job user1 4 "$programs/hello"
	is_warm
	run -0 as user2 srun -n7 sh -c 'cat /sys/devices/system/cpu/online; taskset -cp $$ | tail -c 5'
	[[ $(grep -cx 0-7 <<<"$output") == 7 ]]
	run ! is_warm
	node_is_clean
}

# bats test_tags=nightly
@test "a node that cannot give a warm partition back to a Linux-only job is drained with the reason" {
	lwk_job user1 4 "$programs/hello"
	is_warm
	bed sh -c 'echo off cpus before fail >/run/slurm-lwk/fault'
	job=$(submit user2 -n1 --no-requeue --wrap true)
	wait_for 60 bed sh -c "sinfo -h -o '%T %E' | grep 'drain.*lwk: job $job: what was kept warm cannot be given back.*root ordered a fault'"
	bed lwkctl check --repair
	bed scancel "$job"
	wait_for_job "$job"
	bed scontrol update nodename=node1 state=resume
	node_is_clean
}

# bats test_tags=nightly
@test "a warm partition whose record cannot be read goes back when the next job begins" {
	lwk_job user1 4 "$programs/hello"
	first=$(warm_job)
	# The watcher would give it back within seconds.
	bed pkill -9 -x lwkctl
	bed sh -c 'echo rubbish >/run/slurm-lwk/jobs/"$1".json' - "$first"
	run -0 bed lwkctl status
	[[ $output == *"job $first: unreadable"*"jobs/$first.json: expected a job's record"* ]]
	run -1 bed lwkctl check
	[[ $output == *'problem jobs'*"job $first: "*"expected a job's record"* ]]
	run -0 as user2 srun -n7 cat /sys/devices/system/cpu/online
	[[ $(grep -cx 0-7 <<<"$output") == 7 ]]
	node_is_clean
	lwk_job user1 4 "$programs/hello"
	bed sh -c 'echo rubbish >/run/slurm-lwk/jobs/"$1".json' - "$(warm_job)"
	wait_for 20 bed sh -c '[ "$(lwkctl status --json | tr -d " \n")" = "{\"jobs\":[],\"lent\":[]}" ]'
	node_is_clean
}

# bats test_tags=nightly
@test "an LWK job that is larger than the warm partition gets what it asked for" {
	lwk_job user1 3 "$programs/hello"
	is_warm
	lwk_job user2 6 "$programs/hello"
	[[ $output == *LWK* ]]
	[[ $(steps_of "$(warm_job)") == *' cool '*' cpus settle memory '* ]]
	bed lwkctl cool
	node_is_clean
}

# bats test_tags=nightly
@test "a job that is refused leaves nothing warm" {
	lwk_job user1 4 "$programs/hello"
	is_warm
	bed switch-once on 901 1000 4-7 64G
	run ! is_warm
	bed switch-once off 901
	node_is_clean
}

# The next job of the same user must not find what others had there.
@test "a warm partition whose LWK ended before it had cleared its memory is cleared by the next" {
	bed sh -c 'switch-once on 902 1000 6-7 1G && switch-once ended 902'
	[[ $(bed lwkctl status --json | jq '.jobs[] | select(.state == "warm") | .memory_is_own') == false ]]
	bed lwkctl cool
	lwk_job user1 4 "$programs/hello"
	[[ $(bed lwkctl status --json | jq '.jobs[] | select(.state == "warm") | .memory_is_own') == true ]]
}

# A process that sleeps until the end of a partition that is not there any more would sleep again for each
# later one.
@test "one process watches warm partitions, however many jobs have ended" {
	for job in 910 911 912; do
		bed sh -c 'switch-once on "$1" 1000 6-7 400M && switch-once ended "$1"' - "$job"
	done
	is_warm
	wait_for 20 bed sh -c '[ "$(pgrep -fc "[l]wkctl cool --wait")" = 1 ]'
	# Nothing is warm any more, so nobody needs to watch.
	bed lwkctl cool
	wait_for 20 bed sh -c '! pgrep -f "[l]wkctl cool --wait"'
	# The next partition has a watcher again.
	bed sh -c 'switch-once on 913 1000 6-7 400M && switch-once ended 913'
	bed pgrep -f '[l]wkctl cool --wait'
	bed lwkctl cool
	node_is_clean
}

# bats test_tags=nightly
@test "a warm partition goes back when its time ends, on a drained node too" {
	keep 4
	lwk_job user1 4 "$programs/hello"
	bed scontrol update nodename=node1 state=drain reason=test
	wait_for 30 bed sh -c '[ "$(lwkctl status --json | tr -d " \n")" = "{\"jobs\":[],\"lent\":[]}" ]'
	bed scontrol update nodename=node1 state=resume
	keep 600
	node_is_clean
}

# bats test_tags=nightly
@test "lwkctl check finds a warm partition whose watcher was killed, and the next job ends it" {
	keep 15
	lwk_job user1 4 "$programs/hello"
	bed pkill -9 -x lwkctl
	is_warm
	wait_for 20 bed sh -c 'lwkctl check | grep "problem warm"'
	keep 600
	is_warm
	run -1 bed lwkctl check
	[[ $output == *'problem warm'*"run 'lwkctl cool'"* ]]
	run -0 as user2 srun -n1 cat /sys/devices/system/cpu/online
	[[ $output == 0-7 ]]
	node_is_clean
}

# bats test_tags=nightly
@test "slurmd that restarts gives the warm partition back" {
	lwk_job user1 4 "$programs/hello"
	is_warm
	stop_daemon slurmd
	start_daemon slurmd
	wait_for 60 bed sh -c '! lwkctl status --json | grep -q warm'
	node_is_clean
}

@test "lwkctl reset gives a warm partition back, and a requeued job switches again" {
	bed switch-once on 902 1000 4-7 600M
	bed switch-once ended 902
	run -0 bed lwkctl reset 902
	[[ $output == *'CPU 5 is back'* ]]
	node_is_clean
	bed switch-once on 903 1000 4-7 600M
	bed switch-once ended 903
	run -0 bed switch-once on 903 1000 4-7 600M
	[[ $output == *'"state":"active"'* ]]
	bed switch-once off 903
	node_is_clean
}

# bats test_tags=nightly
@test "of two partitions only one is kept warm" {
	bed switch-once on 904 1000 1-3 400M
	bed switch-once on 905 1001 4-7 400M
	bed switch-once ended 904
	bed switch-once ended 905
	[[ $(warm_job) == 904 ]]
	[[ $(bed lwkctl status --json | jq '[.lent[] | select(.kind == "cpu")] | length') == 2 ]]
	bed lwkctl cool
	node_is_clean
}

# bats test_tags=nightly
@test "a switch that is killed while it keeps or takes over a partition is undone" {
	run -0 bed bash -s "$(times 2 6)" <<-'EOF'
	clean() { [ "$(lwkctl status --json | tr -d ' \n')" = '{"jobs":[],"lent":[]}' ]; }
	for ((i = 1; i <= $1; i++)); do
		switch-once on 906 1000 4-7 400M >/dev/null || exit 1
		switch-once ended 906 >/dev/null &
		sleep "0.$((RANDOM % 900 + 100))"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		lwkctl reset >/dev/null && clean || { echo "kept, round $i"; lwkctl status; exit 1; }

		switch-once on 907 1000 4-7 400M >/dev/null && switch-once ended 907 >/dev/null || exit 1
		switch-once on 908 1001 4-7 400M >/dev/null &
		sleep "0.$((RANDOM % 250 + 10))"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		# Slurm runs the killed job's epilog, then the next job's prolog.
		switch-once ended 908 >/dev/null && lwkctl cool >/dev/null && clean ||
			{ echo "taken over, round $i"; lwkctl status; exit 1; }
	done
	EOF
	node_is_clean
}
