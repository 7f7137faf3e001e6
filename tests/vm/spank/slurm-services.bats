#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
# tests: in order
#
# LWK jobs also come by Slurm's REST interface, have steps from a node's own step manager, are entered with ssh,
# and wake a node that saves power.

load ../helpers

bed_name=$bed_name-services

setup_file()
{
	printf '%s\n' slurmrestd curl libpam-slurm-adopt >"$BATS_FILE_TMPDIR/packages"
	testbed down
	testbed up --packages "$BATS_FILE_TMPDIR/packages" --machines 2 --cpus 4 --nodes 1 --mem 1280
	prepare 1
	prepare 2
}

teardown_file()
{
	testbed down
}

# setting LINE...: adds them to slurm.conf of both machines, and starts their daemons again.
setting()
{
	local machine

	stop_daemon slurmctld
	for machine in 1 2; do
		stop_daemon slurmd -TERM "$machine"
		on "$machine" sh -c 'printf "%s\n" "$@" >>/etc/slurm/slurm.conf' - "$@"
	done
	start_daemon slurmctld
	start_daemon slurmd 1
	start_daemon slurmd 2
	wait_for 60 bed sh -c '[ "$(sinfo -h -o %T)" = idle ]'
}

# post JOB: user1 submits that part of a job's JSON, with what it always has, and gets its number.
post()
{
	as user1 sh -c 'curl -s --unix-socket /run/rest/socket -H "Content-Type: application/json" -d @- \
		http://localhost/slurm/v0.0.42/job/submit' <<-EOF | jq .job_id
	{ "script": "#!/bin/sh\nuname -r\nsrun -n1 uname -r\n",
	  "job": { "tasks": 1, "cpus_per_task": 3, "memory_per_node": { "set": true, "number": 400 },
	    "environment": [ "PATH=/bin:/usr/bin" ], "current_working_directory": "/home/user1",
	    "standard_output": "/home/user1/rest.out", "required_nodes": [ "node1" ], $1 } }
	EOF
}

# bats test_tags=nightly
@test "slurmrestd takes LWK jobs, and a wrong image is named in the job's output" {
	bed install -d -o user1 /run/rest
	as user1 sh -c 'SLURMRESTD_SECURITY=disable_unshare_files,disable_unshare_sysv setsid slurmrestd \
		-a rest_auth/local -s slurmctld -d v0.0.42 unix:/run/rest/socket >rest.log 2>&1 &'
	wait_for 60 bed test -S /run/rest/socket
	job=$(post '"spank_environment": [ "_SLURM_SPANK_OPTION_lwk_lwk=" ]')
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 as user1 cat rest.out
	[[ ${lines[0]} != *+lwk && ${lines[1]} == *+lwk ]]
	job=$(post '"spank_environment": [ "_SLURM_SPANK_OPTION_lwk_lwk=other" ]')
	wait_for_job "$job"
	job_is "$job" JobState=FAILED
	run -0 as user1 cat rest.out
	[[ $output == *'there is no LWK image "other" here; there are: lwk'* ]]
	bed pkill slurmrestd
	node_is_clean
}

# bats test_tags=nightly
@test "ssh enters an LWK job by pam_slurm_adopt, and lwkexec there runs programs on its LWK" {
	bed sh -c 'cp -p /etc/pam.d/sshd /etc/ssh/sshd_config /root
		echo "account required pam_slurm_adopt.so" >>/etc/pam.d/sshd
		echo "UsePAM yes" >>/etc/ssh/sshd_config
		kill -HUP "$(pgrep -o -x sshd)"'
	as user1 sh -c 'ssh-keygen -q -t ed25519 -N "" -f .ssh/id_ed25519; cat .ssh/id_ed25519.pub >>.ssh/authorized_keys'
	local -a enter=(as user1 ssh -o StrictHostKeyChecking=no -o BatchMode=yes node1)
	# Without a job the user must stay outside, or the rest shows nothing.
	wait_for 30 bed sh -c 'ss -ltn | grep -q :22'
	run ! "${enter[@]}" true
	[[ $output == *'you have no active jobs on this node'* ]]
	job=$(submit user1 -w node1 -n1 -c3 --mem=400 --lwk --wrap 'echo runs; sleep 600')
	wait_for 60 has_printed user1 "$job" runs
	run -0 "${enter[@]}" lwkexec "$programs/hello"
	[[ $output == *kernel=slurm-lwk* ]]
	run -0 "${enter[@]}" cat /proc/self/cgroup
	[[ $output == *"/job_$job/step_extern"* ]]
	bed scancel "$job"
	wait_for_job "$job"
	bed sh -c 'mv /root/sshd /etc/pam.d/; mv /root/sshd_config /etc/ssh/; kill -HUP "$(pgrep -o -x sshd)"'
	wait_for 30 bed sh -c 'ss -ltn | grep -q :22'
	node_is_clean
}

# bats test_tags=nightly
@test "the step manager of a job's first node starts its steps on the LWKs of all its nodes" {
	setting SlurmctldParameters=enable_stepmgr
	# shellcheck disable=SC2016  # the job's shell expands it
	job=$(submit user1 -N2 --ntasks-per-node=1 -c3 --mem=400 --lwk --wrap \
		"echo \$SLURM_STEPMGR; srun $programs/hello; srun -n1 -N1 --overlap $programs/hello & srun -n1 -N1 --overlap $programs/hello; wait")
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	run -0 job_output user1 "$job"
	[[ ${lines[0]} == node1 ]]
	[[ $(grep -c kernel=slurm-lwk <<<"$output") == 4 ]]
	node_is_clean
	node_is_clean 2
}

# bats test_tags=nightly
@test "an LWK job wakes a node that saves power" {
	bed sh -c 'for what in suspend resume; do
			printf "#!/bin/sh\necho \"\$1\" >>/run/power/%s\n" $what >/usr/local/sbin/$what
			chmod 755 /usr/local/sbin/$what
		done
		install -d -o slurm /run/power'
	setting SuspendTime=3 SuspendTimeout=5 ResumeTimeout=300 SuspendExcNodes=node1 \
		SuspendProgram=/usr/local/sbin/suspend ResumeProgram=/usr/local/sbin/resume
	wait_for 120 bed grep -qx node2 /run/power/suspend
	stop_daemon slurmd -TERM 2
	testbed reset --machine 2
	wait_for 60 on 2 test -s /run/slurmd.pid
	stop_daemon slurmd -TERM 2
	prepare 2
	wait_for 120 bed sh -c 'sinfo -h -n node2 -o %T | grep -qx "idle~"'
	job=$(submit user1 -w node2 -n1 -c3 --mem=400 --lwk --wrap "srun $programs/hello")
	wait_for 60 bed grep -qx node2 /run/power/resume
	start_daemon slurmd 2 -b
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	on 2 grep -q kernel=slurm-lwk "/home/user1/$job.out"
	node_is_clean 2
}
