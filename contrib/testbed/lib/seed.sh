# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Makes the seed of each machine: a tar with the guest's scripts, the configuration and the staged
# project, which the initial RAM disk unpacks over the root disk.

slurm_plugins=usr/lib/x86_64-linux-gnu/slurm-wlm

node_lines()
{
	local machine cpus nodes mem

	for ((machine = 1; machine <= machines; machine++)); do
		shape_of "$machine"
		echo "NodeName=node$machine CPUs=$cpus Boards=1 SocketsPerBoard=$(nodes_with cpus) CoresPerSocket=$((cpus / $(nodes_with cpus) / threads)) ThreadsPerCore=$threads CpuSpecList=0-$((threads - 1)) RealMemory=$((mem - 384))"
	done
}

slurm_conf()
{
	local tree=$1 container=''

	[[ ! -e $tree/$slurm_plugins/job_container_lwk.so ]] || container='JobContainerType=job_container/lwk'
	[[ ! -e $tree/$slurm_plugins/namespace_lwk.so ]] || container='NamespaceType=namespace/lwk'
	cat <<-EOF
	ClusterName=testbed
	SlurmctldHost=node1
	AuthType=auth/munge
	MpiDefault=none
	ProctrackType=proctrack/cgroup
	TaskPlugin=task/affinity,task/cgroup
	TaskPluginParam=none
	PrologFlags=Alloc,Contain
	$container
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core_Memory,CR_CORE_DEFAULT_DIST_BLOCK
	SlurmdParameters=config_overrides
	ReturnToService=2

	# Emulated machines are slow, not dead.
	SlurmctldTimeout=600
	SlurmdTimeout=600
	BatchStartTimeout=120
	MessageTimeout=60
	InactiveLimit=0
	KillWait=5
	MinJobAge=86400

	StateSaveLocation=/var/lib/slurm/slurmctld
	SlurmdSpoolDir=/var/lib/slurm/slurmd
	SlurmUser=slurm
	SlurmctldPidFile=/run/slurmctld.pid
	SlurmdPidFile=/run/slurmd.pid
	SlurmctldLogFile=/var/log/slurm/slurmctld.log
	SlurmdLogFile=/var/log/slurm/slurmd.log
	SlurmctldDebug=info
	SlurmdDebug=verbose

	JobAcctGatherType=jobacct_gather/linux
	AccountingStorageType=accounting_storage/none
	JobCompType=jobcomp/filetxt
	JobCompLoc=/var/log/slurm/jobs.log
	${sites:+TopologyPlugin=topology/tree}

	$(node_lines)
	PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefMemPerCPU=128 OverSubscribe=NO
	EOF
}

# topology_conf: each site is a switch, and both are below one, so that jobs may have nodes of both.
topology_conf()
{
	local first=${sites%,*}

	cat <<-EOF
	SwitchName=site1 Nodes=node[1-$first]
	SwitchName=site2 Nodes=node[$((first + 1))-$machines]
	SwitchName=link Switches=site[1-2]
	EOF
}

cgroup_conf()
{
	# Slurm 20.11 has one plugin for cgroups, and no name for it.
	[[ $release == bullseye ]] || echo "CgroupPlugin=cgroup/$cgroup"
	cat <<-EOF
	ConstrainCores=yes
	ConstrainRAMSpace=yes
	EOF
	if [[ $cgroup == v2 && $init == tiny ]]; then
		echo IgnoreSystemd=yes
	fi
}

hosts()
{
	local machine

	echo '127.0.0.1 localhost'
	for ((machine = 1; machine <= machines; machine++)); do
		echo "10.77.0.$machine node$machine"
	done
}

sshd_config()
{
	cat <<-EOF
	HostKey /etc/ssh/ssh_host_ed25519_key
	PermitRootLogin prohibit-password
	PasswordAuthentication no
	MaxSessions 1000
	ClientAliveInterval 0
	SetEnv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	EOF
}

# index_modules TREE BASE: modprobe finds the project's module only by the index; to make the index
# takes a second here, and a minute in the machine.
index_modules()
{
	local tree=$1 base=$2 modules=usr/lib/modules/$kernel_version

	[[ -n $(find "$tree/$modules" -name '*.ko*' 2>/dev/null) ]] || return 0
	mkdir -p "$base/lib/modules"
	cp -as "$image/modules" "$base/lib/modules/$kernel_version"
	rm -f "$base/lib/modules/$kernel_version"/modules.{dep,alias,symbols,softdep,devname}*
	cp -a "$tree/$modules/." "$base/lib/modules/$kernel_version/"
	depmod -b "$base" "$kernel_version"
	find "$base/lib/modules/$kernel_version" -maxdepth 1 -type f -name 'modules.*' -exec cp -t "$tree/$modules" {} +
	rm -rf "$base"
}

# systemd_units TREE: adds the test bed's units and masks those that only a real machine needs.
systemd_units()
{
	local units=$1/etc/systemd/system unit

	mkdir -p "$units"/{multi-user,network-online}.target.wants
	cp "$testbed_dir/guest/"*.service "$units"
	ln -s ../testbed-network.service "$units/network-online.target.wants/"
	ln -s ../testbed-ready.service "$units/multi-user.target.wants/"
	for unit in getty.target e2scrub_reap.service systemd-timesyncd.service irqbalance.service \
		apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer; do
		ln -s /dev/null "$units/$unit"
	done
}

# make_common_tree TREE: makes the part of the seed that all machines share.
make_common_tree()
{
	local tree=$1 lock example user home uid

	mkdir -p "$tree"/{etc/slurm,etc/munge,etc/ssh,usr/lib/testbed,usr/lib/modules,var/log/slurm,var/lib/slurm/{slurmctld,slurmd}}
	if [[ $project && -d $stage ]]; then
		# The root image's /lib, /bin and /sbin are links into /usr.
		ln -s usr/lib usr/bin usr/sbin "$tree/"
		take_lock lock "$stage.lock"
		tar -c -C "$stage" . | tar -x --keep-directory-symlink --no-same-owner -C "$tree"
		exec {lock}>&-
		rm "$tree"/{lib,bin,sbin}
		[[ ! $modules ]] || install -D -m 0644 -t "$tree/usr/lib/modules/$kernel_version/updates" "$modules"/*.ko
		index_modules "$tree" "$state/depmod"
		[[ ! -e $tree/$slurm_plugins/lwk.so ]] || echo 'required lwk.so' >"$tree/etc/slurm/plugstack.conf"
		example=$tree/usr/share/doc/slurm-lwk/lwk.conf.example
		# A switch on a busy host takes long and does not hang.
		[[ -e $tree/etc/slurm/lwk.conf || ! -e $example ]] ||
			sed 's/^SwitchTimeout.*/SwitchTimeout = 240/; s/^BootTimeout.*/BootTimeout = 60/' "$example" >"$tree/etc/slurm/lwk.conf"
	fi
	cp "$testbed_dir/guest/"* "$tree/usr/lib/testbed/"
	[[ $init != systemd ]] || systemd_units "$tree"
	cp "$testbed_dir/guest/inittab" "$tree/etc/inittab"
	slurm_conf "$tree" >"$tree/etc/slurm/slurm.conf"
	cgroup_conf >"$tree/etc/slurm/cgroup.conf"
	[[ ! $sites ]] || topology_conf >"$tree/etc/slurm/topology.conf"
	hosts >"$tree/etc/hosts"
	sshd_config >"$tree/etc/ssh/sshd_config"
	dd if=/dev/urandom of="$tree/etc/munge/munge.key" bs=128 count=1 status=none
	chmod 0400 "$tree/etc/munge/munge.key"
	chmod 0700 "$tree/etc/munge"

	for user in "${users[@]}"; do
		if [[ $user == root ]]; then
			home=root uid=0
		else
			home=home/$user uid=100${user#user}
		fi
		install -d -m 0700 -o "$uid" -g "$uid" "$tree/$home" "$tree/$home/.ssh"
		install -m 0600 -o "$uid" -g "$uid" "$cache/ssh-key.pub" "$tree/$home/.ssh/authorized_keys"
	done
}

make_seeds()
{
	local tree=$state/tree machine

	make_common_tree "$tree"
	for ((machine = 1; machine <= machines; machine++)); do
		echo "node$machine" >"$tree/etc/hostname"
		# Without one systemd takes this for a first boot, and asks questions.
		tr -d - </proc/sys/kernel/random/uuid >"$tree/etc/machine-id"
		cat >"$tree/etc/testbed.conf" <<-EOF
		TESTBED_INIT=$init
		TESTBED_CGROUP=$cgroup
		TESTBED_ADDRESS=10.77.0.$machine
		TESTBED_QUEUES_ADDRESS=$( ((net_queues == 0 || machine > 1)) || echo "10.78.$(name_number).2")
		TESTBED_NODES_TOTAL=$( ((machine > 1)) || echo "$machines")
		EOF
		if [[ $init == systemd ]] && ((machine == 2)); then
			ln -s /dev/null "$tree/etc/systemd/system/slurmctld.service"
		fi
		tar -c -f "$state/seed$machine.tar" -C "$tree" .
	done
	rm -rf "$tree"
}
