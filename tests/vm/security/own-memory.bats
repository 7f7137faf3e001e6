#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# The LWK's own memory is protected from errors of the LWK.

load ../helpers

setup_file()
{
	prepare
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
	for what in stack text; do
		bed sh -c 'printf "\n[image %s]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=%s\n" \
			"$1" "$1" >>/etc/slurm/lwk.conf' - "$what"
	done
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
}

# panics IMAGE ERROR: true when its write to a page that it may not write to is its last act.
panics()
{
	refused 'the LWK is in panic: CPU 0: page fault (vector 14, error '"$2"')' -- \
		as user1 srun --lwk="$1" --ntasks=1 --cpus-per-task=2 --mem=256M "$programs/hello"
}

@test "nothing is below a stack of the LWK's kernel" {
	panics stack 2
}

@test "no address lets the LWK write into its own code" {
	panics text 3
}
