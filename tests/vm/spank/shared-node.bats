#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
# also nightly: bookworm --release bookworm, cgroups
# also nightly: bookworm --release bookworm --cgroup v2, cgroups
# also nightly: bookworm --release bookworm --append testbed.cpuset_v2_mode, cpusets
#
# LWK jobs and Linux-only jobs run on one node in every order, and none takes from another what
# Slurm gave it, before, during or after.

load ../helpers

setup_file()
{
	prepare
	bed sh -c "cat >$programs/confinement; chmod 755 $programs/confinement" <<-'EOF'
	#!/bin/bash
	# The CPUs that Linux lets this process run on, its cpuset's, and its job's memory limit.
	own() { grep "$1" /proc/self/cgroup | cut -d: -f3; }
	affinity=$(grep Cpus_allowed_list: /proc/self/status | cut -f2)
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		cpuset=/sys/fs/cgroup$(own '^0::')/cpuset.cpus.effective
		job=/sys/fs/cgroup$(own '^0::')
		memory=${job%%/step_*}/memory.max
	else
		cpuset=/sys/fs/cgroup/cpuset$(own ':cpuset:')/cpuset.effective_cpus
		job=/sys/fs/cgroup/memory$(own ':memory:')
		memory=${job%%/step_*}/memory.limit_in_bytes
	fi
	echo "affinity=$affinity cpuset=$(cat "$cpuset") memory=$(cat "$memory")"
	EOF
	# The first job makes cgroups that stay.
	as user1 srun true
	cpusets >"$BATS_FILE_TMPDIR/cpusets"
}

# The jobs of a test that fails must not disturb the next test.
teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel'
}

# cpusets: prints the contents of all cpusets that belong to no job.
cpusets()
{
	bed sh -c 'find /sys/fs/cgroup -path "*/uid_*" -prune -o -path "*/job_*" -prune -o \
		\( -name "cpuset.*cpus*" -o -name "cpuset.*mems*" \) -exec grep -H . {} + |
		grep -v exclusive | sort'
}

# True when node and cpusets are as before the first job of this file.
all_is_as_before()
{
	node_is_clean
	diff "$BATS_FILE_TMPDIR/cpusets" <(cpusets)
}

# allocation JOB: its CPUs, as "1-3,5".
allocation()
{
	bed scontrol -o show job -d "$1" | grep -o 'CPU_IDs=[0-9,-]*' | cut -d= -f2
}

# numbers LIST: one a line.
numbers()
{
	tr , '\n' <<<"$1" | while IFS=- read -r first last; do seq "$first" "${last:-$first}"; done
}

# lwk_job USER CPUS [SBATCH-ARG...]: submits a job whose program runs until the job is cancelled.
lwk_job()
{
	submit "$1" -n"$2" --mem=$((160 + 32 * $2)) --lwk "${@:3}" --wrap "srun -n1 $programs/sleeper 600"
}

on_lwk()
{
	# Jobs that begin at once are switched one after another.
	wait_for 180 has_printed "$1" "$2" kernel=slurm-lwk
}

# confined USER JOB CPUS MB: true when the job's first step found itself confined to these.
confined()
{
	run job_output "$1" "$2"
	[[ $output == *"affinity=$3 cpuset=$3 memory=$(($4 << 20))"* ]] ||
		{ echo "expected CPUs $3 and $4 MB, found $output"; return 1; }
}

# linux_job_gets_its_share CPUS: runs a Linux-only job, and compares its CPUs and memory with its request.
linux_job_gets_its_share()
{
	local job

	job=$(submit user2 -n"$1" --mem=96 --wrap "srun -n1 -c$1 --cpu-bind=cores $programs/confinement")
	wait_for_job "$job"
	confined user2 "$job" "$(allocation "$job")" 96
}

# rss_is_about STEP MB: true when Slurm counts MB megabytes, and a few more for a shell and sleep.
rss_is_about()
{
	local rss

	rss=$(bed sstat -n -P --noconvert --format=MaxRSS -j "$1")
	echo "MaxRSS=$rss"
	((rss >= $2 << 20 && rss < ($2 + 32) << 20))
}

restart_daemon()
{
	stop_daemon "$@"
	start_daemon "$1"
	wait_for 60 bed sh -c 'scontrol ping && sinfo -h -o %T | grep -qx "mixed\|allocated\|idle"'
}

# True when a Linux-only job gets all CPUs of the node but the system's, one for each task.
# shellcheck disable=SC2016  # text for another shell
all_cpus_are_there()
{
	run -0 as user2 srun -n7 --mem=128 --cpu-bind=cores sh -c 'taskset -cp $$'
	[[ $(grep -o '[0-9]*$' <<<"$output" | sort -n | tr '\n' ' ') == '1 2 3 4 5 6 7 ' ]]
}

# bats test_tags=cgroups,cpusets
@test "each pair of CPUs runs an LWK job, beside a Linux-only job" {
	linux_job_gets_its_share 2
	jobs=()
	for user in user1 user2 user1; do
		jobs+=("$(lwk_job $user 2)")
	done
	linux=$(submit user2 -n1 --mem=96 --wrap "srun -n1 --cpu-bind=cores $programs/confinement; sleep 600")
	on_lwk user1 "${jobs[0]}"
	on_lwk user2 "${jobs[1]}"
	on_lwk user1 "${jobs[2]}"
	wait_for 60 has_printed user2 "$linux" affinity=
	confined user2 "$linux" "$(allocation "$linux")" 96
	# No CPU twice, and none left over.
	for job in "${jobs[@]}" "$linux"; do
		numbers "$(allocation "$job")"
	done | sort -n >"$BATS_TEST_TMPDIR/cpus"
	[[ $(tr '\n' ' ' <"$BATS_TEST_TMPDIR/cpus") == '1 2 3 4 5 6 7 ' ]]
	[[ $(bed sh -c 'lwkctl status | grep -c active') == 3 ]]

	# One begins while the others run, one right after the last has ended.
	bed scancel "${jobs[0]}" "$linux"
	linux_job_gets_its_share 3
	bed scancel "${jobs[@]}"
	all_cpus_are_there
	all_is_as_before
}

# bats test_tags=nightly
@test "jobs that begin at once and are cancelled at once leave a clean node" {
	for round in 1 2; do
		jobs=()
		for cpus in 2 2 3; do
			jobs+=("$(lwk_job user1 "$cpus")")
		done
		# Once while they switch, once while they run.
		if ((round == 1)); then
			wait_for 60 bed sh -c 'lwkctl status | grep -q "^job"'
		else
			on_lwk user1 "${jobs[2]}"
		fi
		bed scancel "${jobs[@]}"
		for job in "${jobs[@]}"; do
			wait_for_job "$job"
		done
		all_cpus_are_there
	done
	all_is_as_before
}

# bats test_tags=cgroups
@test "memory of a Linux-only job beside an LWK job is limited and counted" {
	lwk=$(lwk_job user1 2)
	on_lwk user1 "$lwk"
	# dd keeps a buffer of 64 MB, because no process reads from the pipe.
	holder=$(submit user2 -n1 --mem=160 --acctg-freq=1 --wrap \
		"srun -n1 --mem=160 sh -c 'dd if=/dev/zero bs=64M count=1 | sleep 600'")
	eater=$(submit user2 -n1 --mem=96 --wrap 'dd if=/dev/zero of=/dev/null bs=160M count=1')
	wait_for_job "$eater"
	job_is "$eater" JobState=OUT_OF_MEMORY
	forget_kills 1
	wait_for 60 rss_is_about "$holder.0" 64
	job_is "$lwk" JobState=RUNNING
	bed scancel "$holder" "$lwk"
	all_is_as_before
}

# bats test_tags=nightly
@test "an exclusive Linux-only job right after an exclusive LWK job gets the whole node" {
	first=$(submit user1 --exclusive -n7 --mem=1024 --lwk --wrap "srun -n6 $programs/hello")
	second=$(submit user2 --exclusive -n7 --mem=512 --wrap "srun -n7 --cpu-bind=cores sh -c 'taskset -cp \$\$'")
	wait_for_job "$first"
	job_is "$first" JobState=COMPLETED
	[[ $(job_output user1 "$first" | grep -c kernel=slurm-lwk) == 6 ]]
	wait_for_job "$second"
	[[ $(job_output user2 "$second" | grep -o '[0-9]*$' | sort -n | tr '\n' ' ') == '1 2 3 4 5 6 7 ' ]]
	all_is_as_before
}

# bats test_tags=nightly
@test "slurmd and slurmctld that restart in LWK mode know the whole node" {
	lwk=$(lwk_job user1 3)
	on_lwk user1 "$lwk"
	ways=('slurmd -KILL' reconfigure 'slurmctld -TERM')
	# The next test restarts slurmd by its signal, too.
	(($(times 1 0))) || ways+=('slurmd -TERM')
	for what in "${ways[@]}"; do
		if [[ $what == reconfigure ]]; then
			bed scontrol reconfigure
		else
			# shellcheck disable=SC2086  # two words
			restart_daemon $what
		fi
		run -0 bed scontrol -o show node
		[[ $output == *CPUTot=8*'Sockets=2'* && $output != *DRAIN* ]] || { echo "$what: $output"; return 1; }
		linux_job_gets_its_share 4 || { echo "after $what"; return 1; }
	done
	# slurmd -C prints what slurmd tells slurmctld of the machine.
	run -0 bed sh -c 'HWLOC_XMLFILE=/run/slurm-lwk/topology.xml slurmd -C'
	[[ $output == *CPUs=8*SocketsPerBoard=2*CoresPerSocket=4* ]]
	job_is "$lwk" JobState=RUNNING
	bed scancel "$lwk"
	wait_for_job "$lwk"
	all_cpus_are_there
	all_is_as_before
}

# bats test_tags=nightly
@test "a CPU and a memory block that were off-line before a job stay off-line" {
	bed sh -c 'echo 0 >/sys/devices/system/cpu/cpu7/online'
	block=$(bed sh -c 'cd /sys/devices/system/memory
		for b in $(ls -d memory* | sort -rV); do
			timeout 5 sh -c "echo offline >$b/state" 2>/dev/null && echo "$b" && exit
		done')
	[[ $block == memory* ]]
	[[ $(bed cat "/sys/devices/system/memory/$block/state") == offline ]]
	refused 'some are off-line (on-line are 0-6)' 'chcpu -e' -- \
		as user1 srun -n7 --mem=512 --lwk "$programs/hello"
	lwk=$(lwk_job user1 3)
	on_lwk user1 "$lwk"
	restart_daemon slurmd -TERM
	bed scancel "$lwk"
	wait_for_job "$lwk"
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/jobs)" ]'
	[[ $(bed cat /sys/devices/system/cpu/online) == 0-6 ]]
	[[ $(bed cat "/sys/devices/system/memory/$block/state") == offline ]]
	bed sh -c "echo 1 >/sys/devices/system/cpu/cpu7/online; echo online >/sys/devices/system/memory/$block/state"
	restart_daemon slurmd -TERM
	all_cpus_are_there
	all_is_as_before
}

@test "lwkctl check finds settings of a partition and of cgroup.conf that break jobs" {
	bed sh -c 'cp -p /etc/slurm/slurm.conf /root/slurm.conf.before
		cp -p /etc/slurm/cgroup.conf /root/cgroup.conf.before
		sed -i "s/OverSubscribe=NO/OverSubscribe=FORCE:2/" /etc/slurm/slurm.conf
		sed -i "s/ConstrainCores=yes/ConstrainCores=no/" /etc/slurm/cgroup.conf
		scontrol reconfigure'
	run bed lwkctl check
	bed sh -c 'mv /root/slurm.conf.before /etc/slurm/slurm.conf
		mv /root/cgroup.conf.before /etc/slurm/cgroup.conf; scontrol reconfigure'
	((status == 1))
	[[ $output == *'problem partition'*'OverSubscribe=FORCE:2'*'-> write OverSubscribe=NO'* ]]
	[[ $output == *'note    slurm'*'ConstrainCores=no lacks yes'*'-> write ConstrainCores=yes in cgroup.conf'* ]]
	run -0 bed lwkctl check
}

# bats test_tags=nightly
@test "jobs of all kinds that come and go at random leave a clean node" {
	seed=${LWK_TEST_SEED:-$((SRANDOM % 1000000))}
	seconds=${LWK_SOAK_SECONDS:-300}
	echo "# LWK_TEST_SEED=$seed LWK_SOAK_SECONDS=$seconds" >&3
	RANDOM=$seed
	jobs=() kept=()
	end=$((SECONDS + seconds))
	while ((SECONDS < end)); do
		user=user$((1 + RANDOM % 2))
		cpus=$((1 + RANDOM % 4))
		case $((RANDOM % 6)) in
		0 | 1) jobs+=("$(submit $user -n$((cpus + 1)) --mem=$((192 + 64 * (RANDOM % 4))) --lwk \
			--wrap "srun -n1 $programs/sleeper $((RANDOM % 5))")") ;;
		2) kept+=("$(submit $user -n2 --mem=256 --lwk --wrap "srun -n1 $programs/hello")") ;;
		3) kept+=("$(submit $user -n$cpus --mem=96 --wrap "srun -n1 -c$cpus --cpu-bind=cores $programs/confinement")") ;;
		4) ((${#jobs[@]} == 0)) || bed scancel "${jobs[RANDOM % ${#jobs[@]}]}" ;;
		5) sleep "$((RANDOM % 3)).$((RANDOM % 10))" ;;
		esac
	done
	bed scancel "${jobs[@]}"
	wait_for $((120 + seconds)) bed sh -c '[ -z "$(squeue -h)" ]'
	echo "# ${#jobs[@]} LWK jobs that could be cancelled, ${#kept[@]} jobs that ended by themselves" >&3
	for job in "${kept[@]}"; do
		job_is "$job" JobState=COMPLETED ExitCode=0:0
	done
	# Each Linux-only job was confined to its own CPUs.
	run -0 bed sh -c "grep -h affinity= /home/user?/*.out"
	while read -r affinity cpuset _; do
		[[ ${affinity#affinity=} == "${cpuset#cpuset=}" ]]
	done <<<"$output"
	all_cpus_are_there
	all_is_as_before
}

# bats test_tags=cgroups,nightly
@test "with LinuxCpus=0 each CPU runs an LWK job, and their Linux sides share the OS core" {
	bed sh -s <<-'EOF'
	cp -p /etc/slurm/slurm.conf /root/slurm.conf.before
	cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
	sed -i 's/^TaskPlugin=.*/TaskPlugin=task\/cgroup/' /etc/slurm/slurm.conf
	sed -i 's/^LinuxCpus *=.*/LinuxCpus = 0/' /etc/slurm/lwk.conf
	EOF
	restart_daemon slurmctld -TERM
	restart_daemon slurmd -TERM
	run -0 bed lwkctl check
	jobs=()
	for _ in {1..6}; do
		jobs+=("$(lwk_job user1 1)")
	done
	linux=$(submit user2 -n1 --mem=96 --wrap "srun -n1 $programs/sleeper 600")
	for job in "${jobs[@]}"; do
		on_lwk user1 "$job"
	done
	wait_for 60 has_printed user2 "$linux" kernel=
	# One CPU belongs to a Linux-only job: no process of an LWK job may run there.
	run -0 bed sh -c 'for p in $(pgrep -u user1 "sleeper|srun|slurm_script"); do taskset -cp "$p"; done'
	echo "$output"
	((${#lines[@]} >= 12))
	for line in "${lines[@]}"; do
		[[ $line == *' list: 0' ]]
	done
	bed scancel "$linux"
	jobs+=("$(lwk_job user1 1)")
	on_lwk user1 "${jobs[6]}"
	[[ $(bed cat /sys/devices/system/cpu/online) == 0 ]]
	bed scancel "${jobs[@]}"
	for job in "${jobs[@]}"; do
		wait_for_job "$job"
	done
	bed sh -c 'mv /root/slurm.conf.before /etc/slurm/slurm.conf; mv /root/lwk.conf.before /etc/slurm/lwk.conf'
	restart_daemon slurmctld -TERM
	restart_daemon slurmd -TERM
	all_cpus_are_there
	all_is_as_before
}
