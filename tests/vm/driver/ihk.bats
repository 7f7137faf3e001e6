#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# IHK's interface: libihk.so over lwkpart.ko (contrib/ihk-compat), its tools, and the driver ihk, which
# uses the library for jobs.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/driver/.libs/ihk-calls" /root/ihk-calls
	bed modprobe lwkpart
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		lib=/usr/lib/slurm-lwk
		printf "\n[image mck]\nDriver=ihk\nPath=$lib/lwk.elf\nLibrary=$lib/ihk/libihk.so\nLauncher=$lib/ihk/mcexec\n
			[image none]\nDriver=ihk\nPath=$lib/lwk.elf\nLibrary=/usr/lib/none/libihk.so\n" >>/etc/slurm/lwk.conf
		echo "alias ihk-smp-x86_64 lwkpart" >/etc/modprobe.d/ihk-compat.conf'
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
	bed rm -f /etc/modprobe.d/ihk-compat.conf
	node_is_clean
}

@test "libihk's calls do and refuse what IHK's do and refuse" {
	run bed timeout 200 /root/ihk-calls /usr/lib/slurm-lwk/lwk.elf 4,5,6 1 "$(bed id -u user1)"
	grep -A1 '^not ok' <<<"$output" || true
	((status == 0))
	(($(grep -c '^ok' <<<"$output") > 300))
}

@test "a script for IHK's tools boots an LWK, a program runs there by mcexec, and all comes back" {
	# shellcheck disable=SC2016  # the machine's shell expands it
	run -0 bed bash -euc 'PATH+=:/usr/lib/slurm-lwk/ihk
		ihkconfig 0 reserve cpu 4-5
		ihkconfig 0 reserve mem 192M@1
		os=$(ihkconfig 0 create)
		ihkosctl "$os" assign cpu 4,5
		ihkosctl "$os" set ikc_map 4:0+5:1
		ihkosctl "$os" assign mem all@1
		ihkosctl "$os" load /usr/lib/slurm-lwk/lwk.elf
		ihkosctl "$os" kargs "hidos ksyslogd=0"
		ihkosctl "$os" boot
		ihkosctl "$os" get status
		ihkosctl "$os" kmsg
		mcexec "$os" uname -a
		mcexec -n 1 "$os" /opt/lwk-tests/exit-with 42 || echo "exit $?"
		ihkosctl "$os" get ikc_map
		ihkosctl "$os" shutdown
		ihkosctl "$os" get status
		ihkconfig 0 destroy "$os"
		ihkconfig 0 release mem all
		ihkconfig 0 release cpu 4-5
		ihkconfig 0 query cpu'
	echo "$output"
	[[ $output == *RUNNING*'2 CPUs'*'LWK'*'exit 42'*'4:0+5:1'*INACTIVE* ]]
}

@test "a job's LWK is booted by the driver ihk, its program starts by Launcher=, and all comes back" {
	# shellcheck disable=SC2016  # the task's shell expands it
	run -0 as user1 timeout 200 srun --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M \
		sh -c 'echo "$LWK_DEVICE $(uname -r)"'
	echo "$output"
	[[ $output == *'/dev/mcos0 '*+lwk* ]]
	node_is_clean
	run -0 bed grep -o '"driver":"ihk".*"memory":[0-9]*' /var/log/slurm-lwk/jobs.json
	[[ $output == *ihk/mcexec*'"memory":268435456'* ]]
}

@test "Driver=ihk without its library is refused at once, and lwkctl check says what to install" {
	refused 'expected IHK'"'"'s library /usr/lib/none/libihk.so, found none' 'install McKernel' -- \
		as user1 timeout 100 srun --lwk=none --ntasks=1 --cpus-per-task=2 --mem=320M true
	run bed lwkctl check
	echo "$output"
	[[ $output == *problem*library*'found none'*'install McKernel'* ]]
}
