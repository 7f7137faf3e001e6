#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A fault of the LWK itself: the job ends with the reason, Linux and the node go on.

load helpers

setup_file()
{
	prepare
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		printf "\n[image faulty]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=fault\n" >>/etc/slurm/lwk.conf'
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
}

@test "the user reads that the LWK has panicked, and why" {
	refused 'the LWK is in panic: CPU 0: page fault' -- \
		as user1 srun --lwk=faulty --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
}

@test "the node comes back and runs the next job" {
	node_is_clean
	run -0 as user1 srun --lwk --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
	[[ $output == *' LWK'* ]]
	node_is_clean
}
