#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# A process of a switch was killed, and an unrelated process has its number now. Nothing kills
# that process, and nothing waits for it.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
}

teardown_file()
{
	bed sh -c 'mv /root/lwk.conf.before /etc/slurm/lwk.conf; lwkctl reset'
	node_is_clean
}

# unrelated_takes PID: starts an unrelated process with that number, which must be free.
unrelated_takes()
{
	bed bash -s "$1" <<-'EOF'
	for i in {1..200}; do
		echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid
		setsid sleep 3600 </dev/null >/dev/null 2>&1 &
		[[ $! != "$1" ]] || exit 0
		kill $!
	done
	exit 1
	EOF
}

# unrelated_lives PID: true when that process still runs; ends it.
unrelated_lives()
{
	[[ $(bed cat "/proc/$1/comm") == sleep ]]
	bed kill "$1"
}

# bats test_tags=nightly
@test "lwkctl reset --force kills who has the lock, not who has the number of the process that took it" {
	# A child keeps the lock that its parent took.
	run -0 bed timeout 60 bash -s <<-'EOF'
	mkdir -p /run/slurm-lwk
	setsid bash -c 'exec 9>>/run/slurm-lwk/lock; flock 9; exec tail -f /dev/null' </dev/null >/dev/null 2>&1 &
	until taker=$(awk -v inode=":$(stat -c %i /run/slurm-lwk/lock 2>/dev/null)\$" '$2 == "FLOCK" && $6 ~ inode { print $5 }' \
		/proc/locks) && [[ $taker ]] && ! [[ -e /proc/$taker ]]; do sleep 0.05; done
	echo "$taker $!"
	EOF
	read -r taker holder <<<"$output"
	unrelated_takes "$taker"
	run -0 bed lwkctl reset --dry-run
	[[ $output == *"found: process $holder (tail) holds the lock of switching"* ]]
	run -0 bed lwkctl reset --force
	[[ $output == *"process $holder, which held the lock of switching, is killed"* ]]
	unrelated_lives "$taker"
	node_is_clean
}

# bats test_tags=nightly
@test "a switch is killed, and nobody waits for the process that has its number" {
	bed timeout 60 bash -c 'mkdir -p /run/slurm-lwk; echo on cpus after hold >/run/slurm-lwk/fault
		setsid switch-once on 920 1000 4-7 400M </dev/null >/dev/null 2>&1 &
		echo $! >/run/switching.pid
		until [[ -e /run/slurm-lwk/fault.met ]]; do sleep 0.05; done
		kill -9 $!
		wait $!
		rm /run/slurm-lwk/fault.met'
	killed=$(bed cat /run/switching.pid)
	unrelated_takes "$killed"
	run -0 bed switch-once on 921 1000 1-3 400M
	[[ $output == *'"state":"active"'* ]]
	run -0 bed lwkctl reset --force
	[[ $output != *'is killed'* && $output == *'CPU 7 is back'* ]]
	unrelated_lives "$killed"
	node_is_clean
}

# bats test_tags=nightly
@test "a watcher is killed, and who has its number is left alone when the partition is given back" {
	bed sed -i -e '/^KeepWarm/d' -e 's/^SwitchTimeout.*/&\nKeepWarm = 600/' /etc/slurm/lwk.conf
	bed switch-once on 922 1000 4-7 400M
	bed switch-once ended 922
	watcher=$(bed pgrep -f '[l]wkctl cool --wait')
	bed kill -9 "$watcher"
	wait_for 10 bed sh -c '! test -e /proc/"$1"' - "$watcher"
	unrelated_takes "$watcher"
	# The next job takes over the partition, and has a watcher of its own.
	bed switch-once on 923 1000 4-7 400M
	bed switch-once ended 923
	bed lwkctl cool
	unrelated_lives "$watcher"
	node_is_clean
}
