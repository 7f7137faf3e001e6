#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# Threads of a program share the CPUs of the bundled LWK, move between them and end with their process, and nothing
# disturbs a thread that has a CPU alone. All tests share one allocation.

load allocation

# right OUTPUT: true when share-cpu found nothing wrong.
right()
{
	[[ $1 == *'token: right'*'time_used: right' && $1 != *wrong* ]]
}

@test "a program has as many threads as there are LWK CPUs" {
	for program in thread-calls thread-calls-static; do
		run -0 inside lwkexec "$programs/$program" 3
		[[ $output == 'all of it is right' ]]
	done
	run -0 inside lwkexec "$programs/thread-calls" 2
	[[ $output == 'all of it is right' ]]
}

@test "mutexes pass from threads that end, and inherit priorities, as on Linux" {
	for program in mutexes mutexes-static; do
		run -0 inside lwkexec "$programs/$program"
		[[ $output == *'wake_none: right' && $output != *wrong* ]]
	done
}

# bats test_tags=nightly
@test "of more threads than LWK CPUs one goes on when another waits" {
	for n in 4 25; do
		run -0 inside lwkexec "$programs/share-cpu" "$n"
		echo "$output"
		right "$output"
	done
	# A 128th of this memory has room for more slots than the least number, 16 for each CPU.
	run -0 inside lwkexec "$programs/share-cpu" 8 endless
	[[ $output =~ ^([0-9]+)\ threads$ ]]
	((BASH_REMATCH[1] > 90))
	run -0 bed lwkctl kmsg "$job"
	[[ $output == *'no more threads than its '*': the LWK has memory for '*' threads in all'* ]]
}

@test "threads that compute on the same CPUs have turns, and one alone has no tick" {
	for n in 2 7; do
		run -0 inside lwkexec "$programs/turns" "$n"
		echo "$output"
		[[ $output == *'token: right'*'undisturbed: right'* ]]
	done
}

# bats test_tags=nightly
@test "sched_setaffinity moves threads, and what shows their CPUs agrees" {
	local cpus

	run -0 inside lwkexec "$programs/affinity"
	echo "$output"
	[[ $output == *'itself: right'*'classes: right' ]]
	run -0 inside lwkexec "$programs/affinity" list
	cpus=${output%% *}
	for cpu in ${cpus//,/ }; do
		run -0 inside lwkexec taskset -c "$cpu" "$programs/affinity" list
		[[ $output == "$cpu $cpu $cpu" ]]
		run -0 inside lwkexec numactl -C "$cpu" "$programs/affinity" list
		[[ $output == "$cpu $cpu $cpu" ]]
	done
	run -1 inside lwkexec numactl -C 0 true
	run -1 inside lwkexec taskset -c 0 true
	[[ $output == *'Invalid argument'* ]]
	# The OpenMP runtime binds its threads.
	for setting in OMP_PROC_BIND=true OMP_PLACES=cores GOMP_CPU_AFFINITY="$cpus"; do
		run -0 inside env "$setting" lwkexec "$programs/openmp"
		echo "$output"
		[[ $output == '3 threads of 3, sum '* ]]
	done
}

# bats test_tags=nightly
@test "an LWK of one CPU runs many threads" {
	run -0 as user1 srun -Q --lwk -n1 -c2 --mem=400 "$programs/share-cpu" 10
	echo "$output"
	right "$output"
	# The interpreter's threads take turns with a lock, and wait in calls.
	run -0 as user1 srun -Q --lwk -n1 -c2 --mem=400 python3 -c '
import queue, threading, time
todo, done = queue.Queue(), queue.Queue()
def work():
    while (n := todo.get()) is not None:
        time.sleep(0.01)
        done.put(n * n)
threads = [threading.Thread(target=work) for _ in range(10)]
for thread in threads: thread.start()
for n in range(100): todo.put(n)
for thread in threads: todo.put(None)
for thread in threads: thread.join()
print(sum(done.get() for _ in range(100)))'
	echo "$output"
	[[ $output == 328350 ]]
}

# endings PROGRAM [ARGUMENT]...: prints how signals end it after it has printed a line and has been
# stopped and continued.
endings()
{
	# shellcheck disable=SC2016
	inside sh -c 'for signal in TERM KILL SEGV; do
			mkfifo /tmp/holding.$$
			lwkexec "$@" >/tmp/holding.$$ 2>/dev/null & proxy=$!
			read -r line </tmp/holding.$$
			rm /tmp/holding.$$
			kill -STOP $proxy; sleep 0.5; kill -CONT $proxy; sleep 0.2
			kill -$signal $proxy
			wait $proxy
			echo "$signal: $line, status $?"
		done 2>/dev/null' sh "$@"
}

@test "threads that share CPUs end with their process" {
	run -0 endings "$programs/share-cpu" 20 hold
	echo "$output"
	[[ $output == *'TERM: all wait, status 143'*'KILL: all wait, status 137'*'SEGV: all wait, status 139'* ]]
	run -0 inside lwkexec "$programs/share-cpu" 20 token
	[[ $output == *'token: right' ]]
}

@test "threads that compute end with their process" {
	run -0 endings "$programs/spin-threads" 3
	echo "$output"
	[[ $output == *'TERM: all of them, status 143'*'KILL: all of them, status 137'*'SEGV: all of them, status 139'* ]]
	# shellcheck disable=SC2016
	run -0 inside sh -c 'lwkexec "$1/spin-threads" 3 & proxy=$!
		sleep 1; kill $proxy; wait $proxy
		lwkexec "$1/openmp"' sh "$programs"
	echo "$output"
	[[ $output == *'3 threads of 3, sum '* ]]
}

@test "OpenMP uses all LWK CPUs by itself" {
	run -0 inside lwkexec "$programs/openmp"
	[[ $output == '3 threads of 3, sum '* ]]
	run -0 inside env OMP_NUM_THREADS=2 lwkexec "$programs/openmp"
	[[ $output == '2 threads of 3, sum '* ]]
	run -0 inside env OMP_NUM_THREADS=7 OMP_WAIT_POLICY=passive lwkexec "$programs/openmp"
	[[ $output == '7 threads of 3, sum '* ]]
}

@test "a program that finds no free LWK CPU says so" {
	run inside sh -c 'mkfifo /tmp/both.$$
		lwkexec "$1/spin" >/tmp/both.$$ & first=$!
		lwkexec "$1/spin-threads" 2 >/tmp/both.$$ & second=$!
		head -n 2 /tmp/both.$$ | sort
		rm /tmp/both.$$
		lwkexec "$1/hello"
		status=$?
		kill $first $second
		wait
		exit $status' sh "$programs"
	echo "$output"
	[[ $output == *'expected a free LWK CPU, but each of the 3 has its process'* ]]
	((status == 125))
}

@test "no interrupt comes while a program computes" {
	run -0 inside lwkexec "$programs/undisturbed"
	echo "$output"
	[[ $output == 'disturbances 0' ]]
}
