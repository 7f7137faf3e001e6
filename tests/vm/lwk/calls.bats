#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# System calls, signals, clocks and timers of the bundled LWK keep the promises of Linux, and lwk-calls(7) says of each
# call what it does. All tests share one allocation.

load allocation

@test "memory calls keep their promises" {
	run -0 inside lwkexec "$programs/memory-calls"
	[[ $output == *'all of it is right'* ]]
}

# bats test_tags=nightly
@test "a mapping costs nearly the same among 100000 as among 100" {
	run -0 as user1 srun -Q --lwk -n1 -c2 --mem=1200 "$programs/many-mappings"
	echo "$output"
	for line in "${lines[@]}"; do
		[[ $line =~ ^[a-z\ ]+:\ ([0-9]+)\.[0-9]+\ times ]]
		((BASH_REMATCH[1] < 6))
	done
	((${#lines[@]} == 4))
}

@test "calls that few programs make keep their promises" {
	for program in identity-calls descriptor-calls memory-advice; do
		run -0 inside "$programs/$program"
		[[ $output == 'all of it is right' ]]
		run -0 inside lwkexec "$programs/$program"
		[[ $output == 'all of it is right' ]]
	done
}

@test "each system call of Linux is in lwk-calls(7) and does what the page says" {
	sed -n 's/^\.It \([0-9]*\) Ta \(\w*\) Ta \(\w*\).*/\1 \2 \3/p' "$top/doc/lwk-calls.7" >"$BATS_TEST_TMPDIR/table"
	sed -n 's/^#define __NR_\(\w*\) \([0-9]*\)$/\2 \1/p' /usr/include/x86_64-linux-gnu/asm/unistd_64.h >"$BATS_TEST_TMPDIR/linux"
	# This host's Linux may be older or newer than the page.
	last=$(tail -n1 "$BATS_TEST_TMPDIR/table" | cut -d' ' -f1)
	newest=$(tail -n1 "$BATS_TEST_TMPDIR/linux" | cut -d' ' -f1)
	((last >= 462))
	diff <(awk -v newest="$newest" '$1 <= newest { print $1, $2 }' "$BATS_TEST_TMPDIR/table") \
		<(awk -v last="$last" '$1 <= last' "$BATS_TEST_TMPDIR/linux")
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 --separate-stderr as user1 srun --lwk --lwk-launch=none -n1 -c2 --mem=256 \
		sh -c 'lwkexec "$0" "$1"; lwkctl kmsg "$SLURM_JOB_ID" >&2' "$programs/every-call" "$last"
	# Calls 15, 60 and 231 leave the program and have no result.
	# every-call prints "refused" for calls that failed with ENOSYS only.
	diff <(awk '$1 != 15 && $1 != 60 && $1 != 231 { print $1, $3 }' "$BATS_TEST_TMPDIR/table") \
		<(awk 'NR == FNR { named[$1]; next } $1 in named' "$BATS_TEST_TMPDIR/table" - <<<"$output")
	# Numbers that are not in the table are refused, and the console names refused calls.
	[[ $(awk 'NR == FNR { named[$1]; next } !($1 in named) { $1 = ""; print }' "$BATS_TEST_TMPDIR/table" - <<<"$output" |
		sort -u) == ' refused' ]]
	[[ $stderr != *'system call 334 is'* ]]
	# The console says once why, as the page does.
	sed -n 's/^\.It \([0-9]*\) Ta \w* Ta refused Ta \(.*\)/\1: \2/p' "$top/doc/lwk-calls.7" | grep -v '^\(334\|435\):' |
		sort >"$BATS_TEST_TMPDIR/reasons"
	sed -n 's/.*: system call \([0-9]*\) is not on this LWK: \(.*\)/\1: \2/p' <<<"$stderr" |
		awk -F: 'NR == FNR { named[$1]; next } $1 in named' "$BATS_TEST_TMPDIR/reasons" - | sort |
		diff "$BATS_TEST_TMPDIR/reasons" -
}

@test "clocks agree with Linux, never go back, and are read without a call" {
	run -0 inside lwkexec "$programs/clocks"
}

@test "clocks and timers of CPU time show what a program computes" {
	run inside lwkexec "$programs/cpu-times"
	echo "$output"
	[[ $output == *'all of it is right'* ]]
}

# bats test_tags=nightly
@test "profilers of gcc and Python see where a program computes" {
	# shellcheck disable=SC2016  # the job's shell expands it
	inside sh -c 'cd "$(mktemp -d)" && lwkexec "$0" && base64 gmon.out' "$programs/profiled" |
		base64 -d >"$BATS_TEST_TMPDIR/gmon.out"
	run -0 gprof -b -p "$(built)/tests/vm/programs/languages/profiled" "$BATS_TEST_TMPDIR/gmon.out"
	echo "$output"
	[[ $(awk '$7 == "hot" { print ($1 > 80) }' <<<"$output") == 1 ]]
	run -0 inside lwkexec /usr/bin/python3 -c "$(
		cat <<-'EOF'
		import collections, signal, time
		seen = collections.Counter()
		def look(number, frame):
		    seen[frame.f_code.co_name] += 1
		def hot():
		    end = time.thread_time() + .5
		    while time.thread_time() < end:
		        pass
		signal.signal(signal.SIGPROF, look)
		signal.setitimer(signal.ITIMER_PROF, .01, .01)
		hot()
		signal.setitimer(signal.ITIMER_PROF, 0)
		before = time.process_time()
		time.sleep(.5)
		print(seen.most_common(1)[0][0], time.process_time() - before < .3)
		EOF
	)"
	echo "$output"
	[[ $output == 'hot True' ]]
}

@test "signals, handlers, masks and restarted calls work as on Linux" {
	run inside lwkexec "$programs/signal-calls"
	echo "$output"
	[[ $output == *'all of it is right'* && $output == *'Aborted'* ]]
	((status == 134))
}

@test "signals interrupt calls that wait, and no others" {
	for test in 'calls that never wait' 'calls that wait'; do
		run inside timeout 120 "$programs/waits" "$test"
		echo "$output"
		((status == 0))
		run inside timeout 120 lwkexec "$programs/waits" "$test"
		echo "$output"
		((status == 0))
	done
}

@test "signals that are blocked or ignored make no wait longer" {
	for test in 'waits end in time' 'waits that a handler ends'; do
		run inside timeout 120 "$programs/waits" "$test"
		echo "$output"
		((status == 0))
		run inside timeout 120 lwkexec "$programs/waits" "$test"
		echo "$output"
		((status == 0))
	done
}

# bats test_tags=nightly
@test "a signal tells its sender and its value" {
	run -0 same "$programs/signal-info" </dev/null
	echo "$output"
	[[ $output == *'another program: right'*'status 0' && $output != *wrong* ]]
	run -0 bed lwkctl kmsg "$job"
	[[ $output == *'a signal 36 is lost'* ]]
}

# bats test_tags=nightly
@test "a wait that begins while its signal is on the way gets the signal" {
	run -0 same "$programs/late-waits" </dev/null
	[[ $output == $'each signal has come\nstatus 0' ]]
}

@test "signals to a frozen LWK wait in Linux" {
	# shellcheck disable=SC2016
	inside sh -c 'mkfifo /tmp/flood.$$
		lwkexec "$1/signal-info" outside 100 >/tmp/flood.$$ & proxy=$!
		exec 3</tmp/flood.$$
		read -r line <&3
		touch /tmp/flood-ready
		while [ ! -e /tmp/flood-frozen ]; do sleep 0.1; done
		n=0
		while [ $n -lt 100 ]; do kill -36 $proxy; n=$((n + 1)); done
		kill -USR1 $proxy
		touch /tmp/flood-sent
		cat <&3
		wait $proxy' sh "$programs" >"$BATS_TEST_TMPDIR/flood" &
	wait_for 60 bed test -e /tmp/flood-ready
	bed lwkctl freeze "$job"
	bed touch /tmp/flood-frozen
	wait_for 60 bed test -e /tmp/flood-sent
	bed lwkctl thaw "$job"
	wait $!
	[[ $(<"$BATS_TEST_TMPDIR/flood") == $'100 from its parent\nand the last' ]]
}
