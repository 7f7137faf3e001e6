#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Programs on the LWK share memory with programs of their job on the LWK and on Linux; none of it stays
# pinned, however they end.

load ../helpers

setup_file()
{
	prepare
	offer_faulty_image inject=unshare
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
}

setup()
{
	bed sh -c 'rm -f /dev/shm/lwk-test*'
}

# pinned: prints how many pages are pinned for long in the whole machine.
pinned()
{
	# Each CPU counts for itself; stat_refresh adds the counts up.
	# shellcheck disable=SC2016
	bed sh -c 'echo >/proc/sys/vm/stat_refresh
		awk "/^nr_foll_pin_acquired/ { n += \$2 } /^nr_foll_pin_released/ { n -= \$2 } END { print n }" /proc/vmstat'
}

nothing_is_pinned()
{
	[[ $(pinned) == 0 ]]
}

# in_job SCRIPT: runs it on the Linux side of a job with three LWK CPUs.
in_job()
{
	as user1 timeout 180 srun --quiet --lwk --lwk-launch=none -n1 -c4 --mem=400 env programs="$programs" bash -c "$1"
}

@test "calls on shared mappings return what they return on Linux" {
	run -0 as user1 "$programs/shared-memory" calls /dev/shm
	[[ $output == 'all of it is right' ]]
	# shellcheck disable=SC2016
	run -0 in_job 'lwkexec $programs/shared-memory calls /dev/shm &&
		LWK_CALLS=proxy lwkexec $programs/shared-memory calls /dev/shm'
	[[ $output == $'all of it is right\nall of it is right' ]]
	nothing_is_pinned
}

@test "tasks of a step and a process on Linux share memory and wait for each other" {
	# shellcheck disable=SC2016
	run -0 in_job 'for i in 1 2; do lwkexec $programs/shared-memory with /dev/shm/lwk-test 3 & done
		$programs/shared-memory with /dev/shm/lwk-test 3 && wait'
	[[ $output == $'all 3 agree\nall 3 agree\nall 3 agree' ]]
	bed rm /dev/shm/lwk-test
	run -0 as user1 timeout 180 srun --quiet --lwk -n2 -c2 --mem=400 "$programs/shared-memory" with /dev/shm/lwk-test 2
	[[ $output == $'all 2 agree\nall 2 agree' ]]
	nothing_is_pinned
}

# bats test_tags=nightly
@test "a child shares its parent's mappings, and loses them by execve" {
	run -0 as user1 "$programs/shared-memory" fork /dev/shm/lwk-test 2
	[[ $output == $'2 children share it\n1' ]]
	bed rm /dev/shm/lwk-test
	# shellcheck disable=SC2016
	run -0 in_job 'lwkexec $programs/shared-memory fork /dev/shm/lwk-test 2'
	echo "$output"
	[[ $output == $'2 children share it\n1' ]]
	nothing_is_pinned
}

@test "a program that is killed leaves nothing pinned" {
	# shellcheck disable=SC2016
	run -0 in_job 'for signal in TERM KILL STOP; do
			mkfifo /tmp/holding
			lwkexec $programs/shared-memory hold /dev/shm/lwk-test $((32 << 20)) >/tmp/holding & proxy=$!
			read -r line </tmp/holding
			rm /tmp/holding
			awk "/^nr_foll_pin_acquired/ { n += \$2 } /^nr_foll_pin_released/ { n -= \$2 } END { print (n > 8000) }" /proc/vmstat
			tail -c 3 /dev/shm/lwk-test; echo
			kill -$signal $proxy
			# The end of the job ends the stopped program.
			[ $signal = STOP ] || wait $proxy
		done 2>/dev/null'
	echo "$output"
	[[ $output == $'1\nhhh\n1\nhhh\n1\nhhh' ]]
	wait_for 20 nothing_is_pinned
	node_is_clean
}

@test "an LWK that panics while it has pages of Linux leaves nothing pinned" {
	run ! as user1 srun --lwk=faulty -n1 -c2 --mem=256 "$programs/shared-memory" calls /dev/shm
	[[ $output == *'the LWK is in panic: injected'* ]]
	node_is_clean
	nothing_is_pinned
}

@test "a proxy that lies about pages harms its own program only" {
	# shellcheck disable=SC2016
	run -0 in_job '$programs/without-grants lwkexec $programs/shared-memory hold /dev/shm/lwk-test 8192
		echo "status $?"
		lwkexec $programs/shared-memory calls /dev/shm
		$programs/without-grants lwkexec $programs/hello'
	echo "$output"
	[[ $output == *'status 135'*'all of it is right'*' LWK'* ]]
	node_is_clean
	nothing_is_pinned
}

@test "a shared mapping of a file on a disk is coherent with Linux, and nothing of it is lost" {
	run -0 as user1 bash -c "$programs/shared-memory disk \$HOME"
	[[ $output == 'the disk has it all' ]]
	# shellcheck disable=SC2016
	run -0 in_job 'lwkexec $programs/shared-memory calls $HOME && lwkexec $programs/shared-memory disk $HOME'
	echo "$output"
	[[ $output == $'all of it is right\nthe disk has it all' ]]
	nothing_is_pinned
}
