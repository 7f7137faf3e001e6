#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# A machine of a test bed dies, and the test bed tells how, as far as that can be known.

load ../helpers

bed_name=$bed_name-dead

setup_file()
{
	testbed down
	testbed up --without-project --machines 3 --cpus 2 --nodes 1 --mem 1024
}

teardown_file()
{
	testbed down
}

# files_of_bed: prints the directory where the bed has its files.
files_of_bed()
{
	testbed status | sed -n 's,.*console \(.*\)/console1.log.*,\1,p'
}

# ended PID: true when QEMU's process has ended.
ended()
{
	[[ ! -e /proc/$1 ]]
}

# prepare_end MACHINE COMMAND: has the command wait in the machine for a line on descriptor 40 + MACHINE, because
# no command begins in a test bed of which a machine has died.
prepare_end()
{
	local go=$BATS_TEST_TMPDIR/go$1

	mkfifo "$go"
	eval "exec 4$1<>'$go'"
	on "$1" sh -c "echo waits; read -r line; $2" <"$go" >"$go.out" 2>&1 3>&- &
	wait_for 60 grep -q waits "$go.out"
}

# A CPU on which Linux restarts the machine by a triple fault has no interrupt descriptors, and traps.
# bats test_tags=nightly
@test "the test bed tells a triple fault, a panic and a machine that was killed" {
	files=$(files_of_bed)
	triple=$(<"$files/pid1") panic=$(<"$files/pid2") killed=$(<"$files/pid3")
	prepare_end 1 'echo triple >/sys/kernel/reboot/type && busybox reboot -f'
	prepare_end 2 'echo c >/proc/sysrq-trigger'
	echo >&41
	echo >&42
	kill -9 "$killed"
	for pid in "$triple" "$panic" "$killed"; do
		wait_for 60 ended "$pid"
	done
	run -1 testbed status
	echo "$output"
	[[ ${lines[0]} == "$bed_name: dead (testbed down clears it)" ]]
	[[ ${lines[1]} == "machine 1 died: its QEMU ended by a triple fault (CPU reset state in $files/qemu-log1)"* ]]
	[[ ${lines[2]} == 'machine 2 died: its QEMU ended after "Kernel panic - not syncing: sysrq triggered crash"' ]]
	[[ ${lines[3]} == 'machine 3 died: its QEMU ended without a word of its kernel, '*'it may have been killed' ]]
	# Each command of a test says so.
	run -1 on 2 true
	[[ $output == *"expected the test bed '$bed_name' up, found that machine 1 died: its QEMU ended by a triple fault ("*', machine 2 died: '* ]]
	# The logs outlive the test bed.
	run -0 testbed down
	log=$(sed -n 's/.*machine 1 died: .*(CPU reset state in \([^)]*\)).*its console log is kept: .*/\1/p' <<<"$output")
	[[ $(tail -n 1 "$log") == 'Triple fault' ]]
}
