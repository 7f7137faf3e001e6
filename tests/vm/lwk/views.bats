#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# /sys and /proc show programs on the bundled LWK their own CPUs, memory and mappings. All tests share one allocation.

load allocation

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

	# The files and libhwloc show the CPUs as the same CPUs look on Linux.
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
