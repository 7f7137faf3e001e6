#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# lwkctl migrate moves the memory of processes, cgroups and jobs, and tells what it leaves and why.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/migrate/page-kinds" /usr/local/bin/page-kinds
	testbed put "$(built)/tests/bench/parts/migrate/load" /usr/local/bin/migrate-load
	bed chmod 755 /usr/local/bin/page-kinds /usr/local/bin/migrate-load
	bed modprobe lwkpart
	# NUMA balancing would move pages, too. One test turns it on.
	bed sysctl -q kernel.numa_balancing=0
}

teardown()
{
	bed sh -c 'kill $(sed -n "s/^ready //p" /tmp/root.out) 2>/dev/null; pkill page-kinds; pkill migrate-load; pkill lwkctl; pkill -x sleep
		for n in 0 1; do
			echo 0 >/sys/devices/system/node/node$n/hugepages/hugepages-2048kB/nr_hugepages
		done
		echo 0 >/sys/kernel/mm/ksm/run
		echo 0 >/proc/sys/kernel/numa_balancing
		rmdir /sys/fs/cgroup/migrate-test/* /sys/fs/cgroup/migrate-test \
			/sys/fs/cgroup/cpuset/migrate-test/* /sys/fs/cgroup/cpuset/migrate-test 2>/dev/null
		true'
}

# start USER COMMAND...: runs a program until it prints "ready PID", to /tmp/USER.out, and sets pid.
start()
{
	local user=$1
	shift

	as "$user" bash -c 'rm -f /tmp/$USER.in /tmp/$USER.out; mkfifo /tmp/$USER.in
		sleep 600 >/tmp/$USER.in 2>/dev/null </dev/null &
		setsid "$@" </tmp/$USER.in >/tmp/$USER.out 2>&1 &
		for ((i = 0; i < 300; i++)); do
			grep -qs ready /tmp/$USER.out && exit
			sleep 0.1
		done; exit 1' start "$@"
	pid=$(bed sed -n 's/^ready //p' "/tmp/$user.out")
}

# kinds: prints where page-kinds has its pages now, "KIND NODE0 NODE1 OTHER" a line.
kinds()
{
	bed bash -c ': >/tmp/root.out; echo >/tmp/root.in
		for ((i = 0; i < 300; i++)); do
			grep -qs end /tmp/root.out && break
			sleep 0.1
		done; grep -av end /tmp/root.out | tr -d "\0"'
}

# on_node PID NODE: prints how many anonymous pages of 4 KB the process has there in large mappings.
on_node()
{
	bed sed -n "s/.* anon=[0-9]\{4,\} .* N$2=\([0-9]*\) .*/\1/p" "/proc/$1/numa_maps"
}

json()
{
	jq -r "$1" <<<"$output"
}

fast=(--pages 2000 --sleep 10)

move_every_kind()
{
	bed sh -c 'for n in 0 1; do
			echo 4 >/sys/devices/system/node/node$n/hugepages/hugepages-2048kB/nr_hugepages
		done
		echo 1000 >/sys/kernel/mm/ksm/pages_to_scan
		echo 1 >/sys/kernel/mm/ksm/run'
	start root page-kinds /tmp/mapped huge
	[[ $(kinds) == *'plain 1024 0 0'*'huge 2048 0 0'*'hugetlb 1024 0 0'* ]]
	run --separate-stderr bed lwkctl migrate --pid "$pid" --from 0 --to 1 --method "$1" "${fast[@]}" --json
	echo "$output"
	((status == 1))
	[[ $(json .source) == accessed ]]
	[[ $(json .processes) == 2 ]]
	# From Linux 6.12 on pages without any access move, too.
	[[ $(json '.left | keys | join(" ")') =~ ^(inaccessible )?pinned$ ]]
	[[ $(json '.kinds | keys | join(" ")') == 'file huge hugetlb ksm mlocked shared' ]]
	run kinds
	echo "$output"
	for kind in 'plain 0 1024 0' 'huge 0 2048 0' 'mlocked 0 256 0' 'ksm 0 256 0' 'file 0 256 0' \
		'pinned 8 0 0' 'shared 0 256 0' 'hugetlb 0 1024 0'; do
		[[ $output == *"$kind"* ]] || { echo "expected $kind"; return 1; }
	done
	# shellcheck disable=SC2016  # the machine's shell expands it
	run -1 bed sh -c 'dmesg | awk "$1" | grep -E "WARNING:|BUG:|Oops"' - "$without_reports"
}

@test "periodical moves every kind of page whole, or tells why it is left" {
	move_every_kind periodical
}

# bats test_tags=nightly
@test "severe moves every kind of page whole, or tells why it is left" {
	move_every_kind severe
}

@test "mild moves every kind of page whole, or tells why it is left" {
	move_every_kind mild
}

# bats test_tags=nightly
@test "adaptive moves every kind of page whole, or tells why it is left" {
	move_every_kind adaptive
}

# bats test_tags=nightly
@test "pages that NUMA balancing has closed move too" {
	bed sh -c 'cd /sys/kernel/debug/sched/numa_balancing 2>/dev/null || mount -t debugfs debugfs /sys/kernel/debug
		cd /sys/kernel/debug/sched/numa_balancing && echo 50 >scan_delay_ms && echo 50 >scan_period_min_ms
		echo 100 >scan_period_max_ms; echo 1 >/proc/sys/kernel/numa_balancing'
	before=$(bed sed -n 's/numa_pte_updates //p' /proc/vmstat)
	# The half that the program does not use stays closed.
	start root migrate-load 64 0 1 half small
	wait_for 60 bed sh -c "test \$(sed -n 's/numa_pte_updates //p' /proc/vmstat) -gt $((before + 8000))"
	run --separate-stderr bed lwkctl migrate --pid "$pid" --from 0 --to 1 --method periodical "${fast[@]}" --json
	echo "$output"
	((status == 0))
	[[ $(on_node "$pid" 1) -ge 16384 ]]
}

# bats test_tags=nightly
@test "--pid moves a process and its descendants, also those that start meanwhile" {
	start root bash -c 'for i in 1 2; do migrate-load 32 0 1 half small >/tmp/descendant.$i & done
		for i in 1 2; do until grep -q ready /tmp/descendant.$i; do sleep 0.2; done; done
		echo ready $$; while :; do sleep 0.5; done'
	run --separate-stderr bed lwkctl migrate --pid "$pid" --from 0 --to 1 --method mild --pages 500 --sleep 50 --json
	echo "$output"
	((status == 0))
	(($(json .processes) > 3))
	(($(json .moved) > 64 << 20))
	for child in $(bed pgrep migrate-load); do
		[[ $(on_node "$child" 1) -ge 8192 ]]
	done
}

# make_cpuset [PART]: makes a cpuset with memory of node 0, and PART in it; sets cpuset to the first one.
make_cpuset()
{
	cpuset=$(bed sh -s "$@" <<-'EOF'
	cd /sys/fs/cgroup/cpuset 2>/dev/null || {
		cd /sys/fs/cgroup && echo +cpuset >cgroup.subtree_control
	}
	for part in migrate-test ${1:+"$1"}; do
		mkdir "$part" && cd "$part" && echo 0-7 >cpuset.cpus && echo 0 >cpuset.mems || exit
		[ ! -e cpuset.memory_migrate ] || echo 1 >cpuset.memory_migrate
		[ ! -e cgroup.subtree_control ] || [ $# = 0 ] || [ "$part" = "$1" ] ||
			echo +cpuset >cgroup.subtree_control
	done
	echo "${PWD%/migrate-test*}/migrate-test"
	EOF
	)
}

@test "--cgroup moves its pages once, and its new pages come from the new node" {
	make_cpuset part
	start root bash -c "echo \$\$ >$cpuset/part/cgroup.procs; exec migrate-load 64 0 0 half small"
	run --separate-stderr bed lwkctl migrate --cgroup "$cpuset" --from 0 --to 1 "${fast[@]}" --json
	echo "$output"
	((status == 0))
	[[ $(on_node "$pid" 1) -ge 16384 ]]
	(($(json .rounds) > 5)) # the kernel did not move them all at once
	# Version 2 has no memory_migrate.
	[[ $(bed bash -c "cd $cpuset; cat {,part/}cpuset.mems {,part/}cpuset.memory_migrate 2>/dev/null | tr -d '\n'") =~ ^(11|1111)$ ]]
}

@test "a migration from a shell whose cpuset lacks the new node leaves that cpuset, or says so" {
	make_cpuset part
	start root migrate-load 16 0 0 half small
	run -0 bed bash -c "echo \$\$ >$cpuset/part/cgroup.procs
		exec lwkctl migrate --pid $pid --from 0 --to 1 ${fast[*]}"
	(($(on_node "$pid" 1) >= 4096))
	run -1 bed bash -c "echo \$\$ >$cpuset/part/cgroup.procs
		exec setpriv --reuid user1 --regid user1 --clear-groups bash -c 'exec lwkctl migrate --pid \$\$ --from 0 --to 1'"
	[[ $output == *'expected to be allowed memory of all nodes to move to'*'run it as root'* ]]
}

@test "--job moves the memory of a Slurm job" {
	as user1 cp /usr/local/bin/migrate-load .
	id=$(submit user1 --wrap 'exec ./migrate-load 48 0 0 half small')
	wait_for 60 has_printed user1 "$id" ready
	run --separate-stderr bed lwkctl migrate --job "$id" --from 0 --to 1 "${fast[@]}" --json
	echo "$output"
	((status == 0))
	(($(json .moved) >= 48 << 20))
	as user1 scancel "$id"
	wait_for_job "$id"
	run bed lwkctl migrate --job "$id" --from 0 --to 1
	((status == 1))
	[[ $output == *"expected processes of job $id, found no cgroup"* ]]
}

@test "users move memory of their own programs, without the module, and of nobody else" {
	start user1 migrate-load 32 0 1 half small
	run --separate-stderr as user1 lwkctl migrate --pid "$pid" --from 0 --to 1 --method mild "${fast[@]}" --json
	echo "$output"
	[[ $(json .source) == soft-dirty ]]
	[[ $(json .notes) == *'only what is written is known to be in use'*'DAMON'* ]]
	[[ $(json '.left | del(.shared) | length') == 0 ]]
	(($(json .moved) >= 32 << 20))
	[[ $(on_node "$pid" 1) -ge 8192 ]]
	run as user2 lwkctl migrate --pid "$pid" --from 1 --to 0
	((status == 1))
	[[ $output == *"is another's; run it as root"* ]]
	[[ $(on_node "$pid" 1) -ge 8192 ]]
}

# bats test_tags=nightly
@test "without the module root moves all pages, too, huge ones whole" {
	bed rmmod lwkpart
	start root migrate-load 64 0 1 half huge
	run --separate-stderr bed lwkctl migrate --pid "$pid" --from 0 --to 1 --method mild "${fast[@]}" --json
	echo "$output"
	bed modprobe lwkpart
	((status == 0))
	[[ $(json .source) == soft-dirty ]]
	[[ $(on_node "$pid" 1) -ge 16384 ]]
	bed grep -q 'AnonHugePages: *655' "/proc/$pid/smaps_rollup"
}

@test "SIGINT stops a migration with a summary and with the cpuset as before" {
	make_cpuset
	start root bash -c "echo \$\$ >$cpuset/cgroup.procs; exec migrate-load 64 0 0 half small"
	run --separate-stderr bed bash -c "lwkctl migrate --pid $pid --from 0 --to 1 --pages 64 --sleep 3000 --method periodical --json &
		until grep -q 'anon=[0-9]\{4,\} .* N1=' /proc/$pid/numa_maps; do sleep 0.1; done
		kill -INT \$!; start=\${EPOCHREALTIME/./}; wait \$!; echo \$? \$(((\${EPOCHREALTIME/./} - start) / 1000)) >/tmp/stopped"
	echo "$output"
	[[ $(json '.stopped, .complete' | tr '\n' ' ') == 'true false ' ]]
	(($(json .moved) > 0 && $(json .moved) < 16 << 20))
	(($(json '.left["not tried"]') > 0)) || [[ $(json .found) == $(json .moved) ]]
	[[ $(bed cat "$cpuset/cpuset.mems") == 0 ]]
	# The migrator does not sleep to the end of its round.
	read -r status ms < <(bed cat /tmp/stopped)
	((status == 130 && ms < 2500))
}

# bats test_tags=nightly
@test "after SIGINT a migration begins no more pages" {
	start root migrate-load 256 0 1 still small
	bed bash -c "strace -o /tmp/trace -e trace=move_pages,ioctl,exit_group lwkctl migrate --pid $pid --from 0 --to 1 \
		--method periodical --sleep 0 --json >/tmp/stopped & while ! grep -qs MPOL_MF_MOVE /tmp/trace; do :; done
		kill -INT \$(pgrep -x lwkctl); wait \$!; test \$? = 130"
	output=$(bed cat /tmp/stopped)
	echo "$output"
	[[ $(json '.stopped, .complete' | tr '\n' ' ') == 'true false ' ]]
	(($(json .moved) + $(json '.left["not tried"]') == $(json .found)))
	[[ $(json '.stop_seconds > 0') == true ]]
	run bed sed -n '/--- SIGINT/,$p' /tmp/trace
	echo "$output"
	[[ $output == *SIGINT*exit_group* && $output != *MPOL_MF_MOVE* && $output != *'0xb7, 0x14'* ]]
}

# bats test_tags=nightly
@test "a migration stops and says so when the node is full, and the program runs on" {
	start root migrate-load 512 0 0 half small
	target=$pid
	bed sh -c 'free=$(sed -n "s/.*MemFree: *\([0-9]*\) kB/\1/p" /sys/devices/system/node/node1/meminfo)
		setsid migrate-load $((free / 1024 - 200)) 1 1 still small >/tmp/hog.out 2>&1 </dev/null &
		for i in $(seq 600); do grep -q ready /tmp/hog.out && exit; sleep 0.1; done; exit 1'
	run --separate-stderr bed lwkctl migrate --pid "$target" --from 0 --to 1 --method mild "${fast[@]}" --json
	echo "$output"
	((status == 1))
	[[ $(json .error) == 'expected room for more memory, found the nodes to move to full;'* ]]
	(($(json '.left["node full"]') > 0 && $(json .moved) > 0))
	run ! bed sh -c 'dmesg | grep "allocation failure"'
	[[ $(on_node "$target" 0) -gt 1000 ]]
	bed kill -0 "$target"
}

@test "a program that ends during its migration is no error" {
	start root migrate-load 64 0 1 half small
	run --separate-stderr bed bash -c "(until grep -q 'anon=[0-9]\{4,\} .* N1=' /proc/$pid/numa_maps; do sleep 0.1; done; kill $pid) &
		lwkctl migrate --pid $pid --from 0 --to 1 --pages 500 --sleep 500 --method mild --json"
	echo "$output"
	((status == 0))
	(($(json .gone) > 0))
}

@test "--dry-run tells what would move and changes nothing" {
	start root page-kinds /tmp/mapped
	run --separate-stderr bed lwkctl migrate --pid "$pid" --from 0 --to 1 --dry-run
	echo "$output"
	((status == 0))
	[[ $output == 'would move '* && $output == *'memory policy that names the nodes'* ]]
	[[ $(kinds) == *'plain 1024 0 0'* ]]
}

# shellcheck disable=SC2030  # each test has its own
# bats test_tags=nightly
@test "--calibrate tells the CPU time and bandwidth of each setting" {
	run --separate-stderr bed lwkctl migrate --calibrate --from 0 --to 1 --memory 8M --json
	echo "$output"
	((status == 0))
	[[ $(json '.cells | length') == 6 ]]
	[[ $(json '[.cells[] | select(.cpu_percent > 0 and .mb_per_second > 0)] | length') == 6 ]]
	[[ $(json '.cells[0].cpu_percent > .cells[5].cpu_percent') == true ]]
}

# bad STATUS TEXT ARGUMENT...: true when lwkctl migrate fails with this status and says TEXT.
bad()
{
	local wanted=$1 text=$2
	shift 2

	run bed lwkctl migrate "$@"
	# shellcheck disable=SC2031  # not the other tests'
	[[ $status == "$wanted" && $output == *"$text"* ]] || {
		# shellcheck disable=SC2031
		echo "lwkctl migrate $*: wanted status $wanted and '$text', found status $status and: $output"
		return 1
	}
}

@test "lwkctl migrate refuses bad requests with what to do" {
	bad 2 'one of --pid, --job, --cgroup and --calibrate' --from 0 --to 1
	bad 2 'one of --pid, --job, --cgroup and --calibrate' --pid 1 --job 1 --from 0 --to 1
	bad 2 '--from NODES and --to NODES' --pid 1 --from 0
	bad 2 'NUMA nodes to be left' --pid 1 --from x --to 1
	bad 2 'a process, a number' --pid 0 --from 0 --to 1
	bad 2 'a process, a number' --pid -5 --from 0 --to 1
	bad 2 'a method' --pid 1 --from 0 --to 1 --method fast
	bad 2 'a number of pages, 64 or more' --pid 1 --from 0 --to 1 --pages 0
	bad 2 'above 0 and up to 100' --pid 1 --from 0 --to 1 --cpu-limit 0
	bad 2 'above 0 and up to 100' --pid 1 --from 0 --to 1 --cpu-limit 101
	bad 2 'above 0 and up to 100' --pid 1 --from 0 --to 1 --cpu-limit nan
	bad 2 'a bandwidth' --pid 1 --from 0 --to 1 --bandwidth 0
	bad 2 'with --calibrate only' --pid 1 --from 0 --to 1 --memory 64M
	bad 1 'a file name that ends with .svg or .png' --calibrate --from 0 --to 1 --picture /tmp/x.gif
	bad 1 'expected /usr/bin/gnuplot' --calibrate --from 0 --to 1 --picture /tmp/x.svg
	bad 2 'options only' --pid 1 --from 0 --to 1 more
	bad 1 'without a common node' --pid 1 --from 0 --to 0-1
	bad 1 'memory on-line, found --to 7' --pid 1 --from 0 --to 7
	bad 1 'found none with PID 4194000' --pid 4194000 --from 0 --to 1
	bad 1 'expected the cgroup /sys/fs/cgroup/none' --cgroup /sys/fs/cgroup/none --from 0 --to 1
	bad 1 '/tmp is none' --cgroup /tmp --from 0 --to 1
	bad 1 'pages at a time' --pid 1 --from 0 --to 1 --pages 4294967295
}
