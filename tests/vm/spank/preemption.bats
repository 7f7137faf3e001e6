#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
# tests: in order
#
# Slurm preempts an LWK job for a job of a partition with more priority, with each PreemptMode=.
# slurm-lwk-admin(7) says which of them are good for LWK jobs.

load ../helpers

setup_file()
{
	prepare
	bed cp -p /etc/slurm/slurm.conf /root/slurm.conf.before
}

teardown_file()
{
	bed mv /root/slurm.conf.before /etc/slurm/slurm.conf
	restart_slurmctld
	node_is_clean
}

teardown()
{
	[[ $BATS_TEST_COMPLETED ]] || bed scancel --user=user1,user2
}

restart_slurmctld()
{
	stop_daemon slurmctld
	start_daemon slurmctld
	wait_for 60 bed scontrol ping
}

# preempt_by MODE SHARE: has jobs of the partition "urgent" preempt those of "main" so; both have OverSubscribe=SHARE.
preempt_by()
{
	bed sh -s "$@" <<-'TEXT'
	sed "s/OverSubscribe=NO/OverSubscribe=$2 PriorityTier=1/" /root/slurm.conf.before >/etc/slurm/slurm.conf
	cat >>/etc/slurm/slurm.conf <<EOF
	PreemptType=preempt/partition_prio
	PreemptMode=$1
	PartitionName=urgent Nodes=ALL MaxTime=INFINITE DefMemPerCPU=128 OverSubscribe=$2 PriorityTier=2
	EOF
	TEXT
	restart_slurmctld
}

# low [SBATCH-ARG]...: starts $low, a job of "main" that has all CPUs for jobs, and computes until finish().
low()
{
	as user1 rm -f stop
	low=$(submit user1 -n7 --mem=512 --requeue --open-mode=append "$@" --wrap \
		"echo run \${SLURM_RESTART_COUNT:-0}; srun -n1 $programs/rounds 0 stop && echo it has ended")
	wait_for 60 has_printed user1 "$low" computing
}

finish()
{
	as user1 touch stop
	# Slurm's log has an end of a requeued job already.
	wait_for 120 over "$low"
	job_is "$low" JobState=COMPLETED
	run -0 job_output user1 "$low"
	[[ $output == *'it has ended'* ]]
}

# high [SBATCH-ARG]...: runs $high, an urgent job that wants all these CPUs, to its end. It counts Linux's CPUs, too.
high()
{
	high=$(submit user2 --partition=urgent -n7 --mem=512 "$@" --wrap \
		"srun -n1 $programs/hello; echo \"Linux has \$(grep -c ^processor /proc/cpuinfo) CPUs\"")
	wait_for_job "$high"
	run -0 job_output user2 "$high"
	echo "$output"
}

# high_has_all LWK-OPTION: an urgent job completes, and has all of the node.
high_has_all()
{
	# shellcheck disable=SC2086  # no word or one
	high $1
	job_is "$high" JobState=COMPLETED
	if [[ $1 ]]; then
		[[ $output == *kernel=slurm-lwk*'Linux has 2 CPUs'* ]]
	else
		[[ $output != *slurm-lwk* && $output == *'Linux has 8 CPUs'* ]]
	fi
}

# high_shares_with_low [SBATCH-ARG]...: urgent jobs run while $low is suspended, with the CPUs that its LWK has not.
high_shares_with_low()
{
	high --lwk "$@"
	job_is "$high" JobState=FAILED
	[[ $output == *'are lent to an LWK already'* ]]
	high "$@"
	job_is "$high" JobState=COMPLETED
	[[ $output == *'Linux has 2 CPUs'* ]]
}

# node_has_nothing_of JOB: true when Linux has all CPUs and no record of the job is left.
node_has_nothing_of()
{
	bed sh -c '[ "$(cat /sys/devices/system/cpu/online)" = 0-7 ] && ! ls /run/slurm-lwk/jobs/"$1".*' - "$1"
}

# is_requeued_for LWK-OPTION: an LWK job gives way to an urgent job, and starts again after it.
is_requeued_for()
{
	preempt_by REQUEUE NO
	low --lwk
	high_has_all "$1"
	job_is "$low" JobState=PENDING Restarts=1
	node_has_nothing_of "$low"
	# Slurm would wait two minutes.
	bed scontrol update jobid="$low" starttime=now
	finish
	[[ $output == *'run 0'*'DUE TO PREEMPTION'*'run 1'*'it has ended'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "an LWK job that scontrol suspends keeps its CPUs: an LWK job that gets them is refused, a Linux job has the others" {
	low --lwk
	bed scontrol suspend "$low"
	high_shares_with_low --partition=main
	bed scontrol resume "$low"
	finish
	node_is_clean
}

# bats test_tags=nightly
@test "PreemptMode=CANCEL ends an LWK job for an LWK job and for a Linux job" {
	preempt_by CANCEL NO
	for lwk in --lwk ''; do
		low --lwk
		high_has_all "$lwk"
		job_is "$low" JobState=PREEMPTED
		run -0 job_output user1 "$low"
		[[ $output == *'DUE TO PREEMPTION'* && $output != *'it has ended'* ]]
		node_is_clean
	done
}

# bats test_tags=nightly
@test "PreemptMode=REQUEUE has an LWK job start again after an LWK job" {
	is_requeued_for --lwk
}

# bats test_tags=nightly
@test "PreemptMode=REQUEUE has an LWK job start again after a Linux job" {
	is_requeued_for ''
}

# bats test_tags=nightly
@test "PreemptMode=SUSPEND stops an LWK job, which keeps its CPUs: an urgent LWK job is refused, a Linux job has the others" {
	preempt_by SUSPEND,GANG FORCE:1
	run ! bed lwkctl check
	[[ $output == *'PreemptMode=GANG,SUSPEND has SUSPEND: an LWK job keeps its CPUs and memory'* ]]
	low --lwk
	high_shares_with_low
	wait_for 60 job_is "$low" JobState=RUNNING
	finish
	node_is_clean
}

# bats test_tags=nightly
@test "PreemptMode=SUSPEND stops a Linux job for an LWK job, and the Linux job goes on afterwards" {
	low
	high_has_all --lwk
	wait_for 60 job_is "$low" JobState=RUNNING
	wait_for 60 bed sh -c '[ "$(cat /sys/devices/system/cpu/online)" = 0-7 ]'
	finish
	node_is_clean
}
