#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# An administrator sets the machine's clock an hour forward or back. No part of an LWK job ends early or late for
# that, because deadlines and durations come from the monotonic clock.

load ../helpers

setup_file()
{
	prepare
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
	# The module is loaded, and /run/slurm-lwk is there.
	as user1 srun --lwk -n2 --mem=256 "$programs/hello"
	bed sh -c 'echo $(($(date +%s) - $(cut -d. -f1 /proc/uptime))) >/root/booted-at'
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
	bed lwkctl reset
	node_is_clean
}

teardown()
{
	[[ $BATS_TEST_COMPLETED ]] || bed scancel --user=user1
	bed rm -f /run/slurm-lwk/fault /run/slurm-lwk/fault.met
	correct_clock
}

# correct_clock: sets the clock as it was, and has Slurm notice it. After a jump back its scheduler starts nothing
# until the time of its last pass comes again.
correct_clock()
{
	# shellcheck disable=SC2016  # the machine's shell expands it
	bed sh -c 'date -s "@$(($(cat /root/booted-at) + $(cut -d. -f1 /proc/uptime)))"'
	stop_daemon slurmctld
	start_daemon slurmctld
	wait_for 60 bed sh -c '[ "$(sinfo -h -o %T)" = idle ]'
}

# jump SECONDS: sets the clock forward by SECONDS.
jump()
{
	# shellcheck disable=SC2016  # the machine's shell expands it
	bed sh -c 'date -s "@$(($(date +%s) + $1))"' - "$1"
}

# set_in_conf NAME VALUE: has lwk.conf say so.
set_in_conf()
{
	bed sed -i -e "/^$1 *=/d" -e "s/^SwitchTimeout.*/&\n$1 = $2/" /etc/slurm/lwk.conf
}

uptime_s()
{
	bed cut -d. -f1 /proc/uptime
}

# record_is_sane JOB LEAST: the job had its LWK for at least that many seconds by its line in jobs.json, and no
# time in it is of an hour.
record_is_sane()
{
	bed grep "\"job_id\":$1," /var/log/slurm-lwk/jobs.json | tail -n 1 | jq -e --argjson least "$2" '
		.lasted >= $least and .lasted < 900 and .switch_on_ms < 900000 and
		([.steps[].us, .switch_off_steps[].us] | all(. >= 0 and . < 900e6))'
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "a program sleeps as long as it wants while the clock jumps, and sees Linux's new time" {
	for seconds in 3600 -3600; do
		job=$(submit user1 -n3 --mem=512 --lwk --wrap '
			begun=$(cut -d. -f1 /proc/uptime)
			srun -n1 /opt/lwk-tests/sleeper 20
			echo "took $(($(cut -d. -f1 /proc/uptime) - begun)) s"
			before=$(date +%s)
			there=$(srun -n1 busybox date +%s)
			[ "$before" -le $((there + 1)) ] && [ "$there" -le $(($(date +%s) + 1)) ] && echo right')
		wait_for 60 has_printed user1 "$job" kernel=slurm-lwk
		jump "$seconds"
		wait_for_job "$job"
		job_is "$job" JobState=COMPLETED
		run -0 job_output user1 "$job"
		[[ $output =~ took\ ([0-9]+)\ s.*right ]]
		((BASH_REMATCH[1] >= 20 && BASH_REMATCH[1] < 300))
		node_is_clean
		record_is_sane "$job" 20
	done
}

# bats test_tags=nightly
@test "a partition is kept warm as long as KeepWarm= says, whatever the clock does" {
	set_in_conf KeepWarm 40
	for seconds in 3600 -3600; do
		as user1 srun --lwk -n3 --mem=512 "$programs/hello"
		wait_for 60 bed sh -c 'lwkctl status --json | grep -q "\"warm\""'
		since=$(bed lwkctl status --json | jq '.jobs[] | select(.state == "warm") | .since_boot')
		jump "$seconds"
		run -0 bed lwkctl status
		[[ $output =~ for\ another\ LWK\ job,\ for\ ([0-9]+)\ s ]]
		((BASH_REMATCH[1] > 0 && BASH_REMATCH[1] <= 40))
		run bed lwkctl check
		[[ $output != *'problem warm'* ]]
		wait_for 60 bed sh -c '! lwkctl status --json | grep -q "\"warm\""'
		took=$(($(uptime_s) - since))
		((took >= 40 && took < 120)) || { echo "it was warm for $took s"; false; }
		node_is_clean
	done
	set_in_conf KeepWarm 0
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "a switch to an LWK and one back end as usual when the clock jumps in their midst" {
	for seconds in 3600 -3600; do
		for step in 'on memory after' 'off cpus before'; do
			bed sh -c 'echo "$1 hold" >/run/slurm-lwk/fault' - "$step"
			job=$(submit user1 -n3 --mem=512 --lwk --wrap 'srun -n1 /opt/lwk-tests/hello')
			wait_for 60 bed test -e /run/slurm-lwk/fault.met
			jump "$seconds"
			bed rm /run/slurm-lwk/fault.met
			wait_for_job "$job"
			job_is "$job" JobState=COMPLETED
			node_is_clean
			record_is_sane "$job" 0
			correct_clock
		done
	done
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "an LWK that computes is not taken for one that hangs when the clock jumps" {
	set_in_conf HangTimeout 5
	for seconds in 3600 -3600; do
		job=$(submit user1 -n3 --mem=512 --lwk --wrap \
			'srun -n1 timeout 20 /opt/lwk-tests/spin; echo "status $?"')
		wait_for 60 has_printed user1 "$job" spinning
		jump "$seconds"
		wait_for_job "$job"
		run -0 job_output user1 "$job"
		[[ $output == *'status 124'* ]]
		record_is_sane "$job" 15
		correct_clock
	done
}
