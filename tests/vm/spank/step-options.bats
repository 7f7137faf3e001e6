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
	refused 'Linux-only job' 'give --lwk to the sbatch, salloc or srun' -- \
		step "$job" --lwk "$programs/hello"
	run -0 step "$job" "$programs/hello"
	[[ $output == *Debian* ]]
	as user1 scancel "$job"
	wait_for_job "$job"
}

@test "--cpu-bind that names CPUs of the LWK is refused before there is a job" {
	before=$(bed sh -c 'scontrol -o show job | wc -l')
	for binding in map_cpu:5,6 mask_cpu:0x60 map_ldom:0 mask_ldom:0x1 verbose,map_cpu:1; do
		refused "--cpu-bind=$binding (or SLURM_CPU_BIND)" 'CPUs that Linux has lent' \
			'--cpu-bind=cores, threads, sockets or ldoms' '--cpu-bind=none' -- \
			as user1 srun -n3 --lwk --cpu-bind=$binding "$programs/hello"
	done
	refused '--cpu-bind=map_cpu:5' 'CPUs that Linux has lent' -- \
		as user1 env SLURM_CPU_BIND=map_cpu:5 srun -n3 --lwk "$programs/hello"
	refused '--cpu-bind=cores' 'heterogeneous' '--cpu-bind=none' -- \
		as user1 srun -n1 -c2 --lwk --cpu-bind=cores "$programs/hello" : -n1 "$programs/hello"
	[[ $(bed sh -c 'scontrol -o show job | wc -l') == "$before" ]]
}

# divided OUTPUT RANKS CPUS [even]: true when there is a line of openmp-places for each rank, the threads of each
# used all its CPUs, and no two ranks have the same of the LWK's CPUs. "even": none has two more than another.
divided()
{
	echo "$1"
	awk -v ranks="$2" -v cpus="$3" -v even="${4-}" '
		/^CPUs / {
			lines++
			split(substr($0, 6), lists, ", threads on ")
			wrong += lists[1] != lists[2]
			n = split(lists[1], list, ",")
			wrong += even && (n < int(cpus / ranks) || n > int((cpus + ranks - 1) / ranks))
			for (i = 1; i <= n; i++)
				wrong += seen[list[i]]++
			all += n
		}
		END { exit wrong || lines != ranks || all != cpus }' <<<"$1"
}

# bats test_tags=nightly
@test "SLURM_CPU_BIND counts as --cpu-bind, also in a batch script" {
	job=$(as user1 env SLURM_CPU_BIND=cores sbatch --parsable --output=%j.out -n2 -c2 --mem=400 --lwk \
		--wrap "srun env OMP_PROC_BIND=close $programs/openmp-places")
	wait_for_job "$job"
	run -0 job_output user1 "$job"
	# One of the CPUs stays with Linux.
	divided "$output" 2 3 even
}

@test "a Linux-only job may use --cpu-bind, also when its program has an argument --lwk" {
	run -0 as user1 srun -n2 --cpu-bind=cores "$programs/hello" --lwk
	[[ $output == *Debian* ]]
}

@test "an LWK job starts for the steps that follow" {
	job=$(submit user1 --ntasks=7 --mem=768 --lwk --wrap 'echo "$LWK_DEVICE"; sleep 600')
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

@test "--cpu-bind gives each rank of a step CPUs of the LWK for itself, and its children" {
	# Without it, threads of both ranks may be on one CPU.
	run -0 lwk_step --lwk -n2 -c3 --cpu-bind=verbose,cores \
		sh -c "OMP_PROC_BIND=close $programs/openmp-places | cat"
	divided "$output" 2 6 even
	[[ $output == *'lwkexec: rank 0 of 2 on this node has the LWK'*'CPUs '* ]]
	[[ $output == *'lwkexec: rank 1 of 2 on this node has the LWK'*'CPUs '* ]]
	run -0 as user1 env SLURM_JOB_ID="$(cat "$BATS_FILE_TMPDIR/job")" SLURM_CPU_BIND=cores \
		timeout 180 srun --lwk --lwk-launch=none -n2 -c3 \
		sh -c "OMP_PROC_BIND=close lwkexec $programs/openmp-places"
	divided "$output" 2 6 even
}

# bats test_tags=nightly
@test "each word of --cpu-bind divides the CPUs" {
	local -a close=(/usr/bin/env OMP_PROC_BIND=close "$programs/openmp-places")

	for binding in rank threads; do
		run -0 lwk_step --lwk -n2 -c3 --cpu-bind=$binding "${close[@]}"
		divided "$output" 2 6 even
	done
	run -0 lwk_step --lwk -n2 -c3 --cpu-bind=ldoms "${close[@]}"
	divided "$output" 2 6
	run -0 lwk_step --lwk -n3 -c2 --cpu-bind sockets -- "${close[@]}"
	divided "$output" 3 6
	run -0 lwk_step --lwk -n6 -c1 --export=NONE --cpu-bind=cores "${close[@]}"
	divided "$output" 6 6 even
}

# bats test_tags=nightly
@test "a rank that is alone has what it has without --cpu-bind, and the variables are gone" {
	# The second option is the program's.
	# shellcheck disable=SC2016  # the machine's shell expands it
	run -0 lwk_step --lwk -c3 --cpu-bind=verbose,cores \
		sh -c 'echo "$1: ${LWK_SHARE-none} ${SLURM_LWK_CPU_BIND-none}"; exec nproc' sh --cpu-bind=x
	echo "$output"
	[[ $output == *'rank 0 of 1 '*'--cpu-bind=x: none none'$'\n'6 ]]
	for binding in verbose quiet; do
		run -0 lwk_step --lwk --cpu-bind=$binding "$programs/hello"
		[[ $output == *LWK* ]]
	done
}

@test "--cpu-bind=none binds nothing, and a share that lwkexec does not know is refused" {
	run -0 lwk_step --lwk --cpu-bind=none "$programs/hello"
	[[ $output == *LWK* ]]
	run -125 lwk_step --lwk --lwk-launch=none env LWK_SHARE='2/2 cores' lwkexec "$programs/hello"
	[[ $output == *'LWK_SHARE: expected RANK/RANKS and sockets, ldoms, cores or threads, found "2/2 cores"'* ]]
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
