#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
# also: bookworm --release bookworm, everywhere
# also nightly: bullseye --release bullseye, everywhere
# also nightly: forky --release forky, everywhere
# bats file_tags=everywhere
#
# One LWK job from its batch script to its end: its programs see their LWK, and srun tells how they
# ended.

load ../helpers

setup_file()
{
	prepare
	job=$(submit user1 --lwk --ntasks=4 --mem=1G --time=5 <<-'EOF'
	#!/bin/bash
	# Shows a step under a title, and its exit status.
	show()
	{
		local title=$1
		shift
		echo "== $title"
		"$@" 2>&1
		echo "status $?"
	}
	cd "$(mktemp -d)"
	P=/opt/lwk-tests
	show script $P/hello
	show device sh -c 'ls /dev/lwk; echo "$LWK_DEVICE"'
	show sleeper srun --ntasks=3 $P/sleeper 3
	show arguments srun --ntasks=1 $P/hello 'two words' '' "it's" '*' '$HOME'
	show path env PATH="$P:$PATH" srun --ntasks=1 hello
	show exit srun --ntasks=1 $P/exit-with 7
	show stdin sh -c "echo some text | srun --ntasks=1 $P/upper-case"
	show file srun --ntasks=1 $P/copy-file file
	show size stat -c '%s %U' file
	show directory srun --ntasks=1 $P/list-directory .
	show self srun --ntasks=1 $P/own-status
	show segv srun --ntasks=1 $P/bad-pointer
	show memory srun --ntasks=1 $P/eat-memory
	show after srun --ntasks=1 $P/hello
	show none srun --ntasks=1 --lwk-launch=none $P/hello
	show by-hand srun --ntasks=1 --lwk-launch=none lwkexec $P/hello 'two words'
	srun --ntasks=1 $P/on-signals 15 >signal 2>&1 &
	until grep -q waiting signal; do sleep 0.2; done
	pkill -TERM -x on-signals
	wait $!
	show signal cat signal
	EOF
	)
	wait_for_job "$job"
	export job
	job_output user1 "$job" >"$BATS_FILE_TMPDIR/output"
}

# part TITLE: the lines of the output under this title.
part()
{
	awk -v title="== $1" '/^== / { on = $0 == title; next } on' "$BATS_FILE_TMPDIR/output"
}

shows()
{
	local output=$1
	shift
	for text; do
		grep -qF -- "$text" <<<"$output" || { echo "expected: $text, found: $output"; return 1; }
	done
}

@test "the batch script runs on Linux" {
	shows "$(part script)" 'kernel=#' 'status 0'
}

@test "the job sees its own instance and no other" {
	part device
	[[ $(part device) =~ ^([0-9]+)$'\n'/dev/lwk/([0-9]+)$'\n'status\ 0$ ]]
	[[ ${BASH_REMATCH[1]} == "${BASH_REMATCH[2]}" ]]
}

@test "srun puts each task on an LWK CPU of its own" {
	part sleeper
	[[ $(part sleeper | grep -c 'kernel=slurm-lwk .* LWK') == 3 ]]
	[[ $(part sleeper | grep -o 'cpu=[0-9]*' | sort -u | wc -l) == 3 ]]
	shows "$(part sleeper)" 'status 0'
	shows "$(part after)" 'uid=1001' 'status 0'
}

@test "arguments arrive as they are" {
	shows "$(part arguments)" '<two words>' '<>' "<it's>" '<*>' '<$HOME>' '</opt/lwk-tests/hello>'
}

@test "a program is looked up in the job's PATH" {
	shows "$(part path)" '<hello>' 'LWK' 'status 0'
}

@test "srun returns a program's exit status" {
	shows "$(part exit)" 'status 7'
}

@test "standard input reaches the program" {
	shows "$(part stdin)" 'SOME TEXT' 'status 0'
}

@test "a file is written and read back, and belongs to the user" {
	shows "$(part file)" 'same' 'status 0'
	shows "$(part size)" '1048576 user1'
}

@test "a program reads a directory" {
	shows "$(part directory)" '.' '..' 'file' 'status 0'
}

@test "/proc/self/status describes the LWK process" {
	part self
	[[ $(part self) =~ Name:$'\t'own-status ]]
	[[ $(part self) =~ Uid:$'\t'1001 ]]
	[[ $(part self) =~ Cpus_allowed_list:$'\t'[1-7]-[1-7]$'\n' ]]
}

@test "a bad pointer ends its program with a segmentation fault" {
	shows "$(part segv)" 'Segmentation fault' 'status 139'
}

@test "a program that takes all memory is killed, and the output says why" {
	shows "$(part memory)" 'out of memory' 'status 137'
}

@test "after a bad program the next one runs" {
	shows "$(part after)" 'LWK' 'status 0'
}

@test "--lwk-launch=none leaves a step on Linux" {
	# Linux's version begins with the number of its build, on any distribution.
	shows "$(part none)" 'kernel=#' 'status 0'
}

@test "lwkexec starts a program without srun" {
	shows "$(part by-hand)" 'LWK' '<two words>' 'status 0'
}

@test "a signal reaches the program, and its exit status comes back" {
	shows "$(part signal)" 'waiting' 'signal 15 came' 'exit code 5'
}

@test "the job completes, and the node is as before" {
	job_is "$job" JobState=COMPLETED ExitCode=0:0
	node_is_clean
}
