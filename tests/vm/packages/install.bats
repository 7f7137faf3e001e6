#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
# tests: in order
#
# The Debian packages on a node that has only Debian and Slurm: from the packages to the first job, an
# upgrade beside a job, and removal. LWK_PACKAGES names a folder that has the packages already.

load ../helpers
bed_name+=-packages

setup_file()
{
	local kernel

	packages=${LWK_PACKAGES:-$top/build/packages}
	if [[ ! ${LWK_PACKAGES-} ]]; then
		rm -rf "$packages"
		DEB_BUILD_OPTIONS=nocheck "$top/contrib/package" deb
		"$top/contrib/package" module
	fi
	testbed up --release host --init systemd --cgroup v2 --without-project
	kernel=$(bed uname -r)
	bed mkdir /root/packages
	(
		cd "$packages" && tar -c slurm-lwk-tools_*.deb slurm-wlm-lwk-plugins_*.deb libmodeswitch1_*.deb \
			"lwkpart-modules-${kernel}_"*.deb
	) | bed tar -x --no-same-owner -C /root/packages
}

teardown_file()
{
	testbed down
}

# Everything that the packages, or jobs with them, could leave behind. Slurm's and the administrator's lines are
# theirs; so is lwk.conf.
traces()
{
	bed bash -c 'getent passwd | cut -d: -f1; getent group | cut -d: -f1
		find / -xdev \( -path /proc -o -path /sys -o -path /root -o -path /home -o -path /var/log/slurm -o \
			-path /var/lib/slurm -o -path /var/lib/dpkg -o -path /var/log/journal -o -path /var/cache \) -prune -o \
			\( -iname "*lwk*" -o -name "*modeswitch*" \) ! -path /etc/slurm/lwk.conf -print
		find /sys/fs/cgroup /run /dev \( -path /run/udev -o -path "/run/user" \) -prune -o -iname "*lwk*" -print
		grep -w ^lwkpart /proc/modules | cut -d" " -f1'
}

# admin TEXT: one command of the administrator's.
command_number=0
admin()
{
	local start=$EPOCHREALTIME status=0

	bed sh -c "$1" || status=$?
	echo "# $((++command_number)): $1 ($(((${EPOCHREALTIME/./} - ${start/./}) / 1000)) ms)" >&3
	return $status
}

# bats test_tags=nightly
@test "at most ten commands lead from the packages to the first LWK job" {
	traces >"$BATS_FILE_TMPDIR/before"
	admin 'dpkg -i /root/packages/*.deb'
	admin 'lwkctl setup --print lwk.conf >/etc/slurm/lwk.conf'
	# A switch on a busy host takes long and does not hang.
	bed sed -i 's/^\[node\]/&\nSwitchTimeout = 240\nBootTimeout = 60/' /etc/slurm/lwk.conf
	admin 'lwkctl setup --print plugstack.conf >>/etc/slurm/plugstack.conf'
	admin 'lwkctl setup --print slurm.conf >>/etc/slurm/slurm.conf'
	admin 'lwkctl setup --print cgroup.conf >>/etc/slurm/cgroup.conf'
	admin 'systemctl restart slurmctld slurmd'
	wait_for 60 bed sh -c 'sinfo -h -o %T | grep -qx idle'
	admin 'lwkctl check'
	run -0 as user1 srun --lwk --mem 512M -c 2 uname -r
	[[ $output == *+lwk ]]
	# The job is the last.
	((++command_number <= 10))
	run -0 bed lwkctl setup --print
	[[ $output == '' ]]
}

# bats test_tags=nightly
@test "an upgrade leaves a running LWK job alone" {
	job=$(submit user1 --lwk --mem 512M -c 2 <<-'SCRIPT'
	#!/bin/sh
	srun sh -c 'echo up; while [ ! -e go ]; do sleep 0.2; done; uname -r'
	SCRIPT
	)
	wait_for 60 has_printed user1 "$job" up
	run -0 bed sh -c 'dpkg -i /root/packages/*.deb'
	run -0 bed lwkctl status
	[[ $output == *"job $job of user"*active* ]]
	as user1 touch go
	wait_for 60 job_is "$job" JobState=COMPLETED
	as user1 grep -q '+lwk$' "$job.out"
	run -0 as user1 srun --lwk --mem 512M -c 2 uname -r
	[[ $output == *+lwk ]]
}

# bats test_tags=nightly
@test "removal is refused while an LWK job runs" {
	as user1 rm go
	job=$(submit user1 --lwk --mem 512M -c 2 --wrap 'srun sh -c "echo up; sleep 600"')
	wait_for 60 has_printed user1 "$job" up
	for package in slurm-lwk-tools slurm-wlm-lwk-plugins "lwkpart-modules-$(bed uname -r)"; do
		run -1 bed dpkg --remove --force-depends "$package"
		[[ $output == *"expected no LWK"* ]]
		run -0 bed dpkg-query -W -f '${db:Status-Status}' "$package"
		[[ $output == installed ]]
	done
	job_is "$job" JobState=RUNNING
	bed scancel "$job"
	wait_for 60 job_is "$job" JobState=CANCELLED
}

# bats test_tags=nightly
@test "removal leaves nothing" {
	wait_for 60 bed sh -c 'lwkctl status | grep -q "^no LWK job"'
	bed sh -c 'sed -i /lwk.so/d /etc/slurm/plugstack.conf; sed -i /lwk/d /etc/slurm/slurm.conf
		systemctl restart slurmctld slurmd'
	bed dpkg --purge slurm-wlm-lwk-plugins slurm-lwk-tools "lwkpart-modules-$(bed uname -r)" libmodeswitch1
	traces | diff "$BATS_FILE_TMPDIR/before" -
	run bed modprobe lwkpart
	((status != 0))
	wait_for 60 bed sh -c 'sinfo -h -o %T | grep -qx idle'
	as user1 srun true
}
