#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# A kernel with KASAN, lockdep, RCU checks, kmemleak and UBSAN (contrib/testbed/kernel) has nothing to
# report of lwkpart.ko. LWK_DEBUG_SWITCHES is the number of switches, LWK_TESTBED_KERNEL another such
# kernel. On emulated CPUs a switch takes a minute or more, and a scan of kmemleak longer.

load ../helpers

bed_name=$bed_name-debug

setup_file()
{
	testbed down
	testbed up --kernel "${LWK_TESTBED_KERNEL:-debug}" --mem 6144
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
	testbed put "$(built)/tests/vm/lwkpart/abi" /root/lwkpart-abi
	testbed put "$(built)/tests/vm/hostile-image/hostile.elf" /usr/lib/slurm-lwk/hostile.elf
	testbed put "$top/tests/vm/hostile-image/attack" /usr/local/bin/attack
	offer_faulty_image inject=panic
	bed mount -t debugfs debugfs /sys/kernel/debug
	# The leaks of Linux's own start are not ours.
	bed sh -c 'cd /sys/kernel/debug; ! test -e kmemleak || { echo scan >kmemleak
		echo clear >kmemleak; }'
}

teardown_file()
{
	testbed down
}

# no_report: true when the kernel has reported nothing, and still looks. lockdep ends with its report.
no_report()
{
	node_is_clean
	bed sh -s "$without_reports" <<-'EOF'
	what='UBSAN:|KASAN:|KCSAN:|ODEBUG:|possible .* locking dependency|possible recursive'
	if dmesg | awk "$1" | grep -A 60 -E "$what|suspicious RCU|sleeping function"; then exit 1; fi
	kcsan=/sys/kernel/debug/kcsan
	! test -e $kcsan || grep -x 'enabled: 1' $kcsan || exit
	grep -E '^ debug_locks: +1$' /proc/lockdep_stats
	EOF
}

# no_leak: true when kmemleak finds no memory of lwkpart.ko that nobody knows, in two scans.
no_leak()
{
	bed sh -c '
		cd /sys/kernel/debug
		test -e kmemleak || exit 0
		echo scan >kmemleak && sleep 6 && echo scan >kmemleak
		! grep -B 12 -A 12 lwkpart kmemleak'
}

# The first lines of a script for bash in the machine.
script='
	export PATH=$PATH:/opt/lwk-tests
	as_user1="setpriv --reuid user1 --regid user1 --clear-groups"
	cd "$(mktemp -d)" && chmod 777 . || exit
	# on JOB CPUS MEMORY [IMAGE]: makes an instance of user1 without Slurm; LWK_DEVICE names it.
	on() {
		switch-once on "$1" "$(id -u user1)" "${@:2}" >record 2>&1 || { cat record; exit 1; }
		export LWK_DEVICE=$(grep -o "/dev/lwk/[0-9]*" record)
	}
	off() { switch-once off "$1" >/dev/null || exit; }
	lwk() { $as_user1 timeout -s KILL 900 lwkexec "$@"; }'

# in_machine: runs the script on standard input in the machine, with the number of switches as $1.
in_machine()
{
	run -0 bed bash -s "${LWK_DEBUG_SWITCHES:-50}" < <(echo "$script"; cat)
	echo "$output"
}

# bats test_tags=nightly
@test "a job of Slurm" {
	run -0 as user1 srun --lwk --cpus-per-task=2 --mem=300M "$programs/hello"
	no_report
}

# bats test_tags=nightly
@test "each ioctl of the module, with good and bad arguments" {
	run bed /root/lwkpart-abi /usr/lib/slurm-lwk/lwk.elf
	grep '^not ok' <<<"$output" || true
	(($(grep -c '^ok' <<<"$output") > 150))
	no_report
}

# Programs may complain about time: emulated CPUs that check each access are slow.
# bats test_tags=nightly
@test "programs of all kinds" {
	in_machine <<-'EOF'
	on 501 2-5 700M
	for program in 'file-calls count' processes signal-calls memory-calls 'thread-calls 3' mutexes \
		identity-calls descriptor-calls memory-advice 'share-cpu 6' "shared-memory calls /dev/shm" "shared-memory disk $PWD" \
		"shared-memory fork /dev/shm/lwk-test 2" 'killed-waiters 8' 'killed-populating 100' \
		'bad-frames 3' 'fork-limits many 20' cpu-times foreign-addresses foreign-delegated 'fuzz-calls 1 5'; do
		lwk $program </dev/null >out 2>&1
		echo "$program: status $?, $(tail -n 1 out)"
	done
	for how in proxy kernel server; do
		LWK_CALLS=$how lwk file-calls </dev/null >"out.$how" 2>&1
	done
	cmp out.proxy out.kernel && cmp out.proxy out.server || exit
	lwk hello || exit
	off 501
	EOF
	no_report
}

# bats test_tags=nightly
@test "servers of a job, and users who look at it" {
	as user1 env LWK_CALLS=server srun --lwk -n1 -c2 --mem=300 "$programs/file-calls" >/dev/null
	id=$(submit user1 --lwk --ntasks=1 --cpus-per-task=4 --mem=400M \
		--wrap "srun -n1 $programs/hammer 600 2")
	wait_for 60 job_is "$id" JobState=RUNNING
	wait_for 60 bed pgrep -f '^/usr/bin/lwkexec .*hammer'
	for round in 1 2 3; do
		bed lwkctl freeze "$id"
		bed lwkctl stat "$id"
		bed lwkctl thaw "$id"
		bed lwkctl kmsg "$id"
		bed lwkctl dump "$id" "/root/dump-$round"
	done
	bed scontrol suspend "$id"
	bed scontrol resume "$id"
	bed scancel "$id"
	wait_for_job "$id"
	no_report
}

# bats test_tags=nightly
@test "processes, an LWK and a partition end in the middle" {
	in_machine <<-'EOF'
	for round in 1 2 3; do
		on 502 2-4 400M
		lwk hammer 600 2 & lwk fork-limits storm 600 &
		lwk shared-memory hold "$PWD/held" 8388608 &
		sleep 5
		pkill -KILL -u user1 -f '^lwkexec '
		wait
		lwk hello || exit
		lwk hammer 600 2 &
		sleep 3
		if ((round % 2)); then lwkctl reset; else switch-once off 502 >/dev/null; fi
		wait
		on 503 2-4 400M faulty
		! lwk hello || exit
		lwkctl dump 503 "dump-$round"
		off 503
	done
	EOF
	no_report
	no_leak
}

# bats test_tags=nightly
@test "random requests of the devices" {
	in_machine <<-'EOF'
	on 504 2-3 300M
	timeout 900 $as_user1 fuzz-devices 1 60 "$LWK_DEVICE" /dev/lwkpart
	off 504
	on 505 2-3 300M
	timeout 900 fuzz-devices 2 60 "$LWK_DEVICE" /dev/lwkpart
	lwkctl reset
	on 508 2-4 300M
	timeout 900 $as_user1 fuzz-grants 3 60 "$LWK_DEVICE"
	off 508
	EOF
	no_report
	no_leak
}

# bats test_tags=nightly
@test "an image that writes nonsense into all that it shares with Linux" {
	run bed attack "$RANDOM" 300 60
	echo "$output"
	((status == 0))
	no_report
	no_leak
}

# bats test_tags=nightly
@test "many switches" {
	in_machine <<-'EOF'
	for ((i = 1; i <= $1; i++)); do
		first=$((1 + RANDOM % 5))
		on 500 "$first-$((first + 2))" "$((200 + RANDOM % 4 * 100))M"
		((i % 3)) || lwk hello >/dev/null || exit
		off 500
	done
	EOF
	no_report
	no_leak
}

# Linux has no memory for what the module asks for, at any place: a switch or a program fails or not, and
# nothing is left.
# bats test_tags=nightly
@test "switches and programs without memory for the module" {
	in_machine <<-'EOF'
	cd /sys/kernel/debug || exit
	test -e failslab || { echo 'expected a kernel with failslab, found none'; exit 1; }
	for kind in failslab fail_page_alloc; do
		echo Y >$kind/task-filter; echo -1 >$kind/times; echo N >$kind/ignore-gfp-wait
		echo 0 >$kind/verbose; echo 0 >$kind/probability
	done
	cd - >/dev/null
	fail() { for kind in failslab fail_page_alloc; do
			echo "$1" >"/sys/kernel/debug/$kind/probability"; done; }
	failing='echo 1 >/proc/self/make-it-fail; exec "$@"'
	for ((i = 1; i <= 20; i++)); do
		fail $((i % 4 + 1))
		bash -c "$failing" - switch-once on 506 "$(id -u user1)" 2-4 300M >record 2>&1
		fail 0
		switch-once off 506 >/dev/null; lwkctl reset >/dev/null || exit
	done
	on 507 2-4 400M
	for ((i = 1; i <= 20; i++)); do
		fail $((i % 4 + 1))
		bash -c "$failing" - $as_user1 timeout -s KILL 300 lwkexec processes >out 2>&1
		fail 0
		lwk hello >/dev/null || exit
	done
	off 507
	EOF
	no_report
	no_leak
}
