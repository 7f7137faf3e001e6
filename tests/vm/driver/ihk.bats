#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
# also: bookworm --release bookworm, cgroups
#
# IHK's interface: libihk.so over lwkpart.ko (contrib/ihk-compat), its tools, and the driver ihk, which
# uses the library for jobs. contrib/mckernel/check runs the tests with the tag "real" on McKernel.

load ../helpers

# These are tested: a library, a launcher, a kernel and its arguments. A program there prints the signature.
ihk=/usr/lib/slurm-lwk/ihk
library=${IHK_LIBRARY:-$ihk/libihk.so}
launcher=${IHK_LAUNCHER:-$ihk/mcexec}
kernel=${IHK_KERNEL:-/usr/lib/slurm-lwk/lwk.elf}
kernel_args=${IHK_KERNEL_ARGS-}
sign=${IHK_SIGN:-uname -r}
signature=${IHK_SIGNATURE:-+lwk}

setup_file()
{
	prepare
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
	bed sh -c 'cat >>/etc/slurm/lwk.conf' <<-EOF

	[image mck]
	Driver=ihk
	Path=$kernel
	Library=$library
	Launcher=$launcher
	Args=$kernel_args

	[image none]
	Driver=ihk
	Path=$kernel
	Library=/usr/lib/none/libihk.so

	[image wrong]
	Driver=ihk
	Path=/bin/true
	Library=$library
	Launcher=$launcher
	EOF
	[[ ! ${IHK_LIBRARY-} ]] || return 0
	testbed put "$(built)/tests/vm/driver/.libs/ihk-calls" /root/ihk-calls
	bed sh -c 'modprobe lwkpart; echo "alias ihk-smp-x86_64 lwkpart" >/etc/modprobe.d/ihk-compat.conf'
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

# bats test_tags=real
@test "a job's LWK is booted by the driver ihk, its program starts by Launcher=, and all comes back" {
	# shellcheck disable=SC2016  # the machine's shell expands it, and the task's
	run -0 bed bash -euc 'cd /home/user1; touch waits; chown user1 waits
		runuser -u user1 -- timeout 200 srun --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M sh -c "
			echo \"\$LWK_DEVICE \$($1)\"; touch runs; while [ -e waits ]; do sleep 0.3; done" &
		job=$!
		until [ -e runs ] || ! kill -0 $job; do sleep 0.3; done
		lwkctl status
		sed -n "s/^Cpus_allowed_list:./guard on /p" "/proc/$(pgrep -f "lwkctl [g]uard")/status"
		lwkctl metrics | grep -E "^lwk_(lent_|processes)"
		lwkctl info "$(squeue -ho %A -n sh)" | grep ^processes
		rm -f waits runs
		wait $job' - "$sign"
	echo "$output"
	[[ $output == *'/dev/mcos0 '*"$signature"* ]]
	# The guard against panics wakes on an OS CPU, if slurmd's cgroup has no others, or on the job's.
	guard=$(sed -n 's/^guard on //p' <<<"$output")
	[[ $guard == 0 || $output == *"with Linux $guard"$'\n'* ]]
	# The number of processes, which IHK does not tell, is unknown.
	[[ $output == *'processes  unknown'* && $output != *lwk_processes* ]]
	# The ledger of lwkpart.ko has what the library below the driver has lent, too.
	[[ $output == *'lent in all: 1 CPUs, 256 MB'*'lwk_lent_cpus 1'*'lwk_lent_memory_bytes'*' 268435456'* ]]
	node_is_clean
	run -0 bed grep -o '"driver":"ihk".*"memory":[0-9]*' /var/log/slurm-lwk/jobs.json
	[[ $output == *"$launcher"*'"memory":268435456'* ]]
}

# bats test_tags=cgroups
@test "the limits of proxies hold for the tasks of a job with the driver ihk" {
	bed sh -c 'cd /etc/slurm && cp -p lwk.conf /root/lwk.conf.limits &&
		sed -i "/^Proxy\(Memory\|Pids\) *=/d; 0,/^Boot/s//ProxyMemory = 64M\nProxyPids = 200\nBoot/" lwk.conf'
	# shellcheck disable=SC2016  # the task's shell expands it
	run -0 as user1 timeout 200 srun --lwk=mck --lwk-launch=none --ntasks=1 --cpus-per-task=2 --mem=320M sh -c '
		grep Cpus_allowed_list /proc/self/status
		if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
			group=$(sed -n "s/^0:://p" /proc/self/cgroup)
			cat "/sys/fs/cgroup${group%/task_*}/memory.max" "/sys/fs/cgroup${group%%/step_*}/pids.max"
		else
			cd /sys/fs/cgroup
			cat "memory$(sed -n "s/.*:memory://p" /proc/self/cgroup)/memory.limit_in_bytes"
			cat "pids$(sed -n "s/.*:pids://p" /proc/self/cgroup)/pids.max"
		fi
		lwkctl status'
	echo "$output"
	[[ ${lines[1]} == $((64 << 20)) && ${lines[2]} == 200 ]]
	cpus=${lines[0]##*[[:space:]]}
	[[ $output == *"with Linux $cpus"* ]]
	bed mv /root/lwk.conf.limits /etc/slurm/lwk.conf
	node_is_clean
}

# bats test_tags=nightly
@test "two jobs have an instance each, and the end of one leaves the other alone" {
	# shellcheck disable=SC2016  # the machine's shell expands it, and the task's
	run -0 bed bash -euc 'cd /home/user1
		for n in 1 2; do
			touch waits$n; chown user1 waits$n
			runuser -u user1 -- timeout 300 srun --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M sh -c "
				echo \"$n \$LWK_DEVICE\"; touch runs$n; while [ -e waits$n ]; do sleep 0.3; done
				echo \"$n ends on \$($1)\"" &
			jobs[n]=$!
		done
		until [ -e runs1 ] && [ -e runs2 ] || ! kill -0 ${jobs[1]} || ! kill -0 ${jobs[2]}; do sleep 0.3; done
		lwkctl status | grep "lent in all"
		rm waits1
		wait ${jobs[1]}
		timeout 120 sh -c "until lwkctl status | grep \"lent in all: 1 CPUs\"; do sleep 0.3; done"
		rm -f waits2
		wait ${jobs[2]}
		rm -f runs1 runs2' - "$sign"
	echo "$output"
	[[ $output == *'1 /dev/mcos'*'1 ends on '*"$signature"* && $output == *'2 /dev/mcos'*'2 ends on '*"$signature"* ]]
	(($(grep -o '/dev/mcos[0-9]*' <<<"$output" | sort -u | wc -l) == 2))
	[[ $output == *'lent in all: 2 CPUs, 512 MB'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "when mcreboot.sh's commands remove a job's instance, the job ends and all comes back" {
	# shellcheck disable=SC2016  # the machine's shell expands it, and the task's
	run bed bash -uc 'cd /home/user1; touch waits; chown user1 waits
		runuser -u user1 -- timeout 200 srun --lwk=mck --ntasks=1 --cpus-per-task=2 --mem=320M sh -c "
			touch runs; while [ -e waits ]; do sleep 0.3; done" &
		job=$!
		until [ -e runs ] || ! kill -0 $job; do sleep 0.3; done
		PATH+=:/usr/lib/slurm-lwk/ihk
		ihkosctl 0 shutdown && ihkconfig 0 destroy 0 && echo removed
		wait $job || echo "job $?"
		rm -f runs waits'
	echo "$output"
	[[ $output == *removed*'job '[1-9]* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "an image that is no kernel of IHK's is refused, with what to write" {
	refused '/bin/true' 'no kernel' -- \
		as user1 timeout 100 srun --lwk=wrong --ntasks=1 --cpus-per-task=2 --mem=320M true
	node_is_clean
}

@test "mcexec-task tells mcexec the instance, how many tasks share it, and what to load in front" {
	run -0 bed sh -c 'printf "#!/bin/sh\necho mcexec \"\$@\" preload \$MCKERNEL_LD_PRELOAD\n" >/run/mcexec
		chmod +x /run/mcexec
		export LWK_MCEXEC=/run/mcexec OMP_NUM_THREADS=4 LWK_DEVICE=/dev/mcos3
		export "SLURM_STEP_TASKS_PER_NODE=2(x3),1"
		task=/usr/lib/slurm-lwk/mcexec-task
		SLURM_NODEID=2 $task -- prog -x
		LD_PRELOAD=libm.so.6 SLURM_NODEID=3 LWK_ARGV0=prog $task -x
		LWK_DEVICE=/dev/lwk/0 $task -- prog || echo "exit $?"'
	echo "$output"
	[[ ${lines[0]} == 'mcexec -n 2 3 prog -x preload' && ${lines[1]} == 'mcexec 3 prog -x preload libm.so.6' ]]
	[[ $output == *'exit 125'* && $output == *'expected LWK_DEVICE=/dev/mcosN'* ]]
}

# bats test_tags=real
@test "Driver=ihk without its library is refused at once, and lwkctl check says what to install" {
	refused 'expected IHK'"'"'s library /usr/lib/none/libihk.so, found none' 'install McKernel' -- \
		as user1 timeout 100 srun --lwk=none --ntasks=1 --cpus-per-task=2 --mem=320M true
	run bed lwkctl check
	echo "$output"
	[[ $output == *problem*library*'found none'*'install McKernel'* ]]
}
