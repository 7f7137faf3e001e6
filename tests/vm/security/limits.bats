#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Linux counts and bounds the resources that an LWK job takes of it, and no other job waits for them.

load ../helpers

setup_file()
{
	prepare
	offer_faulty_image inject=hang
	bed sh -c 'sed -n "/^.image faulty/,\$ { s/faulty/keeping/; s/=inject.*/=inject=keep/; p }" /etc/slurm/lwk.conf \
		>/tmp/limits.image; cat /tmp/limits.image >>/etc/slurm/lwk.conf
		for answers in late refuse hide; do
			printf "\n[image %s]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/hostile.elf\nArgs=answers=%s\n" \
				$answers $answers >>/etc/slurm/lwk.conf
		done'
	testbed put "$(built)/tests/vm/hostile-image/hostile.elf" /usr/lib/slurm-lwk/hostile.elf
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
}

teardown_file()
{
	bed mv /root/lwk.conf.before /etc/slurm/lwk.conf
}

teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel; rm -f /tmp/limits.*'
}

@test "while a proxy waits for a page, others look at its memory map, and its LWK can be ended" {
	run -0 bed bash -s <<-'EOF'
	device=$(switch-once on 410 "$(id -u user1)" 4-5 400M faulty | grep -o '/dev/lwk/[0-9]*')
	coproc PROXY { exec setpriv --reuid user1 --clear-groups /opt/lwk-tests/wait-fault "$device"; }
	read -r text pid <&"${PROXY[0]}"
	echo "$text $pid"
	[[ $text == touches ]] || exit 1
	# The proxy sleeps in its page fault for up to ten seconds.
	until grep -q '^State:.*disk sleep' "/proc/$pid/status"; do [[ -e /proc/$pid ]] || exit 1; done
	# A thread that changes the map waits for all that have its lock, and others wait behind it.
	read -r -t 5 text <&"${PROXY[0]}"
	echo "$text"
	timeout 3 cat "/proc/$pid/maps" "/proc/$pid/cmdline" | tr '\0' ' ' | grep -a wait-fault
	# The process's end waits for a CPU that does not answer; the end of the LWK does not wait for that.
	kill -9 "$pid"
	# A process that ends gives its memory back first, and closes its files then.
	while grep -qs '^VmRSS' "/proc/$pid/status"; do sleep 0.1; done
	switch-once off 410 | grep -o '"call_us":[0-9]*'
	EOF
	echo "$output"
	[[ $output == touches* && $output == *$'\nmaps\n'* && $output == *wait-fault* ]]
	(($(grep -o '"call_us":[0-9]*' <<<"$output" | cut -d: -f2) < 3000000))
	node_is_clean
}

@test "while programs wait for their LWK with its locks, others learn its state" {
	run -0 bed bash -s <<-'EOF'
	device=$(switch-once on 410 0 4-5 400M faulty | grep -o '/dev/lwk/[0-9]*')
	/opt/lwk-tests/wait-fault others "$device"
	switch-once off 410
	EOF
	echo "$output"
	[[ $output == *'others learn the state'* ]]
	node_is_clean
}

@test "a process that throws away a message with the descriptor of another's LWK process does not wait for the LWK" {
	run -0 bed bash -s <<-'EOF'
	device=$(switch-once on 410 0 4-5 400M faulty | grep -o '/dev/lwk/[0-9]*')
	timeout 60 /opt/lwk-tests/wait-fault passes "$device"
	switch-once off 410
	EOF
	echo "$output"
	[[ $output == *'the close waits for nobody'*'the process has ended'* ]]
	node_is_clean
}

@test "while a proxy's requests wait for memory that never answers, others look at its LWK and end it" {
	run -0 bed bash -s <<-'EOF'
	echo 1 >/proc/sys/vm/unprivileged_userfaultfd
	device=$(switch-once on 411 "$(id -u user1)" 4-5 400M | grep -o '/dev/lwk/[0-9]*')
	coproc PROXY { exec setpriv --reuid user1 --clear-groups /opt/lwk-tests/mute-memory "$device"; }
	proxy=$PROXY_PID
	# A process that waits for a lock of lwkpart.ko cannot be killed. Requests end with their proxy.
	{ sleep 120; kill -9 "$proxy"; } >/dev/null 2>&1 &
	ends=$!
	read -r -t 60 text pid <&"${PROXY[0]}"
	echo "$text $pid"
	if [[ $text == waits ]]; then
		for verb in info stat kmsg freeze thaw; do
			timeout 20 lwkctl "$verb" 411 >/dev/null && echo "$verb: answered"
		done
	fi
	timeout 60 switch-once off 411 | grep -o '"call_us":[0-9]*'
	kill -9 "$proxy" "$ends"
	wait
	echo 0 >/proc/sys/vm/unprivileged_userfaultfd
	EOF
	echo "$output"
	[[ $output == waits* && $(grep -c ': answered' <<<"$output") == 5 ]]
	(($(grep -o '"call_us":[0-9]*' <<<"$output" | cut -d: -f2) < 3000000))
	node_is_clean
}

# shellcheck disable=SC2030
# bats test_tags=nightly
@test "pages that an LWK process shares count as pinned, and have a bound" {
	job=$(submit user1 -n2 --mem=400 --lwk --lwk-proxy-mem=700M \
		--wrap "srun -n1 $programs/pin-shared 16 /tmp/limits.go; srun -n1 $programs/pin-shared 600")
	wait_for 60 has_printed user1 "$job" shared
	run -0 bed sh -c 'grep -h VmPin $(grep -l "^VmPin:.*[1-9]" /proc/[0-9]*/status)'
	echo "$output"
	(($(tr -dc 0-9 <<<"$output") >= 16384))
	bed touch /tmp/limits.go
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	echo "$output"
	[[ $(grep -cx shared <<<"$output") == 1 ]]
	node_is_clean
}

# shellcheck disable=SC2031  # run sets output
# keeps_pages IMAGE SECONDS: true when a job with this image lets Linux wait for pages of files for less than so
# many seconds, and its program, which has them, is killed.
keeps_pages()
{
	bed dmesg -C
	job=$(submit user1 -n2 --mem=400 "--lwk=$1" --wrap "srun -n1 $programs/share-file limits.file 12")
	wait_for 60 has_printed user1 "$job" shared
	# Linux wants each page by itself before it writes it.
	run -0 bed bash -c 'sync ~user1/limits.file; echo "$SECONDS s"'
	echo "$output"
	((${output%% s*} < $2))
	wait_for 20 has_printed user1 "$job" Killed
	wait_for_job "$job"
	run -0 bed sh -c 'dmesg | grep "keeps pages of files"'
	echo "$output"
	[[ ${#lines[@]} == 1 ]]
	node_is_clean
}

# bats test_tags=nightly
@test "an LWK that does not give back pages of files has Linux wait once" {
	# A wait for an LWK is one of ten seconds.
	keeps_pages keeping 50
	[[ $output == *'found one kept'* ]]
}

@test "an LWK that says that it keeps pages of files is asked once" {
	keeps_pages refuse 10
}

# bats test_tags=nightly
@test "an LWK that gives pages of files back too late has Linux wait for some of them" {
	# Each of twelve pages takes five seconds; twenty are too many.
	keeps_pages late 45
	[[ $output == *'found many of them late'* ]]
}

# bats test_tags=nightly
@test "a page that an LWK wants to be hidden again and again is refused" {
	run -0 bed bash -s <<-'EOF'
	device=$(switch-once on 410 "$(id -u user1)" 4-5 400M hide | grep -o '/dev/lwk/[0-9]*')
	timeout -s KILL 100 setpriv --reuid user1 --clear-groups /opt/lwk-tests/wait-fault hidden "$device"
	switch-once off 410
	EOF
	echo "$output"
	[[ $output == *'refused after '* ]]
	node_is_clean
}

@test "lines that a program makes its LWK print do not flood the kernel's log" {
	bed sh -c 'dmesg -C'
	run -0 as user1 srun -n1 -c2 --mem=400 --lwk "$programs/pin-shared" 0
	node_is_clean
	run -0 bed sh -c 'dmesg | grep -c "expected the flags"; dmesg | grep "are left out here"'
	echo "$output"
	((lines[0] < 200))
}

# bats test_tags=nightly
@test "want of memory on Linux does not kill the program that has much on the LWK" {
	job=$(submit user1 -n2 --mem=2200 --lwk --wrap "srun -n1 $programs/hold-memory 1900 1 /tmp/limits.go")
	wait_for 120 has_printed user1 "$job" holding
	# The first program's proxy shows the memory, which is more than what is left for the other program.
	wait_for 20 bed sh -c 'ps -u user1 -o rss= | sort -n | tail -1 | grep -E "[0-9]{7}"'
	run as user2 sh -c 'tail /dev/zero; echo "status $?"'
	echo "$output"
	[[ $output == *'status 137'* ]]
	bed touch /tmp/limits.go
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	forget_kills 1
	node_is_clean
}
