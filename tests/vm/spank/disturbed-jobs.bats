#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# LWK jobs run in a row, and every second one is cancelled or killed at a random moment, from before
# its switch to after its end.

load ../helpers

setup_file()
{
	prepare
}

# runs_on_lwk JOB: true when a program of the job runs on its LWK.
runs_on_lwk()
{
	[[ $(bed lwkctl stat "$1" --json | jq .threads) -ge 1 ]]
}

# bats test_tags=nightly
@test "LWK jobs of which every second one is killed leave nothing behind" {
	seed=${LWK_TEST_SEED:-$((SRANDOM % 1000000))}
	echo "# LWK_TEST_SEED=$seed" >&3
	RANDOM=$seed
	jobs=() met=0 disturbed=0
	n=$(times 8 20)
	for ((i = 1; i <= n; i++)); do
		cpus=$((2 + RANDOM % 3))
		# The first one is surely there when it is disturbed: its program naps until then.
		job=$(submit user$((1 + i % 2)) -n$cpus --mem=512 --lwk --wrap "srun -n1 $programs/sleeper $((i == 1 ? 300 : 1))")
		jobs+=("$job")
		# One job runs at a time, so that the moment counts from its own submission.
		if ((i % 2)); then
			delay=$((RANDOM % 70))
			if ((i == 1)); then
				wait_for 120 runs_on_lwk "$job"
			else
				sleep "$((delay / 10)).$((delay % 10))"
			fi
			case $((RANDOM % 3)) in
			0) bed scancel "$job" || true ;;
			1) bed scancel --signal=KILL --full "$job" || true ;;
			2) bed pkill -KILL -u user$((1 + i % 2)) || true ;;
			esac
		fi
		wait_for_job "$job"
		if ((i % 2)); then
			((++disturbed))
			[[ $(bed scontrol -o show job "$job") == *' JobState=COMPLETED '* ]] || ((++met))
		fi
	done
	echo "# $met of $disturbed disturbances met a job that was not over" >&3
	((met > 0))
	job_is "${jobs[0]}" 'JobState=[CF]A[NI]*'
	for ((i = 1; i < n; i += 2)); do
		job_is "${jobs[i]}" JobState=COMPLETED ExitCode=0:0
	done
	node_is_clean
	run -0 as user1 srun -n2 --mem=512 --lwk "$programs/hello"
	node_is_clean
}
