#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The bundled LWK: what it promises to programs, and what it survives. One allocation
# for all; each program is started with lwkexec by hand.

load helpers

setup_file()
{
	prepare
	job=$(submit user1 --lwk --ntasks=1 --cpus-per-task=3 --mem=640M --time=10 --wrap 'sleep 600')
	export job
	wait_for 60 job_is "$job" JobState=RUNNING
	wait_for 60 bed test -e /dev/lwk/0
}

teardown_file()
{
	as user1 scancel "$job"
	wait_for_job "$job"
}

# In the allocation, by a shell on its Linux side.
inside()
{
	as user1 timeout 120 srun --jobid "$job" --overlap --ntasks=1 --lwk-launch=none "$@"
}

@test "memory calls keep their promises" {
	run -0 inside lwkexec "$programs/memory-calls"
	[[ $output == *'all of it is right'* ]]
}

@test "a position-independent static program runs too" {
	run -0 inside lwkexec "$programs/memory-calls-pie"
	[[ $output == *'all of it is right'* ]]
}

@test "signals, handlers, masks and restarted calls" {
	run inside lwkexec "$programs/signal-calls"
	echo "$output"
	[[ $output == *'all of it is right'*'Aborted'* ]]
	((status == 134))
}

@test "busybox as the distribution builds it" {
	run -0 inside lwkexec busybox uname -srv
	[[ $output == 'Linux '*'+lwk slurm-lwk '*' LWK' ]]
	run -0 inside sh -c 'lwkexec busybox sha256sum /bin/busybox; sha256sum /bin/busybox'
	[[ ${lines[0]} == "${lines[1]}" ]]
	run -0 inside sh -c 'printf "b\na\n" | lwkexec busybox sort; lwkexec busybox find /etc/slurm -name lwk.conf'
	[[ $output == $'a\nb\n/etc/slurm/lwk.conf' ]]
}

@test "an unlimited stack" {
	run -0 inside sh -c "ulimit -s unlimited && lwkexec $programs/hello"
	[[ $output == *' LWK'* ]]
}

@test "bad programs end with their signal, and the LWK goes on" {
	# shellcheck disable=SC2016
	run -0 inside sh -c 'cd /tmp; "$1/bad" list | while read -r name signal; do
		timeout -s KILL 60 lwkexec "$1/bad" "$name" </dev/null >/dev/null 2>&1
		status=$?
		wanted=$((signal > 0 ? 128 + signal : 0))
		if [ "$signal" -ge 0 ] && [ $status != $wanted ]; then
			echo "$name: wanted $wanted, found $status"
		fi
		echo "$name was survived"
	done 2>/dev/null' sh "$programs"
	echo "$output"
	[[ $output != *wanted* ]]
	(($(grep -c 'was survived' <<<"$output") >= 30))
	run -0 inside lwkexec "$programs/hello"
	[[ $output == *' LWK'* ]]
	run -0 bed lwkctl kmsg "$job"
	[[ $output != *PANIC* ]]
}

@test "more programs than LWK CPUs: the one too many reads why" {
	run inside sh -c 'lwkexec "$1/spin" & first=$!
		lwkexec "$1/spin" & second=$!
		sleep 2
		lwkexec "$1/hello"
		status=$?
		kill $first $second
		wait
		exit $status' sh "$programs"
	echo "$output"
	[[ $output == *'wanted a free LWK CPU, but each of the 2 has its process'* ]]
	((status == 125))
}

@test "a proxy that is killed takes its program along, and frees the CPU" {
	run -0 inside sh -c 'for i in 1 2 3; do
			lwkexec "$1/spin" & proxy=$!
			sleep 1
			kill -KILL $proxy
			wait $proxy
		done
		lwkexec "$1/hello"' sh "$programs"
	[[ $output == *' LWK'* ]]
}

@test "no interrupt comes while a program computes" {
	run -0 inside lwkexec "$programs/undisturbed"
	echo "$output"
	[[ $output == 'disturbances 0' ]]
}
