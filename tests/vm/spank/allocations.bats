#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# --lwk belongs to one allocation; its steps inherit it, other jobs do not.

load ../helpers

setup_file()
{
	prepare
}

# shellcheck disable=SC2016  # text for other shells

@test "srun alone makes an LWK job and returns its program's exit status" {
	run -0 as user1 srun -n2 --mem=512 --lwk "$programs/hello" 'two words'
	[[ $output == *LWK*'<two words>'* ]]
	run -7 as user1 srun -c2 --mem=512 --lwk "$programs/exit-with" 7
}

@test "in salloc --lwk the programs of srun run on the LWK, the shell on Linux" {
	run -0 as user1 salloc -n3 --mem=512 --lwk sh -c '
		/opt/lwk-tests/hello | sed "s/^/shell: /"
		srun -n2 /opt/lwk-tests/hello
		srun -n1 --lwk-launch=none /opt/lwk-tests/hello | sed "s/^/none: /"'
	[[ $(grep -c '^kernel=slurm-lwk' <<<"$output") == 2 ]]
	[[ $output == *'shell: kernel=#1 SMP'* ]]
	[[ $output == *'none: kernel=#1 SMP'* ]]
}

@test "--lwk-launch=none at sbatch holds for the job's steps, also with --export=NONE" {
	job=$(submit user1 -n2 --mem=512 --lwk --lwk-launch=none --export=NONE --wrap '
		srun -n1 /opt/lwk-tests/hello
		srun -n1 --lwk-launch=auto /opt/lwk-tests/hello')
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ ${lines[0]} == 'kernel=#1 SMP'* ]]
	[[ $output == *'kernel=slurm-lwk'* ]]
}

@test "a Linux-only job that an LWK job submits stays Linux-only" {
	job=$(submit user1 -n2 --mem=512 --lwk --wrap '
		sbatch --parsable --output=inner.out -n1 --mem=128 --wrap "env; srun /opt/lwk-tests/hello"
		srun -n1 /opt/lwk-tests/hello')
	wait_for_job "$job"
	inner=$(job_output user1 "$job" | head -n 1)
	wait_for_job "$inner"
	job_is "$inner" JobState=COMPLETED ExitCode=0:0
	run as user1 cat inner.out
	[[ $output == *'kernel=#1 SMP'* ]]
	[[ $output != *LWK_DEVICE* && $output != *'kernel=slurm-lwk'* ]]
}

@test "Open MPI's mpirun in an LWK job's script is told to start ranks on the LWK" {
	# Open MPI puts its fork agent in front of each rank's program, and its arguments for srun.
	job=$(as user1 env OMPI_MCA_hwloc_base_binding_policy=core PRTE_MCA_prte_fork_agent=env \
		sbatch --parsable --output=%j.out -n2 --mem=512 --lwk --wrap '
		"$OMPI_MCA_orte_fork_agent" /opt/lwk-tests/hello
		srun -n1 $OMPI_MCA_plm_slurm_args sh -c "uname -v; \$OMPI_MCA_orte_fork_agent /opt/lwk-tests/hello"
		srun -n1 $PRTE_MCA_plm_slurm_args uname -v
		srun -n1 sh -c "env | grep -E ^OMPI.*=\|^PRTE.*=" | sort
		sbatch --parsable --wait --output=plain.out -n1 --mem=128 --wrap "env | grep _MCA_ | sort" >/dev/null')
	wait_for_job "$job"
	run job_output user1 "$job"
	echo "$output"
	[[ $(grep -c '^kernel=slurm-lwk' <<<"$output") == 2 && $(grep -c '^#1 SMP' <<<"$output") == 2 ]]
	# Variables that the user has set stay, also on the LWK and in other jobs. Slurm may set some as well.
	kept=$'OMPI_MCA_hwloc_base_binding_policy=core\nPRTE_MCA_prte_fork_agent=env'
	[[ $(grep _MCA_ <<<"$output" | grep -v =--external-launcher) == "$kept" ]]
	[[ $(as user1 grep -v =--external-launcher plain.out) == "$kept" ]]
}

# bats test_tags=nightly
@test "each task of a job array has its own LWK" {
	job=$(as user1 sbatch --parsable --array=0-1 --output=%A_%a.out -n2 --mem=512 --lwk \
		--wrap 'srun -n1 /opt/lwk-tests/hello')
	wait_for 90 bed sh -c "! squeue -h -j $job | grep ."
	for task in 0 1; do
		run as user1 cat "${job}_$task.out"
		[[ $output == 'kernel=slurm-lwk'* ]]
	done
}

@test "the node is as before the jobs" {
	node_is_clean
}
