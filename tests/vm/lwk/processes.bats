#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Programs on the LWK start others by fork(2), execve(2) and wait(2), and so do shells. The tests share one
# allocation, but for those whose job must end.

load ../helpers

setup_file()
{
	prepare
	allocate
}

teardown_file()
{
	as user1 scancel "$job"
	wait_for_job "$job"
	node_is_clean
}

# there COMMAND...: runs it on the LWK, as inside() does on Linux.
there()
{
	inside lwkexec "$@"
}

# same COMMAND...: true when output and status are the same on Linux and on the LWK, but for what the
# proxy says of a killed program.
same()
{
	local linux

	linux=$(inside "$@" 2>&1; echo "status $?")
	run -0 bash -c 'there "$@" 2>&1; echo "status $?"' - "$@"
	echo "$output"
	diff <(echo "$linux") <(grep -v '^lwkexec: .*: killed by signal' <<<"$output")
}
export -f there inside as testbed
export top bed_name

@test "fork, execve, wait and what libc makes of them do what they do on Linux" {
	same "$programs/processes"
	[[ $output == *'children of children: right'* && $output != *wrong* ]]
	same "$programs/start-programs"
	[[ $output == *'posix_spawn with threads: right'* && $output != *wrong* ]]
}

# bats test_tags=nightly
@test "fork, execve and wait work also when the proxy carries out every call" {
	run -0 inside env LWK_CALLS=proxy sh -c \
		"lwkexec $programs/processes && exec lwkexec $programs/start-programs"
	echo "$output"
	[[ $output == *'children of children: right'*'posix_spawn with threads: right'* && $output != *wrong* ]]
}

# bats test_tags=nightly
@test "a bash script with pipelines, traps and background jobs does what it does on Linux" {
	bed sh -c 'cat >/tmp/script.sh && chmod 755 /tmp/script.sh' <<-'EOF'
	#!/bin/bash
	exec 2>&1
	echo "arguments: $# $*, $(basename "$0") says $(echo one; echo two | tr a-z A-Z)"
	seq 1 1000 | grep 7 | wc -l
	for ((i = 0; i < 50; i++)); do /bin/true || echo "failed $i"; done
	sleep 0.3 &
	wait $!; echo "waited: $?"
	(exit 3); echo "subshell: $?"
	/bin/false; echo "false: $?"
	/nowhere/at-all 2>/dev/null; echo "missing: $?"
	sh -c 'kill -TERM $$'; echo "killed: $?"
	trap 'echo "trapped $(echo USR1)"' USR1
	kill -USR1 $$
	sleep 5 & kill $!; wait $!; echo "background, killed: $?"
	while read -r line; do echo "read $line"; done < <(printf 'a\nb\n')
	cat <<<"here" | { read -r word; echo "$word"; }
	set -o pipefail; /bin/false | cat; echo "pipefail: $?"
	exec sh -c 'echo "at last: $0 $1"; exit 17' shell "last argument"
	EOF
	same /tmp/script.sh 'one two' three
	[[ ${lines[-1]} == 'status 17' ]]
}

# bats test_tags=nightly
@test "perl and busybox start programs" {
	# shellcheck disable=SC2016  # perl's
	same perl -e 'print `echo back`, system("exit 4") >> 8, "\n"; open P, "-|", "echo", "list"; print <P>;
		$p = fork // die; if (!$p) { exit 9 } waitpid $p, 0; print $? >> 8, "\n"; exec "echo", "end"'
	same busybox sh -c 'echo $(busybox seq 3 | busybox wc -l); busybox true && busybox echo done'
}

@test "an lwkexec on the LWK becomes its program there, and takes no CPU" {
	# Twelve, more than the LWK has CPUs.
	run -0 there lwkexec{,,,}{,,} "$programs/hello"
	[[ $output == *kernel=slurm-lwk* ]]
	run -0 there sh -c "lwkexec --device /dev/null $programs/hello; lwkexec -- sh -c 'exit 7'; echo \$?; lwkexec nowhere; echo \$?"
	echo "$output"
	# srun prints what comes on standard output and standard error in any order.
	[[ $output == *kernel=slurm-lwk* && $output == *'nowhere: no such program in PATH'* ]]
	[[ $(grep -xE '7|127' <<<"$output") == $'7\n127' ]]
}

@test "the proxy of a child is a child of its parent's proxy, in the same cgroup" {
	# shellcheck disable=SC2016  # the job's shells expand these
	run -0 inside sh -c '
		lwkexec sh -c "sleep 20; true" & p=$!
		until child=$(pgrep -x -P $p sleep); do sleep 0.2; done
		cat /proc/$child/comm
		diff /proc/$p/cgroup /proc/$child/cgroup && echo same cgroup
		lwkctl list --json | tr -d " \n" | grep -o "\"processes\":[0-9]*"
		kill $child $p; wait
		until lwkctl list --json | tr -d " \n" | grep -o "\"processes\":0"; do sleep 0.2; done'
	echo "$output"
	[[ ${lines[0]} == sleep && ${lines[1]} == 'same cgroup' ]]
	[[ ${lines[2]} == '"processes":2' && ${lines[3]} == '"processes":0' ]]
}

# bats test_tags=nightly
@test "after 200 children the LWK has all its memory back" {
	run -0 there "$programs/fork-limits" many 200
	echo "$output"
	[[ $output == '200 children, and all is free that was' ]]
}

# bats test_tags=nightly
@test "endless fork gets EAGAIN, the console says why, and the LWK goes on" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 inside sh -c '
		lwkexec "$0" endless; lwkctl kmsg "$SLURM_JOB_ID"' "$programs/fork-limits"
	echo "$output"
	[[ $output == *' children, then EAGAIN'* ]]
	[[ $output == *'fork: the LWK has memory for '*' threads in all'* ]]
}

# bats test_tags=nightly
@test "a fork bomb ends with its job and leaves a clean node" {
	bomb=$(submit user1 --lwk -n1 -c3 --mem=600 <<-'EOF'
		#!/bin/bash
		echo begun
		srun sh -c 'f() { f | f & }; f; sleep 100'
	EOF
	)
	wait_for 60 has_printed user1 "$bomb" begun
	sleep 8
	as user1 scancel "$bomb"
	wait_for_job "$bomb"
	wait_for 60 bed sh -c "! test -e /run/slurm-lwk/jobs/$bomb.json"
	run -0 there "$programs/hello"
}

@test "a process with most of the memory forks, and a child that changes all of it is killed" {
	run -0 there "$programs/fork-limits" memory
	echo "$output"
	[[ $output == *'killed, and afterwards as before'* ]]
	[[ $output == *'killed, the LWK is out of memory: the program has '*' are free'* ]]
}

@test "parent and child have their own memory, whoever writes first" {
	run -0 there "$programs/fork-limits" copies 30
	echo "$output"
	[[ $output == 'each has its own' ]]
}

# bats test_tags=nightly
@test "parents and children that are killed at any time leave nothing behind" {
	rounds=$(times 8 25)
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 as user1 srun -Q --lwk -n1 -c3 --mem=600 --lwk-launch=none bash -c '
		free=$(lwkexec "$0" free)
		for ((i = 0; i < $1; i++)); do
			setsid lwkexec "$0" storm 60 & session=$!
			for ((k = 0; k < 4; k++)); do
				sleep 0.$((RANDOM % 4))$((RANDOM % 10))
				victims=($(pgrep -s "$session"))
				((${#victims[@]})) && kill -9 "${victims[RANDOM % ${#victims[@]}]}"
			done 2>/dev/null
			pkill -9 -s "$session"
			wait
			while pgrep -s "$session" >/dev/null; do sleep 0.05; done
		done 2>/dev/null
		echo "$i rounds"
		lwkctl list --json | tr -d " \n" | grep -o "\"processes\":[0-9]*" | sort -u
		[[ $(lwkexec "$0" free) == "$free" ]] || echo "free: $(lwkexec "$0" free), and was $free"
		lwkexec "$0" many 3' "$programs/fork-limits" "$rounds"
	echo "$output"
	[[ ${lines[0]} == "$rounds rounds" && ${lines[1]} == '"processes":0' ]]
	[[ ${lines[2]} == '3 children, and all is free that was' ]]
}

@test "processes of one LWK copy each other's memory, as MPI does; no other user has any there" {
	same "$programs/across"
	[[ $output == *'all of it is right'* ]]
	# The user's processes could read and change root's.
	run -125 bed sh -c 'lwkexec -d /dev/lwk/* /opt/lwk-tests/hello'
	[[ $output == *'expected the user whose job it is, found user 0'* ]]
}
