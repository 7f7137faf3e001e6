#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
# tests: in order
#
# A fault of the LWK itself ends its job with the reason; Linux and the node go on.

load ../helpers

setup_file()
{
	prepare
	offer_faulty_image inject=fault
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
}

teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel'
}

@test "srun says that the LWK has panicked, and why" {
	refused 'the LWK is in panic: CPU 0: page fault' -- \
		as user1 srun --lwk=faulty --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
}

@test "an LWK that panics while it boots refuses the job, and Linux goes on" {
	bed sh -c 'printf "\n[image stillborn]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=boot\n" >>/etc/slurm/lwk.conf'
	refused 'did not boot' 'found its state PANIC: injected' -- \
		as user1 srun --lwk=stillborn --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
}

@test "the node comes back and runs the next job" {
	node_is_clean
	run -0 as user1 srun --lwk --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
	[[ $output == *' LWK'* ]]
	node_is_clean
}

@test "the job's output has the last lines of the LWK's console" {
	run as user1 srun --lwk=faulty --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
	[[ $output == *"the LWK's console ends with:"*'PANIC: CPU 0: page fault'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "programs that wait in Linux end at once with the reason when their LWK panics" {
	bed sh -c 'printf "\n[image unsharing]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=unshare\n" >>/etc/slurm/lwk.conf'
	# A program needs a CPU on which no thread is, so the one that has the LWK panic begins first. The proxy that
	# stands still begins its call again afterwards.
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 as user1 timeout 120 srun --quiet --lwk=unsharing --lwk-launch=none -n1 -c5 --mem=400 bash -c 'cd "$(mktemp -d)" && mkfifo fifo other go
		lwkexec busybox sh -c "read -r line <go; exec $1/shared-memory calls /dev/shm" >third 2>&1 & third=$!
		lwkexec busybox cat other >second 2>&1 & second=$!
		sleep 2
		lwkexec "$1/wait-in-linux" fifo >first 2>&1 & first=$!
		until grep -q "all wait" first; do sleep 0.2; done
		kill -STOP $second
		(sleep 20; kill -KILL $first $second $third) >/dev/null 2>&1 & late=$!
		echo panic >go
		wait $third
		SECONDS=0
		wait $first; echo "first: $? after $((SECONDS / 5)) times 5 s"
		kill -CONT $second
		wait $second; echo "second: $? after $((SECONDS / 5)) times 5 s"
		kill $late
		for output in first second third; do grep -o "the LWK is in panic: injected" $output | head -n 1; done
		grep ended first
		rm -r "$PWD"' - "$programs"
	echo "$output"
	[[ $(grep -c 'the LWK is in panic: injected' <<<"$output") == 3 ]]
	[[ $output == *'first: 125 after 0 times'*'second: 125 after 0 times'* && $output != *ended* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "a program that waits in Linux ends with the reason when its LWK is reset" {
	job=$(submit user1 -n2 --mem=256 --lwk --lwk-launch=none <<-'EOF'
	#!/bin/bash
	mkfifo fifo.$SLURM_JOB_ID
	echo begins
	lwkexec busybox cat fifo.$SLURM_JOB_ID 2>&1
	echo "status $?"
	rm fifo.$SLURM_JOB_ID
	srun --lwk -n1 true 2>&1
	EOF
	)
	wait_for 60 has_printed user1 "$job" begins
	wait_for 60 bed pgrep -f '^(/usr/bin/)?lwkexec .*cat fifo'
	bed sleep 1
	bed lwkctl reset "$job"
	wait_for 5 has_printed user1 "$job" 'status 125'
	has_printed user1 "$job" 'the LWK is shut down'
	wait_for_job "$job"
	has_printed user1 "$job" 'the administrator has taken its LWK back since (lwkctl reset)'
	node_is_clean
}

@test "a CPU that hangs with interrupts off is found within HangTimeout" {
	bed sh -c 'printf "\n[image hanging]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=hang\n" >>/etc/slurm/lwk.conf
		sed -i "s/^HangTimeout.*/HangTimeout = 3/" /etc/slurm/lwk.conf'
	refused "the LWK is hung: its CPU 0 (Linux's 2) shows no sign of life for 3 s" -- \
		as user1 srun --lwk=hanging --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
	node_is_clean
}

# bats test_tags=nightly
@test "a hang ends what a proxy waits for in Linux, and disturbs nobody who is no proxy any more" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 as user1 timeout 100 srun --quiet --lwk=hanging --lwk-launch=none -n1 -c4 --mem=400 bash -c \
		'timeout 25 "$1/wait-fault" leaves /dev/lwk/[0-9]* & timeout 25 "$1/wait-fault" reads /dev/lwk/[0-9]*; wait' - "$programs"
	echo "$output"
	[[ $output == *'the read ended, the LWK is hung'* ]]
	[[ $output == *'the other program is left alone'* ]]
	node_is_clean
}
