#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Programs of the project that run long as root have dropped the rights that they do not need, and files that root
# writes are root's.

load ../helpers

# confined PID CAPABILITIES: true when the process can get no privileges, has these capabilities, and a
# filter of system calls.
confined()
{
	bed sh -c 'grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/$1/status' - "$1" >"$BATS_TEST_TMPDIR/status"
	cat "$BATS_TEST_TMPDIR/status"
	for line in "NoNewPrivs:	1" "Seccomp:	2" "CapEff:	$2" "CapPrm:	$2" "CapBnd:	$2" \
		"CapInh:	0000000000000000"; do
		grep -qx "$line" "$BATS_TEST_TMPDIR/status"
	done
}

setup_file()
{
	prepare
}

@test "lwkctl quiet is confined, and moves interrupts all the same" {
	job=$(submit user1 -n3 --mem=256 --quiet-irqs --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user1 "$job" runs
	watch=$(bed sh -c 'for p in $(pidof lwkctl); do grep -qz quiet /proc/$p/cmdline && echo $p; done')
	confined "$watch" 0000000000000000
	before=$(bed cat /proc/irq/4/smp_affinity_list)
	bed sh -c 'echo 2 >/proc/irq/4/smp_affinity_list'
	wait_for 40 bed sh -c '[ "$(cat /proc/irq/4/smp_affinity_list)" != 2 ]'
	bed scancel "$job"
	wait_for_job "$job"
	# The watcher ends by itself.
	wait_for 40 bed sh -c '! test -e /proc/$1' - "$watch"
	bed sh -c 'echo $1 >/proc/irq/4/smp_affinity_list' - "$before"
	node_is_clean
}

@test "lwkctl rehome is confined" {
	bed sh -c 'umask 022; mkdir -p /run/slurm-lwk; umask 077
		exec >/dev/null 2>&1
		# lwkctl rehome waits while a switch goes on, if there is anything to bring home.
		mkdir -p /run/slurm-lwk/jobs; : >/run/slurm-lwk/jobs/4000000.away
		setsid flock /run/slurm-lwk/lock sleep 600 &
		while flock -n /run/slurm-lwk/lock true; do sleep 0.1; done
		setsid lwkctl rehome & echo $! >/run/rehome'
	rehome=$(bed cat /run/rehome)
	wait_for 30 bed grep -qx 'Seccomp:	2' "/proc/$rehome/status"
	# CAP_DAC_OVERRIDE, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_NICE
	confined "$rehome" 0000000000a80002
	bed pkill -x sleep
	wait_for 30 bed sh -c '! test -e /proc/$1' - "$rehome"
}

@test "nobody but root writes in /run/slurm-lwk, and the journal and logs are not for users to read" {
	job=$(submit user1 -n4 --mem=448 --lwk --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user1 "$job" runs
	run -0 bed find /run/slurm-lwk ! -type l \( -perm /0022 -o ! -user root \)
	[[ ! $output ]]
	bed test -e "/run/slurm-lwk/jobs/$job.journal"
	run -0 bed find /run/slurm-lwk -maxdepth 2 -type f -perm /0044 ! -path '*/sysfs/*' ! -name '*.json' ! -name topology.xml
	[[ ! $output ]]
	run ! as user1 cat "/run/slurm-lwk/jobs/$job.journal"
	[[ $output == *'ermission denied'* ]]
	run -0 as user1 cat "/run/slurm-lwk/jobs/$job.json"
	bed scancel "$job"
	wait_for_job "$job"
	run -0 bed find /var/log -name jobs.json -perm /0007
	[[ ! $output ]]
	node_is_clean
}
