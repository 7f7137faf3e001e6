#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# Switches by the library alone (switch-once.c), without Slurm's hooks, that are killed, collide or
# cannot be done; and lwkctl, which cleans up after them.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
}

# A command that prints state and zone of each memory block and the CPUs of each interrupt.
zones='grep -H . /sys/devices/system/memory/memory*/state /sys/devices/system/memory/memory*/valid_zones \
	/proc/irq/*/smp_affinity_list'

# record_has JOB TEXT...: true when the node's record of the job has each text.
record_has()
{
	local job=$1
	shift

	run -0 bed cat "/run/slurm-lwk/jobs/$job.json"
	for text; do
		[[ $output == *"$text"* ]] || { echo "expected $text in $output"; return 1; }
	done
}

# run_job: sets $running to an LWK job that runs, for Slurm too, on two CPUs of those from 1 on.
run_job()
{
	running=$(submit user1 -n2 --mem=400 --lwk --wrap "srun -n1 $programs/spin")
	wait_for 60 has_printed user1 "$running" spinning
}

@test "a switch that is killed at any moment is undone from its journal" {
	before=$(bed sh -c "$zones")
	run -0 bed bash -s "$(times 4 12)" <<-'EOF'
	for ((i = 1; i <= $1; i++)); do
		switch-once on 200 1000 4-7 1000M >/dev/null &
		sleep "$((RANDOM % 2)).$((RANDOM % 90 + 10))"
		kill -9 $! 2>/dev/null
		wait $! 2>/dev/null
		lwkctl reset 200 >/dev/null || { echo "round $i"; lwkctl status; exit 1; }
		lwkctl status --json | tr -d ' \n' | grep -qxF '{"jobs":[],"lent":[]}' ||
			{ echo "round $i"; lwkctl status; exit 1; }
	done
	EOF
	node_is_clean
	[[ $(bed sh -c "$zones") == "$before" ]]
}

@test "a switch that is asked to end undoes itself and says why" {
	run ! bed bash -c 'switch-once on 201 1000 4-7 1000M &
		until [[ -s /run/slurm-lwk/jobs/201.journal ]]; do sleep 0.02; done; kill $!; wait $!'
	record_has 201 '"state":"refused"' 'cancelled by a signal'
	bed switch-once off 201
	node_is_clean
}

@test "two switches at once take turns" {
	bed bash -c 'switch-once on 202 1000 1-3 400M & switch-once on 203 1001 4-7 400M & wait'
	record_has 202 '"state":"active"' '"lwk_cpus":"2-3"' '"nodes":"0"'
	record_has 203 '"state":"active"' '"lwk_cpus":"5-7"' '"nodes":"1"'
	bed switch-once off 202
	record_has 203 '"state":"active"'
	bed switch-once off 203
	node_is_clean
}

@test "a request for what allocation or machine do not have is refused" {
	bed switch-once on 204 1000 4-7 64G
	record_has 204 '"state":"refused"' 'expected 65472 MB of memory' 'this machine can give away'
	bed switch-once on 205 1000 4-99 400M
	record_has 205 'expected CPUs of this machine (0-7) in the allocation, found 4-99'
	bed switch-once on 206 1000 4-7 400M
	bed switch-once on 207 1000 6-7 400M
	record_has 207 'CPUs 5-7 are lent to an LWK already'
	for job in 204 205 206 207; do
		bed switch-once off "$job"
	done
	node_is_clean
}

@test "lwkctl reset brings back what no journal names" {
	bed switch-once on 208 1000 4-7 600M
	bed sh -c 'rm /run/slurm-lwk/jobs/208.j*'
	run -0 bed lwkctl reset
	[[ $output == *'LWK instance '*' of job 208 is ended'* ]]
	[[ $output == *'CPU 5 is back'*'CPU 7 is back'* ]]
	run -0 bed lwkctl reset
	[[ $output == 'nothing was lent' ]]
	node_is_clean
}

@test "a damaged journal is found, undone as far as it goes, and forgotten" {
	# One line of each step may be damaged.
	bed switch-once on 209 1000 4-7 600M
	bed sed -i '1~2s/.*/rubbish/' /run/slurm-lwk/jobs/209.journal
	bed switch-once off 209
	node_is_clean
	bed switch-once on 209 1000 4-7 600M
	bed sed -i '3,4s/.*/rubbish/' /run/slurm-lwk/jobs/209.journal
	run -1 bed switch-once off 209
	[[ $output == *'209.journal: line 3 is damaged'*'lwkctl reset'* ]]
	run ! bed lwkctl check
	[[ $output == *'problem jobs'*'job 209 is stuck'* ]]
	run -0 bed lwkctl reset
	[[ $output == *'the damaged journal of job 209 is removed'* ]]
	node_is_clean
}

@test "a journal that somebody has emptied is damage as long as the job has an LWK" {
	bed switch-once on 218 1000 4-7 600M
	bed truncate -s 0 /run/slurm-lwk/jobs/218.journal
	run -1 bed switch-once off 218
	[[ $output == *'218.journal: line 1 is damaged'*'lwkctl reset'* ]]
	run -0 bed lwkctl reset
	[[ $output == *'of job 218 is ended'*'CPU 7 is back'* ]]
	node_is_clean
	# A process that was killed while it created the journal has left the same.
	bed sh -c 'mkdir -p /run/slurm-lwk/jobs && : >/run/slurm-lwk/jobs/218.journal'
	bed switch-once off 218
	node_is_clean
}

@test "a record that cannot be read keeps no other job from beginning and ending" {
	bed switch-once on 219 1000 4-7 600M
	bed sh -c 'echo rubbish >/run/slurm-lwk/jobs/219.json'
	run_job
	record_has "$running" '"state":"active"'
	run -1 bed lwkctl check --repair
	record_has "$running" '"state":"active"'
	bed scancel "$running"
	wait_for_job "$running"
	run -1 bed lwkctl check
	[[ $output == *'problem jobs'*"job 219: "*"219.json: expected a job's record"*'lwkctl reset JOB'* ]]
	[[ $output != *'broken off'* ]]
	# The LWK of the job still runs.
	run -0 bed lwkctl status --json
	[[ $(jq '.lent | map(select(.kind == "cpu")) | length' <<<"$output") == 3 ]]
	bed switch-once off 219
	node_is_clean
}

@test "lwkctl reset --dry-run shows what there is and changes nothing" {
	bed switch-once on 212 1000 4-7 600M
	run -0 bed lwkctl reset --dry-run
	[[ $output == *'found: job 212 of user 1000 is active'*'found: a journal of job 212 with '*' cpus '* ]]
	[[ $output == *'found: LWK instance '*' of job 212 is RUNNING'*'found: CPU 5 is lent, to LWK instance '* ]]
	[[ ${lines[-1]} == 'nothing is changed (--dry-run)' ]]
	record_has 212 '"state":"active"'
	bed switch-once off 212
	run -0 bed lwkctl reset --dry-run
	[[ $output == 'nothing was lent' ]]
	node_is_clean
}

@test "lwkctl reset --force ends a switch that hangs" {
	bed bash -c 'echo on memory after hold >/run/slurm-lwk/fault
		setsid switch-once on 213 1000 4-7 600M >/dev/null 2>&1 &
		until [[ -e /run/slurm-lwk/fault.met ]]; do sleep 0.05; done'
	run -0 bed lwkctl reset --force
	[[ $output == *'found: process '*' (switch-once) holds the lock'*' is killed'*'CPU 5 is back'* ]]
	node_is_clean
}

@test "lwkctl reset --force forgets a journal of another release when nothing is lent" {
	bed switch-once on 214 1000 4-7 400M
	# Lines of an earlier release's journal may have no checksums, and are there once.
	bed sed -i '1~2d; s/,"n":[0-9]*} [0-9a-f]*$/}/; s/"version":2/"version":1/; s/"step":"sysview"/"step":"later"/' /run/slurm-lwk/jobs/214.journal
	run -1 bed switch-once off 214
	[[ $output == *'an unknown step "later"'*"'lwkctl reset --force'"* ]]
	run -1 bed lwkctl reset
	run -0 bed lwkctl reset --force
	[[ $output == *'the useless journal of job 214 is removed'* ]]
	node_is_clean
}

@test "lwkctl check --repair brings back what is stuck and leaves running jobs alone" {
	run_job
	bed switch-once on 216 1001 4-7 400M
	bed sh -c 'echo off cpus before fail >/run/slurm-lwk/fault'
	run -1 bed switch-once off 216
	[[ $output == *'root ordered a fault before the step "cpus"'* ]]
	record_has 216 '"state":"stuck"'
	bed sh -c 'echo on boot before fail >/run/slurm-lwk/fault'
	run -1 bed lwkctl check
	[[ $output == *'problem jobs'*'job 216 is stuck'*'problem fault'*'root has ordered a fault'* ]]
	run -2 as user1 lwkctl check --repair
	run -0 bed lwkctl check --repair
	[[ $output == *'repaired: CPU 7 is back'*'repaired: the order of a fault is removed'* ]]
	record_has "$running" '"state":"active"'
	bed scancel "$running"
	wait_for_job "$running"
	node_is_clean
}

# Nobody ends a switch whose job was over when it began.
# bats test_tags=nightly
@test "lwkctl check finds a job that is over and still has its LWK, and --repair gives that back" {
	run_job
	bed switch-once announced 221 1000 4-7 400M
	run -1 bed lwkctl check
	[[ $output == *'problem jobs       job 221 is over'*"-> run 'lwkctl check --repair'"* ]]
	[[ $output != *"job $running is over"* ]]
	run -0 bed lwkctl check --repair
	[[ $output == *'repaired: job 221, which is over:'*'repaired: CPU 7 is back'*'0 problems' ]]
	record_has "$running" '"state":"active"'
	bed scancel "$running"
	wait_for_job "$running"
	node_is_clean
}

# begin_bench: sets $bench to the job and $maker to the process of an lwkctl bench whose program runs on its
# LWK for long.
begin_bench()
{
	bench=67108865
	maker=$(bed sh -c 'setsid lwkctl bench --cpus 1-3 --mem 300M --count 1 --seconds 600 \
		</dev/null >/run/bench.out 2>&1 & echo $!')
	wait_for 60 bed grep -q '"state":"active"' "/run/slurm-lwk/jobs/$bench.json"
}

@test "lwkctl check --repair leaves alone the LWK of lwkctl bench, and names its process when that is killed" {
	begin_bench
	run -0 bed lwkctl check --repair
	[[ $output != *repaired:* ]]
	[[ $output == *"note    jobs       job $bench has an LWK and is none of Slurm's: process $maker (lwkctl) has made it and runs"* ]]
	record_has "$bench" '"state":"active"'
	bed kill -9 "$maker"
	wait_for 10 bed sh -c '! test -e /proc/"$1"' - "$maker"
	run -1 bed lwkctl check --repair
	[[ $output != *repaired:* ]]
	[[ $output == *"problem jobs       job $bench has an LWK and is none of Slurm's: process $maker (lwkctl) has made it and has ended"* ]]
	[[ $output == *"-> run 'lwkctl reset $bench' if nobody needs it"* ]]
	record_has "$bench" '"state":"active"'
	bed lwkctl reset "$bench"
	node_is_clean
}

# bats test_tags=nightly
@test "a start of slurmd leaves alone the LWK of lwkctl bench, and ends one whose process has ended" {
	begin_bench
	# slurmd asks after the jobs in their order, so it has left the first one alone when the second one has ended.
	bed switch-once on $((bench + 1)) 1000 4-7 400M
	stop_daemon slurmd
	start_daemon slurmd
	wait_for 60 bed sh -c '! test -e /run/slurm-lwk/jobs/"$1".json' - $((bench + 1))
	record_has "$bench" '"state":"active"'
	bed kill "$maker"
	wait_for 60 bed sh -c '! test -e /run/slurm-lwk/jobs/"$1".json' - "$bench"
	node_is_clean
}

@test "a switch back whose process is killed is found and repaired" {
	bed switch-once on 217 1000 4-7 400M
	bed sh -c 'echo off cpus before kill >/run/slurm-lwk/fault'
	run ! bed switch-once off 217
	run -1 bed lwkctl check
	[[ $output == *'problem journals'*'a switch for job 217 was broken off'*'--repair'* ]]
	run -0 bed lwkctl check --repair
	[[ $output == *'repaired: CPU 7 is back'* ]]
	node_is_clean
}

@test "the switch does what lwkctl plan prints" {
	run -0 bed lwkctl plan --cpus 4-7 --mem 600M --json
	[[ $output == *'"lwk_cpus":"5-7"'*'"linux_cpus":"4"'*'"bytes":562036736'* ]]
	bed switch-once on 210 1000 4-7 600M
	record_has 210 '"lwk_cpus":"5-7"' '"linux_cpus":"4"' '"memory":562036736' '"nodes":"1"'
	bed switch-once off 210
	node_is_clean
}

@test "any user may ask for the status, only root may change it" {
	bed switch-once on 211 1000 4-7 400M
	run -0 as user1 lwkctl status
	[[ $output == *'job 211 of user 1000: active'* ]]
	run -1 as user1 lwkctl reset
	[[ $output == *'expected to run as root, found user '* ]]
	run -1 as user1 lwkctl kmsg 211
	run -0 bed lwkctl kmsg 211
	[[ $output == *'job 211'* ]]
	bed switch-once off 211
	node_is_clean
}

@test "a wrong command line of lwkctl is refused with what was expected and found" {
	for line in '' bogus 'status extra' 'plan --cpus 4-7' 'plan --cpus 7-4 --mem 1G' \
		'plan --cpus 4-7 --mem 1' 'kmsg' 'kmsg -1' 'reset all' 'status --cpus 3'; do
		# shellcheck disable=SC2086  # words
		run -2 bed lwkctl $line
		[[ $output == 'lwkctl: expected '*', found "'*'"; see lwkctl '*'--help' ]] ||
			{ echo "not helpful: $output"; return 1; }
	done
}

@test "lwkctl check finds a plugin that is only optional, and nothing else" {
	run -0 bed lwkctl check
	[[ ${lines[-1]} == '0 problems' ]]
	bed sh -c 'cp -p /etc/slurm/plugstack.conf /root/plugstack.before
		sed -i s/required/optional/ /etc/slurm/plugstack.conf'
	run bed lwkctl check
	bed mv /root/plugstack.before /etc/slurm/plugstack.conf
	((status == 1))
	[[ $output == *'does not require lwk.so'*'write required lwk.so in '* ]]
}
