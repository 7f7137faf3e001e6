#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# Users and operators do with a running LWK job what they do with a Linux-only job. Where the two
# can be compared, the same script runs as both.

load ../helpers

setup_file()
{
	prepare
}

teardown()
{
	# Jobs that a failed test has left would fail the next test, too.
	[[ $BATS_TEST_COMPLETED ]] || bed scancel --user=user1
}

# both SBATCH-ARG... <SCRIPT: submits the script twice, as the Linux-only job $linux and as the LWK
# job $lwk.
both()
{
	local script
	script=$(cat)

	linux=$(submit user1 "$@" <<<"$script")
	lwk=$(submit user1 --lwk "$@" <<<"$script")
}

# output_of ID: prints the job's output without its number, times, and srun's notes that a step waits
# for the one before it.
output_of()
{
	job_output user1 "$1" | sed "/^srun: .*[Ss]tep crea/d; s/\(STEP \|Id=\|JOB_\?ID=\)$1\b/\1JOB/g; s/ AT 20[^ ]*/ AT TIME/"
}

# same FIELD...: true when both jobs have ended with the same output and the same fields in their
# records.
same()
{
	wait_for_job "$linux"
	wait_for_job "$lwk"
	diff <(output_of "$linux") <(output_of "$lwk")
	same_record "$@"
}

# same_record FIELD...
same_record()
{
	local field

	for field; do
		diff <(field_of "$linux" "$field") <(field_of "$lwk" "$field")
	done
}

# field_of ID FIELD
field_of()
{
	bed scontrol -o show job "$1" | grep -o " $2=[^ ]*"
}

# both_have_printed TEXT
both_have_printed()
{
	wait_for 60 has_printed user1 "$linux" "$1"
	wait_for 60 has_printed user1 "$lwk" "$1"
}

# a_cpu_is WORD ID
a_cpu_is()
{
	bed lwkctl stat "$2" --json | jq -e "[.cpus[].doing] | index(\"$1\")"
}

user_ns()
{
	bed lwkctl stat "$1" --json | jq .user_ns
}

# --- what a program leaves behind ---

# shellcheck disable=SC2016  # text for another shell
@test "programs' exit statuses and deaths by signals are those of Linux" {
	both -n3 --mem=512 <<-'EOF'
	#!/bin/bash
	P=/opt/lwk-tests
	row()
	{
		# The LWK says besides why it has killed a program.
		srun -n1 "$@" 2>&1 | sed '/^lwkexec: .*: killed by signal/d; s/StepId=.*/StepId/'
		echo "$*: ${PIPESTATUS[0]}"
	}
	for status in 0 1 42 255; do
		row $P/exit-with $status
	done
	for signal in ABRT KILL TERM PIPE USR1; do
		row busybox sh -c "kill -$signal \$\$"
	done
	row $P/bad-pointer
	row $P/attack-kernel divide
	(ulimit -t 2; row $P/spin)
	exec srun -n1 busybox sh -c 'kill -SEGV $$'
	EOF
	same JobState ExitCode DerivedExitCode
	run output_of "$lwk"
	[[ $output == *'exit-with 255: 255'*'kill -KILL $$: 137'*'bad-pointer: 139'*'spin: 152'* ]]
	job_is "$lwk" JobState=FAILED
}

# bats test_tags=nightly
@test "standard input goes to the tasks that --input names" {
	as user1 sh -c 'head -c 1000000 /dev/urandom | base64 >input'
	both -n4 --mem=512 <<-'EOF'
	#!/bin/bash
	show()
	{
		echo "== $*"
		srun -n3 -l "$@" busybox md5sum <input 2>&1 | sort
	}
	show
	show --input=input
	show --input=none
	show --input=1
	srun -n1 busybox cat <input | md5sum
	EOF
	same JobState ExitCode
	run output_of "$lwk"
	[[ $(grep -c "$(as user1 md5sum input | cut -d' ' -f1)" <<<"$output") == 8 ]]
}

@test "the environment of several tasks is that of Linux, and LWK_DEVICE" {
	both -n4 --mem=512 <<-'EOF'
	#!/bin/bash
	# Numbers of processes and ports, and times, differ from job to job.
	srun -n3 --mpi=pmi2 -l busybox env |
		sed -E 's/((TASK_PID|_PID|PPID|[A-Z_]*_PORTS?|PMI_FD|SRUN_COMM_HOST|[A-Z_]*TIME)=).*/\1/' |
		grep -v 'SLURMD_TRES\|LWK_DEVICE=/dev/lwk/[0-9]*$' | sort
	EOF
	same JobState
	run output_of "$lwk"
	for task in 0 1 2; do
		for text in SLURM_PROCID=$task SLURM_LOCALID=$task PMI_RANK=$task PMI_SIZE=3; do
			[[ $output == *"$task: $text"* ]] || { echo "expected $task: $text"; false; }
		done
	done
	[[ $output != *LWK_ARGV0* ]]
}

# --- signals and limits ---

@test "a signal of scancel reaches its handler, or ends a program that has none" {
	both -n2 --mem=512 <<-EOF
	#!/bin/bash
	srun -n1 $programs/on-signals 1 3 10 12 14 18 20 34 15
	echo \$?
	exec srun -n1 $programs/sleeper 600
	EOF
	both_have_printed waiting
	for signal in HUP:1 3:3 USR1:10 USR2:12 ALRM:14 TSTP:20 CONT:18 34:34 TERM:15; do
		as user1 scancel --signal="${signal%:*}" "$linux".0 "$lwk".0
		both_have_printed "signal ${signal#*:} came"
	done
	both_have_printed kernel=
	as user1 scancel --signal=USR1 "$linux".1 "$lwk".1
	wait_for_job "$linux"
	wait_for_job "$lwk"
	same_record JobState ExitCode DerivedExitCode
	job_is "$lwk" JobState=FAILED ExitCode=138:0
}

# bats test_tags=nightly
@test "a program that stops itself goes on when it is continued" {
	both -n2 --mem=512 <<-'EOF'
	#!/bin/bash
	srun -n1 busybox sh -c 'echo stopping; kill -STOP $$; echo goes on; exit 3'
	EOF
	both_have_printed stopping
	sleep 2
	run ! has_printed user1 "$lwk" 'goes on'
	as user1 scancel --signal=CONT "$linux".0 "$lwk".0
	same JobState ExitCode
	run output_of "$lwk"
	[[ $output == *'goes on'* ]]
}

# bats test_tags=nightly
@test "at its time limit a job gets the signal that it asked for, SIGTERM, and SIGKILL after KillWait" {
	both -n2 --mem=512 --time=1 --signal=USR1@10 <<-EOF
	#!/bin/bash
	srun -n1 $programs/on-signals 10 15 0
	EOF
	wait_for_job "$linux"
	wait_for_job "$lwk"
	same_record JobState ExitCode
	job_is "$lwk" JobState=TIMEOUT
	run output_of "$lwk"
	[[ $output == *waiting*'signal 10 came'*'TIME LIMIT'* && $output == *'signal 15 came'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "OverTimeLimit= gives both kinds of job the same minute more" {
	partition=$(bed sinfo -h -o %R | head -n1)
	bed scontrol update partition="$partition" overtimelimit=1
	both -n2 --mem=512 --time=1 <<-EOF
	#!/bin/bash
	srun -n1 $programs/on-signals 15 0
	EOF
	wait_for_job "$linux"
	wait_for_job "$lwk"
	bed scontrol update partition="$partition" overtimelimit=0
	same_record JobState ExitCode
	job_is "$lwk" JobState=TIMEOUT
	for job in "$linux" "$lwk"; do
		[[ $(field_of "$job" RunTime) == ' RunTime=00:0'[2-9]:* ]]
	done
	run output_of "$lwk"
	[[ $output == *'TIME LIMIT'* && $output == *'signal 15 came'* ]]
	node_is_clean
}

# --- more than one step, more than one job ---

# bats test_tags=nightly
@test "steps start and stop beside each other, with --exact and --overlap" {
	job=$(submit user1 -n4 --mem=512 --lwk <<-EOF
	#!/bin/bash
	srun -n1 --exact --mem=64 $programs/sleeper 600 &
	until squeue -h -s -j \$SLURM_JOB_ID | grep -q sleeper; do sleep 0.5; done
	for i in 1 2 3 4 5 6; do
		srun -n1 --exact --mem=64 $programs/sleeper 4 >beside.\$i &
		others+=(\$!)
	done
	wait "\${others[@]}"
	cat beside.*
	srun -n2 -c1 $programs/hello
	echo overlapping
	srun -n2 --overlap $programs/hello
	srun -n3 --overlap $programs/sleeper 5
	scancel --signal=TERM \$SLURM_JOB_ID.0
	wait
	srun -n3 $programs/hello
	EOF
	)
	wait_for_job "$job"
	run job_output user1 "$job"
	echo "$output"
	job_is "$job" JobState=COMPLETED
	[[ $(grep -c 'kernel=slurm-lwk' <<<"${output%%overlapping*}") == 9 ]]
	[[ $(grep -c 'over$' <<<"${output%%overlapping*}") == 6 ]]
	[[ $(grep -c 'kernel=slurm-lwk' <<<"${output#*overlapping}") -ge 5 ]]
	[[ $output == *'expected a free LWK CPU, but each of the 3 has its process'* ]]
}

# bats test_tags=nightly
@test "of a job array with %2, two LWK jobs run at a time" {
	as user1 rm -f array.log
	job=$(as user1 sbatch --parsable --array=0-3%2 --output=/dev/null -n2 --mem=256 --lwk --wrap "
		echo +1 >>array.log
		srun -n1 $programs/hello >array.\$SLURM_ARRAY_TASK_ID
		srun -n1 $programs/sleeper 2; echo -1 >>array.log")
	wait_for 180 bed sh -c "! squeue -h -j $job | grep ."
	run -0 as user1 cat array.log
	awk '{ n += $1; seen += n == 2 } n > 2 { exit 1 } END { exit n != 0 || !seen || NR != 8 }' <<<"$output"
	for task in 0 1 2 3; do
		run -0 as user1 cat "array.$task"
		[[ $output == 'kernel=slurm-lwk'* ]]
	done
	node_is_clean
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "a requeued job leaves a clean node, and runs on an LWK again" {
	job=$(submit user1 --requeue --open-mode=append -n2 --mem=512 --lwk --wrap '
		echo "run ${SLURM_RESTART_COUNT:-0}"
		[ "$SLURM_RESTART_COUNT" ] || srun -n1 /opt/lwk-tests/sleeper 600
		srun -n1 /opt/lwk-tests/hello')
	wait_for 60 has_printed user1 "$job" kernel=slurm-lwk
	as user1 scontrol requeue "$job"
	wait_for 60 job_is "$job" JobState=PENDING
	bed scontrol hold "$job"
	wait_for 60 bed sh -c '[ "$(sinfo -h -o %T)" = idle ] && [ -z "$(ls -A /dev/lwk)" ]'
	bed sh -c '[ "$(cat /sys/devices/system/cpu/online; grep MemTotal /proc/meminfo)" = "$(cat /run/lwk-tests.before)" ]'
	bed scontrol update jobid="$job" starttime=now
	bed scontrol release "$job"
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED Restarts=1
	run job_output user1 "$job"
	[[ $output == *'run 0'*kernel=slurm-lwk*'run 1'*kernel=slurm-lwk* ]]
	node_is_clean
}

# --- Ctrl-C ---

# interrupted_at TEXT COMMAND...: runs the command on a terminal, and when it has printed TEXT, types
# Ctrl-C until it ends.
# shellcheck disable=SC2016  # text for another shell
interrupted_at()
{
	as user1 bash -s "$@" <<-'EOF'
	text=$1
	shift
	rm -f keys typescript
	mkfifo keys
	sleep 120 >keys & holder=$!
	script -qefc "$*" typescript <keys >/dev/null 2>&1 & script=$!
	until grep -qs "$text" typescript; do
		kill -0 $script || exit 1
		sleep 0.1
	done
	for i in {1..100}; do
		kill -0 $script 2>/dev/null || break
		printf '\003' >keys
		sleep 0.3
	done
	wait $script
	status=$?
	kill $holder
	cat typescript
	exit $status
	EOF
}

# bats test_tags=nightly
@test "Ctrl-C ends the program of srun, and with salloc the job" {
	run ! interrupted_at spinning salloc -n2 --mem=512 --lwk srun -n1 "$programs/spin"
	[[ $output == *spinning*'^C'* && $output == *'Relinquishing job allocation'* ]]
	node_is_clean
	run ! interrupted_at spinning srun -n2 --mem=512 --lwk "$programs/spin"
	node_is_clean
}

# bats test_tags=nightly
@test "Ctrl-C ends an salloc that waits for the node to switch" {
	run ! interrupted_at 'Granted job allocation\|Waiting for resource' \
		salloc -n2 --mem=512 --lwk srun -n1 "$programs/spin"
	[[ $output != *spinning* ]]
	node_is_clean
}

# --- suspend and resume ---

@test "a suspended job uses no CPU time and starts no program" {
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/spin")
	wait_for 60 has_printed user1 "$job" spinning
	bed scontrol suspend "$job"
	wait_for 15 a_cpu_is frozen "$job"
	before=$(user_ns "$job")
	# srun waits longer than the job is suspended; Slurm does so for every job.
	run ! as user1 env SLURM_JOB_ID="$job" timeout 5 srun -n1 --overlap "$programs/hello"
	[[ $output != *kernel=* ]]
	[[ $(user_ns "$job") == "$before" ]]
	bed scontrol resume "$job"
	run -0 as user1 env SLURM_JOB_ID="$job" timeout 180 srun -n1 --overlap "$programs/hello"
	[[ $output == *kernel=slurm-lwk* ]]
	wait_for 10 a_cpu_is user "$job"
	(($(user_ns "$job") > before))
	as user1 scancel "$job"
	wait_for_job "$job"
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "a program that is suspended at random moments computes what it computes alone" {
	as user1 rm -f stop
	job=$(submit user1 -n2 --mem=256 --lwk --wrap "srun -n1 $programs/rounds 0 stop")
	wait_for 60 has_printed user1 "$job" computing
	bed bash -ec 'for ((i = 0; i < $2; i++)); do
			scontrol suspend "$1"; sleep 2.$((RANDOM % 10))
			scontrol resume "$1"; sleep 0.$((RANDOM % 10))
		done' - "$job" "$(times 6 50)"
	as user1 touch stop
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	[[ $output =~ rounds\ ([0-9]+)\ sum\ ([0-9a-f]+) ]]
	done=${BASH_REMATCH[0]}
	run -0 as user1 "$programs/rounds" "${BASH_REMATCH[1]}" stop
	[[ $output == *"$done" ]]
	node_is_clean
}

# frozen_by COMMAND...: starts $job and runs the command with its number, which freezes its program.
frozen_by()
{
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/spin")
	wait_for 60 has_printed user1 "$job" spinning
	bed "$@" "$job"
	wait_for 15 a_cpu_is frozen "$job"
}

# bats test_tags=nightly
@test "scancel ends a suspended job" {
	frozen_by scontrol suspend
	as user1 scancel "$job"
	wait_for_job "$job"
	job_is "$job" JobState=CANCELLED
	node_is_clean
}

# bats test_tags=nightly
@test "scancel and kill -9 end a job whose LWK is frozen" {
	frozen_by lwkctl freeze
	as user1 scancel "$job"
	wait_for_job "$job"
	job_is "$job" JobState=CANCELLED
	node_is_clean
	frozen_by lwkctl freeze
	bed pkill -KILL -x spin
	wait_for_job "$job"
	job_is "$job" JobState=FAILED
	node_is_clean
}

# bats test_tags=nightly
@test "a program that starts while the LWK is frozen waits" {
	frozen_by lwkctl freeze
	as user1 sh -c "SLURM_JOB_ID=$job timeout 90 srun -n1 --overlap $programs/hello >late 2>&1" &
	step=$!
	wait_for 30 as user1 grep 'the LWK is frozen; waiting' late
	as user1 lwkctl thaw "$job"
	wait "$step"
	run -0 as user1 cat late
	[[ $output == *kernel=slurm-lwk* ]]
	as user1 scancel "$job"
	wait_for_job "$job"
	node_is_clean
}

# --- other ends ---

@test "when a proxy is killed, step and job tell so and go on as on Linux" {
	both -n2 --mem=512 <<-EOF
	#!/bin/bash
	srun -n1 $programs/spin
	echo "status \$?"
	srun -n1 $programs/hello | grep -c kernel=
	EOF
	both_have_printed spinning
	bed sh -c 'kill -KILL $(pgrep -x spin)'
	same JobState ExitCode
	run output_of "$lwk"
	[[ $output == *'task 0: Killed'*'status 137'* ]]
	node_is_clean
}
