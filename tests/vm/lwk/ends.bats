#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# Programs that fail, are killed or dump core on the bundled LWK end as on Linux, and the LWK goes on. All tests
# share one allocation.

load allocation

@test "bad programs end with their signal, and the LWK goes on" {
	# shellcheck disable=SC2016
	run -0 inside sh -c 'cd /tmp; "$1/attack-kernel" list | while read -r name signal; do
		timeout -s KILL 60 lwkexec "$1/attack-kernel" "$name" </dev/null >/dev/null 2>&1
		status=$?
		wanted=$((signal > 0 ? 128 + signal : 0))
		if [ "$signal" -ge 0 ] && [ $status != $wanted ]; then
			echo "$name: expected status $wanted, found $status"
		fi
		echo "$name was survived"
	done 2>/dev/null' sh "$programs"
	echo "$output"
	[[ $output != *expected* ]]
	(($(grep -c 'was survived' <<<"$output") >= 30))
	run -0 inside lwkexec "$programs/hello"
	[[ $output == *' LWK'* ]]
	run -0 bed lwkctl kmsg "$job"
	[[ $output != *PANIC* ]]
}

@test "a killed proxy takes its program along and frees the CPU" {
	run -0 inside sh -c 'for i in 1 2 3; do
			lwkexec "$1/spin" & proxy=$!
			sleep 1
			kill -KILL $proxy
			wait $proxy
		done
		lwkexec "$1/hello"' sh "$programs"
	[[ $output == *' LWK'* ]]
}

@test "a program that the LWK kills is told why, where its user reads it" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 inside sh -c 'cd /tmp && for cause in null text guard jump instruction divide file frame stack abort closed; do
			lwkexec "$1" "$cause"; echo "$cause: $?"
		done 2>&1
		wc -c <killed-by.data; rm killed-by.data' sh "$programs/killed-by"
	echo "$output"
	grep -E 'killed by signal 11 \(Segmentation fault\): the instruction at 0x[0-9a-f]+ writes to address 0x0, where nothing is mapped$' <<<"$output"
	[[ $(grep -cE 'writes to address 0x[0-9a-f]+, which its mapping does not allow$' <<<"$output") == 2 ]]
	grep -E 'the instruction at 0x0 is at address 0x0, where nothing is mapped$' <<<"$output"
	grep -E 'signal 4 \(Illegal instruction\): the instruction at 0x[0-9a-f]+: the CPU does not know it' <<<"$output"
	grep -E 'signal 8 \(Floating point exception\): .* a division by zero' <<<"$output"
	grep -E 'signal 7 \(Bus error\): .* reads address 0x[0-9a-f]+, and the mapped file has no page there$' <<<"$output"
	grep -F 'signal 11 (Segmentation fault): a signal'\''s handler has returned to a damaged frame on its stack' <<<"$output"
	grep -F 'its stack has no room for the frame of a signal'\''s handler' <<<"$output"
	# abort() needs no explanation, and another file in the place of standard error stays as it is.
	[[ $(grep -c 'killed by signal' <<<"$output") == 9 && $output == *'closed: 139'*$'\n0' ]]
}

# debug_core PROGRAM DIRECTORY COMMAND...: runs gdb's commands on the core file there, in the machine.
debug_core()
{
	local core=$BATS_TEST_TMPDIR/core commands=() command program=$1

	testbed get "$2/core" "$core" >/dev/null
	shift 2
	for command; do
		commands+=(-ex "$command")
	done
	gdb -nx -batch "${commands[@]}" "$(built)/tests/vm/programs/signals/$program" "$core" 2>&1
}

# bats test_tags=nightly
@test "a program that dies leaves a core file for gdb, if its user wants one" {
	local place

	place=$(as user1 mktemp -d)
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 inside sh -c 'cd "$1" && ulimit -S -c 0 && "$2"/exit-with 0; lwkexec "$2/dump-core"; ls; ulimit -S -c unlimited
		lwkexec "$2/dump-core"; echo "status $?"; stat -c "%n %a %U" *' sh "$place" "$programs"
	echo "$output"
	[[ $(grep -c 'core file' <<<"$output") == 1 ]]
	[[ $output == *'killed by signal 11 (Segmentation fault): the instruction at '*', where nothing is mapped; core file: core'* ]]
	[[ $output == *'status 139'* && $output == *'core 600 user1'* && $output != *$'\ncore\n'* ]]
	# This host's gdb knows the variables of threads of its own C library only: of_thread lies below the thread's area.
	run -0 debug_core dump-core "$place" bt 'print *record' 'print $_siginfo.si_signo' 'print $_siginfo._sifields._sigfault.si_addr' \
		'info proc mappings' 'x/2i $pc' 'print $xmm15.v2_double[0]' 'print *(int *)($fs_base - 4)'
	echo "$output"
	[[ $output == *'Program terminated with signal SIGSEGV'* ]]
	[[ $output =~ '#0 '.*write_down.*'#1 '.*look_up.*half=0.5.*'#2 '.*main ]]
	[[ $output == *'number = 4711, half = 0.5, name = "from the heap'* && $output == *' = 11'*'0x1230'* ]]
	[[ $output == *"$programs/dump-core"* && $output == *'= 0.5'*'= 42'* ]]

	# Threads, one of them in a call that Linux has under way, and their own variables.
	run -0 inside sh -c 'cd "$1" && ulimit -S -c unlimited && lwkexec "$2/dump-core-static" abort; echo "status $?"' sh "$place" "$programs"
	echo "$output"
	[[ $output == *'killed by signal 6 (Aborted); core file: core'* && $output == *'status 134'* ]]
	run -0 debug_core dump-core-static "$place" 'thread apply all bt' 'info threads'
	echo "$output"
	[[ $output == *'raise'*'abort'*'write_down'*'look_up'*'main'* && $output == *'stand_still'*'wait_for_byte'* && $output == *'compute'*'spin'* ]]
	[[ $(grep -c 'LWP' <<<"$output") -ge 3 ]]

	# A limit below its size cuts the file off, and a message names a place that cannot have it.
	run -0 inside sh -c 'cd "$1" && rm core && ulimit -S -c 16 && lwkexec "$2/dump-core"; stat -c "%s" core
		rm core && ln -s other core && ulimit -S -c unlimited && lwkexec "$2/dump-core"; true' sh "$place" "$programs"
	echo "$output"
	grep -x 8192 <<<"$output"
	grep -F 'no core file, core: ' <<<"$output"
	[[ $(as user1 ls "$place") == core ]]
	as user1 rm -r "$place"
}
