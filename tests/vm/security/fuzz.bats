#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Random requests of the devices, random packets for an LWK, random system calls of its programs, and an
# LWK image that writes nonsense into what it shares with Linux, harm no other program: the machine goes on,
# LWKs work, and Linux gets back all that it lent. Each test prints its seed.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
	testbed put "$(built)/tests/vm/hostile-image/hostile.elf" /usr/lib/slurm-lwk/hostile.elf
	testbed put "$top/tests/vm/hostile-image/attack" /usr/local/bin/attack
}

teardown()
{
	bed lwkctl reset
}

# The first lines of a script for bash in the machine, with the seed as $1 and seconds as $2.
script='
	export PATH=$PATH:/opt/lwk-tests
	as_user1="setpriv --reuid user1 --regid user1 --clear-groups"
	cd "$(mktemp -d)" && chmod 777 . || exit
	echo "seed $1"
	# on JOB USER CPUS: makes an instance without Slurm; prints its device.
	on() { switch-once on "$1" "$(id -u "$2")" "$3" 300M >record; grep -o "/dev/lwk/[0-9]*" record || cat record >&2; }
	off() { switch-once off "$1" >/dev/null; }'

# fuzz: runs the script on standard input in the machine.
fuzz()
{
	run -0 bed bash -s "$RANDOM" "$(times 8 300)" < <(echo "$script"; cat)
	echo "$output"
}

@test "random requests of a device by its owner" {
	fuzz <<-'EOF'
	device=$(on 410 user1 2-3)
	other=$(on 411 user2 4-5)
	timeout 600 $as_user1 fuzz-devices "$1" "$2" "$device" "$other" /dev/lwkpart
	setpriv --reuid user2 --regid user2 --clear-groups env LWK_DEVICE="$other" lwkexec hello
	off 410
	device=$(on 412 user1 2-3)
	$as_user1 env LWK_DEVICE="$device" lwkexec hello
	off 412
	off 411
	EOF
	# The output says whether a server makes one of the calls; that is up to chance.
	[[ $(grep -c '^[1-9][0-9]* calls' <<<"$output") == 3 ]]
	[[ $(grep -c '^kernel=.* LWK' <<<"$output") == 2 ]]
	node_is_clean
}

@test "random requests of a device by its owner, whose LWK ends at any moment" {
	fuzz <<-'EOF'
	for ((end = SECONDS + $2; SECONDS < end; )); do
		device=$(on 420 user1 2-3)
		((++rounds))
		$as_user1 fuzz-devices "$((rounds + $1))" 60 "$device" >/dev/null &
		sleep "0.$((RANDOM % 10))"
		off 420 || exit
		pkill -KILL -u user1
		wait
	done
	echo "$rounds rounds"
	device=$(on 421 user1 2-3)
	$as_user1 env LWK_DEVICE="$device" lwkexec hello
	off 421
	EOF
	[[ $output =~ [1-9][0-9]*\ rounds && $output == *' LWK'* ]]
	node_is_clean
}

@test "random requests of the devices by root" {
	fuzz <<-'EOF'
	device=$(on 413 user1 4-5)
	timeout 600 fuzz-devices "$1" "$2" "$device" /dev/lwkpart /dev/lwkpart
	lwkctl reset >/dev/null
	device=$(on 414 user1 4-5)
	$as_user1 env LWK_DEVICE="$device" lwkexec hello
	off 414
	EOF
	[[ $(grep -c '^[1-9][0-9]* calls' <<<"$output") == 3 ]]
	[[ $(grep -c '^kernel=.* LWK' <<<"$output") == 1 ]]
	node_is_clean
}

@test "random system calls of programs on the LWK" {
	fuzz <<-'EOF'
	device=$(on 415 user1 4-5)
	export LWK_DEVICE=$device
	for ((end = SECONDS + $2; SECONDS < end; )); do
		timeout -s KILL 60 $as_user1 lwkexec fuzz-calls "$((++run + $1))" 2 </dev/null >/dev/null 2>&1
		status=$?
		# One that cannot begin has a status of its own.
		((status && status < 128)) || ((++ran))
		# A child of the fuzzer that lives on would keep the CPU.
		while pkill -KILL -u user1; do sleep 0.1; done
		$as_user1 lwkexec hello || exit
	done
	echo "$ran of $run fuzzers ran"
	lwkctl info 415
	off 415
	EOF
	[[ $(grep -c '^kernel=.* LWK' <<<"$output") -ge 1 && $output == *running* ]]
	[[ $output =~ [1-9][0-9]*\ of\ [0-9]+\ fuzzers\ ran ]]
	node_is_clean
}

@test "pages of files that are granted while their proxy changes its mappings" {
	fuzz <<-'EOF'
	device=$(on 416 user1 4-5)
	timeout 600 $as_user1 fuzz-grants "$1" "$2" "$device"
	$as_user1 env LWK_DEVICE="$device" lwkexec hello
	off 416
	EOF
	[[ $(grep -c '^kernel=.* LWK' <<<"$output") == 1 ]]
	for kind in memfd tmpfs disk read-only anonymous; do
		[[ $output =~ $kind\ [1-9] ]] || { echo "expected pages of $kind"; return 1; }
	done
	node_is_clean
}

@test "a proxy that has started another program gets no pages of files for its process" {
	fuzz <<-'EOF'
	device=$(on 417 user1 4-5)
	timeout 60 $as_user1 fuzz-grants again "$device"
	off 417
	EOF
	[[ $output == *'before: granted'*'after: refused'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "an image that writes nonsense into all that it shares with Linux" {
	run bed attack "$RANDOM" "$(times 8 600)"
	echo "$output"
	((status == 0))
	[[ $output =~ [1-9][0-9]*\ rounds,\ [1-9] ]]
	node_is_clean
}
