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

teardown()
{
	bed sh -c 'pkill -CONT -f "^/usr/bin/lwkexec "; squeue -h -o %A | xargs -r scancel; rm -f /run/lwk-tests.[fgp]*'
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

# starts TEXT ARGUMENT...: has user1 run a program on a CPU of an LWK, until it has printed TEXT. Sets $job, and $cpu
# to Linux's number of that CPU.
starts()
{
	job=$(submit user1 -n1 -c2 --mem=300 --lwk --wrap "srun ${*:2}")
	wait_for 60 has_printed user1 "$job" "$1"
	cpu=$(bed cat "/run/slurm-lwk/jobs/$job.json" | jq -r .lwk_cpus)
}

# flags: prints the flags of that CPU, in hexadecimal, and its mode: 0 is the kernel's, 3 a program's.
flags()
{
	testbed monitor info registers -a |
		sed -n "/^CPU#$cpu\$/,/RFL=/ s/.*RFL=\([0-9a-f]*\).*CPL=\([0-9]\).*/\1 \2/p"
}

# is_in MODE [AC]: true when the CPU is in this mode, and its flag AC is AC.
is_in()
{
	local now mode

	read -r now mode < <(flags)
	echo "flags $now, mode $mode"
	[[ $mode == "$1" ]] || return
	[[ -z ${2-} ]] || (((0x$now >> 18 & 1) == $2))
}

# stays_in_kernel: true when the CPU is in the LWK's kernel each time that one looks.
stays_in_kernel()
{
	is_in 0 && is_in 0 && is_in 0 && is_in 0
}

# bats test_tags=nightly
@test "the LWK's kernel does not take over a program's flag AC, in calls and in faults" {
	bed grep -qw smap /proc/cpuinfo || skip "the CPUs do not protect programs' memory from the kernel"
	for how in call fault; do
		bed sh -c 'head -c 4096 /dev/zero >/run/lwk-tests.go; cp /run/lwk-tests.go /run/lwk-tests.file'
		starts spins "$programs/set-ac" "$how" /run/lwk-tests.go /run/lwk-tests.file
		wait_for 30 is_in 3 1
		signal=USR1
		if [[ $how == fault ]]; then
			# A page of a file is there only when the proxy has pinned it.
			bed pkill -STOP -f '^/usr/bin/lwkexec .*set-ac'
			signal=CONT
		fi
		bed sh -c 'printf 1 | dd of=/run/lwk-tests.go conv=notrunc status=none'
		wait_for 60 stays_in_kernel
		is_in 0 0
		bed pkill "-$signal" -f '^/usr/bin/lwkexec .*set-ac'
		wait_for_job "$job"
		run -0 job_output user1 "$job"
		[[ $output == *over* ]]
	done
	node_is_clean
}

# debug COMMAND...: runs gdb's commands in the LWK's kernel, while the whole machine stands still.
debug()
{
	local socket=$BATS_TEST_TMPDIR/gdb commands=() command

	for command; do
		commands+=(-ex "$command")
	done
	testbed monitor gdbserver "unix:$socket,server=on,wait=off"
	gdb -nx -batch -ex "target remote $socket" -ex "thread $((cpu + 1))" "${commands[@]}" -ex detach \
		"$(built)/kmod/lwk/lwk.elf" 2>&1
	testbed monitor gdbserver none
}

# waits_in_call: starts a program that reads from a pipe, and returns when it waits. Prints the stack
# protector's value.
waits_in_call()
{
	bed sh -c 'rm -f /run/lwk-tests.pipe; mkfifo -m 644 /run/lwk-tests.pipe'
	starts waiting "busybox sh -c 'echo waiting; read line </run/lwk-tests.pipe; echo over'"
	wait_for 60 stays_in_kernel
	guard=$(debug 'print/x __stack_chk_guard' | sed -n 's/^$1 = 0x//p')
	echo "guard $guard"
}

# bats test_tags=nightly
@test "a function of the LWK's kernel that wrote beyond its part of the stack is its last one" {
	waits_in_call
	bed timeout 20 sh -c 'echo >/run/lwk-tests.pipe'
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	[[ $output == *over* ]]
	first=$guard
	# Nobody can foresee the value. Its zero byte ends strings.
	waits_in_call
	[[ ${#first} -gt 8 && $first == *00 && $guard == *00 && $guard != "$first" ]]
	# To the functions that have begun, this is as if each had written over its copy.
	debug 'set var __stack_chk_guard = 1'
	bed timeout 20 sh -c 'echo >/run/lwk-tests.pipe'
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	echo "$output"
	[[ $output == *'CPU 0: a function wrote beyond its part of the stack'* && $output != *over* ]]
	node_is_clean
}
