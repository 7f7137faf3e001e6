#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
# also nightly: bookworm --release bookworm, cgroups
#
# Proxies stay within their limits: the CPUs, memory, CPU time and processes of Linux that the
# programs of an LWK job may use.

load ../helpers

setup_file()
{
	prepare
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.proxies
}

teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel; rm -f /dev/shm/proxies.*
		cp -p /root/lwk.conf.proxies /etc/slurm/lwk.conf'
}

version_2()
{
	bed test -e /sys/fs/cgroup/cgroup.controllers
}

# configure 'KEY = VALUE'...: sets them in lwk.conf.
configure()
{
	local setting

	for setting; do
		bed sh -c "sed -i '/^${setting%% *} *=/d' /etc/slurm/lwk.conf
			printf '[node]\n%s\n' '$setting' >>/etc/slurm/lwk.conf"
	done
}

# limit JOB STEP CONTROLLER FILE: prints the file of the job's cgroup, with either version.
limit()
{
	local job=$1 step=$2 controller=$3 file=$4

	if version_2; then
		bed sh -c "cd /sys/fs/cgroup/system.slice/*slurmstepd.scope/job_$job && cat $step$file"
	else
		bed sh -c "cd /sys/fs/cgroup/$controller/slurm-lwk && cat job_$job/$file 2>/dev/null || cat shared/job_$job/$file"
	fi
}

# proxies USER: prints this user's processes that are proxies.
proxies()
{
	bed sh -c "for p in \$(pgrep -u $1); do
		ls -l /proc/\$p/fd 2>/dev/null | grep -q /dev/lwk/ && echo \$p; done; true"
}

n_proxies()
{
	(($(proxies "$1" | wc -l) == $2))
}

no_group_is_left()
{
	node_is_clean
	# shellcheck disable=SC2016
	[[ -z $(bed sh -c 'find /sys/fs/cgroup -name "slurm-lwk*"') ]]
}

# bats test_tags=cgroups,version-1
@test "proxies of srun and of the batch script are in the job's cgroups, and in Slurm's" {
	job=$(submit user1 -n5 --mem=512 --lwk <<-EOF
	#!/bin/sh
	lwkexec $programs/sleeper 600 &
	srun -n3 $programs/sleeper 600
	EOF
	)
	wait_for 90 n_proxies user1 4
	for pid in $(proxies user1); do
		run -0 bed cat "/proc/$pid/cgroup"
		for controller in cpuset cpu memory pids; do
			[[ $(grep -E "[:,]${controller}[,:]" <<<"$output") == *":/slurm-lwk/job_$job" ]] ||
				{ echo "$controller of $pid: $output"; return 1; }
		done
		[[ $(grep :freezer: <<<"$output") == *"/job_$job/step_"* ]]
		linux=$(bed sh -c "grep -o '\"linux_cpus\":\"[0-9]*' /run/slurm-lwk/jobs/$job.json | grep -o '[0-9]*\$'")
		run -0 bed taskset -cp "$pid"
		[[ $output == *"list: $linux" ]]
	done
	[[ $(limit "$job" '' memory memory.limit_in_bytes) == $((128 << 20)) ]]
	[[ $(limit "$job" '' pids pids.max) == 1024 ]]
	[[ $(limit "$job" '' cpuset cpuset.cpus) == "$linux" ]]
	# srun and the shell are no proxies.
	run -0 bed sh -c 'wc -l <"$1"' - "/sys/fs/cgroup/pids/slurm-lwk/job_$job/cgroup.procs"
	[[ $output == 4 ]]
	bed scancel "$job"
	wait_for_job "$job"
	wait_for 30 n_proxies user1 0
	no_group_is_left
}

# bats test_tags=cgroups
@test "proxies have the limits of lwk.conf and of the job" {
	configure 'ProxyMemory = 64M' 'ProxyPids = 200'
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n2 $programs/sleeper 600")
	wait_for 90 n_proxies user1 2
	if version_2; then
		[[ $(limit "$job" step_0/user/ memory memory.max) == $((64 << 20)) ]]
	else
		[[ $(limit "$job" '' memory memory.limit_in_bytes) == $((64 << 20)) ]]
	fi
	[[ $(limit "$job" '' pids pids.max) == 200 ]]
	[[ $(limit "$job" step_0/user/ cpuset cpuset.mems) == 0 ]]
	run -0 bed lwkctl status --json
	[[ $(jq '.jobs[0].proxies.memory' <<<"$output") == $((64 << 20)) ]]
	bed scancel "$job"
	wait_for_job "$job"
	no_group_is_left
}

# bats test_tags=cgroups
@test "over the memory limit only proxies of that job are killed, and the output says why" {
	other=$(submit user2 -n2 --mem=256 --lwk --wrap "srun -n1 $programs/sleeper 600")
	wait_for 90 has_printed user2 "$other" kernel=slurm-lwk
	job=$(submit user1 -n3 --mem=600 --lwk --lwk-mem=192M <<-EOF
	#!/bin/sh
	srun -n1 $programs/fill-file /dev/shm/proxies.a 250
	echo "the script goes on"
	rm /dev/shm/proxies.a
	EOF
	)
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	echo "$output"
	[[ $output == *'their limit of 128 MB'*'--lwk-proxy-mem=SIZE'*'up to 1024M'* ]]
	[[ $output == *'the script goes on'* && $output != *'wrote'* ]]
	job_is "$other" JobState=RUNNING
	forget_kills 1
	run -0 as user1 srun -n1 -c3 --mem=600 --lwk --lwk-mem=192M --lwk-proxy-mem=400M \
		"$programs/fill-file" /dev/shm/proxies.b 250
	[[ $output == *'wrote 250 MB'* ]]
	bed scancel "$other"
	wait_for_job "$other"
	no_group_is_left
}

# bats test_tags=cgroups,nightly
@test "memory of the LWK does not count against the proxies' limit" {
	# Slurm's accounting charges it to the proxies all the same.
	job=$(submit user1 -n2 --mem=512 --lwk --lwk-proxy-mem=8M --wrap \
		"srun -n1 $programs/eat-memory; srun -n1 $programs/hello")
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	echo "$output"
	# The LWK has ended the program, not Linux.
	[[ $output != *'their limit'* && $output == *kernel=slurm-lwk* ]]
	forget_kills 0
	no_group_is_left
}

# bats test_tags=cgroups
@test "a proxy cannot leave its cgroups" {
	run -0 as user1 srun -n1 -c2 --mem=300 --lwk "$programs/escape"
	echo "$output"
	[[ $(sed -n 's/^tried //p' <<<"$output") -gt 5 ]]
	before=$(grep '^cgroup' <<<"$output" | head -n "$(($(grep -c '^cgroup' <<<"$output") / 2))")
	after=$(grep '^cgroup' <<<"$output" | tail -n "$(($(grep -c '^cgroup' <<<"$output") / 2))")
	for controller in cpuset cpu memory pids ''; do
		[[ $(grep -E "[:,]${controller}[,:]" <<<"$before") == "$(grep -E "[:,]${controller}[,:]" <<<"$after")" ]]
	done
	no_group_is_left
}

# bats test_tags=cgroups,version-1
@test "cgroups that a user has made in his job's are gone before he has proxies" {
	job=$(submit user1 -n3 --mem=512 --lwk <<-EOF
	#!/bin/sh
	echo waits
	until [ -e /dev/shm/proxies.made ]; do sleep 0.1; done
	srun -n1 $programs/sleeper 600
	EOF
	)
	wait_for 90 has_printed user1 "$job" waits
	batch=$(bed sh -c "echo /sys/fs/cgroup/freezer/slurm*/uid_*/job_$job/step_batch")
	# Slurm gives it to the user for a moment. Cgroups in each other make a path that is too long for any call.
	bed chown user1 "$batch"
	# shellcheck disable=SC2016  # Perl's
	as user1 sh -c 'exec setsid perl -e '\''chdir shift; my $name = "x" x 250;
		for (1 .. 17) { mkdir $name; chdir $name or die }
		open my $file, ">", "cgroup.procs" or die; syswrite $file, 0 or die;
		open my $made, ">", "/dev/shm/proxies.made"; print $made $$; close $made;
		sleep 600'\'' "$1" >/dev/null 2>&1 </dev/null &' - "$batch"
	wait_for 90 n_proxies user1 1
	run -0 bed sh -c 'stat -c %U "$1"; find "${1%/*}" -name "xxx*" | wc -l; grep :freezer: "/proc/$(cat /dev/shm/proxies.made)/cgroup"' - "$batch"
	echo "$output"
	[[ ${lines[0]} == root && ${lines[1]} == 0 && ${lines[2]} == *"/job_$job/step_batch" ]]
	bed scancel "$job"
	wait_for_job "$job"
	no_group_is_left
}

# bats test_tags=cgroups,nightly
@test "limits that cannot be set are refused with the reason, and change nothing" {
	run ! as user1 srun -n2 --lwk --lwk-proxy-mem=0 "$programs/hello"
	[[ $output == *'--lwk-proxy-mem: expected a size with its unit, of 8M at least'*'found "0"'* ]]
	for bad in -64M 64 64Q 1M 99999999999T; do
		run ! as user1 srun -n2 --lwk --lwk-proxy-mem=$bad "$programs/hello"
		[[ $output == *'--lwk-proxy-mem: expected a size'*"found \"$bad\""* ]] || { echo "$bad: $output"; return 1; }
	done
	refused 'expected --lwk-proxy-mem with --lwk' 'found it alone' -- as user1 srun --lwk-proxy-mem=64M true
	refused 'expected --lwk-proxy-mem of 2 GB' "this site's maximum" '1 GB' -- \
		as user1 srun -n2 --mem=300 --lwk --lwk-proxy-mem=2G "$programs/hello"
	configure 'ProxyMemory = 1T' 'ProxyMemoryMax = 1T'
	refused 'expected a limit of 1 TB' 'this machine has only' 'ProxyMemory=' -- \
		as user1 srun -n2 --mem=300 --lwk "$programs/hello"
	for bad in 'ProxyMemory = 0' 'ProxyMemory = -1' 'ProxyCpu = 0%' 'ProxyCpu = 50' 'ProxyCpu = 101%' \
		'ProxyWeight = 0%' 'ProxyWeight = -5%' 'ProxyWeight = 2048' \
		'ProxyPids = 0' 'ProxyPids = many' 'ProxyLimits = maybe' 'ProxyMemory = 2G'; do
		bed cp -p /root/lwk.conf.proxies /etc/slurm/lwk.conf
		configure "$bad"
		run bed lwkctl check
		[[ $output == *'problem config'*expected* && $output == *"${bad%% *}"* ]] || { echo "$bad: $output"; return 1; }
	done
	no_group_is_left
}

# bats test_tags=cgroups,version-1,nightly
@test "a job without a mounted controller is refused or runs, as ProxyLimits= says" {
	bed umount /sys/fs/cgroup/pids
	configure 'ProxyLimits = require'
	run bed lwkctl check
	[[ $output == *'problem limits'*'lacks pids'* ]]
	run as user1 srun -n2 --mem=300 --lwk "$programs/hello"
	echo "$output"
	((status != 0))
	[[ $output == *'ProxyLimits=require'*'this node lacks pids'*'ProxyLimits=available'* ]]
	bed cp -p /root/lwk.conf.proxies /etc/slurm/lwk.conf
	run bed lwkctl check
	((status == 0))
	[[ $output == *'note    limits'*'lacks pids'* ]]
	run -0 as user1 srun -n1 -c2 --mem=300 --lwk "$programs/hello"
	bed mount -t cgroup -o nosuid,nodev,noexec,pids cgroup /sys/fs/cgroup/pids
	run -0 bed lwkctl check
	[[ $output == *'fine    limits'* ]]
	no_group_is_left
}

# bats test_tags=cgroups,version-2,nightly
@test "a job without a controller that Slurm lacks is refused or runs, as ProxyLimits= says" {
	# Slurm itself does not use the controller pids.
	bed sh -c 'cd /sys/fs/cgroup/system.slice && for group in *slurmstepd.scope .; do
		echo -pids >"$group/cgroup.subtree_control"; done'
	configure 'ProxyLimits = require'
	run as user1 srun -n2 --mem=300 --lwk "$programs/hello"
	echo "$output"
	((status != 0))
	[[ $output == *'pids.max cannot be set'*'Delegate=yes in slurmd.service'*'ProxyLimits=available'* ]]
	[[ $output != *kernel=slurm-lwk* ]]
	bed cp -p /root/lwk.conf.proxies /etc/slurm/lwk.conf
	run -0 as user1 srun -n1 -c2 --mem=300 --lwk "$programs/hello"
	[[ $output == *kernel=slurm-lwk* ]]
	bed sh -c 'echo +pids >/sys/fs/cgroup/system.slice/cgroup.subtree_control'
	configure 'ProxyLimits = require'
	run -0 as user1 srun -n1 -c2 --mem=300 --lwk "$programs/hello"
	no_group_is_left
}

restart_slurm()
{
	for daemon in slurmctld slurmd; do
		stop_daemon $daemon
		start_daemon $daemon
	done
	wait_for 60 bed sh -c 'scontrol ping && sinfo -h -o %T | grep -qx idle'
}

# cpu_us JOB: prints the time in seconds, before and after it read the CPU time of the job's proxies, and that in
# microseconds.
cpu_us()
{
	local used="sed -n 's/^usage_usec //p' /sys/fs/cgroup/system.slice/*slurmstepd.scope/job_$1/cpu.stat"

	version_2 || used="awk '{ printf \"%d\\n\", \$1 / 1000 }' /sys/fs/cgroup/cpuacct/slurm-lwk/shared/job_$1/cpuacct.usage"
	bed sh -c 'used=$(cut -d " " -f 1 /proc/uptime; eval "$1"); cut -d " " -f 1 /proc/uptime; echo "$used"' - "$used" |
		tr '\n' ' '
}

# threads_in_cgroups USER JOB: prints the threads of this user's proxies; fails when one is not in the
# cgroups of its job.
threads_in_cgroups()
{
	local pid

	for pid in $(proxies "$1"); do
		# shellcheck disable=SC2016  # the machine's shell expands these
		bed sh -c 'for thread in /proc/$1/task/*; do
			if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
				grep -q "^0::.*/job_$2/step_" "$thread/cgroup" || exit 1
			else
				[ "$(grep -cE ":[^:]*(cpuset|cpu|memory|pids)[^:]*:/slurm-lwk/shared/job_$2\$" "$thread/cgroup")" = 4 ] || exit 1
			fi
			echo "$thread"
		done' - "$pid" "$2" || { echo "proxy $pid: not in its cgroups"; return 1; }
	done
}

# From now on proxies run on the OS core, until take_os_core().
share_os_core()
{
	bed sh -s <<-'EOF'
	cp -p /etc/slurm/slurm.conf /root/slurm.conf.before
	sed -i 's/^TaskPlugin=.*/TaskPlugin=task\/cgroup/' /etc/slurm/slurm.conf
	sed -i 's/^LinuxCpus *=.*/LinuxCpus = 0/' /etc/slurm/lwk.conf
	EOF
	restart_slurm
}

take_os_core()
{
	bed mv /root/slurm.conf.before /etc/slurm/slurm.conf
	restart_slurm
}

# throttled JOB: prints how often Linux has stopped the proxies because their quota was used up.
throttled()
{
	if version_2; then
		bed sh -c "sed -n 's/^nr_throttled //p' /sys/fs/cgroup/system.slice/*slurmstepd.scope/job_$1/cpu.stat"
	else
		bed sed -n 's/^nr_throttled //p' /sys/fs/cgroup/cpu/slurm-lwk/shared/cpu.stat
	fi
}

# bats test_tags=cgroups,nightly
@test "looking for the calls of a program that makes few does not use up its proxy's quota" {
	share_os_core
	job=$(submit user1 -n2 --mem=256 --lwk --wrap "srun -n1 $programs/seldom 6 100; sleep 600")
	wait_for 90 has_printed user1 "$job" begins
	before=$(throttled "$job")
	wait_for 60 has_printed user1 "$job" '^calls'
	after=$(throttled "$job")
	calls=$(job_output user1 "$job" | sed -n 's/^calls //p')
	bed scancel "$job"
	wait_for_job "$job"
	take_os_core
	echo "# stopped $((after - before)) times in 60 periods, $calls calls" >&3
	# A program on a busy host makes few calls, and shows nothing.
	((after - before <= 12 && calls >= 6000))
	no_group_is_left
}

# bats test_tags=cgroups,nightly
@test "proxies of two jobs on the OS core keep to half of it, in equal parts" {
	share_os_core
	# Each of six programs that do nothing but system calls gets a fair share.
	run as user1 srun -n6 --lwk --mem=512 "$programs/hammer" 20
	echo "$output"
	# shellcheck disable=SC2016  # awk's
	awk '$1 == "calls" { sum += $2; n++; if (n == 1 || $2 < least) least = $2 }
		/^by a server/ { served += $4 }
		END { exit !(n == 6 && least >= sum / n / 4 && served > sum / 2) }' <<<"$output"
	# One job has a thread on each LWK CPU, the other one a program: all do nothing but system calls.
	a=$(submit user1 -n3 --mem=300 --lwk --wrap "srun -n1 -c3 $programs/hammer 600 3")
	b=$(submit user2 -n2 --mem=300 --lwk --wrap "srun -n2 $programs/hammer 600")
	wait_for 90 has_printed user1 "$a" begins
	wait_for 90 has_printed user2 "$b" begins
	sleep 2
	run -0 threads_in_cgroups user1 "$a"
	((${#lines[@]} >= 3))
	run -0 threads_in_cgroups user2 "$b"
	((${#lines[@]} >= 2))
	a_start=$(cpu_us "$a") b_start=$(cpu_us "$b")
	sleep 10
	a_end=$(cpu_us "$a") b_end=$(cpu_us "$b")
	# Proxies yield the OS core to other processes by ProxyWeight=.
	if version_2; then
		[[ $(limit "$a" '' cpu cpu.weight) == 5 ]]
	else
		[[ $(bed cat /sys/fs/cgroup/cpu/slurm-lwk/cpu.shares) == 51 ]]
	fi
	(($(limit "$a" '' pids pids.current) <= $(limit "$a" '' pids pids.max)))
	bed scancel "$a" "$b"
	wait_for_job "$a"
	wait_for_job "$b"
	take_os_core
	# The quota is 0.5, with which 10 seconds may have a period of 0.1 seconds more. On a busy host the
	# proxies may want less. A reading takes a while: after it, before it, CPU time.
	shares=$(awk '{ t[NR] = $1; before[NR] = $2; c[NR] = $3 } END {
		print (c[2] - c[1]) / (t[2] - before[1]) / 1e6, (c[4] - c[3]) / (t[4] - before[3]) / 1e6 }' \
		<<<"$a_start"$'\n'"$a_end"$'\n'"$b_start"$'\n'"$b_end")
	echo "# of the OS core, quota 0.5: $shares" >&3
	# shellcheck disable=SC2016  # awk's
	awk '{ exit !($1 + $2 < 0.52 && $1 < 2 * $2 && $2 < 2 * $1) }' <<<"$shares"
	no_group_is_left
}
