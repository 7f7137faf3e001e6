#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Jobs on McKernel itself, and what administrators do to them. check runs these tests in its test bed, beside those
# of tests/vm/driver/ihk.bats that have the tag "real".

load ../../tests/vm/helpers

kernel=${IHK_KERNEL:?}
library=${IHK_LIBRARY:?}
launcher=${IHK_LAUNCHER:?}

setup_file()
{
	prepare
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
	bed sh -c 'mkdir -p /root/dumps; sed -i "s,^DumpOnPanic *=.*,DumpOnPanic = /root/dumps," /etc/slurm/lwk.conf'
	bed sh -c 'cat >>/etc/slurm/lwk.conf' <<-EOF

	[image mck]
	Driver=ihk
	Path=$kernel
	Library=$library
	Launcher=$launcher
	Args=${IHK_KERNEL_ARGS-}

	[image cooperative]
	Driver=ihk
	Path=$kernel
	Library=$library
	Launcher=$launcher

	[image lwk-for-ihk]
	Driver=ihk
	Path=/usr/lib/slurm-lwk/lwk.elf
	Library=$library
	Launcher=$launcher
	EOF
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
	node_is_clean
}

# on_mckernel CPUS COMMAND...: runs it as one task of user1 with so many CPUs, half of them for the LWK.
on_mckernel()
{
	local cpus=$1
	shift

	as user1 timeout 200 srun --lwk=mck --ntasks=1 --cpus-per-task="$cpus" --mem=320M "$@"
}

# forget_warnings: clears the kernel's log, in which IHK warns that a McKernel that stands still does not answer.
forget_warnings()
{
	run ! bed sh -c 'dmesg | grep -E "BUG:|Oops|Call Trace"'
	bed dmesg -C
}

@test "a program's output, exit status, environment and directory are as on Linux" {
	# shellcheck disable=SC2016  # the task's shell expands it
	run -42 on_mckernel 2 --export=ALL,GREETING=hello sh -c 'echo $GREETING; pwd; id -un; cat; exit 42' <<<'from stdin'
	echo "$output"
	[[ $output == *hello* && $output == */home/user1* && $output == *user1* && $output == *'from stdin'* ]]
	node_is_clean
}

@test "a program that a signal ends ends the step so" {
	# shellcheck disable=SC2016  # the task's shell expands it
	run on_mckernel 2 sh -c 'kill -SEGV $$'
	echo "$output"
	((status == 139))
	[[ $output == *'Segmentation fault'* ]]
	node_is_clean
}

@test "a batch script runs on Linux, and its steps on McKernel, one after the other" {
	job=$(submit user1 --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M <<-'EOF'
		#!/bin/sh
		sed -n 's/Cpus_allowed_list:./script CPUs-/p' /proc/self/status
		srun sed -n 's/Cpus_allowed_list:./first CPUs-/p' /proc/self/status
		srun sed -n 's/Cpus_allowed_list:./second CPUs-/p' /proc/self/status
	EOF
	)
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	echo "$output"
	[[ $output == *'first CPUs-0'*'second CPUs-0'* && $output != *'script CPUs-0'* ]]
	job_is "$job" JobState=COMPLETED
	node_is_clean
}

@test "tasks of a step share an instance, and each has CPUs of its own there" {
	run -0 as user1 timeout 200 srun --lwk=mck --nodes=1 --ntasks=2 --cpus-per-task=2 --mem=320M \
		sed -n 's/Cpus_allowed_list:./CPUs-/p' /proc/self/status
	echo "$output"
	[[ $output == *CPUs-0* && $output == *CPUs-1* ]]
	node_is_clean
}

@test "a bundled LWK is no kernel for IHK" {
	refused 'no kernel for the driver ihk' -- \
		as user1 timeout 100 srun --lwk=lwk-for-ihk --ntasks=1 --cpus-per-task=2 --mem=320M true
	node_is_clean
}

@test "IHK runs one LWK: a second job is refused, and the first goes on" {
	job=$(submit user1 --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M --wrap 'srun sh -c "
		touch first; while [ -e first ]; do sleep 0.3; done; echo goes on"')
	wait_for 20 bed test -e /home/user1/first
	refused 'as many LWK instances as its driver ihk can have' -- on_mckernel 2 true
	bed rm /home/user1/first
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	[[ $output == *'goes on'* ]]
	node_is_clean
}

@test "an administrator's commands leave a job's instance alone, and are told why" {
	job=$(submit user1 --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M --wrap 'srun sh -c "
		touch runs; while [ -e runs ]; do sleep 0.3; done; echo goes on"')
	wait_for 20 bed test -e /home/user1/runs
	# As mcreboot.sh does.
	run ! bed "${IHK_CONFIG:?}" 0 destroy 0
	bed rm /home/user1/runs
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	[[ $output == *'goes on'* ]]
	node_is_clean
}

@test "scancel, and the death of the proxy and of srun end a job, and all comes back" {
	local death

	# shellcheck disable=SC2016  # the machine's shell expands it
	for death in 'scancel "$1"' 'pkill -9 -x mcexec' 'pkill -9 -x srun'; do
		echo "death: $death"
		job=$(submit user1 --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M --wrap '
			srun sh -c "touch runs; exec sleep 1000"')
		wait_for 20 bed test -e /home/user1/runs
		bed rm /home/user1/runs
		bed sh -c "$death" - "$job"
		wait_for_job "$job"
		node_is_clean
	done
}

@test "an LWK that panics ends its job with a text, and leaves a dump" {
	# Without time_sharing, more threads of Python than CPUs are a page fault in McKernel's kernel.
	run as user1 timeout 200 srun --lwk=cooperative --ntasks=1 --cpus-per-task=2 --mem=320M python3 -c '
import threading, time
def work():
	end = time.time() + 1
	while time.time() < end:
		pass
threads = [threading.Thread(target=work) for i in range(8)]
for thread in threads:
	thread.start()
for thread in threads:
	thread.join()
print("done")'
	echo "$output"
	((status == 137))
	[[ $output == *'is in PANIC; its dump is /root/dumps/lwk-'* && $output != *done* ]]
	forget_warnings
	node_is_clean
	bed sh -c 'test -s /root/dumps/lwk-*.core && rm /root/dumps/lwk-*.core'
}

@test "lwkctl dump has IHK write a dump, and the job can be ended afterwards" {
	job=$(submit user1 --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M --wrap '
		srun sh -c "touch runs; while :; do sleep 0.3; done"')
	wait_for 20 bed test -e /home/user1/runs
	bed rm /home/user1/runs
	bed lwkctl dump "$job" /root/ihk.dump
	run ! bed lwkctl dump "$job" /root/ihk.dump
	run -0 bed stat -c '%a %U' /root/ihk.dump
	[[ $output == '600 root' ]]
	bed scancel "$job"
	wait_for_job "$job"
	bed rm /root/ihk.dump
	forget_warnings
	node_is_clean
}
