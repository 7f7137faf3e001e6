#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
# also nightly: bookworm --release bookworm, servers
#
# Programs see the results of delegated calls that they would see on Linux, whether the module or the
# proxy carries the calls out.

load ../helpers

setup_file()
{
	prepare
	# A file system where user1 may write less than file-calls tries to.
	truncate -s 16M "$BATS_FILE_TMPDIR/quota.img"
	PATH=$PATH:/usr/sbin mke2fs -q -t ext4 -O quota -E quotatype=usrquota "$BATS_FILE_TMPDIR/quota.img"
	testbed put "$BATS_FILE_TMPDIR/quota.img" /root/quota.img
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed sh -ec 'modprobe loop; mkdir /run/quota; mount -o loop,usrquota /root/quota.img /run/quota
		chmod 1777 /run/quota; "$1"/set-quota "$(findmnt -no SOURCE /run/quota)" "$(id -u user1)" 600' \
		- "$programs"
}

teardown_file()
{
	bed sh -c 'umount /run/quota; rmdir /run/quota; rm /root/quota.img'
	node_is_clean
}

# file_calls HOW [COMMAND]...: prints the results of calls in the user's home, on tmpfs and under a quota.
file_calls()
{
	local how=$1
	shift
	local -a options=(-n1 -c2 --mem=256) program=("$@")

	if [[ $how == linux ]]; then
		program+=("$programs/file-calls")
	else
		options+=(--lwk --lwk-launch=none)
		program+=(lwkexec "$programs/file-calls")
	fi
	# shellcheck disable=SC2016  # the job's shell expands it
	as user1 env "LWK_CALLS=$how" srun "${options[@]}" \
		sh -c 'for directory in . /dev/shm /run/quota; do (cd $directory && "$@"); done' - "${program[@]}"
}

# kernel_calls [VARIABLE=VALUE]...: prints how many calls of a small program the module carried out.
kernel_calls()
{
	as user1 env "$@" srun --lwk -n1 -c2 --mem=256 \
		busybox cat /etc/hostname{,,,,,} /proc/self/lwk >"$BATS_TEST_TMPDIR/report"
	sed -n 's/^kernel_calls //p' "$BATS_TEST_TMPDIR/report"
}

# bats test_tags=servers
@test "calls on files return what they return on Linux, by a server, the module and the proxy" {
	file_calls linux >"$BATS_TEST_TMPDIR/linux"
	grep -q 'Broken pipe and Broken pipe' "$BATS_TEST_TMPDIR/linux"
	grep -q 'Disk quota exceeded' "$BATS_TEST_TMPDIR/linux"
	file_calls server >"$BATS_TEST_TMPDIR/server"
	diff "$BATS_TEST_TMPDIR/linux" "$BATS_TEST_TMPDIR/server"
	file_calls kernel >"$BATS_TEST_TMPDIR/kernel"
	diff "$BATS_TEST_TMPDIR/linux" "$BATS_TEST_TMPDIR/kernel"
	file_calls proxy >"$BATS_TEST_TMPDIR/proxy"
	diff "$BATS_TEST_TMPDIR/linux" "$BATS_TEST_TMPDIR/proxy"
}

@test "a seccomp filter applies to calls of the LWK, too" {
	file_calls linux "$programs/with-seccomp" >"$BATS_TEST_TMPDIR/linux"
	grep -q 'lseek(fd, 0, SEEK_SET): Operation not permitted' "$BATS_TEST_TMPDIR/linux"
	file_calls kernel "$programs/with-seccomp" >"$BATS_TEST_TMPDIR/kernel"
	diff "$BATS_TEST_TMPDIR/linux" "$BATS_TEST_TMPDIR/kernel"
}

# bats test_tags=nightly
@test "bad pointers in delegated calls return what they return on Linux" {
	# With all arguments 0 semctl and msgctl remove the object with the number 0, once.
	bed ipcrm --all
	local -a where=(--input=none -n1 -c2 --mem=256)

	as user1 srun "${where[@]}" "$programs/bad-pointers" >"$BATS_TEST_TMPDIR/linux"
	(($(grep -c 'Bad address' "$BATS_TEST_TMPDIR/linux") > 200))
	as user1 srun --lwk "${where[@]}" "$programs/bad-pointers" >"$BATS_TEST_TMPDIR/lwk"
	diff "$BATS_TEST_TMPDIR/linux" "$BATS_TEST_TMPDIR/lwk"
	node_is_clean
}

@test "the module carries calls out, unless LWK_CALLS or KernelCalls= turn that off" {
	run -0 --separate-stderr kernel_calls
	echo "kernel_calls: $output"
	[[ $output -ge 4 ]]
	run -0 --separate-stderr kernel_calls LWK_CALLS=proxy
	echo "kernel_calls: $output $stderr"
	[[ $output == 0 ]]
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		sed -i "s/^KernelCalls.*/KernelCalls = no/" /etc/slurm/lwk.conf'
	run -0 --separate-stderr kernel_calls
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
	echo "kernel_calls: $output"
	[[ $output == 0 ]]
}

# count_calls HOW [OPTION]...: has file-calls count who makes its calls, in $BATS_TEST_TMPDIR/report.
count_calls()
{
	as user1 env "LWK_CALLS=$1" srun --lwk -n1 -c2 --mem=256 "${@:2}" "$programs/file-calls" count \
		>"$BATS_TEST_TMPDIR/report"
}

# server_calls HOW: prints how many calls of a program that repeats calls a server made.
server_calls()
{
	count_calls "$1"
	sed -n 's/^server_calls //p' "$BATS_TEST_TMPDIR/report"
}

# by_server LEAST NAME...: true when a server made at least LEAST of the 100 calls of each of these names.
by_server()
{
	local least=$1 name made
	shift

	for name; do
		made=$(sed -n "s/^$name: \([0-9]*\) by a server\$/\1/p" "$BATS_TEST_TMPDIR/report" | sort -n | head -n 1)
		((made >= least)) || { echo "$name: $made by a server"; return 1; }
	done
}

# bats test_tags=servers
@test "servers make the calls that they can, unless LWK_CALLS or servers= turns that off; an idle one uses no CPU time" {
	run -0 --separate-stderr server_calls server
	echo "server_calls: $output $stderr"
	[[ $output -ge 800 ]]
	grep 'by a server' "$BATS_TEST_TMPDIR/report"
	by_server 60 read 'read two bytes' 'read over the end of a page' pread 'pread of a lot' readv \
		'readv of single bytes' preadv preadv2 lseek 'lseek back' 'lseek at the end' poll \
		'poll what is ready' zero null 'write null' eventfd 'write an eventfd'
	# Half of these calls are the proxy's, also of those below.
	by_server 40 'read a file and write to none by turns'
	count_calls server -D /dev/shm
	by_server 60 read pread readv preadv lseek 'read after each write'
	# A read that sets the time of access would wait for the disk. To find out takes a few calls.
	count_calls server -D /run/quota
	run ! by_server 20 'read after each write'
	run -0 --separate-stderr server_calls kernel
	[[ $output == 0 ]]
	bed sh -c 'echo N >/sys/module/lwkpart/parameters/servers'
	run -0 --separate-stderr server_calls server
	bed sh -c 'echo Y >/sys/module/lwkpart/parameters/servers'
	[[ $output == 0 ]]
	# A server sleeps while its program waits.
	# shellcheck disable=SC2016  # the machine's shell expands these
	run -0 as user1 srun --lwk -n1 -c2 --mem=256 --lwk-launch=none sh -c \
		'lwkexec "$1/file-calls" count sleep >report & until grep -q server_calls report; do sleep 0.1; done
		used() { cut -d" " -f1 "/proc/$!/schedstat"; }
		before=$(used); sleep 2; echo "idle: $((($(used) - before) / 20000000)) %"; kill $!' - "$programs"
	echo "$output"
	[[ $output == *'idle: 0 %' ]]
	node_is_clean
}

# bats test_tags=servers
@test "a listener that does not answer keeps waiting only whom it was asked about" {
	bed sh -ec 'mkdir /run/watched; mount -t tmpfs watched /run/watched
		head -c 4M /dev/zero >/run/watched/file'
	# Linux 6.12 asks only about files that are opened after the listener has come.
	job=$(submit user1 -n2 --mem=256 --lwk --wrap \
		"srun -n1 busybox wc $(yes /run/watched/file | head -n 500 | tr '\n' ' ')")
	# The command line has all of the user's where Slurm puts lwkexec in front of it, since 23.11.
	wait_for 60 bed pgrep -f '^/usr/bin/lwkexec (-- busybox )?wc'
	# The listener listens to the mount that the job sees, of which Linux 6.1 does not tell.
	# shellcheck disable=SC2016
	bed sh -c 'sleep 1; nsenter -m -t "$(pgrep -f "^/usr/bin/lwkexec (-- busybox )?wc")" \
		"$1/mute-listener" /run/watched >/run/listener.out 2>&1 &' - "$programs"
	# A server that was asked leaves the call to the proxy.
	wait_for 30 bed grep -qx 'asked by busybox' /run/listener.out
	bed scancel "$job"
	wait_for_job "$job"
	job_is "$job" JobState=CANCELLED
	bed sh -c 'cat /run/listener.out; pkill -x mute-listener
		umount /run/watched; rm -r /run/watched /run/listener.out'
	node_is_clean
}

# bats test_tags=nightly
@test "a proxy may be stopped in the middle of a call, and killed" {
	reader='^/usr/bin/lwkexec (-- busybox )?cat'
	job=$(submit user1 -n2 --mem=256 --lwk --wrap 'srun -n1 busybox cat /run/lwk-tests.pipe')
	bed sh -c 'rm -f /run/lwk-tests.pipe; mkfifo -m 644 /run/lwk-tests.pipe'
	wait_for 60 bed pgrep -f "$reader"
	bed sh -c 'sleep 1; pkill -STOP -f "$1"; sleep 1; pkill -CONT -f "$1"
		timeout 20 sh -c "echo text >/run/lwk-tests.pipe"' - "$reader"
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 job_output user1 "$job"
	[[ $output == text ]]

	job=$(submit user1 -n2 --mem=256 --lwk --wrap 'srun -n1 busybox cat /run/lwk-tests.pipe')
	wait_for 60 bed pgrep -f "$reader"
	bed sh -c 'sleep 1; pkill -KILL -f "$1"' - "$reader"
	wait_for_job "$job"
	job_is "$job" JobState=FAILED
	node_is_clean
}

# bats test_tags=servers,nightly
@test "proxies that are killed while a server reads for them keep nobody; the module stays while it serves" {
	job=$(submit user1 -n3 --mem=400 --lwk --lwk-launch=none <<-EOF
	#!/bin/bash
	lwkexec $programs/hammer 600 1 /usr/bin/busybox >other & other=\$!
	until grep -q begins other; do sleep 0.1; done
	for ((i = 0; i < 20; i++)); do
		lwkexec $programs/hammer 600 1 /usr/bin/busybox >killed & killed=\$!
		until grep -q begins killed; do sleep 0.1; done
		kill -KILL \$killed
		wait \$killed
	done
	kill -0 \$other && lwkexec $programs/hello && echo "all killed"
	wait
	EOF
	)
	wait_for 120 has_printed user1 "$job" 'all killed'
	run ! bed rmmod lwkpart
	[[ $output == *'in use'* ]]
	bed lwkctl reset
	wait_for 30 bed rmmod lwkpart
	wait_for_job "$job"
	run -0 as user1 srun --lwk -n1 -c2 --mem=256 "$programs/hello"
	node_is_clean
}

# mount_mute_files DIRECTORY [direct]: mounts the file system of mute-files.
mount_mute_files()
{
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed bash -ec 'modprobe fuse; mkdir "$2"
		"$1/mute-files" "${@:2}" >"$2.out" 2>&1 &
		for ((i = 0; i < 600; i++)); do
			! mountpoint -q "$2" || exit 0
			sleep 0.1
		done
		cat "$2.out"
		exit 1' - "$programs" "$@"
}

unmount_mute_files()
{
	bed sh -ec 'umount "$1"; rmdir "$1"; rm "$1.out"' - "$1"
}

# bats test_tags=servers,nightly
@test "a program reads what the program behind a file system does not let Linux keep" {
	mount_mute_files /run/direct direct
	as user1 head -c 100000 /run/direct/file | md5sum >"$BATS_TEST_TMPDIR/linux"
	for how in server kernel proxy; do
		as user1 env "LWK_CALLS=$how" srun --lwk -n1 -c2 --mem=256 busybox head -c 100000 /run/direct/file | md5sum
	done >"$BATS_TEST_TMPDIR/lwk"
	[[ $(uniq -c "$BATS_TEST_TMPDIR/lwk") == *" 3 $(<"$BATS_TEST_TMPDIR/linux")" ]]
	unmount_mute_files /run/direct
}

# calls JOB: prints how many calls the programs of the job have delegated.
calls()
{
	bed lwkctl stat "$1" --json | jq '[(.total // .).delegated_calls[]] | add'
}

more_calls() { (($(calls "$1") > $2 + 1000)); }

# bats test_tags=servers,nightly
@test "a file system that hangs keeps waiting only whom it hangs" {
	mount_mute_files /run/hanging
	job=$(submit user1 -n3 --mem=400 --lwk --lwk-launch=none <<-EOF
	#!/bin/bash
	lwkexec $programs/hammer 600 1 /run/hanging/file &
	lwkexec $programs/hammer 600 1 /usr/bin/busybox >other &
	until grep -q begins other; do sleep 0.1; done
	echo "both read"
	wait
	EOF
	)
	wait_for 90 has_printed user1 "$job" 'begins'
	wait_for 90 has_printed user1 "$job" 'both read'
	bed pkill -STOP -x mute-files
	before=$(calls "$job")
	wait_for 30 more_calls "$job" "$before"
	bed timeout 20 lwkctl freeze "$job"
	bed timeout 20 lwkctl thaw "$job"
	before=$(calls "$job")
	wait_for 30 more_calls "$job" "$before"
	bed pkill -CONT -x mute-files
	bed scancel "$job"
	wait_for_job "$job"
	unmount_mute_files /run/hanging
	node_is_clean
}

# bats test_tags=nightly
@test "a proxy that strace traces makes its calls itself, and the program goes on" {
	job=$(submit user1 -n2 --mem=256 --lwk --wrap 'srun -n1 busybox cat /run/lwk-tests.pipe')
	bed sh -c 'rm -f /run/lwk-tests.pipe; mkfifo -m 644 /run/lwk-tests.pipe'
	wait_for 60 bed pgrep -f '^/usr/bin/lwkexec (-- busybox )?cat'
	# shellcheck disable=SC2016  # the machine's shell expands these
	run -0 bed timeout 60 bash -ec 'exec 3>/run/lwk-tests.pipe
		proxy=$(pgrep -f "^/usr/bin/lwkexec (-- busybox )?cat")
		echo alone >&3
		sleep 1
		strace -f -e read,write -o /root/strace.out -p "$proxy" 2>/dev/null & strace=$!
		while grep -q "TracerPid:.0$" "/proc/$proxy/status"; do sleep 0.2; done
		echo watched >&3
		until grep -q "write(1, .* = 8" /root/strace.out; do sleep 0.2; done
		kill -INT "$strace"
		wait "$strace" || true
		echo "alone again" >&3
		cat /root/strace.out
		rm /root/strace.out'
	echo "$output"
	[[ $output == *'read('*' = 8'*'write(1, '*' = 8'* ]]
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 job_output user1 "$job"
	[[ $output == alone$'\n'watched$'\n''alone again' ]]
	node_is_clean
}

@test "a proxy that scribbles over its channel harms its own program only" {
	run as user1 srun --lwk --lwk-launch=none -n1 -c3 --mem=256 sh -c \
		'$1/evil-proxy /dev/lwk/[0-9]* && lwkexec $1/hello && lwkexec $1/hello' - "$programs"
	echo "$output"
	[[ $(grep -c ' LWK' <<<"$output") == 2 ]]
	node_is_clean
}

@test "slots that a proxy gets before their process has memory reach none, and threads run in them later" {
	run as user1 srun --lwk --lwk-launch=none -n1 -c3 --mem=256 sh -c \
		'$1/early-threads /dev/lwk/[0-9]* && lwkexec $1/hello' - "$programs"
	echo "$output"
	[[ $(grep -c ': right' <<<"$output") == 2 && $output == *' LWK'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "calls go on while the CPU that carries them out is off-line" {
	job=$(submit user1 -n2 --mem=256 --lwk --wrap \
		'srun -n1 busybox dd if=/dev/zero of=/dev/null bs=1 count=100000')
	wait_for 60 bed pgrep -f '^/usr/bin/lwkexec (-- busybox )?dd'
	cpu=$(bed lwkctl status --json | jq -r --argjson job "$job" \
		'.jobs[] | select(.job_id == $job) | .linux_cpus')
	bed sh -c 'sleep 1; chcpu -d "$1"; sleep 1; pgrep -f "^/usr/bin/lwkexec (-- busybox )?dd"; chcpu -e "$1"' - "$cpu"
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 job_output user1 "$job"
	[[ $output == *'100000+0 records out'* ]]
	node_is_clean
}
