#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
# also: bookworm --release bookworm, everywhere
# bats file_tags=everywhere
#
# Slurm's accounting of an LWK job, in sstat and sacct, agrees with the LWK's own figures.

load ../helpers

setup_file()
{
	prepare
	bed /usr/lib/testbed/start-accounting
}

# sacct_field STEP FIELD: prints it.
sacct_field()
{
	bed sacct -n -P -j "$1" -o "$2"
}

# in_seconds TIME: prints seconds; TIME is [[days-]hours:]minutes:seconds[.milliseconds].
in_seconds()
{
	awk -F '[-:]' '{ s = 0; for (i = 1; i <= NF; i++) s = s * (NF - i == 2 && NF == 4 ? 24 : 60) + $i; print s }' <<<"$1"
}

# in_bytes SIZE: prints bytes; SIZE is in K, or in M where that takes no more digits.
in_bytes()
{
	numfmt --from=iec "$1"
}

# cpu_time STEP FIELD: prints the seconds of CPU time that sacct shows there.
cpu_time()
{
	in_seconds "$(sacct_field "$@")"
}

# is_true EXPRESSION: true when awk finds this comparison of numbers true.
is_true()
{
	awk "BEGIN { exit !($1) }" || { echo "expected $1"; return 1; }
}

# lwk_time: prints the seconds of CPU time, user and system, in the first report of $output.
lwk_time()
{
	sed -n 's/.*CPU time \([0-9.]*\) s user, \([0-9.]*\) s system.*/\1 \2/p' <<<"$output" |
		awk '{ print $1 + $2; exit }'
}

# ended STEP: true when the step's numbers are in the database.
ended()
{
	[[ $(sacct_field "$1" State) == COMPLETED ]]
}

# holds MB ID: true when sstat sees MB megabytes of memory, and some CPU time.
holds()
{
	local found
	found=$(bed sstat -n -P -j "$2.0" -o MaxRSS,AveCPU)

	[[ $found =~ ^([0-9.]+[KM])\|.*[1-9] ]] && (($(in_bytes "${BASH_REMATCH[1]}") >= $1 << 20))
}

@test "sstat and sacct show the CPU time and memory that the LWK reports" {
	job=$(submit user1 -n2 --mem=768 --lwk --lwk-report --acctg-freq=task=1 \
		--wrap "srun -n1 $programs/hold-memory 200 3 seen.\$SLURM_JOB_ID")
	wait_for 60 holds 200 "$job"
	as user1 touch "seen.$job"
	wait_for_job "$job"
	wait_for 30 ended "$job.0"
	run job_output user1 "$job"
	[[ $output =~ CPU\ time\ ([0-9.]+)\ s\ user,\ ([0-9.]+)\ s\ system.*memory\ peak\ ([0-9]+)\ MB ]]
	user=${BASH_REMATCH[1]} peak=${BASH_REMATCH[3]}
	total=$(lwk_time)
	((peak >= 200))
	rss=$(in_bytes "$(sacct_field "$job.0" MaxRSS)")
	run bed sacct -j "$job" -o JobID,TotalCPU,UserCPU,SystemCPU,AveCPU,MaxRSS
	echo "$output"
	# sacct rounds, and adds the time of the proxy, which loads the program.
	slurm=$(cpu_time "$job.0" TotalCPU)
	is_true "$total - 0.1 <= $slurm && $slurm < 2 * $total"
	is_true "$user - 0.1 <= $(cpu_time "$job.0" UserCPU)"
	# Slurm looks at it once a second, or more seldom on a busy host, and in whole seconds.
	ave=$(cpu_time "$job.0" AveCPU)
	is_true "1 <= $ave && $ave <= $slurm + 1"
	# The proxy has some memory of its own.
	((rss >= 200 << 20 && rss <= (peak + 16) << 20))
}

@test "sacct has the CPU time of a program too short to be looked at, and wait(2) its memory" {
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

# gather_by PLUGIN: restarts Slurm with this jobacct_gather plugin.
gather_by()
{
	bed sh -s "$1" <<-'END'
	sed -i "s/^JobAcctGatherType=.*/JobAcctGatherType=jobacct_gather\/$1/" /etc/slurm/slurm.conf
	END
	for daemon in slurmctld slurmd; do
		stop_daemon $daemon
		start_daemon $daemon
	done
	wait_for 60 bed sh -c '[ "$(sinfo -h -o %T)" = idle ]'
}

# slurm-lwk-admin(7) describes this.
# bats test_tags=nightly
@test "with jobacct_gather/cgroup TotalCPU is the LWK's time, AveCPU and MaxRSS are the proxy's" {
	gather_by cgroup
	job=$(submit user1 -n2 --mem=768 --lwk --lwk-report --acctg-freq=task=1 \
		--wrap "srun -n1 $programs/hold-memory 200 8")
	wait_for_job "$job"
	wait_for 30 ended "$job.0"
	gather_by linux
	run job_output user1 "$job"
	total=$(lwk_time)
	run bed sacct -j "$job" -o JobID,TotalCPU,UserCPU,SystemCPU,AveCPU,MaxRSS
	echo "$output"
	is_true "$total - 0.1 <= $(cpu_time "$job.0" TotalCPU)"
	is_true "$(cpu_time "$job.0" AveCPU) < $total / 2"
	rss=$(in_bytes "$(sacct_field "$job.0" MaxRSS)")
	((rss < 32 << 20))
	node_is_clean
}

# With cgroup version 1 proxies are not in the cgroups that Slurm reads.
# bats test_tags=version-2,nightly
@test "with jobacct_gather/cgroup TotalCPU has the proxies' time in system calls, and Slurm ends them" {
	gather_by cgroup
	job=$(submit user1 -n2 --mem=768 --lwk --lwk-report --acctg-freq=task=1 \
		--wrap "srun -n1 $programs/hammer 8; srun -n1 $programs/hammer 600")
	wait_for 60 has_printed user1 "$job" 'calls '
	wait_for 60 bed pgrep -f '^/usr/bin/lwkexec .*hammer 600'
	bed scancel "$job"
	wait_for_job "$job"
	gather_by linux
	run ! bed pgrep -f '^/usr/bin/lwkexec'
	wait_for 30 ended "$job.0"
	run job_output user1 "$job"
	lwk=$(lwk_time)
	run bed sacct -j "$job" -o JobID,State,TotalCPU,UserCPU,SystemCPU,AveCPU,MaxRSS,ElapsedRaw
	echo "LWK $lwk; $output"
	total=$(cpu_time "$job.0" TotalCPU)
	# Counted once: the program and its proxy are on one CPU each.
	is_true "$total > 1.1 * $lwk && $total <= 2 * ($(sacct_field "$job.0" ElapsedRaw) + 1)"
	# AveCPU, in whole seconds, is the proxy's alone.
	ave=$(cpu_time "$job.0" AveCPU)
	is_true "$ave <= $total - $lwk + 1 && $ave >= $total - $lwk - 2"
	[[ $(sacct_field "$job.1" State) == CANCELLED* ]]
	node_is_clean
}
