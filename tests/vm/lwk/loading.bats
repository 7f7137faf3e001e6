#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# The bundled LWK keeps its promises to programs and survives bad ones. All tests share one allocation,
# and start their programs with lwkexec.

load ../helpers

# hardware COMMAND...: prints what sysfs says of each CPU, by a shell that COMMAND starts.
hardware()
{
	"$@" bash -c 'grep -H . /sys/devices/system/cpu/cpu[0-9]*/topology/*_id \
		/sys/devices/system/cpu/cpu[0-9]*/cache/index*/{id,level,type,size,number_of_sets} \
		/sys/devices/system/cpu/cpu[0-9]*/cache/index*/{coherency_line_size,ways_of_associativity}'
}

setup_file()
{
	prepare
	hardware bed >"$BATS_FILE_TMPDIR/hardware"
	allocate
}

teardown_file()
{
	as user1 scancel "$job"
	wait_for_job "$job"
}

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

# bats test_tags=nightly
@test "a position-independent static program runs too" {
	run -0 inside lwkexec "$programs/memory-calls-pie"
	[[ $output == *'all of it is right'* ]]
}

@test "calls that few programs make keep their promises" {
	run -0 inside "$programs/more-calls"
	[[ $output == 'all of it is right' ]]
	run -0 inside lwkexec "$programs/more-calls"
	[[ $output == 'all of it is right' ]]
}

@test "programs run as gcc links them by default" {
	for program in memory-calls-dynamic memory-calls-no-pie; do
		run -0 inside lwkexec "$programs/$program"
		[[ $output == *'all of it is right'* ]]
	done
	run -0 inside lwkexec "$programs/load-library" libm.so.6 cos
	[[ $output == 'cos(0) = 1' ]]
	run -1 inside lwkexec "$programs/load-library" libnone.so cos
	[[ $output == *'libnone.so: cannot open shared object file: No such file or directory'* ]]
}

# same PROGRAM [ARGUMENT]... <INPUT: true when output and status are the same on LWK and Linux.
same()
{
	local input
	input=$(cat)

	# shellcheck disable=SC2016
	inside sh -c 'input=$1 && shift && printf "%s\n" "$input" | lwkexec "$@" >/tmp/lwk-same 2>&1
		echo "status $?" >>/tmp/lwk-same
		printf "%s\n" "$input" | "$@" >/tmp/linux-same 2>&1
		echo "status $?" >>/tmp/linux-same
		diff /tmp/linux-same /tmp/lwk-same && cat /tmp/lwk-same' sh "$input" "$@"
}

@test "a program has as many threads as there are LWK CPUs" {
	for program in thread-calls thread-calls-static; do
		run -0 inside lwkexec "$programs/$program" 3
		[[ $output == 'all of it is right' ]]
	done
	run -0 inside lwkexec "$programs/thread-calls" 2
	[[ $output == 'all of it is right' ]]
}

# right OUTPUT: true when share-cpu found nothing wrong.
right()
{
	[[ $1 == *'token: right'*'time_used: right' && $1 != *wrong* ]]
}

# bats test_tags=nightly
@test "of more threads than LWK CPUs one goes on when another waits" {
	for n in 4 25; do
		run -0 inside lwkexec "$programs/share-cpu" "$n"
		echo "$output"
		right "$output"
	done
	# A 128th of this memory has room for more slots than the least number, 16 for each CPU.
	run -0 inside lwkexec "$programs/share-cpu" 8 endless
	[[ $output =~ ^([0-9]+)\ threads$ ]]
	((BASH_REMATCH[1] > 90))
	run -0 bed lwkctl kmsg "$job"
	[[ $output == *'no more threads than its '*': the LWK has memory for '*' threads in all'* ]]
}

@test "threads that compute on the same CPUs have turns, and one alone has no tick" {
	for n in 2 7; do
		run -0 inside lwkexec "$programs/turns" "$n"
		echo "$output"
		[[ $output == *'token: right'*'undisturbed: right'* ]]
	done
}

@test "sched_setaffinity moves threads, and what shows their CPUs agrees" {
	local cpus

	run -0 inside lwkexec "$programs/affinity"
	echo "$output"
	[[ $output == *'itself: right'*'classes: right' ]]
	run -0 inside lwkexec "$programs/affinity" list
	cpus=${output%% *}
	for cpu in ${cpus//,/ }; do
		run -0 inside lwkexec taskset -c "$cpu" "$programs/affinity" list
		[[ $output == "$cpu $cpu $cpu" ]]
		run -0 inside lwkexec numactl -C "$cpu" "$programs/affinity" list
		[[ $output == "$cpu $cpu $cpu" ]]
	done
	run -1 inside lwkexec numactl -C 0 true
	run -1 inside lwkexec taskset -c 0 true
	[[ $output == *'Invalid argument'* ]]
	# The OpenMP runtime binds its threads.
	for setting in OMP_PROC_BIND=true OMP_PLACES=cores GOMP_CPU_AFFINITY="$cpus"; do
		run -0 inside env "$setting" lwkexec "$programs/openmp"
		echo "$output"
		[[ $output == '3 threads of 3, sum '* ]]
	done
}

# bats test_tags=nightly
@test "an LWK of one CPU runs many threads" {
	run -0 as user1 srun -Q --lwk -n1 -c2 --mem=400 "$programs/share-cpu" 10
	echo "$output"
	right "$output"
	# The interpreter's threads take turns with a lock, and wait in calls.
	run -0 as user1 srun -Q --lwk -n1 -c2 --mem=400 python3 -c '
import queue, threading, time
todo, done = queue.Queue(), queue.Queue()
def work():
    while (n := todo.get()) is not None:
        time.sleep(0.01)
        done.put(n * n)
threads = [threading.Thread(target=work) for _ in range(10)]
for thread in threads: thread.start()
for n in range(100): todo.put(n)
for thread in threads: todo.put(None)
for thread in threads: thread.join()
print(sum(done.get() for _ in range(100)))'
	echo "$output"
	[[ $output == 328350 ]]
}

# endings PROGRAM [ARGUMENT]...: prints how signals end it after it has printed a line and has been
# stopped and continued.
endings()
{
	# shellcheck disable=SC2016
	inside sh -c 'for signal in TERM KILL SEGV; do
			mkfifo /tmp/holding.$$
			lwkexec "$@" >/tmp/holding.$$ 2>/dev/null & proxy=$!
			read -r line </tmp/holding.$$
			rm /tmp/holding.$$
			kill -STOP $proxy; sleep 0.5; kill -CONT $proxy; sleep 0.2
			kill -$signal $proxy
			wait $proxy
			echo "$signal: $line, status $?"
		done 2>/dev/null' sh "$@"
}

@test "threads that share CPUs end with their process" {
	run -0 endings "$programs/share-cpu" 20 hold
	echo "$output"
	[[ $output == *'TERM: all wait, status 143'*'KILL: all wait, status 137'*'SEGV: all wait, status 139'* ]]
	run -0 inside lwkexec "$programs/share-cpu" 20 token
	[[ $output == *'token: right' ]]
}

@test "clocks agree with Linux, never go back, and are read without a call" {
	run -0 inside lwkexec "$programs/clocks"
}

@test "clocks and timers of CPU time show what a program computes" {
	run inside lwkexec "$programs/cpu-times"
	echo "$output"
	[[ $output == *'all of it is right'* ]]
}

@test "profilers of gcc and Python see where a program computes" {
	# shellcheck disable=SC2016  # the job's shell expands it
	inside sh -c 'cd "$(mktemp -d)" && lwkexec "$0" && base64 gmon.out' "$programs/profiled" |
		base64 -d >"$BATS_TEST_TMPDIR/gmon.out"
	run -0 gprof -b -p "$(built)/tests/vm/programs/profiled" "$BATS_TEST_TMPDIR/gmon.out"
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

@test "OpenMP uses all LWK CPUs by itself" {
	run -0 inside lwkexec "$programs/openmp"
	[[ $output == '3 threads of 3, sum '* ]]
	run -0 inside env OMP_NUM_THREADS=2 lwkexec "$programs/openmp"
	[[ $output == '2 threads of 3, sum '* ]]
	run -0 inside env OMP_NUM_THREADS=7 OMP_WAIT_POLICY=passive lwkexec "$programs/openmp"
	[[ $output == '7 threads of 3, sum '* ]]
}

# Sanitizers choose the addresses of their shadow memory, which is larger than the partition.
# bats test_tags=nightly
@test "sanitizers find what is wrong with a program, and only that" {
	run -0 inside env ASAN_OPTIONS=detect_leaks=0 lwkexec "$programs/sanitized-address" clean
	[[ $output == 'sum 299995, counted' ]]
	run -1 inside lwkexec "$programs/sanitized-address" overflow
	[[ $output == *'ERROR: AddressSanitizer: heap-buffer-overflow'*'sanitized.c'* ]]
	run -0 inside lwkexec "$programs/sanitized-threads" clean
	[[ $output == 'sum 299995, counted' ]]
	run -66 inside lwkexec "$programs/sanitized-threads" race
	[[ $output == *'WARNING: ThreadSanitizer: data race'*'sanitized.c'* ]]
}

@test "threads that compute end with their process" {
	run -0 endings "$programs/spin-threads" 3
	echo "$output"
	[[ $output == *'TERM: all of them, status 143'*'KILL: all of them, status 137'*'SEGV: all of them, status 139'* ]]
	# shellcheck disable=SC2016
	run -0 inside sh -c 'lwkexec "$1/spin-threads" 3 & proxy=$!
		sleep 1; kill $proxy; wait $proxy
		lwkexec "$1/openmp"' sh "$programs"
	echo "$output"
	[[ $output == *'3 threads of 3, sum '* ]]
}

@test "C++ programs use iostream, exceptions and thread_local" {
	for program in exceptions exceptions-static; do
		run -0 same "$programs/$program" <<<$'one three two'
		[[ $output == $'from the depth, 11 destroyed\nbad cast\nbad alloc\none 1\nthree 0\ntwo 2\nff tls\nstatus 0' ]]
	done
}

@test "Fortran programs use formatted, unformatted and internal files" {
	run -0 same "$programs/fortran-io" <<<'17'
	[[ $output == *'42 in a string'*'read'*17*'status 0' ]]
}

@test "/proc/self/maps lists the mappings, and glibc finds the stack in it" {
	run -0 same "$programs/own-maps" </dev/null
	[[ $output == $'all as it says\nstatus 0' ]]
}

@test "/sys and /proc describe the LWK's CPUs and memory" {
	local record cpus node bytes n paths wanted
	local -a all

	record=$(bed cat "/run/slurm-lwk/jobs/$job.json")
	cpus=$(jq -r .lwk_cpus <<<"$record") node=$(jq -r .nodes <<<"$record")
	[[ $cpus =~ ^[0-9]-[0-9]$ && $node =~ ^[0-9]$ ]]
	mapfile -t all < <(seq "${cpus%-*}" "${cpus#*-}")
	n=${#all[@]}

	run -0 inside sh -c 'lwkexec nproc; lwkexec getconf _NPROCESSORS_ONLN; lwkexec nproc --all
		lwkexec python3 -c "import os; print(os.cpu_count())"
		lwkexec grep -c ^processor /proc/cpuinfo
		lwkexec sed -n "s/^\(Cpus\|Mems\)_allowed_list:\t//p" /proc/self/status
		lwkexec lscpu -p=CPU,NODE | grep -v "#"'
	echo "$output"
	# nproc --all prints one more than the highest number, as on Linux.
	[[ $output == "$(printf '%s\n' "$n" "$n" "$((${cpus#*-} + 1))" "$n" "$n" "$cpus" "$node" "${all[@]/%/,$node}")" ]]

	# By hand and by libhwloc the CPUs look as the same CPUs look on Linux.
	paths=$(printf '/cpu%s/\n' "${all[@]}")
	wanted=$(grep -F "$paths" "$BATS_FILE_TMPDIR/hardware" | sort)
	[[ $wanted == *"cpu${all[0]}/topology/core_id:"* ]]
	[[ $(hardware inside lwkexec | sort) == "$wanted" ]]
	bytes=$(inside lwkexec sed -n 's/^user_bytes //p' /proc/self/lwk)
	run -0 inside lwkexec "$programs/topology"
	echo "$output"
	[[ $output == "cpus $cpus
allowed $cpus
nodes $node
allowed $node
cores $n
packages 1
L3 caches 1
node $node: "*" kB, cpus $cpus
bound $cpus" ]]
	run -0 inside lwkexec numactl --hardware
	echo "$output"
	[[ $output == *"available: 1 nodes ($node)"*"node $node cpus: ${all[*]}"*"node $node size: $((bytes >> 20)) MB"* ]]
	run -0 inside lwkexec numactl --show
	[[ $output == *"physcpubind: ${all[*]} "*"membind: $node "* ]]
	[[ $(inside lwkexec free --kilo) =~ Mem:\ +$((bytes / 1000))\  ]]
	run -1 inside lwkexec cat /proc/self/cgroup
	[[ $output == *'No such file'* ]]
}

@test "every call that takes a path sees the LWK's /sys and /proc" {
	run -0 inside sh -c 'lwkexec python3 - && lwkexec stat -c "%F %a" /sys/devices/system/cpu/online' <<-'EOF'
	import os
	cpus = '/sys/devices/system/cpu'
	mine = sorted(os.sched_getaffinity(0))
	first = f'{cpus}/cpu{mine[0]}'
	assert sorted(n for n in os.listdir(cpus) if n[3:].isdigit()) == [f'cpu{n}' for n in mine]
	assert not os.path.exists(cpus + '/cpu0') and not os.path.lexists(cpus + '/cpu0')
	assert os.access(first + '/online', os.R_OK) and not os.access(first + '/online', os.W_OK)
	assert os.readlink(cpus + '/present') == 'online'
	with os.scandir('/sys/devices/system/node') as nodes:
	    node = next(n for n in nodes if n.name[4:].isdigit())
	assert os.path.samefile(f'{first}/{node.name}', node.path)
	directory = os.open(first, os.O_PATH)
	assert open('topology/core_cpus_list', opener=lambda path, flags:
	            os.open(path, flags, dir_fd=directory)).read() == f'{mine[0]}\n'
	for name in 'online', 'new':
	    try:
	        open(f'{cpus}/{name}', 'w')
	        assert False
	    except PermissionError:
	        pass
	os.chdir(cpus)
	assert open('online').read() == f'{mine[0]}-{mine[-1]}\n'
	assert not os.path.exists('/proc/self/cgroup') and not os.path.exists(f'/proc/{os.getpid()}/smaps')
	assert open('/sys/devices/system/clocksource/clocksource0/current_clocksource').read()
	ranges = [line.split()[0].split('-') for line in open('/proc/self/maps') if '[v' not in line]
	size = sum(int(end, 16) - int(start, 16) for start, end in ranges) // 4096
	statm = [int(word) for word in open('/proc/self/statm').read().split()]
	assert abs(statm[0] - size) < 300 and 500 < statm[1] <= statm[0] and 0 < statm[3] < size
	EOF
	echo "$output"
	[[ $output == 'regular file 444' ]]
}

# bats test_tags=nightly
@test "coreutils, awk and perl of the distribution do what they do on Linux" {
	run -0 same ls -lR /etc/slurm </dev/null
	[[ $output == *lwk.conf*'status 0' ]]
	run -0 same cat /etc/hostname /nonexistent </dev/null
	[[ $output == *'No such file or directory'*'status 1' ]]
	run -0 same sort -rn <<<$'1\n30\n2'
	[[ $output == $'30\n2\n1\nstatus 0' ]]
	run -0 same wc /bin/bash </dev/null
	run -0 same sha256sum /bin/bash </dev/null
	run -0 same awk '{ n += $1 } END { print n, cos(0) }' <<<$'1\n30\n2'
	[[ $output == $'33 1\nstatus 0' ]]
	run -0 same perl -MList::Util=sum -e 'print sum(map { length } <STDIN>), "\n"; exit 3' <<<$'1\n30'
	[[ $output == $'5\nstatus 3' ]]
}

@test "a script is run by the program that its first line names" {
	# shellcheck disable=SC2016
	bed sh -c 'mkdir -p /tmp/scripts && cd /tmp/scripts
		printf "#!/bin/sh -u\necho \"\$0 \$# \$*\"; uname() { :; }; read line; echo \"\$line\"\nexit 5" >plain
		printf "#! /tmp/scripts/plain  with  blanks \n" >nested
		printf "#!/tmp/scripts/loop\n" >loop
		printf "#!/nonexistent/sh\n" >missing
		printf "#!\n" >empty
		printf "#!/%0300d\n" 0 >long
		printf "#!/usr/bin/perl\nprint \$0, \"\\n\";" >perl
		printf "no program" >text
		chmod 755 *'
	run -0 same /tmp/scripts/plain 'a b' c <<<text
	[[ $output == $'/tmp/scripts/plain 2 a b c\ntext\nstatus 5' ]]
	run -0 same /tmp/scripts/nested c <<<text
	[[ $output == $'/tmp/scripts/plain 3 with  blanks /tmp/scripts/nested c\ntext\nstatus 5' ]]
	run -0 same /tmp/scripts/perl </dev/null
	run -126 inside lwkexec /tmp/scripts/loop
	[[ $output == *'Too many levels of symbolic links'* ]]
	run -127 inside lwkexec /tmp/scripts/missing
	[[ $output == *'wants to be run by /nonexistent/sh: No such file or directory'* ]]
	for script in empty long; do
		run -126 inside lwkexec /tmp/scripts/$script
		[[ $output == *'expected the name of a program behind #!'* ]]
	done
	run -126 inside lwkexec /tmp/scripts/text
	[[ $output == *'neither an ELF program nor a script'* ]]
	run -7 inside lwkexec sh -c '/bin/true && exit 7'
}

# mutant NAME OFFSET BYTES [SIZE]: makes a copy of /bin/true with other bytes at OFFSET, in printf's
# octal numbers, or cut off at SIZE.
mutant()
{
	bed sh -c 'mkdir -p /tmp/mutants && cd /tmp/mutants && cp /bin/true "$1" &&
		printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none &&
		{ [ -z "$4" ] || truncate -s "$4" "$1"; }' - "$@"
}

# field TYPE OFFSET: prints where in /bin/true this field of the first program header of TYPE is.
field()
{
	bed perl -e 'open F, "/bin/true"; read F, $f, 4096;
		for (0 .. unpack("S", substr($f, 56, 2)) - 1) { $at = 64 + 56 * $_;
			if (unpack("L", substr($f, $at, 4)) == $ARGV[0]) { print $at + $ARGV[1]; exit } }' \
		"$1" "$2"
}

@test "an ELF file with absurd headers is refused with the reason" {
	local load interpreter ff='\377\377\377\377\377\377\377\377'
	load=$(field 1 0)
	interpreter=$(field 3 0)
	((load > 0 && interpreter > 0))

	mutant machine 18 '\267'
	mutant class 4 '\001'
	mutant type 16 '\001'
	mutant no-headers 56 '\000\000'
	mutant many-headers 56 '\377\377'
	mutant header-size 54 '\001\000'
	mutant headers-far-away 32 "$ff"
	mutant entry 24 "$ff"
	mutant segment-offset $((load + 8)) "$ff"
	mutant segment-address $((load + 16)) "$ff"
	mutant segment-in-kernel $((load + 16)) '\0\0\0\0\0\220\377\377'
	mutant segment-file-size $((load + 32)) "$ff"
	mutant segment-size $((load + 40)) "$ff"
	mutant segment-huge $((load + 40)) '\0\0\0\0\0\020\0\0'
	mutant segment-overlaps $((load + 40)) '\0\0\001\0'
	mutant interpreter-offset $((interpreter + 8)) "$ff"
	mutant interpreter-long $((interpreter + 32)) '\0\0\1\0'
	mutant interpreter-empty $((interpreter + 32)) '\0'
	mutant interpreter-open $((interpreter + 32)) '\4'
	mutant interpreter-missing "$(field_value "$interpreter")" '/none'
	mutant interpreter-text "$(field_value "$interpreter")" '/etc/hostname\0'
	mutant cut-in-header 0 '\177' 40
	mutant cut-in-headers 0 '\177' 100
	mutant cut-in-segment 0 '\177' 8192
	mutant empty 0 '' 0
	run -0 inside sh -c 'cd /tmp/mutants; for file in *; do
			lwkexec ./$file; echo "$file: status $?"
		done 2>&1'
	echo "$output"
	[[ $(grep -c '^lwkexec: error: ' <<<"$output") == 25 ]]
	[[ $(grep -c 'status 12[567]$' <<<"$output") == 25 ]]
	[[ $output == *'wants to be run by /none'*': No such file or directory'*'interpreter-missing: status 127'* ]]
	run -0 inside lwkexec "$programs/hello"
	[[ $output == *' LWK'* ]]
}

# field_value HEADER: prints p_offset of the program header that lies there in /bin/true.
field_value()
{
	bed perl -e 'open F, "/bin/true"; seek F, $ARGV[0] + 8, 0; read F, $f, 8; print unpack "Q", $f' "$1"
}

@test "signals, handlers, masks and restarted calls work as on Linux" {
	run inside lwkexec "$programs/signal-calls"
	echo "$output"
	[[ $output == *'all of it is right'* && $output == *'Aborted'* ]]
	((status == 134))
}

@test "a signal tells its sender and its value" {
	run -0 same "$programs/signal-info" </dev/null
	echo "$output"
	[[ $output == *'another program: right'*'status 0' && $output != *wrong* ]]
	run -0 bed lwkctl kmsg "$job"
	[[ $output == *'a signal 36 is lost'* ]]
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

# bats test_tags=nightly
@test "busybox of the distribution runs" {
	run -0 inside lwkexec busybox uname -srv
	[[ $output == 'Linux '*'+lwk slurm-lwk '*' LWK' ]]
	run -0 inside sh -c 'lwkexec busybox sha256sum /bin/busybox; sha256sum /bin/busybox'
	[[ ${lines[0]} == "${lines[1]}" ]]
	run -0 inside sh -c 'printf "b\na\n" | lwkexec busybox sort; lwkexec busybox find /etc/slurm -name lwk.conf'
	[[ $output == $'a\nb\n/etc/slurm/lwk.conf' ]]
}

# bats test_tags=nightly
@test "a program runs with an unlimited stack" {
	run -0 inside sh -c "ulimit -s unlimited && lwkexec $programs/hello"
	[[ $output == *' LWK'* ]]
}

@test "bad programs end with their signal, and the LWK goes on" {
	# shellcheck disable=SC2016
	run -0 inside sh -c 'cd /tmp; "$1/bad" list | while read -r name signal; do
		timeout -s KILL 60 lwkexec "$1/bad" "$name" </dev/null >/dev/null 2>&1
		status=$?
		wanted=$((signal > 0 ? 128 + signal : 0))
		if [ "$signal" -ge 0 ] && [ $status != $wanted ]; then
			echo "$name: wanted $wanted, found $status"
		fi
		echo "$name was survived"
	done 2>/dev/null' sh "$programs"
	echo "$output"
	[[ $output != *expected* ]]
	(($(grep -c 'was survived' <<<"$output") >= 30))
	run -0 inside lwkexec "$programs/hello"
	[[ $output == *' LWK'* ]]
	run -0 bed lwkctl kmsg "$job"
	[[ $output != *PANIC* ]]
}

@test "a program that finds no free LWK CPU says so" {
	run inside sh -c 'mkfifo /tmp/both.$$
		lwkexec "$1/spin" >/tmp/both.$$ & first=$!
		lwkexec "$1/spin-threads" 2 >/tmp/both.$$ & second=$!
		head -n 2 /tmp/both.$$ | sort
		rm /tmp/both.$$
		lwkexec "$1/hello"
		status=$?
		kill $first $second
		wait
		exit $status' sh "$programs"
	echo "$output"
	[[ $output == *'expected a free LWK CPU, but each of the 3 has its process'* ]]
	((status == 125))
}

@test "a killed proxy takes its program along and frees the CPU" {
	run -0 inside sh -c 'for i in 1 2 3; do
			lwkexec "$1/spin" & proxy=$!
			sleep 1
			kill -KILL $proxy
			wait $proxy
		done
		lwkexec "$1/hello"' sh "$programs"
	[[ $output == *' LWK'* ]]
}

@test "no interrupt comes while a program computes" {
	run -0 inside lwkexec "$programs/undisturbed"
	echo "$output"
	[[ $output == 'disturbances 0' ]]
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

@test "a program that the LWK kills is told why, where its user reads it" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 inside sh -c 'cd /tmp && for cause in null text jump instruction divide file frame stack abort closed; do
			lwkexec "$1" "$cause"; echo "$cause: $?"
		done 2>&1
		wc -c <killed-by.data; rm killed-by.data' sh "$programs/killed-by"
	echo "$output"
	grep -E 'killed by signal 11 \(Segmentation fault\): the instruction at 0x[0-9a-f]+ writes to address 0x0, where nothing is mapped$' <<<"$output"
	grep -E 'writes to address 0x[0-9a-f]+, which its mapping does not allow$' <<<"$output"
	grep -E 'the instruction at 0x0 is at address 0x0, where nothing is mapped$' <<<"$output"
	grep -E 'signal 4 \(Illegal instruction\): the instruction at 0x[0-9a-f]+: the CPU does not know it' <<<"$output"
	grep -E 'signal 8 \(Floating point exception\): .* a division by zero' <<<"$output"
	grep -E 'signal 7 \(Bus error\): .* reads address 0x[0-9a-f]+, and the mapped file has no page there$' <<<"$output"
	grep -F 'signal 11 (Segmentation fault): a signal'\''s handler has returned to a damaged frame on its stack' <<<"$output"
	grep -F 'its stack has no room for the frame of a signal'\''s handler' <<<"$output"
	# abort() needs no explanation, and another file in the place of standard error stays as it is.
	[[ $(grep -c 'killed by signal' <<<"$output") == 8 && $output == *'closed: 139'*$'\n0' ]]
}

# debug_core PROGRAM DIRECTORY COMMAND...: runs gdb's commands on the core file there, in the machine.
debug_core()
{
	local core=$BATS_TEST_TMPDIR/core commands=() command program=$1

	testbed get "$2/core" "$core" >/dev/null
	shift 2
	for command; do
		commands+=(-ex "$command")
	done
	gdb -nx -batch "${commands[@]}" "$(built)/tests/vm/programs/$program" "$core" 2>&1
}

@test "a program that dies leaves a core file for gdb, if its user wants one" {
	local place

	place=$(as user1 mktemp -d)
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 inside sh -c 'cd "$1" && ulimit -S -c 0 && "$2"/exit-with 0; lwkexec "$2/dump-core"; ls; ulimit -S -c unlimited
		lwkexec "$2/dump-core"; echo "status $?"; stat -c "%n %a %U" *' sh "$place" "$programs"
	echo "$output"
	[[ $(grep -c 'core file' <<<"$output") == 1 ]]
	[[ $output == *'killed by signal 11 (Segmentation fault): the instruction at '*', where nothing is mapped; core file: core'* ]]
	[[ $output == *'status 139'* && $output == *'core 600 user1'* && $output != *$'\ncore\n'* ]]
	# This host's gdb knows the variables of threads of its own C library only: of_thread lies below the thread's area.
	run -0 debug_core dump-core "$place" bt 'print *record' 'print $_siginfo.si_signo' 'print $_siginfo._sifields._sigfault.si_addr' \
		'info proc mappings' 'x/2i $pc' 'print $xmm15.v2_double[0]' 'print *(int *)($fs_base - 4)'
	echo "$output"
	[[ $output == *'Program terminated with signal SIGSEGV'* ]]
	[[ $output =~ '#0 '.*write_down.*'#1 '.*look_up.*half=0.5.*'#2 '.*main ]]
	[[ $output == *'number = 4711, half = 0.5, name = "from the heap'* && $output == *' = 11'*'0x1230'* ]]
	[[ $output == *"$programs/dump-core"* && $output == *'= 0.5'*'= 42'* ]]

	# Threads, one of them in a call that Linux has under way, and their own variables.
	run -0 inside sh -c 'cd "$1" && ulimit -S -c unlimited && lwkexec "$2/dump-core-static" abort; echo "status $?"' sh "$place" "$programs"
	echo "$output"
	[[ $output == *'killed by signal 6 (Aborted); core file: core'* && $output == *'status 134'* ]]
	run -0 debug_core dump-core-static "$place" 'thread apply all bt' 'info threads'
	echo "$output"
	[[ $output == *'raise'*'abort'*'write_down'*'look_up'*'main'* && $output == *'stand_still'*'wait_for_byte'* && $output == *'compute'*'spin'* ]]
	[[ $(grep -c 'LWP' <<<"$output") -ge 3 ]]

	# A size that is too small cuts it off, and a place where it cannot be is told.
	run -0 inside sh -c 'cd "$1" && rm core && ulimit -S -c 16 && lwkexec "$2/dump-core"; stat -c "%s" core
		rm core && ln -s other core && ulimit -S -c unlimited && lwkexec "$2/dump-core"; true' sh "$place" "$programs"
	echo "$output"
	grep -x 8192 <<<"$output"
	grep -F 'no core file, core: ' <<<"$output"
	[[ $(as user1 ls "$place") == core ]]
	as user1 rm -r "$place"
}
