#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# lwkpart.ko alone: its whole ABI, with good and bad arguments (abi.c and the files beside it).

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/lwkpart/abi" /root/lwkpart-abi
}

@test "every ioctl does and refuses what lwkpart.h says" {
	bed modprobe lwkpart
	run bed /root/lwkpart-abi /usr/lib/slurm-lwk/lwk.elf
	grep '^not ok' <<<"$output" || true
	((status == 0))
	(($(grep -c '^ok' <<<"$output") > 150))
	node_is_clean
}

@test "the module unloads when nothing is lent, and loads again" {
	bed rmmod lwkpart
	bed modprobe lwkpart
}
