#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# What Slurm's accounting knows of an LWK job, in sstat and sacct, beside what the LWK says.

load ../helpers

setup_file()
{
	prepare
	bed /usr/lib/testbed/start-accounting
}

# sacct_field STEP FIELD
sacct_field()
{
	bed sacct -n -P -j "$1" -o "$2"
}

# in_seconds TIME: as sacct shows it, [[days-]hours:]minutes:seconds[.milliseconds].
in_seconds()
{
	awk -F '[-:]' '{ s = 0; for (i = 1; i <= NF; i++) s = s * (NF - i == 2 && NF == 4 ? 24 : 60) + $i; print s }' <<<"$1"
}

# near A B TOLERANCE: numbers, all in one unit.
near()
{
	awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { exit !(a - b <= t && b - a <= t) }' ||
		{ echo "wanted $1 and $2 no more than $3 apart"; return 1; }
}

# ended STEP: and its numbers are in the database.
ended()
{
	[[ $(sacct_field "$1" State) == COMPLETED ]]
}

# holds MB ID
holds()
{
	local rss
	rss=$(bed sstat -n -P -j "$2.0" -o MaxRSS)

	[[ $rss =~ ^([0-9]+)K$ ]] && ((BASH_REMATCH[1] >= $1 * 1024))
}

@test "CPU time and memory of an LWK job in sstat and sacct are those that the LWK tells of" {
	job=$(submit user1 -n2 --mem=768 --lwk --lwk-report --acctg-freq=task=1 \
		--wrap "srun -n1 $programs/hold 200 12")
	wait_for 60 holds 200 "$job"
	wait_for_job "$job"
	wait_for 30 ended "$job.0"
	run job_output user1 "$job"
	[[ $output =~ CPU\ time\ ([0-9.]+)\ s\ user,\ ([0-9.]+)\ s\ system.*memory\ peak\ ([0-9]+)\ MB ]]
	user=${BASH_REMATCH[1]} system=${BASH_REMATCH[2]} peak=${BASH_REMATCH[3]}
	total=$(awk "BEGIN { print $user + $system }")
	((peak >= 200))
	rss=$(sacct_field "$job.0" MaxRSS)
	run bed sacct -j "$job" -o JobID,TotalCPU,UserCPU,SystemCPU,AveCPU,MaxRSS
	echo "$output"
	# The rest is the proxy's own, which loads the program.
	near "$(in_seconds "$(sacct_field "$job.0" TotalCPU)")" "$total" 2
	near "$(in_seconds "$(sacct_field "$job.0" UserCPU)")" "$user" 2
	# Looked at once a second, and without the rest of what was looked at before.
	near "$(in_seconds "$(sacct_field "$job.0" AveCPU)")" "$total" 3
	near "${rss%K}" $((peak * 1024)) $((16 * 1024))
}

@test "a program that is over before anybody looks: its CPU time is in sacct, and who waits sees its memory" {
	job=$(submit user1 -n2 --mem=768 --lwk --wrap "
		srun -n1 $programs/secret leave 100
		busybox time -v lwkexec $programs/secret leave 100")
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $output =~ Maximum\ resident\ set\ size\ \(kbytes\):\ ([0-9]+) ]]
	((BASH_REMATCH[1] >= 100 * 1024))
	wait_for 30 ended "$job.0"
	[[ $(sacct_field "$job.0" TotalCPU) =~ [1-9] ]]
}

# gather_by PLUGIN: from now on.
gather_by()
{
	bed sh -s "$1" <<-'END'
	sed -i "s/^JobAcctGatherType=.*/JobAcctGatherType=jobacct_gather\/$1/" /etc/slurm/slurm.conf
	for daemon in slurmctld slurmd; do
		pid=$(cat /run/$daemon.pid)
		kill "$pid"
		while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
		setsid $daemon </dev/null >/dev/null 2>&1
	done
	END
	wait_for 60 bed sh -c '[ "$(sinfo -h -o %T)" = idle ]'
}

# What slurm-lwk-admin(7) says of it.
@test "jobacct_gather/cgroup: TotalCPU is the LWK's, what is looked at in cgroups is the proxy's" {
	gather_by cgroup
	job=$(submit user1 -n2 --mem=768 --lwk --lwk-report --acctg-freq=task=1 \
		--wrap "srun -n1 $programs/hold 200 8")
	wait_for_job "$job"
	wait_for 30 ended "$job.0"
	gather_by linux
	run job_output user1 "$job"
	[[ $output =~ CPU\ time\ ([0-9.]+)\ s\ user,\ ([0-9.]+)\ s\ system ]]
	total=$(awk "BEGIN { print ${BASH_REMATCH[1]} + ${BASH_REMATCH[2]} }")
	run bed sacct -j "$job" -o JobID,TotalCPU,UserCPU,SystemCPU,AveCPU,MaxRSS
	echo "$output"
	near "$(in_seconds "$(sacct_field "$job.0" TotalCPU)")" "$total" 2
	near "$(in_seconds "$(sacct_field "$job.0" AveCPU)")" 0 2
	rss=$(sacct_field "$job.0" MaxRSS)
	near "${rss%K}" 0 $((32 * 1024))
	node_is_clean
}

# They are in cgroups of ours then, not in those that Slurm reads.
@test "jobacct_gather/cgroup, version 1: what proxies use in system calls is in TotalCPU, and Slurm ends them" {
	gather_by cgroup
	job=$(submit user1 -n2 --mem=768 --lwk --lwk-report --acctg-freq=task=1 \
		--wrap "srun -n1 $programs/hammer 8; srun -n1 $programs/hammer 600")
	wait_for 60 has_printed user1 "$job" 'calls '
	wait_for 60 bed pgrep -f '^/usr/bin/lwkexec 600'
	bed scancel "$job"
	wait_for_job "$job"
	gather_by linux
	run ! bed pgrep -f '^/usr/bin/lwkexec'
	wait_for 30 ended "$job.0"
	run job_output user1 "$job"
	[[ $output =~ CPU\ time\ ([0-9.]+)\ s\ user,\ ([0-9.]+)\ s\ system ]]
	lwk=$(awk "BEGIN { print ${BASH_REMATCH[1]} + ${BASH_REMATCH[2]} }")
	run bed sacct -j "$job" -o JobID,State,TotalCPU,UserCPU,SystemCPU,AveCPU,MaxRSS
	echo "LWK $lwk; $output"
	total=$(in_seconds "$(sacct_field "$job.0" TotalCPU)")
	awk -v total="$total" -v lwk="$lwk" 'BEGIN { exit !(total > lwk + 1 && total < 17) }'
	near "$(in_seconds "$(sacct_field "$job.0" AveCPU)")" 0 1
	[[ $(sacct_field "$job.1" State) == CANCELLED* ]]
	node_is_clean
}
