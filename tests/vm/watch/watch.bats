#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# lwkctl looks at jobs while they run, and the LWK does not notice.

load ../helpers

setup_file()
{
	prepare
	job=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/spin")
	export job
	wait_for 60 has_printed user1 "$job" 'spinning'
}

teardown_file()
{
	as user1 scancel "$job"
	wait_for_job "$job"
	node_is_clean
}

# of_cpu FIELD: prints it of the LWK CPU that spins.
of_cpu()
{
	bed lwkctl stat "$job" --json | jq "[.cpus[] | select(.doing == \"user\")][0]$1"
}

# total FIELD ID: prints the sum over all CPUs.
total()
{
	bed lwkctl stat "$2" --json | jq ".$1"
}

# grows FIELD THAN ID: true when the sum over all CPUs is above THAN.
grows()
{
	(($(total "$1" "$3") > $2))
}

# a_cpu_is WORD ID: true when a CPU of the job's LWK does this.
a_cpu_is()
{
	bed lwkctl stat "$2" --json | jq -e "[.cpus[].doing] | index(\"$1\")"
}

@test "users see their own instances, root sees all" {
	run -0 as user1 lwkctl list
	[[ $output == *"$job"*user1*running* ]]
	run -0 as user2 lwkctl list
	[[ $output != *"$job"* ]]
	run -0 bed lwkctl list --json
	[[ $(jq -r '.[0] | "\(.job_id) \(.instance_state) \(.processes)"' <<<"$output") == "$job running 1" ]]
}

@test "other users' jobs, unknown jobs and bad intervals are refused" {
	run -1 as user2 lwkctl stat "$job"
	[[ $output == *"job $job belongs to user 1001"* ]]
	run -1 as user2 lwkctl freeze "$job"
	run -1 as user1 lwkctl info 4000000
	[[ $output == *'no LWK job 4000000'* ]]
	for interval in 0 -1 nan inf 1x ''; do
		run -2 as user1 lwkctl stat "$job" --interval "$interval"
		[[ $output == *'--interval SECONDS'* ]]
	done
	run -2 as user1 lwkctl stat "$job" --count 2
	run -2 as user1 lwkctl info
}

@test "lwkctl stat sees a program compute that never enters the kernel" {
	before=$(total user_ns "$job")
	wait_for 10 grows user_ns $((before + 1000000000)) "$job"
	run -0 as user1 lwkctl stat "$job" --interval 0.5 --count 3
	# One of the two CPUs computes, the other halts; the columns are percentages.
	tail -n1 <<<"$output" | awk '{ exit !($1 == 1 && $2 > 40 && $2 <= 50 && $5 > 40 && $5 <= 50) }'
}

@test "watching every 10 ms causes no interrupt, no call and no kernel entry on the LWK" {
	before=$(of_cpu '| del(.user_ns)')
	[[ $before == *disturbances* ]]
	bed sh -c "lwkctl stat $job --interval 0.01 --count 300 --json >/dev/null; lwkctl list; lwkctl info $job; lwkctl kmsg $job" >/dev/null
	[[ $(of_cpu '| del(.user_ns)') == "$before" ]]
}

@test "a frozen LWK stands still and goes on" {
	as user1 lwkctl freeze "$job"
	run -0 as user1 lwkctl info "$job"
	[[ $output == *'state      frozen since'* ]]
	frozen=$(total user_ns "$job")
	sleep 1
	[[ $(total user_ns "$job") == "$frozen" ]]
	as user1 lwkctl thaw "$job"
	wait_for 5 grows user_ns "$frozen" "$job"
	run -0 as user1 lwkctl info "$job"
	[[ $output == *'state      running since'* ]]
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "a pipe through a program that is frozen at random moments loses nothing" {
	id=$(submit user1 -n2 --mem=256 --lwk --wrap 'id=$SLURM_JOB_ID
		while [ ! -e stop.$id ]; do head -c 10000 /dev/urandom; sleep 0.02; done | tee in.$id |
			srun -n1 busybox cat >out.$id
		cmp in.$id out.$id && echo the same, $(stat -c %s in.$id) bytes')
	wait_for 60 as user1 test -s "out.$id"
	bed bash -ec 'for ((i = 0; i < $2; i++)); do
			lwkctl freeze "$1"; sleep 0.0$((RANDOM % 10)); lwkctl thaw "$1"; sleep 0.0$((RANDOM % 10)); done
		lwkctl info "$1"' - "$id" "$(times 20 50)" | grep 'processes  1'
	as user1 touch "stop.$id"
	wait_for_job "$id"
	run -0 job_output user1 "$id"
	[[ $output == *'the same, '[1-9]* ]]
}

@test "a program stands still while its job is suspended" {
	bed scontrol suspend "$job"
	wait_for 10 a_cpu_is frozen "$job"
	bed scontrol resume "$job"
	wait_for 10 a_cpu_is user "$job"
}

@test "a program stands still while its proxy is stopped" {
	bed pkill -STOP -x spin
	wait_for 10 a_cpu_is frozen "$job"
	bed pkill -CONT -x spin
	wait_for 10 a_cpu_is user "$job"
}

# shellcheck disable=SC2030
@test "the LWK's console is in the node's log, with the job's number" {
	run -0 as user1 lwkctl kmsg "$job"
	[[ $output == *'slurm-lwk '*" job $job"* ]]
	wait_for 5 bed sh -c "dmesg | grep 'lwkpart: job $job: .* LWK: 2 CPUs'"
}

# top_ends COMMAND...: true when lwkctl top, on a terminal of its own, ends by COMMAND with status 0.
# shellcheck disable=SC2016,SC2031  # text for another shell; run sets output
top_ends()
{
	bed sh -c "rm -f /tmp/top.keys /tmp/top.out; mkfifo /tmp/top.keys
		(exec 3>/tmp/top.keys; sleep 120) & holder=\$!
		TERM=xterm script -qefc 'lwkctl top' /tmp/top.out </tmp/top.keys >/dev/null 2>&1 & script=\$!
		until grep -qs 'job $job' /tmp/top.out; do sleep 0.2; done
		tty=/dev/\$(ps -o tty= -C lwkctl | tr -d ' ')
		$*
		wait \$script; status=\$?; kill \$holder; exit \$status"
	# lwkctl top has left the alternate screen, so the terminal is as before.
	run -0 bed cat -v /tmp/top.out
	[[ $output == *"job $job"*'[?1049l'* ]]
}

@test "lwkctl top tells of a program that computes without a system call" {
	top_ends "until grep -q without /tmp/top.out; do sleep 1; done; printf q >/tmp/top.keys"
}

@test "lwkctl top draws, survives a resize, and ends cleanly" {
	top_ends 'stty -F $tty rows 5 cols 30; sleep 2; pgrep -x lwkctl && printf q >/tmp/top.keys'
	top_ends 'pkill -TERM -x lwkctl'
	top_ends 'pkill -INT -x lwkctl'
	run -1 bed lwkctl top
	[[ $output == *'expected a terminal'* ]]
}

# charged SECONDS ID: true when sstat sees at least SECONDS of CPU time.
charged()
{
	local text
	text=$(bed sstat -n -P -j "$2.0" -o AveCPU)

	[[ $text =~ ^00:([0-9]+):([0-9]+)$ ]] &&
		((10#${BASH_REMATCH[1]} * 60 + 10#${BASH_REMATCH[2]} >= $1))
}

@test "Slurm and ps see the program's CPU time and memory" {
	wait_for 30 charged 6 "$job"
	[[ $(bed sstat -n -P -j "$job.0" -o MaxRSS) == [1-9]* ]]
	seconds=$(bed ps -o times= -C spin)
	# The LWK's time, and not more.
	((seconds >= 6 && seconds * 1000000000 <= $(total user_ns "$job") + 1000000000))
}

@test "lwkctl stat tells the peak of memory by size of page" {
	# No peak is below the present use.
	run -0 bed sh -c "lwkctl stat $job --json | tr -d '\n'"
	jq -e '.nodes | map(select(.peak_4k < .bytes_4k or .peak_2m < .bytes_2m or .peak > .peak_4k + .peak_2m)) == []' <<<"$output"
	jq -e '.nodes | map(.peak_4k) | add > 0' <<<"$output"
}

@test "lwkctl info says whether the CPUs have hardware counters" {
	run -0 as user1 lwkctl info "$job"
	if bed grep -qw arch_perfmon /proc/cpuinfo; then
		[[ $output =~ counters\ +[1-9][0-9]*\ of ]]
	else
		[[ $output == *'not available here: the CPUs tell of no architectural performance counters'* ]]
		[[ $(bed lwkctl stat "$job" --json | jq -c .pmu) == '{"version":0,"counters":0,"fixed":0,"bits":0}' ]]
	fi
}

@test "lwkctl metrics prints the job's state and CPU time for Prometheus" {
	run -0 bed lwkctl metrics
	[[ $output == *"lwk_state{job=\"$job\",uid=\"1001\",image=\"lwk\",state=\"running\"} 1"* ]]
	[[ $output =~ lwk_cpu_seconds_total\{job=\"$job\"[^}]*mode=\"user\"\}\ [1-9] ]]
	run -1 as user1 lwkctl metrics
}

# shellcheck disable=SC2016  # text for another shell
# bats test_tags=nightly
@test "each verb of lwkctl gives an answer or a reason while its instance ends" {
	id=$(submit user1 -n3 --mem=256 --lwk --wrap "srun -n1 $programs/hello; srun -n1 $programs/sleeper 3")
	wait_for 60 has_printed user1 "$id" 'LWK'
	run -0 bed bash -c 'while [[ -e /run/slurm-lwk/jobs/$1.json ]]; do
			for verb in "info $1" "info $1 --json" "stat $1 --json" "list" "kmsg $1" metrics "dump $1 /tmp/ends.core" "freeze $1" "thaw $1"; do
				said=$(timeout 20 lwkctl $verb 2>&1 >/dev/null); status=$?
				((++asked, status <= 1)) || echo "lwkctl $verb ended with $status: $said"
				((status == 0)) || [[ $said == lwkctl:* ]] || echo "lwkctl $verb said: $said"
				rm -f /tmp/ends.core
			done
		done; echo "asked $asked times"' - "$id"
	echo "$output"
	[[ $output =~ ^asked\ [1-9][0-9]+\ times$ ]]
	wait_for_job "$id"
}

# bats test_tags=nightly
@test "events, kmsg and stat follow an instance to its end" {
	id=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/hello; srun -n1 $programs/sleeper 5")
	wait_for 60 has_printed user1 "$id" 'LWK'
	as user1 sh -c "timeout 60 lwkctl events $id >events.$id & timeout 60 lwkctl kmsg $id --follow >kmsg.$id &
		timeout 60 lwkctl stat $id --interval 0.1 --json >stat.$id; echo \$? >status.$id; wait"
	wait_for_job "$id"
	run -0 as user1 sh -c "cat events.$id status.$id; tail -n1 stat.$id; cat kmsg.$id"
	[[ $output == *' state running'*' exit'*' state shutting down'*$'\n0\n'*memory_peak*" job $id"* ]]
}
