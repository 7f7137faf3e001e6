#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# MPI jobs over two sites, in a test bed whose link between the sites is slow and counts what crosses: profiles,
# placement and collective operations by Slurm's own topology.

# shellcheck disable=SC2016  # text for other shells

load ../helpers

bed_name=$bed_name-sites
# node1 and node2 are on the first site. eth0 does not lead to other nodes.
network='UCX_NET_DEVICES=eth1'

setup_file()
{
	testbed down
	testbed up --sites 2,1 --cpus 4 --nodes 1 --mem 1536 --link delay=5ms,rate=100mbit
	prepare 1
	prepare 2
	prepare 3
}

teardown_file()
{
	testbed down
}

# on_sites SRUN-ARG...: runs one rank of MPICH on each of so many nodes. Its output is in $output then, and what has
# crossed the link both ways in $bytes, without the headers of TCP, IP and Ethernet, 66 bytes a frame. MPICH 4.0 at
# times waits for ever in MPI_Finalize when it uses UCX over TCP, on one site, too: such a step runs once more.
on_sites()
{
	local before after tries

	for ((tries = 0; tries < 6; tries++)); do
		before=$(testbed link)
		run as user1 env "$network" timeout 90 srun -Q --mem=900 --mpi=pmi2 "$@"
		((status == 124)) || break
	done
	echo "$output"
	((status == 0))
	after=$(testbed link)
	bytes=$(jq -n --argjson before "$before" --argjson after "$after" \
		'def sum: [.ways[] | .bytes - 66 * .frames] | add; ($after | sum) - ($before | sum)')
	echo "crossed: $bytes bytes; now $after"
}

# bats test_tags=nightly
@test "the ranks of a step know their sites by Slurm's topology" {
	run -0 as user1 srun -Q -N3 -l sh -c 'echo "$SLURM_TOPOLOGY_ADDR"'
	diff <(sort <<<"$output") - <<-'EOS'
	0: link.site1.node1
	1: link.site1.node2
	2: link.site2.node3
	EOS
}

# bats test_tags=nightly
@test "as many bytes cross the link as the profile's matrix has" {
	on_sites -w node1,node3 -N2 -n2 --mpi-profile=/home/user1/pairs.json "$programs/mpi-pairs" 100
	expected=$(as user1 lwkctl mpi --json pairs.json | jq '[.matrix[].bytes] | add')
	echo "the profile has $expected bytes"
	# 11 messages of 1 MB each way, and small ones.
	((expected > 23000000))
	((bytes >= expected && bytes <= expected * 105 / 100))
}

# bats test_tags=nightly
@test "within a site nothing of a program crosses the link" {
	on_sites -w node1,node2 -N2 -n2 "$programs/mpi-pairs" 100
	[[ $output == *'2 ranks'* ]]
	((bytes < 230000))
}

# Ranks 0 and 2 would have the link between them in Slurm's order.
# bats test_tags=nightly
@test "ranks that talk with each other are placed on one site" {
	as user1 sh -c 'cat >ends.json' <<-'EOS'
	{"version":1,"job":"1.0","ranks":3,"parts":[{"rank":0,"sent":[[2,3,10,10000,10]]},{"rank":1,"sent":[]},
	{"rank":2,"sent":[[0,3,10,10000,10]]}]}
	EOS
	# lwkctl asks Slurm which nodes are on one site.
	run -0 as user1 lwkctl mpi place --json --nodes node1:1,node2:1,node3:1 ends.json
	echo "$output"
	jq -e '.block.bytes == 20000 and .best.bytes == 0 and .node[1] == "node3"' <<<"$output"
	run -0 as user1 timeout 200 salloc -Q -N3 -n3 --mem=100 srun -Q -l --mpi-place=ends.json \
		sh -c 'echo "$SLURM_TOPOLOGY_ADDR"'
	echo "$output"
	[[ $output == *'1: link.site2.node3'* && $(grep -c ' link.site1' <<<"$output") == 2 ]]
}

# bats test_tags=nightly
@test "collective operations that know of sites are right on real sites" {
	on_sites -N3 -n3 --mpi-collectives=sites "$programs/mpi-collectives" "$(times 10 40)" "$RANDOM"
	[[ $output == *done* && $output != *lwk:* ]]
}

# bats test_tags=nightly
@test "testbed link changes the link while machines use it" {
	run -0 testbed link --delay 400ms
	[[ $(jq -c '[.delay_ms, .rate_mbit]' <<<"$output") == '[400,100]' ]]
	# The answer of a connection takes 800 ms.
	run -0 on 1 bash -c 'start=$EPOCHREALTIME; : </dev/tcp/node3/22
		echo $(((${EPOCHREALTIME/./} - ${start/./}) / 1000))'
	echo "connected after $output ms"
	((output >= 800))
	testbed link --delay 5ms
}
