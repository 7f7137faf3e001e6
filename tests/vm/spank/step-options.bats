#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
# tests: in order
#
# Steps that ask for what their allocation or the LWK cannot give are refused, and the others run.

load ../helpers

setup_file()
{
	prepare
	as user1 sh -s <<-'EOF'
	mkdir -p steps
	cp /opt/lwk-tests/hello steps/not-executable
	chmod -x steps/not-executable
	cat >steps/script <<-'SCRIPT'
	#!/bin/sh
	if read key version 2>/dev/null </proc/self/lwk; then echo "on $version"; else echo on Linux; fi
	SCRIPT
	chmod +x steps/script
	printf '0 /opt/lwk-tests/hello\n' >steps/multi-prog
	EOF
}

teardown_file()
{
	as user1 rm -r steps
}

# step JOB SRUN-ARG...: runs a step in a job of user1.
step()
{
	local job=$1
	shift

	as user1 env SLURM_JOB_ID="$job" timeout 180 srun --ntasks=1 "$@"
}

lwk_step()
{
	step "$(cat "$BATS_FILE_TMPDIR/job")" "$@"
}

@test "srun --lwk is refused in an allocation that was made without --lwk" {
	job=$(submit user1 -c2 --wrap 'sleep 300')
	wait_for 60 job_is "$job" JobState=RUNNING
	refused 'Linux-only job' 'Give --lwk to the sbatch, salloc or srun' -- \
		step "$job" --lwk "$programs/hello"
	run -0 step "$job" "$programs/hello"
	[[ $output == *Debian* ]]
	as user1 scancel "$job"
	wait_for_job "$job"
}

@test "--cpu-bind that names CPUs of the LWK is refused before there is a job" {
	before=$(bed sh -c 'scontrol -o show job | wc -l')
	for binding in cores sockets threads ldoms map_cpu:5,6 mask_cpu:0x60 verbose,cores verbose; do
		refused '--cpu-bind' 'CPUs that Linux has lent' '--cpu-bind=none' -- \
			as user1 srun -n3 --lwk --cpu-bind=$binding "$programs/hello"
	done
	refused '--cpu-bind=map_cpu, mask_cpu, map_ldom or mask_ldom:76 (or' -- \
		as user1 srun -n3 --lwk --cpu-bind=map_cpu:76 "$programs/hello"
	refused '--cpu-bind=cores' 'SLURM_CPU_BIND' -- \
		as user1 env SLURM_CPU_BIND=cores srun -n3 --lwk "$programs/hello"
	[[ $(bed sh -c 'scontrol -o show job | wc -l') == "$before" ]]
}

@test "a Linux-only job may use --cpu-bind, also when its program has an argument --lwk" {
	run -0 as user1 srun -n2 --cpu-bind=cores "$programs/hello" --lwk
	[[ $output == *Debian* ]]
}

@test "an LWK job starts for the steps that follow" {
	job=$(submit user1 --ntasks=4 --mem=512 --lwk --wrap 'echo "$LWK_DEVICE"; sleep 600')
	echo "$job" >"$BATS_FILE_TMPDIR/job"
	wait_for 60 has_printed user1 "$job" /dev/lwk
}

@test "a step with another image than its job's is refused" {
	refused 'runs the LWK image "lwk"' '--lwk=other' -- lwk_step --lwk=other "$programs/hello"
}

@test "a step may name its job's image, or just --lwk" {
	run -0 lwk_step --lwk=lwk "$programs/hello"
	[[ $output == *LWK* ]]
	run -0 lwk_step --lwk "$programs/hello"
	[[ $output == *LWK* ]]
}

@test "--cpu-bind=cores is refused in a step, --cpu-bind=none is not" {
	refused 'CPUs that Linux has lent' -- \
		as user1 env SLURM_JOB_ID="$(cat "$BATS_FILE_TMPDIR/job")" LWK_DEVICE=/dev/lwk/0 \
		timeout 180 srun -n3 --cpu-bind=cores "$programs/hello"
	run -0 lwk_step --cpu-bind=none "$programs/hello"
	[[ $output == *LWK* ]]
}

@test "srun --multi-prog runs its programs on the LWK, or before Slurm 23.11 is refused" {
	if printf '%s\n' 23.11 "$(bed srun --version | sed 's/.* //')" | sort -VC; then
		run -0 lwk_step --multi-prog steps/multi-prog
		[[ $output == *LWK* ]]
	else
		refused 'multi-prog' '--lwk-launch=none' -- lwk_step --multi-prog steps/multi-prog
	fi
}

@test "a missing program is refused" {
	refused 'steps/none' 'no such program' -- lwk_step steps/none
	refused 'no-such-command' 'no such program in PATH' -- lwk_step no-such-command
}

@test "a program that is not executable is refused" {
	refused 'steps/not-executable' 'chmod +x' -- lwk_step ./steps/not-executable
}

@test "a script runs on the LWK, or with --lwk-launch=none on Linux" {
	run -0 lwk_step ./steps/script
	[[ $output == 'on slurm-lwk'*LWK ]]
	run -0 lwk_step --lwk-launch=none ./steps/script
	[[ $output == 'on Linux' ]]
}

@test "a program of the distribution runs" {
	run -0 lwk_step uname -v
	[[ $output == *LWK* ]]
}

@test "the job still runs programs after all of these steps" {
	run -0 lwk_step "$programs/hello"
	[[ $output == *LWK* ]]
	job=$(cat "$BATS_FILE_TMPDIR/job")
	job_is "$job" JobState=RUNNING
	as user1 scancel "$job"
	wait_for_job "$job"
	node_is_clean
}
