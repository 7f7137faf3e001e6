#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# On a kernel that loads signed modules only, an LWK job is refused with the reason and the remedy, and
# Linux jobs go on.

load ../helpers

setup()
{
	bed_name+=-lockdown
}

teardown()
{
	testbed down
}

# refuses_only_lwk_jobs: true when the node that is up refuses LWK jobs only, and says why.
refuses_only_lwk_jobs()
{
	refused 'lwkpart cannot be loaded: ' 'loads signed modules only' 'sign the module' 'slurm-lwk-admin(7)' -- \
		as user1 srun -Q -n1 -c2 --mem=300 --lwk hostname
	[[ $output != *$'\n'node1$'\n'* ]]
	run -0 as user1 srun -Q -n1 -c2 --mem=300 uname -n
	[[ $output == node1 ]]
	run -1 bed lwkctl check
	[[ $output == *'module '*'lwkpart cannot be loaded: it has no signature'*'sign the module'* ]]
	run -0 bed sh -c 'scontrol -o show node node1; ls -A /run/slurm-lwk/jobs; ls /dev/lwk /dev/lwkpart 2>&1; true'
	[[ ! $output =~ State=[^\ ]*(DRAIN|DOWN|FAIL) && ${#lines[@]} == 3 ]]
}

# bats test_tags=nightly
@test "with lockdown and signatures enforced an unsigned lwkpart.ko is refused with the remedy" {
	testbed up --append 'lockdown=integrity module.sig_enforce=1'
	refuses_only_lwk_jobs
}

# bats test_tags=nightly
@test "with lockdown alone it is refused with the same remedy" {
	testbed up --append lockdown=confidentiality
	bed mount -t securityfs securityfs /sys/kernel/security
	refuses_only_lwk_jobs
}
