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

@test "a CPU that hangs with interrupts off is found within HangTimeout" {
	bed sh -c 'printf "\n[image hanging]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=hang\n" >>/etc/slurm/lwk.conf
		sed -i "s/^HangTimeout.*/HangTimeout = 3/" /etc/slurm/lwk.conf'
	refused "the LWK is hung: its CPU 0 (Linux's 2) shows no sign of life for 3 s" -- \
		as user1 srun --lwk=hanging --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
	node_is_clean
}
