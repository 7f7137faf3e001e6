#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# A CPU's state that Linux leaves behind, that a program changes or that the hardware reports ends a program or its
# LWK at most.

load ../helpers

# The status of an error in a machine check's bank: valid, reported, with an address; and its kinds.
corrected=0x9c00000000000134
harmless=0xbc00000000000134  # uncorrected, and no program has met it
needed=0xbd80000000000134    # uncorrected, and the program needs what is lost
corrupt=0xbe00000000000134   # uncorrected, and the CPU's state is lost

setup_file()
{
	prepare
}

teardown_file()
{
	bed sh -c '! mountpoint -q /sys/devices/system/cpu/vulnerabilities || umount /sys/devices/system/cpu/vulnerabilities
		[ ! -e /root/lwk.conf.before ] || mv /root/lwk.conf.before /etc/slurm/lwk.conf'
	node_is_clean
}

# spinning_job: starts a job of user1 that runs spin twice on an LWK CPU, and ends when there is no file
# "hold". Sets $job, and $cpu to Linux's number of that CPU.
spinning_job()
{
	job=$(submit user1 -n1 -c2 --mem=300 --lwk --wrap "
		srun $programs/spin; echo first=\$?
		srun $programs/spin; echo second=\$?
		lwkctl kmsg \$SLURM_JOB_ID
		while [ -e hold ]; do sleep 0.2; done")
	wait_for 60 has_printed user1 "$job" spinning
	cpu=$(bed cat "/run/slurm-lwk/jobs/$job.json" | jq -r .lwk_cpus)
}

# machine_check STATUS [BANK]: of the LWK's CPU, which can restart the instruction.
machine_check()
{
	testbed monitor mce "$cpu" "${2-3}" "$1" 7 0x1000 0x8c
}

@test "each exception of a program is the signal that it is on Linux" {
	linux=$(as user1 srun -Q -n1 -c2 --mem=300 "$programs/cpu-faults")
	run -0 as user1 srun -Q -n1 -c2 --mem=300 --lwk "$programs/cpu-faults"
	diff <(echo "$linux") <(echo "$output")
	[[ $output == *'divide by zero: signal 8, code 1'*'execution of data: signal 11, code 2'* ]]
}

# cpu_states: prints the registers of each CPU that an LWK sets, as far as the CPU has them: the MSRs EFER, PAT,
# MTRRdefType, SPEC_CTRL, TEST_CTRL, XFD, XSS, DEBUGCTL, MCG_STATUS, APIC_BASE, STAR, LSTAR, CSTAR, FMASK, TSC_AUX and
# SYSENTER's; CR0, CR4 and DR7.
cpu_states()
{
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed bash -c 'for cpu in /dev/cpu/*/msr; do
		for msr in c0000080 277 2ff 48 33 1c4 da0 1d9 17a 1b c0000081 c0000082 c0000083 c0000084 c0000103 \
			174 175 176; do
			echo "$cpu $msr $(dd if="$cpu" bs=8 count=1 iflag=skip_bytes skip=$((16#$msr)) 2>/dev/null |
				od -An -tx8)"
		done
	done'
	testbed monitor info registers -a | grep -oE 'CPU#[0-9]+|CR[04]=[0-9a-f]+|DR7=[0-9a-f]+'
}

@test "a CPU that comes back from an LWK has the state that Linux gives it" {
	bed modprobe msr
	# Linux may set other things when a CPU comes than at its boot.
	bed sh -c 'for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do echo 0 >$cpu && echo 1 >$cpu || exit; done'
	before=$(cpu_states)
	echo "$before"
	[[ $before == *' c0000082  ffffffff'* && $before == *CR4=*DR7=* ]]
	as user1 srun -Q -n1 -c7 --mem=300 --lwk "$programs/cpu-faults" >/dev/null
	node_is_clean
	diff <(echo "$before") <(cpu_states)
}

@test "a memory error ends the program that needs the memory, each time, and nothing else" {
	spinning_job
	machine_check "$needed"
	wait_for 60 has_printed user1 "$job" first=135 # SIGBUS
	wait_for 60 as user1 sh -c "[ \$(grep -c spinning $job.out) = 2 ]"
	# Neither a harmless nor a corrected error is any program's; two in a row find MCIP cleared.
	machine_check "$harmless"
	machine_check "$harmless"
	machine_check "$corrected" 4
	machine_check "$needed"
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	echo "$output"
	[[ $output == *second=135* ]]
	[[ $output == *'2 machine checks with errors that no program has met'* ]]
	[[ $output == *'the hardware had a corrected error: bank 4, status 9c'* ]]
	node_is_clean
}

# bats test_tags=nightly
@test "a fatal error ends the LWK with the reason; later ones do not reset the node" {
	other=$(submit user2 -n1 -c2 --mem=300 --lwk --wrap "srun $programs/sleeper 600")
	# Once the CPU is Linux's again, a machine check there is fatal to Linux.
	as user1 touch hold
	spinning_job
	machine_check "$corrupt"
	wait_for 30 bed sh -c "dmesg | grep 'LWK of job $job .*panicked.*machine check at .*bank 3, status be'"
	machine_check "$corrupt"
	machine_check "$needed"
	as user1 rm hold
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	[[ $output == *'PANIC: CPU 0: machine check at '* ]]
	job_is "$other" JobState=RUNNING
	bed scancel "$other"
	wait_for_job "$other"
	node_is_clean
}

@test "LWK jobs are refused for a vulnerability that only Linux mitigates, unless accepted" {
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		mount -t tmpfs none /sys/devices/system/cpu/vulnerabilities
		echo Mitigation: something >/sys/devices/system/cpu/vulnerabilities/new_one'
	refused 'new_one (Mitigation: something)' 'Vulnerabilities=accept' -- \
		as user1 srun --lwk -n1 -c2 --mem=300 "$programs/hello"
	run -1 bed lwkctl check
	[[ $output == *'problem cpu'*'new_one (Mitigation: something); LWK jobs are refused'* ]]
	bed sed -i 's/^Vulnerabilities.*/Vulnerabilities = accept/' /etc/slurm/lwk.conf
	run -0 as user1 srun --lwk -n1 -c2 --mem=300 "$programs/hello"
	node_is_clean
}
