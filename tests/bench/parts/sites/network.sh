# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Sites on this host: each machine is a network namespace with a host name of its own, each site a bridge, and
# contrib/testbed/relay is the slow link between two sites. MPI programs run in them over TCP. Needs root; source it
# after contrib/progress.sh.
#
#	network_up DIRECTORY RELAY 3,3	two sites with three machines each; they go when the script ends
#	network_link 'delay=50 rate=100'	sets the link: milliseconds, and million bits a second each way
#	network_run mpich|openmpi block|cyclic PROGRAM ARG...	a rank on each machine
#
# The machines' memory is one, so MPI libraries are told to use TCP within a site, too. Their CPUs are shared, too: a
# rank that waits looks again and again, and would take its time slices from ranks that have work and from the relay.
# Machines of their own would have a CPU for each, so here ranks that wait yield, and the relay goes first.
# (MPICH has no setting for that which its UCX would follow; collectives.c does it for itself.)

network_up()
{
	local site machine name i=0

	network=sites$$
	network_directory=$1
	IFS=, read -ra network_sites <<<"$3"
	[[ ${network_up-} ]] || at_exit network_down
	network_up=yes
	ip netns add "$network"
	for ((site = 0; site < 2; site++)); do
		ip -n "$network" link add "site$site" type bridge
		ip -n "$network" link set "site$site" up
		ip -n "$network" tuntap add "tap$site" mode tap
		ip -n "$network" link set "tap$site" master "site$site" up
		for ((machine = 0; machine < network_sites[site]; machine++)); do
			network_add_machine "$site" "$machine"
		done
	done
	# mpirun runs on a machine of its own, without ranks.
	network_add_machine 0 99
	ip netns exec "$network" "$2" tap:tap0 tap:tap1 --control "$1/relay" &
	network_relay=$!
	renice -n -10 -p "$network_relay" >/dev/null
	until [[ -S $1/relay ]]; do
		kill -0 "$network_relay"
		((i++ < 100))
		sleep 0.1
	done
	cat >"$1/enter" <<'ENTER'
#!/bin/bash
# enter [-x] ADDRESS COMMAND...: ssh's place in mpirun: runs the command on the machine of that address.
[[ $1 != -x ]] || shift
IFS=. read -r _ _ site machine <<<"$1"
shift
host=s$site-$((machine - 1))
export SLURM_TOPOLOGY_ADDR=site$site.$host
# shellcheck disable=SC2016  # the inner shell expands them
exec ip netns exec "$network-$site-$((machine - 1))" unshare --uts \
	sh -c 'hostname "$1" && exec sh -c "$2"' sh "$host" "$*"
ENTER
	chmod +x "$1/enter"
	export network
}

# network_add_machine SITE MACHINE: its address is 10.201.SITE.MACHINE+1.
network_add_machine()
{
	local name=$network-$1-$2

	ip netns add "$name"
	ip -n "$network" link add "m$1-$2" type veth peer name eth0 netns "$name"
	ip -n "$network" link set "m$1-$2" master "site$1" up
	ip -n "$name" address add "10.201.$1.$(($2 + 1))/16" dev eth0
	ip -n "$name" link set eth0 up
	ip -n "$name" link set lo up
	# TCP remembers an address's losses, and begins later connections by them; each program finds new machines.
	ip netns exec "$name" sysctl -qw net.ipv4.tcp_no_metrics_save=1
	# CUBIC is what Linux has unless a host's administrator chose another one, whose pauses would be measured, too.
	ip -n "$name" route replace 10.201.0.0/16 dev eth0 scope link src "10.201.$1.$(($2 + 1))" congctl cubic
}

network_down()
{
	local name

	if [[ ${network_relay-} ]]; then
		# A signal to the script may have ended it already.
		kill "$network_relay" 2>/dev/null || true
		wait "$network_relay" || true
		network_relay=''
	fi
	for name in $(ip netns list | awk -v name="$network" '$1 == name || index($1, name "-") == 1 { print $1 }'); do
		# Ranks of an mpirun that was killed would spin for ever.
		ip netns pids "$name" | xargs -r kill -9 2>/dev/null || true
		ip netns delete "$name"
	done
}

network_link()
{
	socat -t5 - "UNIX-CONNECT:$network_directory/relay" <<<"$1"
}

# network_hosts block|cyclic: prints the addresses of the machines in the order of the ranks.
network_hosts()
{
	local site machine

	for site in 0 1; do
		for ((machine = 0; machine < network_sites[site]; machine++)); do
			echo "$machine $site 10.201.$site.$((machine + 1))"
		done
	done | if [[ $1 == cyclic ]]; then sort -n -k1,1 -k2,2; else cat; fi | awk '{ print $3 }'
}

network_run()
{
	local library=$1 order=$2 hosts enter=$network_directory/enter head=$network-0-99
	local -a command
	shift 2

	hosts=$(network_hosts "$order" | paste -sd,)
	# shellcheck disable=SC2054  # the commas are mpirun's
	if [[ $library == mpich ]]; then
		command=(env UCX_TLS=tcp,self UCX_NET_DEVICES=eth0
			mpirun.mpich -launcher ssh -launcher-exec "$enter" -iface eth0 -hosts "$hosts")
	else
		command=(mpirun.openmpi --allow-run-as-root --host "$hosts" --mca plm_rsh_agent "$enter"
			--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0
			--mca orte_keep_fqdn_hostnames 1 --bind-to none --mca mpi_yield_when_idle 1)
	fi
	timeout -k 5 "${network_patience:-120}" ip netns exec "$head" "${command[@]}" "$@" </dev/null
}
