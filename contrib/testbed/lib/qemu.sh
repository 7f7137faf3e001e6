# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Starts QEMU for one machine of a test bed: its accelerator, form, CPUs, memory and networks as options.

# probe_kvm ANSWER: tries to boot the image's kernel, because some hosts have a /dev/kvm that runs no
# ordinary guest.
probe_kvm()
{
	local answer=$1

	timeout 20 qemu-system-x86_64 -accel kvm -cpu max -m 512 -nodefaults -display none -no-reboot \
		-kernel "$image/vmlinuz" -initrd "$image/initrd" -append 'console=ttyS0 panic=-1 testbed.probe' \
		-serial "file:$answer.console" </dev/null || true
	if grep -q 'testbed: probe' "$answer.console" 2>/dev/null; then
		echo yes >"$answer.new"
	else
		echo no >"$answer.new"
	fi
	rm -f "$answer.console"
	mv "$answer.new" "$answer"
}

# learn_kvm ANSWER: one test bed probes; others that come up beside it wait for its answer.
learn_kvm()
{
	local answer=$1 lock

	take_lock lock "$answer.lock"
	[[ -e $answer ]] || step 'probed whether KVM works' probe_kvm "$answer"
	exec {lock}>&-
}

# Tells Linux the rate of this host's time stamp counter, which emulated CPUs read, too. Linux itself
# would compare it with an emulated timer, find up to four times the rate on a busy host, and run its
# clock at that rate. For the same reason Linux need not check that the timer's interrupts come.
give_clock_rate()
{
	cc -O2 -o "$state/tsc-khz" "$testbed_dir/lib/tsc-khz.c" ||
		die "expected a program that measures this host's time stamp counter, found that it cannot be compiled (see above)"
	clock+=" tsc_early_khz=$("$state/tsc-khz") no_timer_check"
}

# qemu_is VERSION: true for this release of QEMU and later ones.
qemu_is()
{
	local found

	found=$(qemu-system-x86_64 --version | sed -nE 's/^QEMU emulator version ([0-9.]+).*/\1/p')
	printf '%s\n' "$1" "$found" | sort -CV
}

# spare_host: emulated CPUs that wait for each other leave the host's CPUs to others (yield.c). QEMU executes
# "rep movsb" and "rep stosb" byte by byte; without these features Linux and programs move words, and copy four
# times as fast.
spare_host()
{
	[[ $cpu != max ]] || cpu=max,-erms,-fsrm,-fzrm,-fsrs,-fsrc
	cc -O2 -Wall -Wextra -fPIC -fvisibility=hidden -shared -o "$state/yield.so" "$testbed_dir/yield.c" ||
		die 'expected a plugin of QEMU, found that yield.c cannot be compiled (see above)'
	plugins+=(-plugin "$state/yield.so")
}

choose_accelerator()
{
	local answer
	answer=$cache/kvm-works-on-$(uname -r)
	plugins=(${plugin:+-plugin "$plugin"})

	# All emulated CPUs read one TSC, but Linux does not know that, and would read the time from an
	# emulated HPET, which is slow and takes a global lock.
	accelerator=tcg,thread=multi clock=tsc=reliable
	if [[ $icount ]]; then
		accelerator=tcg,thread=single
		return
	fi
	# KVM has no plugins.
	if [[ -w /dev/kvm && ! $plugin ]]; then
		[[ -e $answer ]] || learn_kvm "$answer"
		[[ $(<"$answer") != yes ]] || accelerator=kvm clock=''
	fi
	[[ $accelerator != kvm ]] || return 0
	give_clock_rate
	# A plugin that counts wants CPUs as they are.
	[[ ! $plugin ]] || return 0
	! qemu_is 9.2 || spare_host
}

choose_init_arguments()
{
	init_arguments=''
	[[ $init == systemd ]] || return 0
	init_arguments=systemd.unit=multi-user.target
	[[ $cgroup == v2 ]] || init_arguments+=' systemd.unified_cgroup_hierarchy=0'
}

# network_options MACHINE: for the cluster's network the first machine of a site joins its own interface and a
# link to each other machine of the site in a hub, and the relay to the other site, if there is one. Sockets in
# the state directory need neither privileges nor addresses.
network_options()
{
	local machine=$1 first last other link=local.type=unix,remote.type=unix

	network_options=()
	((machines > 1)) || return 0
	read -r first last <<<"$(site_of "$machine")"
	if ((machine == first)); then
		network_options+=(-netdev 'hubport,id=cluster,hubid=0')
		for ((other = first + 1; other <= last; other++)); do
			network_options+=(
				-netdev "dgram,id=link$other,$link,local.path=$state/link$first-$other,remote.path=$state/link$other-$first"
				-netdev "hubport,id=hub$other,hubid=0,netdev=link$other"
			)
		done
		[[ ! $sites ]] || network_options+=(
			-netdev "dgram,id=relay,$link,local.path=$state/link$first-relay,remote.path=$state/relay$first"
			-netdev 'hubport,id=hub-relay,hubid=0,netdev=relay'
		)
	else
		network_options+=(-netdev "dgram,id=cluster,$link,local.path=$state/link$machine-$first,remote.path=$state/link$first-$machine")
	fi
	network_options+=(-device "virtio-net-pci,netdev=cluster,romfile=,mac=52:54:00:77:00:$(printf %02x "$machine")")
}

# queues_options MACHINE: only a tap device gives a NIC several queues, each with interrupts of its own.
# QEMU makes the device and removes it at its end.
queues_options()
{
	queues_options=()
	((net_queues && $1 == 1)) || return 0
	queues_options=(
		-netdev "tap,id=queues,ifname=$(tap_name),queues=$net_queues,script=no,downscript=no"
		-device 'virtio-net-pci,netdev=queues,mq=on,romfile=,mac=52:54:00:78:00:01'
	)
}

# name_number: prints a number for the test bed's name that hardly any other name has.
name_number()
{
	local sum

	sum=$(cksum <<<"$name")
	echo $((${sum%% *} % 250))
}

tap_name()
{
	echo "lwk-bed$(name_number)"
}

bring_up_tap()
{
	((net_queues)) || return 0
	ip addr add "10.78.$(name_number).1/30" dev "$(tap_name)"
	ip link set "$(tap_name)" up
}

# shape_of MACHINE: sets cpus, nodes and mem, which are local variables of the caller.
shape_of()
{
	cpus=${all_cpus[$1 - 1]-${all_cpus[0]}}
	nodes=${all_nodes[$1 - 1]-${all_nodes[0]}}
	mem=${all_mem[$1 - 1]-${all_mem[0]}}
}

# nodes_with cpus|memory: prints the number of NUMA nodes with CPUs or memory, of the caller's $nodes.
nodes_with()
{
	[[ $last_node == "no-$1" ]] && echo $((nodes - 1)) || echo "$nodes"
}

topology_options()
{
	local machine=$1 cpus nodes mem node sockets per_socket banks options

	shape_of "$machine"
	sockets=$(nodes_with cpus) banks=$(nodes_with memory)
	per_socket=$((cpus / sockets))

	topology_options=(
		-cpu "$cpu" -smp "$cpus,sockets=$sockets,cores=$((per_socket / threads)),threads=$threads" -m "$mem"
	)
	for ((node = 0; node < nodes; node++)); do
		options=node,nodeid=$node
		if ((node < banks)); then
			topology_options+=(-object "memory-backend-ram,id=ram$node,size=$((mem / banks))M")
			options+=,memdev=ram$node
		fi
		((node >= sockets)) || options+=,cpus=$((node * per_socket))-$(((node + 1) * per_socket - 1))
		topology_options+=(-numa "$options")
	done
}

# Sets the options for what the machine is besides its CPUs, memory and devices.
choose_form()
{
	form_options=(-machine "$chipset")
	[[ $firmware == bios ]] || form_options+=(-bios "$ovmf")
	# Linux uses the x2APIC only where an IOMMU can bring interrupts to all its CPUs.
	[[ ! $iommu ]] || form_options+=(-device 'intel-iommu,intremap=on,eim=on')
	# QEMU describes hardware threads to CPUs of Intel only.
	[[ $cpu != max* ]] || ((threads == 1)) || cpu+=,vendor=GenuineIntel
}

# A busy host runs a machine ten times slower for a while, so its kernel waits as much longer before it takes
# slowness for a lockup: a minute or more where it has 20 s, eight minutes where it has two.
patience='watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=180 sysctl.kernel.hung_task_timeout_secs=480'

# Only QEMU's log of resets tells a triple fault, the end of a CPU that cannot even report its fault: Linux has no
# words for it, and QEMU ends as if the machine had restarted. A reset of a CPU, as at the boot or when Linux gets
# it back from an LWK, adds two kilobytes. KVM does not tell.
start_machine()
{
	local machine=$1 tries port

	topology_options "$machine"
	network_options "$machine"
	queues_options "$machine"
	for ((tries = 0; tries < 20; tries++)); do
		# A port cannot be reserved for another process: try one, and another when it is in use.
		port=$((20000 + SRANDOM % 40000))
		# The overlay that snapshot=on makes is an unlinked file in TMPDIR.
		if TMPDIR=$state detached qemu-system-x86_64 -name "testbed-$name-$machine,debug-threads=on" \
			"${form_options[@]}" -accel "$accelerator" ${icount:+-icount shift=0,sleep=off} \
			"${plugins[@]}" "${topology_options[@]}" \
			-nodefaults -no-user-config -display none -no-reboot \
			-kernel "$image/vmlinuz" -initrd "$image/initrd" \
			-append "console=ttyS0 loglevel=5 panic=-1 net.ifnames=0 $clock $patience $init_arguments $append" \
			-drive "file=$image/root.img,if=virtio,format=raw,snapshot=on,cache=unsafe" \
			-drive "file=$state/seed$machine.tar,if=virtio,format=raw,readonly=on" \
			-netdev "user,id=host,restrict=on,hostfwd=tcp:127.0.0.1:$port-:22" \
			-device virtio-net-pci,netdev=host,romfile= \
			"${network_options[@]}" "${queues_options[@]}" \
			-serial "file:$state/console$machine.log" \
			-monitor "unix:$state/monitor$machine,server=on,wait=off" \
			-qmp "unix:$state/qmp$machine,server=on,wait=off" \
			-d cpu_reset -D "$state/qemu-log$machine" \
			-daemonize -pidfile "$state/pid$machine" >"$state/qemu.log" 2>&1; then
			echo "$port" >"$state/port$machine"
			return
		fi
		grep -q 'host forwarding rule' "$state/qemu.log" || break
	done
	cat "$state/qemu.log"
	die 'expected a virtual machine, found that QEMU did not start (its words are above); try fewer --cpus, less --mem or another --cpu'
}
