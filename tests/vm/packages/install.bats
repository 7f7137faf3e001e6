#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
# tests: in order
#
# The Debian packages on a node that has only Debian and Slurm: from the packages to the first job, a downgrade,
# an upgrade beside a job, and removal. LWK_PACKAGES names a folder in build/ that has the packages already: now/, and
# earlier/ those of an earlier version.

load ../helpers
bed_name+=-packages

# The last commit whose library was libmodeswitch.so.0.
earlier=b2222c3cc88b8dedccb3148e186306bc9045d52b
earlier_version=0.2.9
abi_version=$(sed -n 's/^#define LWKPART_ABI_VERSION //p' "$top/kmod/abi/control/device.h")
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$top/debian/changelog")

# packager COMMAND...: runs it where packages for the machines can be built.
packager()
{
	"$top/tests/vm/packages/packager" "$@"
}

# build_packages TREE OUT: all packages of these sources.
build_packages()
{
	rm -rf "$2"
	packager env DEB_BUILD_OPTIONS=nocheck "$1/contrib/package" deb --out "$2"
	# shellcheck disable=SC2016  # packager knows the kernel
	packager sh -c '"$1/contrib/package" module --out "$2" "$KERNEL"' sh "$1" "$2"
}

# build_earlier OUT: that commit had the version of today.
build_earlier()
{
	local tree=$top/build/earlier

	git -C "$top" cat-file -e "$earlier^{commit}" || {
		echo "expected commit $earlier in this clone, found none; fetch the whole history (git fetch --unshallow)"
		return 1
	}
	rm -rf "$tree"
	mkdir -p "$tree"
	git -C "$top" archive "$earlier" | tar -x -C "$tree"
	sed -i "1s/(.*)/($earlier_version)/" "$tree/debian/changelog"
	sed -i "s/^AC_INIT(\[slurm-lwk\], \[[^]]*\]/AC_INIT([slurm-lwk], [$earlier_version]/" "$tree/configure.ac"
	build_packages "$tree" "$1"
	rm -rf "$tree"
}

# put_packages FROM TO: what a node needs, with the module for its kernel.
put_packages()
{
	local kernel

	kernel=$(bed uname -r)
	bed mkdir "$2"
	(
		cd "$1" && tar -c slurm-lwk-tools_*.deb slurm-wlm-lwk-plugins_*.deb libmodeswitch[0-9]_*.deb \
			"lwkpart-modules-${kernel}_"*.deb
	) | bed tar -x --no-same-owner -C "$2"
}

setup_file()
{
	export packages=${LWK_PACKAGES:-$top/build/packages-on-node}
	if [[ ! ${LWK_PACKAGES-} ]]; then
		build_packages "$top" "$packages/now"
		build_earlier "$packages/earlier"
	fi
	testbed up --init systemd --cgroup v2 --without-project
	put_packages "$packages/now" /root/packages
	put_packages "$packages/earlier" /root/earlier
	# For node_is_clean.
	bed sh -c '{ cat /sys/devices/system/cpu/online; grep MemTotal /proc/meminfo; } >/run/lwk-tests.before'
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
@test "lintian finds nothing in the packages, and DKMS builds the module for the machines' kernel" {
	packager sh -c 'lintian --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog --fail-on error,warning "$1"/*.changes' sh "$packages/now"
	packager sh -exc '
		place=$(mktemp -d)
		trap "rm -rf $place" EXIT
		dpkg-deb -x "$1"/lwkpart-dkms_*.deb "$place"
		mkdir "$place/dkms"
		dkms build --dkmstree "$place/dkms" --sourcetree "$place/usr/src" -m lwkpart -v "$2" -k "$KERNEL"
		test "$(modinfo -F version "$place/dkms/lwkpart/$2/$KERNEL"/*/module/lwkpart.ko*)" = "$2"
	' sh "$packages/now" "$version"
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

# module_version: prints that of the module which is loaded.
module_version()
{
	bed cat /sys/module/lwkpart/version
}

no_lwk_job()
{
	wait_for 60 bed sh -c 'lwkctl status | grep -q "^no LWK job"'
}

# bats test_tags=nightly
@test "after a downgrade LWK jobs are refused until the newer module is unloaded" {
	no_lwk_job
	[[ $(module_version) == "$version" ]]
	bed sh -c 'dpkg -i /root/earlier/*.deb'
	refused 'expected lwkpart.ko with ABI version 1' "has $abi_version" 'rmmod lwkpart' -- as user1 srun --lwk --mem 512M -c 2 true
	bed rmmod lwkpart
	run -0 as user1 srun --lwk --mem 512M -c 2 uname -r
	[[ $output == *+lwk ]]
	[[ $(module_version) == "$earlier_version" ]]
}

# bats test_tags=nightly
@test "an upgrade leaves a running LWK job alone, and the jobs after it have the new module" {
	no_lwk_job
	job=$(submit user1 --lwk --mem 512M -c 2 <<-'SCRIPT'
	#!/bin/sh
	srun sh -c 'echo up; while [ ! -e go ]; do sleep 0.2; done; uname -r'
	srun true || echo "next step: $?"
	SCRIPT
	)
	wait_for 60 has_printed user1 "$job" up
	run -0 bed sh -c 'dpkg -i /root/packages/*.deb'
	run -0 bed lwkctl status
	[[ $output == *"job $job of user"*active* ]]

	# While the job holds the old module, no other job can have the new one.
	refused "expected ABI version $abi_version, found 1 loaded" "slurm-lwk $version" "let the node's LWK jobs end" -- \
		as user1 srun --lwk --mem 512M -c 2 true
	refused "expected ABI version $abi_version, found 1 loaded" 'lwkctl list' -- bed lwkctl check
	run ! bed rmmod lwkpart

	as user1 touch go
	wait_for 60 job_is "$job" JobState=COMPLETED
	as user1 grep -q '+lwk$' "$job.out"
	as user1 grep -q 'slurm-lwk was upgraded while the job ran; start a new job$' "$job.out"
	as user1 grep -q '^next step: ' "$job.out"
	node_is_clean
	[[ $(module_version) == "$earlier_version" ]]

	run -0 as user1 srun --lwk --mem 512M -c 2 uname -r
	[[ $output == *+lwk ]]
	[[ $(module_version) == "$version" ]]
	node_is_clean
	run -0 bed lwkctl check
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
	no_lwk_job
	bed sh -c 'sed -i /lwk.so/d /etc/slurm/plugstack.conf; sed -i /lwk/d /etc/slurm/slurm.conf
		systemctl restart slurmctld slurmd'
	bed dpkg --purge slurm-wlm-lwk-plugins slurm-lwk-tools "lwkpart-modules-$(bed uname -r)" libmodeswitch1 libmodeswitch0
	traces | diff "$BATS_FILE_TMPDIR/before" -
	run bed modprobe lwkpart
	((status != 0))
	wait_for 60 bed sh -c 'sinfo -h -o %T | grep -qx idle'
	as user1 srun true
}
