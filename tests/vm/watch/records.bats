#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# An LWK job that has ended leaves its report, its record and its events.

load ../helpers

setup_file()
{
	prepare
}

@test "--lwk-report prints one line when the last program has ended" {
	run --separate-stderr -0 as user1 salloc -n3 --mem=512 --lwk --lwk-report srun -n2 "$programs/sleeper" 3
	# shellcheck disable=SC2154  # bats sets it
	[[ $(grep -c '^lwk: job' <<<"$stderr") == 1 ]]
	[[ $stderr =~ lwk:\ job\ [0-9]+:\ LWK\ lwk\ on\ CPUs\ .*memory\ peak\ [1-9].*delegated:\ [1-9] ]]
	run --separate-stderr -0 as user1 srun --lwk -n2 --mem=256M "$programs/hello"
	[[ $stderr != *'lwk: job'* ]]
}

@test "--lwk-report reaches the user also when the program closes its standard error" {
	run --separate-stderr -0 as user1 srun -n1 -c2 --mem=512 --lwk --lwk-report \
		busybox sh -c 'exec 2>&-; echo closed'
	[[ $output == closed && $stderr == *'lwk: job '* ]]
}

@test "jobs.json has the record of a job that has ended" {
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/sleeper 2")
	wait_for_job "$job"
	node_is_clean
	record=$(bed tail -n1 /var/log/slurm-lwk/jobs.json)
	[[ $(jq -r '"\(.job_id) \(.image) \(.lwk_cpus | length > 0) \(.runs > 0) \(.instance_state) \(.switched_off)"' <<<"$record") == "$job lwk true true running true" ]]
	jq -e '.usage.delegated_calls.wait > 0 and .usage.memory_peak > 0 and (.usage.cpus | length) == 2 and
		(.switch_off_steps | length) > 0 and .ended >= .since' <<<"$record"
	[[ $(bed stat -c '%a %U' /var/log/slurm-lwk/jobs.json) == '640 root' ]]
}

# record_lines: prints the number of records; fails when a part of one is there.
record_lines()
{
	bed sh -c 'test ! -e /var/log/slurm-lwk/jobs.json || cat /var/log/slurm-lwk/jobs.json' |
		jq -s length
}

@test "with a full file system jobs end, and no part of a record is left" {
	bed sh -c 'mount -t tmpfs -o size=16k,mode=755 none /var/log/slurm-lwk
		busybox syslogd -O /root/record.log
		dd if=/dev/zero of=/var/log/slurm-lwk/filler bs=4096 2>/dev/null || true
		df /var/log/slurm-lwk | grep 100%'
	run -0 as user1 srun --lwk -n2 --mem=256M "$programs/hello"
	node_is_clean
	[[ $(record_lines) == 0 ]]
	run -0 bed grep -c "could not be written to /var/log/slurm-lwk/jobs.json: No space left" /root/record.log
	# Now there is room for part of a record.
	bed sh -c 'truncate -s 8192 /var/log/slurm-lwk/filler; head -c 4000 /dev/zero | tr "\0" " " >/var/log/slurm-lwk/jobs.json
		dd if=/dev/zero of=/var/log/slurm-lwk/filler2 bs=4096 2>/dev/null || true'
	run -0 as user1 srun --lwk -n2 --mem=256M "$programs/hello"
	node_is_clean
	[[ $(record_lines) == 0 && $(bed stat -c %s /var/log/slurm-lwk/jobs.json) == 4000 ]]
	bed rm /var/log/slurm-lwk/filler
	run -0 as user1 srun --lwk -n2 --mem=256M "$programs/hello"
	node_is_clean
	[[ $(record_lines) == 1 ]]
	bed sh -c 'umount /var/log/slurm-lwk; kill $(cat /var/run/syslogd.pid); rm /root/record.log'
}

@test "a program that runs out of memory makes an event, a reason, and a count in the record" {
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/sleeper 8; srun -n1 $programs/eat-memory; srun -n1 $programs/sleeper 3")
	wait_for 60 bed sh -c "lwkctl list | grep -q $job"
	as user1 timeout 120 lwkctl events "$job" >"$BATS_TEST_TMPDIR/events" || true
	wait_for_job "$job"
	run -0 cat "$BATS_TEST_TMPDIR/events"
	[[ $output == *' out of memory'* ]]
	run -0 job_output user1 "$job"
	[[ $output == *'killed, the LWK is out of memory'* ]]
	record=$(bed tail -n1 /var/log/slurm-lwk/jobs.json)
	[[ $(jq .usage.out_of_memory <<<"$record") == 1 ]]
	[[ $(jq -r '.console[]' <<<"$record") == *'killed, the partition is out of memory'* ]]
	node_is_clean
}
