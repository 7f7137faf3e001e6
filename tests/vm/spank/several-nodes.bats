#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# Jobs over nodes that differ, in a test bed of its own: each node plans for itself, and a node that
# cannot switch fails the job on all nodes, with its reason.

# shellcheck disable=SC2016  # text for other shells

load ../helpers

bed_name=$bed_name-nodes

setup_file()
{
	testbed down
	testbed up --machines 2 --cpus 10,4 --nodes 2,1 --mem 1536,1280
	prepare 1
	prepare 2
	on 1 cp -p /etc/slurm/lwk.conf /root/lwk.conf
	on 2 cp -p /etc/slurm/lwk.conf /root/lwk.conf
}

# The faults of one test must not be there in the next test.
teardown()
{
	for machine in 1 2; do
		on $machine sh -s <<-'EOS'
		cp -p /root/lwk.conf /etc/slurm/lwk.conf
		rm -f /etc/modprobe.d/lwk-test.conf /dev/shm/full
		pids=$(pgrep -fx 'sleep 299') && kill $pids
		exit 0
		EOS
	done
}

teardown_file()
{
	testbed down
}

# bad_image MACHINE: gives its lwk.conf an image file that is no kernel.
bad_image()
{
	on "$1" sed -i 's,^Path.*,Path = /etc/hostname,' /etc/slurm/lwk.conf
}

# module_loads_by MACHINE COMMAND: makes modprobe lwkpart run the command there.
module_loads_by()
{
	on "$1" sh -s "$2" <<-'EOF'
	rmmod lwkpart 2>/dev/null
	echo "install lwkpart $1" >/etc/modprobe.d/lwk-test.conf
	EOF
}

both_are_clean()
{
	node_is_clean 1
	node_is_clean 2
}

# both USER SBATCH-ARG...: submits an LWK job with 2 CPUs of each node.
both()
{
	local user=$1
	shift

	submit "$user" -N2 -n2 -c2 --mem=256 --lwk "$@"
}

# failed_with REASON ID: true when $output and the job's record say that node2 failed it.
failed_with()
{
	[[ $output == *"job $2 cannot have LWK mode on its node node2: "*"$1"* ]] || {
		echo "expected of node2: $1, found: $output"
		return 1
	}
	job_is "$2" JobState=FAILED ExitCode=1:0 Restarts=0 "AdminComment=lwk run 1: job $2 *"
	both_are_clean
}

# batch_fails REASON [SBATCH-ARG]...: true when no part of a job's script runs and its output says why.
batch_fails()
{
	local reason=$1
	shift

	job=$(both user1 "$@" --wrap 'echo the script runs; srun /opt/lwk-tests/hello')
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $output != *'the script runs'* && $output != *kernel=* ]]
	failed_with "$reason" "$job"
}

# interactive_fails REASON COMMAND ARG...: true when srun or salloc fails and its program does not run.
interactive_fails()
{
	local reason=$1
	shift

	run ! as user1 timeout 180 "$@"
	echo "$output"
	[[ $output != *kernel=* ]]
	[[ $output =~ lwk:\ job\ ([0-9]+)\  ]]
	job=${BASH_REMATCH[1]}
	wait_for_job "$job"
	failed_with "$reason" "$job"
}

@test "each node plans for itself" {
	job=$(submit user1 -N2 --exclusive --mem=500 --lwk --wrap '
		srun -N2 -n2 -l --lwk-launch=none lwkctl status | sort -s -n -k1,1')
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $output == *'0:   CPUs 2-9, with Linux 1'*'0:   memory 436 MB on NUMA nodes 0-1'* ]]
	[[ $output == *'1:   CPUs 2-3, with Linux 1'*'1:   memory 436 MB on NUMA nodes 0'* ]]
	job_is "$job" JobState=COMPLETED ExitCode=0:0
	both_are_clean
}

# bats test_tags=nightly
@test "srun starts a program on each LWK CPU, eight on node1 and two on node2" {
	run -0 as user1 salloc -N2 -n12 --mem=256 --lwk sh -c '
		srun -l -N2 -n10 -m plane=8 /opt/lwk-tests/sleeper 5
		srun -N1 -n1 -w node2 /opt/lwk-tests/exit-with 7; echo "exit status $?"
		srun -N2 -n2 /opt/lwk-tests/upper-case </dev/null'
	echo "$output"
	[[ $(grep -c ': kernel=slurm-lwk' <<<"$output") == 10 ]]
	[[ $(grep ': kernel=slurm-lwk' <<<"$output" | grep -o 'cpu=[0-9]*' | sort | tr '\n' ' ') == \
		'cpu=2 cpu=2 cpu=3 cpu=3 cpu=4 cpu=5 cpu=6 cpu=7 cpu=8 cpu=9 ' ]]
	[[ $output == *'node2: task 0: Exited with exit code 7'* && $output == *'exit status 7'* ]]
	both_are_clean
}

# UCX's thread in each rank shares the rank's CPU.
# bats test_tags=nightly
@test "four ranks of MPICH run on an LWK with four CPUs" {
	run -0 as user1 timeout 300 salloc -Q -w node1 -n5 --mem=900 --lwk \
		srun -Q -n4 --mpi=pmi2 "$programs/mpi-pairs" 20
	echo "$output"
	[[ $output == *' MB/s'* && $output == *'4 ranks'* ]]
}

# One pair of ranks is on node1, one has a rank on each node. eth0 does not lead to the other node.
# bats test_tags=nightly
@test "ranks of MPICH on the LWKs of two nodes talk over TCP" {
	run -0 as user1 env UCX_NET_DEVICES=eth1 timeout 900 srun -Q -N2 -n4 -m plane=3 --exclusive --mem=600 \
		--lwk --mpi=pmi2 "$programs/mpi-pairs" 10
	echo "$output"
	[[ $output == *' MB/s'* && $output == *'4 ranks'* ]]
}

# bats test_tags=nightly
@test "a program's exit status on one node is that of its step and its job" {
	run -9 as user1 srun -N2 -n2 -c2 --mem=256 --lwk "$programs/exit-with" 9
	job=$(both user1 --wrap 'exec srun -N1 -n1 -w node2 /opt/lwk-tests/exit-with 5')
	wait_for_job "$job"
	job_is "$job" JobState=FAILED ExitCode=5:0
}

# bats test_tags=nightly
@test "scancel reaches the programs on both nodes" {
	job=$(both user1 --wrap 'srun /opt/lwk-tests/spin')
	wait_for 60 as user1 sh -c "[ \"\$(grep -c spinning $job.out)\" = 2 ]"
	as user1 scancel "$job"
	wait_for_job "$job"
	job_is "$job" JobState=CANCELLED
	both_are_clean
}

# bats test_tags=nightly
@test "scancel --signal reaches the programs on both nodes" {
	job=$(both user1 --wrap 'srun /opt/lwk-tests/on-signals 15')
	wait_for 60 as user1 sh -c "[ \"\$(grep -c waiting $job.out)\" = 2 ]"
	as user1 scancel --signal=TERM "$job"
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $(grep -c 'signal 15 came' <<<"$output") == 2 ]]
}

# bats test_tags=nightly
@test "scancel ends a job while one of its nodes still switches" {
	on 2 rm -f /run/lwk-tests.go
	module_loads_by 2 'until test -e /run/lwk-tests.go; do sleep 0.2; done; modprobe -i lwkpart'
	job=$(both user1 --wrap 'echo the script runs')
	wait_for 30 on 1 grep -qs '"state":"active"' "/run/slurm-lwk/jobs/$job.json"
	as user1 scancel "$job"
	on 2 touch /run/lwk-tests.go
	wait_for_job "$job"
	job_is "$job" JobState=CANCELLED
	run as user1 cat "$job.out"
	[[ $output != *'the script runs'* ]]
	both_are_clean
}

# All times are by the clock of node1, which slurmctld reads, too; the clock of node2 differs.
# bats test_tags=nightly
@test "a script waits for a node that takes longer to switch" {
	module_loads_by 2 'sleep 8; modprobe -i lwkpart'
	job=$(both user1 --wrap 'date +%s; srun /opt/lwk-tests/hello')
	wait_for_job "$job"
	start=$(on 1 scontrol -o show job "$job" | grep -o ' StartTime=[^ ]*')
	start=$(on 1 date -d "${start#*=}" +%s)
	run job_output user1 "$job"
	echo "started at $start; $output"
	[[ $(grep -c kernel=slurm-lwk <<<"$output") == 2 ]]
	((lines[0] - start >= 8))
}

# bats test_tags=nightly
@test "a job goes on while slurmd of one of its nodes is killed and comes back" {
	job=$(both user1 --wrap 'srun /opt/lwk-tests/sleeper 10; srun /opt/lwk-tests/hello')
	wait_for 60 as user1 sh -c "[ \"\$(grep -c kernel= $job.out)\" = 2 ]"
	stop_daemon slurmd -KILL 2
	start_daemon slurmd 2
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED ExitCode=0:0
	run job_output user1 "$job"
	[[ $(grep -c 'kernel=slurm-lwk' <<<"$output") == 4 ]]
	both_are_clean
}

# bats test_tags=nightly
@test "a bad image on node2 fails sbatch, srun and salloc" {
	bad_image 2
	batch_fails 'expected an ELF file'
	interactive_fails 'expected an ELF file' srun -N2 -n2 -c2 --mem=256 --lwk "$programs/hello"
	interactive_fails 'expected an ELF file' \
		salloc -N2 -n2 -c2 --mem=256 --lwk sh -c "echo kernel=; srun $programs/hello"
}

# bats test_tags=nightly
@test "a missing lwk.conf on node2 fails the job" {
	on 2 rm /etc/slurm/lwk.conf
	batch_fails '/etc/slurm/lwk.conf'
}

# bats test_tags=nightly
@test "too little memory on node2 fails the job" {
	on 2 sh -c 'dd if=/dev/zero of=/dev/shm/full bs=1M count=500 status=none'
	batch_fails 'memory' --mem=800
}

# bats test_tags=nightly
@test "CPUs of node2 that are promised to deadline tasks fail the job" {
	# Periods of a second: with short ones Linux 6.1 on a busy host does nothing but miss deadlines.
	on 2 sh -c 'for i in 1 2 3 4; do
		setsid chrt -d -T 900000000 -D 1000000000 -P 1000000000 0 sleep 299 </dev/null >/dev/null 2>&1 &
	done'
	wait_for 10 on 2 sh -c '[ "$(pgrep -c -fx "sleep 299")" = 4 ]'
	batch_fails 'CPU'
}

# bats test_tags=nightly
@test "a node2 that fails late fails the job" {
	module_loads_by 2 'sleep 4; false'
	batch_fails 'kernel module lwkpart cannot be loaded'
}

# bats test_tags=nightly
@test "a bad image on node1, the batch host, fails the job" {
	bad_image 1
	job=$(both user1 --wrap 'echo the script runs')
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $output == *"job $job cannot have LWK mode on this node: "*'expected an ELF file'* ]]
	[[ $output != *'the script runs'* ]]
	job_is "$job" JobState=FAILED ExitCode=1:0
	both_are_clean
}

# bats test_tags=nightly
@test "a heterogeneous job fails when one component cannot switch" {
	bad_image 2
	job=$(submit user1 -w node1 -n2 --mem=256 --lwk : -w node2 -n2 --mem=256 --lwk \
		--wrap 'echo the script runs')
	wait_for_job "$job"
	wait_for_job $((job + 1))
	run job_output user1 "$job"
	[[ $output == *"cannot have LWK mode on its node node2: "*'expected an ELF file'* ]]
	[[ $output != *'the script runs'* ]]
	job_is "$job" JobState=FAILED ExitCode=1:0
	both_are_clean
}

# bats test_tags=nightly
@test "each component of a heterogeneous job runs on an LWK of its own" {
	job=$(submit user1 -w node1 -n3 --mem=256 --lwk : -w node2 -n2 --mem=256 --lwk \
		--wrap 'srun --het-group=0,1 -n1 /opt/lwk-tests/hello')
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $(grep -c kernel=slurm-lwk <<<"$output") == 2 ]]
	both_are_clean
}

# bats test_tags=nightly
@test "srun --mpi-place puts ranks that talk with each other on one node" {
	# Ranks 0 and 2 talk, and 1 and 3.
	as user1 sh -c 'cat >pairs.json' <<-'EOF'
	{"version":1,"job":"1.0","ranks":4,"parts":[{"rank":0,"sent":[[2,3,10,10000,10]]},{"rank":1,"sent":[[3,3,10,10000,10]]},
	{"rank":2,"sent":[[0,3,10,10000,10]]},{"rank":3,"sent":[[1,3,10,10000,10]]}]}
	EOF
	run -0 as user1 timeout 200 salloc -Q -N2 --ntasks-per-node=2 --mem=100 sh -c '
		srun -Q --mpi-place=pairs.json sh -c "echo \$SLURM_PROCID \$(hostname) \${SLURM_HOSTFILE-none}" | sort
		srun -Q -n3 --mpi-place=pairs.json hostname 2>/dev/null | wc -l
		srun -Q -n5 --mpi-place=pairs.json hostname || echo "refused $?"
		srun -Q --mpi-place=pairs.json -w node1 hostname || echo "refused $?"
		srun -Q --mpi-place=none.json hostname || echo "refused $?"'
	echo "$output"
	[[ ${lines[0]} == '0 '*' none' && ${lines[1]} == '1 '* && ${lines[2]} == '2 '* && ${lines[3]} == '3 '* ]]
	read -r _ first _ <<<"${lines[0]}"
	read -r _ second _ <<<"${lines[1]}"
	[[ $first != "$second" && ${lines[2]} == "2 $first none" && ${lines[3]} == "3 $second none" ]]
	[[ ${lines[4]} == 3 && $(grep -c '^refused' <<<"$output") == 3 ]]
	[[ $output == *'chooses the ranks'"'"' nodes, and so does --nodelist'* ]]
	[[ $output == *'none.json: No such file or directory'* ]]
	refused 'expected the nodes of an allocation, found none' -- \
		as user1 timeout 100 srun -Q -N2 --mpi-place=pairs.json hostname
}
