#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Jobs that are ended from outside end as Slurm says, and the node comes back by itself.

load ../helpers

setup_file()
{
	prepare
}

# running USER SBATCH-ARG...: submits $job and waits until its program runs on the LWK.
running()
{
	job=$(submit "$@")
	wait_for 60 has_printed user1 "$job" 'spinning\|waiting\|kernel='
}

# True when a job gets a task on each of the node's CPUs but the system's.
# shellcheck disable=SC2016  # text for another shell
knows_all_cpus()
{
	run -0 as user2 srun -n7 --cpu-bind=cores sh -c 'taskset -cp $$'
	[[ $(grep -o '[0-9]*$' <<<"$output" | sort -n | tr '\n' ' ') == '1 2 3 4 5 6 7 ' ]]
}

@test "scancel ends a job whose program computes" {
	running user1 -n2 --mem=512 --lwk --wrap "srun -n1 $programs/spin"
	as user1 scancel "$job"
	wait_for_job "$job"
	job_is "$job" JobState=CANCELLED
	node_is_clean
}

# On a busy node munged or slurmctld may close a connection, and the next write to it raises SIGPIPE.
@test "a connection that breaks while a node switches ends neither the job nor the node's use" {
	holder=$(bed timeout 60 bash -s <<-'EOF'
	mkdir -p /run/slurm-lwk
	setsid bash -c 'exec 9>>/run/slurm-lwk/lock; flock 9; exec tail -f /dev/null' </dev/null >/dev/null 2>&1 &
	while flock -n /run/slurm-lwk/lock true; do sleep 0.05; done
	echo $!
	EOF
	)
	id=$(submit user1 -n2 --mem=256 --lwk --wrap "srun -n1 $programs/hello")
	wait_for 60 bed test -e "/run/slurm-lwk/jobs/$id.begun"
	bed pkill -PIPE -f 'slurmstepd.* spank prolog'
	bed kill "$holder"
	wait_for_job "$id"
	job_is "$id" JobState=COMPLETED
	node_is_clean
}

@test "scancel --signal reaches the program" {
	running user1 -n2 --mem=512 --lwk --wrap "srun -n1 $programs/on-signals 15"
	as user1 scancel --signal=TERM "$job"
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $output == *'signal 15 came'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "the time limit ends a job whose program computes" {
	bed sh -c 'cp /etc/slurm/slurm.conf /root/slurm.conf.before
		echo OverTimeLimit=0 >>/etc/slurm/slurm.conf; scontrol reconfigure'
	running user1 -n2 --mem=512 --lwk --wrap "srun -n1 $programs/spin"
	# Slurm's limits are whole minutes, and the first one has begun.
	bed scontrol update jobid="$job" timelimit=1
	wait_for_job "$job"
	job_is "$job" JobState=TIMEOUT
	bed sh -c 'mv /root/slurm.conf.before /etc/slurm/slurm.conf; scontrol reconfigure'
	node_is_clean
}

@test "when slurmd is killed, the job goes on and the node comes back at its end" {
	running user1 -n4 --mem=512 --lwk --wrap "srun -n1 $programs/sleeper 15; srun -n3 $programs/hello"
	lent=$(bed cat /sys/devices/system/cpu/online)
	stop_daemon slurmd -KILL
	start_daemon slurmd
	wait_for 60 bed sh -c 'scontrol ping && [ "$(sinfo -h -o %T)" = mixed ]'
	# The switch of a job that still runs was not undone.
	[[ $(bed cat /sys/devices/system/cpu/online) == "$lent" ]]
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED ExitCode=0:0
	run job_output user1 "$job"
	[[ $(grep -c 'kernel=slurm-lwk' <<<"$output") == 4 ]]
	node_is_clean
}

@test "slurmd that was started while CPUs were lent knows all of them" {
	knows_all_cpus
	bed scontrol reconfigure
	knows_all_cpus
}

# bats test_tags=nightly
@test "the node comes back from a job that ended while slurmd was down" {
	running user1 -n2 --mem=512 --lwk --wrap "srun -n1 $programs/spin"
	crash_slurmd_and scancel "$job"
	start_daemon slurmd
	wait_for_job "$job"
	node_is_clean
}

# bats test_tags=nightly
@test "a job that ends while its prolog, whose slurmd died, waits for another switch is not switched" {
	bed sh -c 'mkdir -p /run/slurm-lwk; echo on boot before hold >/run/slurm-lwk/fault'
	first=$(submit user1 -n2 --mem=300 --no-requeue --lwk --wrap "srun -n1 $programs/hello")
	wait_for 60 bed test -e /run/slurm-lwk/fault.met
	second=$(submit user1 -n2 --mem=300 --no-requeue --lwk --wrap "srun -n1 $programs/hello")
	wait_for 60 bed test -e "/run/slurm-lwk/jobs/$second.begun"
	stop_daemon slurmd -KILL
	start_daemon slurmd
	# slurmctld would repeat minutes later what a slurmd that is away does not hear.
	wait_for 60 bed sh -c 'ss -ltn | grep :6818'
	bed scancel "$second"
	# The epilog waits for the lock, too.
	bed sh -c 'sleep 2; rm -f /run/slurm-lwk/fault /run/slurm-lwk/fault.met'
	wait_for_job "$second"
	bed scancel "$first"
	wait_for_job "$first"
	node_is_clean
}

# No epilog comes for a job that ended while its node was down.
@test "a node that cannot switch back when slurmd starts is drained with the reason" {
	running user1 -n2 --mem=512 --no-requeue --lwk --wrap "srun -n1 $programs/spin"
	crash_slurmd_and scontrol update nodename=node1 state=down reason=crash
	wait_for 60 job_is "$job" JobState=NODE_FAIL
	bed sh -c 'echo off cpus before fail >/run/slurm-lwk/fault; scontrol update nodename=node1 state=resume'
	start_daemon slurmd
	wait_for 60 bed sh -c "sinfo -h -o '%T %E' | grep 'drain.*lwk: job $job: .*root ordered a fault'"
	bed sh -c 'rm -f /run/slurm-lwk/fault; lwkctl check --repair; scontrol update nodename=node1 state=resume'
	node_is_clean
}
