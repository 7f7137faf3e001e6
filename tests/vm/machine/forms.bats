#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# LWK jobs on machines of many forms: each test boots one, makes sure that it is of that form, and has a job run
# programs on each CPU of an LWK. At the end the table of all forms is printed, with what QEMU has left out of
# the CPUs because it cannot emulate it.

load ../helpers

bed_name=$bed_name-forms

setup()
{
	testbed down
}

teardown()
{
	echo "$BATS_TEST_DESCRIPTION | $( ((BATS_TEST_COMPLETED)) && echo "${result-passed}" || echo failed) | $(left_out)" \
		>>"$BATS_FILE_TMPDIR/table"
	testbed down
}

teardown_file()
{
	sed 's/^/# /' "$BATS_FILE_TMPDIR/table" >&3
}

# left_out: prints the features that QEMU does not emulate.
left_out()
{
	local console

	console=$(testbed status | sed -n 's/.*, console \(.*\), monitor .*/\1/p')
	sed -n "s/.*doesn't support requested feature: .*[.:]\([a-z0-9-]*\) .*/\1/p" "${console%/*}/qemu.log" | sort -u | tr '\n' ' '
}

# boot OPTION...: a machine of four CPUs and two NUMA nodes, unless the options say otherwise.
boot()
{
	testbed up --cpus 4 --mem 2048 "$@"
	prepare
	# Reports of the boot, which node_is_clean would find, are no fault of an LWK job.
	bed dmesg -c >"$BATS_TEST_TMPDIR/boot"
}

says()
{
	grep -E -- "$1" "$BATS_TEST_TMPDIR/boot"
}

# has FLAG...: the CPUs have these features, as Linux names them, and not those with a minus.
has()
{
	local flags flag

	flags=" $(bed sed -n 's/^flags.*: //p;T;q' /proc/cpuinfo) "
	for flag; do
		case $flag in
		-*) [[ $flags != *" ${flag#-} "* ]] || { echo "the CPUs have ${flag#-}: $flags"; return 1; } ;;
		*) [[ $flags == *" $flag "* ]] || { echo "the CPUs lack $flag: $flags"; return 1; } ;;
		esac
	done
}

# model TEXT: the CPUs' name has it.
model()
{
	bed grep -m 1 "^model name.*$1" /proc/cpuinfo
}

# on_command_line ARGUMENT: it counts from the first LWK job on.
on_command_line()
{
	bed grep -w -- "$1" /proc/cmdline
}

# one_thread: slurm.conf has what Linux shows without SMT, as "slurmd -C" would print it.
one_thread()
{
	bed sh -c 'test "$(cat /sys/devices/system/cpu/online)" = 0,2,4,6'
	stop_daemon slurmctld
	stop_daemon slurmd
	bed sed -i 's/ CPUs=8 / CPUs=4 /; s/ThreadsPerCore=2/ThreadsPerCore=1/; s/CpuSpecList=0-1/CpuSpecList=0/' /etc/slurm/slurm.conf
	start_daemon slurmctld
	start_daemon slurmd
	wait_for 60 bed sh -c '[ "$(sinfo -h -o %T)" = idle ]'
}

# is_refused: Slurm would take CPUs that are off-line, which a job and lwkctl check tell.
is_refused()
{
	refused 'some are off-line (on-line are 0,2,4,6)' 'lwkctl check' -- as user1 srun --lwk --exclusive --mem=640 true
	refused 'the CPUs on-line are 0,2,4,6' 'nosmt' -- bed lwkctl check
	node_is_clean
	result='refused, with the reason'
}

# runs [SRUN-ARG]...: a job with all CPUs for jobs runs programs on each CPU of its LWK, which wake each other and
# have timers; afterwards the node is as before.
runs()
{
	local before there gone cpus cpu

	before=$(bed getconf _NPROCESSORS_ONLN)
	run -0 as user1 timeout 300 srun -Q --lwk --exclusive --mem=640 --lwk-launch=none "$@" sh -c '
		getconf _NPROCESSORS_ONLN
		cpus=$(lwkexec /opt/lwk-tests/affinity list) && cpus=${cpus%% *} && echo "$cpus"
		for cpu in $(echo "$cpus" | tr , " "); do
			lwkexec taskset -c "$cpu" /opt/lwk-tests/affinity list || exit
		done
		/opt/lwk-tests/cpu-faults >faults && lwkexec /opt/lwk-tests/cpu-faults | diff faults - &&
			grep -c signal faults && lwkexec /opt/lwk-tests/affinity && lwkexec /opt/lwk-tests/openmp &&
			lwkexec /opt/lwk-tests/sleeper 1'
	echo "$output"
	there=${lines[0]} cpus=${lines[1]} gone=0
	for cpu in ${cpus//,/ }; do
		[[ ${lines[2 + gone]} == "$cpu $cpu $cpu" ]]
		gone=$((gone + 1))
	done
	((gone >= 2 && there + gone == before))
	[[ $output == *$'\n28\n'*'classes: right'*"$gone threads of $gone, sum "*'over' ]]
	node_is_clean
}

# bats test_tags=nightly
@test "q35, BIOS, QEMU's whole CPU" {
	boot
	bed grep Q35 /sys/class/dmi/id/product_name
	runs
}

# bats test_tags=nightly
@test "pc (i440FX), BIOS" {
	boot --machine pc
	bed grep i440FX /sys/class/dmi/id/product_name
	runs
}

# bats test_tags=nightly
@test "q35, UEFI" {
	boot --firmware uefi
	bed test -d /sys/firmware/efi
	runs
}

# bats test_tags=nightly
@test "pc, UEFI" {
	boot --machine pc --firmware uefi
	bed test -d /sys/firmware/efi
	runs
}

# bats test_tags=nightly
@test "x2APIC, clusters" {
	boot --iommu
	says 'APIC routing.* cluster x2apic'
	runs
}

# bats test_tags=nightly
@test "x2APIC, physical ids" {
	boot --iommu --append x2apic_phys
	says 'APIC routing.* physical x2apic'
	runs
}

# bats test_tags=nightly
@test "x2APIC left out" {
	boot --iommu --cpu max,-x2apic
	has -x2apic
	runs
}

# bats test_tags=nightly
@test "Nehalem" {
	boot --cpu Nehalem
	model Nehalem
	has -xsave -pcid -smep -smap -fsgsbase -pdpe1gb
	runs
}

# bats test_tags=nightly
@test "SandyBridge" {
	boot --cpu SandyBridge
	model 'E312xx'
	has xsave avx -avx2 -smep
	runs
}

# bats test_tags=nightly
@test "Haswell" {
	boot --cpu Haswell
	model Haswell
	has avx2 fsgsbase smep -smap
	runs
}

# bats test_tags=nightly
@test "Skylake-Server, x2APIC" {
	boot --cpu Skylake-Server --iommu
	model Skylake
	says 'APIC routing.* x2apic'
	has smap pdpe1gb
	runs
}

# bats test_tags=nightly
@test "SapphireRapids, x2APIC" {
	boot --cpu SapphireRapids --iommu
	model SapphireRapids
	says 'APIC routing.* x2apic'
	has la57 pku
	runs
}

# bats test_tags=nightly
@test "EPYC" {
	boot --cpu EPYC
	model EPYC
	has smap -pcid
	runs
}

# bats test_tags=nightly
@test "EPYC-Genoa, x2APIC" {
	boot --cpu EPYC-Genoa,+x2apic --iommu
	model EPYC-Genoa
	says 'APIC routing.* x2apic'
	runs
}

# bats test_tags=nightly
@test "four levels of page tables" {
	boot --cpu max,-la57
	has -la57
	runs
}

# bats test_tags=nightly
@test "page tables isolated" {
	boot --append pti=on
	has pti
	runs
}

# bats test_tags=nightly
@test "no FSGSBASE, SMEP, SMAP, UMIP, 1 GB pages" {
	boot --cpu max,-fsgsbase,-smep,-smap,-umip,-pdpe1gb
	has -fsgsbase -smep -smap -umip -pdpe1gb
	runs
}

# bats test_tags=nightly
@test "no XSAVE" {
	boot --cpu max,-xsave
	has -xsave
	runs
}

# bats test_tags=nightly
@test "two threads a core" {
	boot --cpus 8 --threads 2
	runs
}

# bats test_tags=nightly
@test "a NUMA node without CPUs" {
	boot --nodes 3 --cpus 4 --mem 3072 --last-node no-cpus
	bed sh -c 'test "$(cat /sys/devices/system/node/has_memory)" = 0-2 && test "$(cat /sys/devices/system/node/has_cpu)" = 0-1'
	runs
	runs --lwk-numa=bind=2
}

# bats test_tags=nightly
@test "a NUMA node without memory" {
	boot --nodes 2 --last-node no-memory
	bed sh -c 'test "$(cat /sys/devices/system/node/has_memory)" = 0 && test "$(cat /sys/devices/system/node/has_cpu)" = 0-1'
	runs
}

# bats test_tags=nightly
@test "memory blocks of 1 GB, one on two NUMA nodes" {
	boot --nodes 4 --mem 66560
	[[ $(bed cat /sys/devices/system/memory/block_size_bytes) == 40000000 ]]
	bed sh -c 'for block in /sys/devices/system/memory/memory*; do
		set -- "$block"/node*; [ $# = 1 ] || exit 0; done; exit 1'
	runs --mem=3500
}

# Threads that Linux leaves off-line wait by MWAIT, for which QEMU keeps them busy: the CPUs here have none.

# bats test_tags=nightly
@test "nosmt" {
	boot --cpus 8 --threads 2 --cpu max,-monitor --append nosmt
	one_thread
	is_refused
}

# bats test_tags=nightly
@test "mitigations=off" {
	boot --append mitigations=off
	on_command_line mitigations=off
	runs
}

# bats test_tags=nightly
@test "mitigations=auto,nosmt" {
	boot --cpus 8 --threads 2 --cpu max,-monitor --append mitigations=auto,nosmt
	on_command_line mitigations=auto,nosmt
	one_thread
	is_refused
}

# bats test_tags=nightly
@test "nohz_full=, isolcpus=" {
	boot --append 'nohz_full=1-3 isolcpus=domain,managed_irq,2-3'
	bed sh -c 'cd /sys/devices/system/cpu && test "$(cat nohz_full)" = 1-3 && test "$(cat isolated)" = 2-3'
	runs
}

# bats test_tags=nightly
@test "cgroup_no_v1=all, memory_hotplug.memmap_on_memory, crashkernel=" {
	boot --append 'cgroup_no_v1=all memory_hotplug.memmap_on_memory=1 crashkernel=192M'
	bed grep -x Y /sys/module/memory_hotplug/parameters/memmap_on_memory
	bed grep -v '^0$' /sys/kernel/kexec_crash_size
	runs
}

# bats test_tags=nightly
@test "huge pages are reserved, and stay so" {
	boot --mem 3072 --append hugepages=512
	before=$(bed sh -c 'cat /sys/devices/system/node/node*/hugepages/*/nr_hugepages')
	[[ $(bed cat /proc/sys/vm/nr_hugepages) == 512 ]]
	runs --mem=1400
	run -0 bed sh -c 'cat /sys/devices/system/node/node*/hugepages/*/nr_hugepages'
	[[ $output == "$before" ]]
}
