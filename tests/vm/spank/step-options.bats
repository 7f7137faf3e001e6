#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# Steps that cannot be what the user asked for: options against the allocation,
# and programs that no LWK can run.

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

# step JOB SRUN-ARG...: in a running job of user1.
step()
{
	local job=$1
	shift

	as user1 env SLURM_JOB_ID="$job" timeout 60 srun --ntasks=1 "$@"
}

lwk_step()
{
	step "$(cat "$BATS_FILE_TMPDIR/job")" "$@"
}

@test "srun --lwk in an allocation that was made without" {
	job=$(submit user1 -c2 --wrap 'sleep 300')
	wait_for 60 job_is "$job" JobState=RUNNING
	refused 'Linux-only job' 'Give --lwk to the sbatch, salloc or srun' -- \
		step "$job" --lwk "$programs/hello"
	run -0 step "$job" "$programs/hello"
	[[ $output == *Debian* ]]
	as user1 scancel "$job"
	wait_for_job "$job"
}

@test "--cpu-bind that names the LWK's CPUs makes no job" {
	before=$(bed sh -c 'scontrol -o show job | wc -l')
	for binding in cores sockets threads ldoms map_cpu:5,6 mask_cpu:0x60 verbose,cores verbose; do
		refused '--cpu-bind' 'CPUs that Linux has lent' '--cpu-bind=none' -- \
			as user1 srun -n3 --lwk --cpu-bind=$binding "$programs/hello"
	done
	refused '--cpu-bind=cores' 'SLURM_CPU_BIND' -- \
		as user1 env SLURM_CPU_BIND=cores srun -n3 --lwk "$programs/hello"
	[[ $(bed sh -c 'scontrol -o show job | wc -l') == "$before" ]]
}

@test "--cpu-bind of a Linux-only job is nobody's business, whatever its program is told" {
	run -0 as user1 srun -n2 --cpu-bind=cores "$programs/hello" --lwk
	[[ $output == *Debian* ]]
}

@test "an LWK job for the steps that follow" {
	job=$(submit user1 --ntasks=4 --mem=512 --lwk --wrap 'echo "$LWK_DEVICE"; sleep 600')
	echo "$job" >"$BATS_FILE_TMPDIR/job"
	wait_for 60 has_printed user1 "$job" /dev/lwk
}

@test "another image than the job's" {
	refused 'runs the LWK image "lwk"' '--lwk=other' -- lwk_step --lwk=other "$programs/hello"
}

@test "the job's own image, or just --lwk" {
	run -0 lwk_step --lwk=lwk "$programs/hello"
	[[ $output == *LWK* ]]
	run -0 lwk_step --lwk "$programs/hello"
	[[ $output == *LWK* ]]
}

@test "--cpu-bind in a step" {
	refused 'CPUs that Linux has lent' -- \
		as user1 env SLURM_JOB_ID="$(cat "$BATS_FILE_TMPDIR/job")" LWK_DEVICE=/dev/lwk/0 \
		timeout 60 srun -n3 --cpu-bind=cores "$programs/hello"
	run -0 lwk_step --cpu-bind=none "$programs/hello"
	[[ $output == *LWK* ]]
}

@test "srun --multi-prog" {
	refused 'multi-prog' '--lwk-launch=none' -- lwk_step --multi-prog steps/multi-prog
}

@test "a program that is not there" {
	refused 'steps/none' 'no such program' -- lwk_step steps/none
	refused 'no-such-command' 'no such program in PATH' -- lwk_step no-such-command
}

@test "a program that is not executable" {
	refused 'steps/not-executable' 'chmod +x' -- lwk_step ./steps/not-executable
}

@test "a script" {
	run -0 lwk_step ./steps/script
	[[ $output == 'on slurm-lwk'*LWK ]]
	run -0 lwk_step --lwk-launch=none ./steps/script
	[[ $output == 'on Linux' ]]
}

@test "a program as the distribution builds it" {
	run -0 lwk_step uname -v
	[[ $output == *LWK* ]]
}

@test "the job is none the worse" {
	run -0 lwk_step "$programs/hello"
	[[ $output == *LWK* ]]
	job=$(cat "$BATS_FILE_TMPDIR/job")
	job_is "$job" JobState=RUNNING
	as user1 scancel "$job"
	wait_for_job "$job"
	node_is_clean
}
