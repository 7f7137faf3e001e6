#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
# tests: in order
#
# Nodes that the controller gives their configuration, or that are not in slurm.conf, run LWK jobs; and a
# host that runs none submits them. node2 is all of them in turn.

load ../helpers

bed_name=$bed_name-registration

setup_file()
{
	testbed down
	testbed up --machines 2 --cpus 4 --nodes 1 --mem 1280
	prepare 2
}

teardown_file()
{
	testbed down
}

# user1_on MACHINE COMMAND...: runs it there as that user.
user1_on()
{
	testbed exec --machine "$1" --user user1 -- "${@:2}"
}

# setting SED-SCRIPT: changes slurm.conf of the controller, and starts it again.
setting()
{
	bed sed -i "$1" /etc/slurm/slurm.conf
	stop_daemon slurmctld
	start_daemon slurmctld
}

node2_is_idle()
{
	wait_for 60 bed sh -c 'sinfo -h -n node2 -o %T | grep -qx idle'
}

# runs_lwk_job MACHINE NODE SRUN-ARG...: a user on that machine has an LWK job on that node.
runs_lwk_job()
{
	run -0 user1_on "$1" timeout 240 srun -w "$2" -n1 -c3 --mem=400 --lwk "${@:3}" "$programs/hello"
	echo "$output"
	[[ $output == *kernel=slurm-lwk* ]]
	node_is_clean "${2#node}"
}

# bats test_tags=nightly
@test "a configless node runs LWK jobs, and lwkctl check finds its plugstack.conf" {
	stop_daemon slurmd -TERM 2
	setting '$aSlurmctldParameters=enable_configless'
	on 2 sh -c 'mkdir /root/slurm; mv /etc/slurm/slurm.conf /etc/slurm/cgroup.conf /etc/slurm/plugstack.conf /root/slurm'
	start_daemon slurmd 2 --conf-server node1
	node2_is_idle
	on 2 test -e /run/slurm/conf/plugstack.conf
	run -0 on 2 lwkctl check
	[[ $output == *'fine    plugstack'* ]]
	runs_lwk_job 2 node2
}

# bats test_tags=nightly
@test "a dynamic node has Feature=lwk by lwkctl, and gets the LWK jobs that ask for it" {
	stop_daemon slurmd -TERM 2
	on 2 sh -c 'rm -rf /run/slurm; mv /root/slurm/* /etc/slurm'
	setting '/^NodeName=node2/d; $aMaxNodeCount=4'
	on 2 sed -i '/^NodeName=node2/d; $aMaxNodeCount=4' /etc/slurm/slurm.conf
	run -0 on 2 lwkctl node --features
	start_daemon slurmd 2 -Z --conf "$output"
	node2_is_idle
	run -0 bed sinfo -h -n node2 -o %f
	[[ $output == lwk ]]
	runs_lwk_job 1 node2 --constraint=lwk
}

# bats test_tags=nightly
@test "lwk-feature takes the feature of a node that cannot run LWKs, and gives it back" {
	on 2 scontrol update NodeName=node2 AvailableFeatures=lwk,big ActiveFeatures=lwk,big
	on 2 mv /etc/slurm/lwk.conf /root/
	on 2 /usr/lib/slurm-lwk/lwk-feature
	[[ $(bed sinfo -h -n node2 -o %f) == big ]]
	on 2 mv /root/lwk.conf /etc/slurm/
	on 2 /usr/lib/slurm-lwk/lwk-feature
	[[ $(bed sinfo -h -n node2 -o %f) == big,lwk ]]
	# Nothing is to do.
	on 2 /usr/lib/slurm-lwk/lwk-feature
	runs_lwk_job 1 node2 --constraint=lwk
}

# bats test_tags=nightly
@test "a host that has of slurm-lwk only the SPANK plugin and its library submits LWK jobs" {
	stop_daemon slurmd -TERM 2
	on 2 sh -c 'rm -r /etc/slurm/lwk.conf /usr/bin/lwk* /usr/lib/slurm-lwk "$(modinfo -n lwkpart)" \
		/usr/lib/x86_64-linux-gnu/slurm-wlm/job_container_lwk.so'
	prepare 1
	runs_lwk_job 2 node1
	id=$(user1_on 2 sbatch --parsable -w node1 -n1 -c3 --mem=400 --lwk --output=/home/user1/login.out \
		--wrap "srun $programs/hello")
	wait_for_job "$id"
	job_is "$id" JobState=COMPLETED
	as user1 grep -q kernel=slurm-lwk login.out
	node_is_clean
}
