#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: own
#
# liblwkmpi.so in programs of both MPI libraries, without Slurm: they run on this host, as root.

load ../helpers

setup_file()
{
	files=$(mktemp -d -t lwk-test.XXXXXX)
	export files
	"$top/contrib/testbed/testbed" build --release host
	for mpi in mpich openmpi; do
		"mpicc.$mpi" -o "$files/pairs.$mpi" "$top/tests/vm/programs/mpi/mpi-pairs.c"
		"mpicc.$mpi" -o "$files/spawn.$mpi" "$top/tests/vm/mpi/spawn.c"
		"mpicc.$mpi" -o "$files/collectives.$mpi" "$top/tests/vm/programs/mpi/mpi-collectives.c"
	done
}

teardown_file()
{
	! mountpoint -q "$files/full" || umount "$files/full"
	rm -rf "$files"
}

# mpi LIBRARY RANKS [NAME=VALUE...] -- PROGRAM ARG...: runs it with the profile "profile.json". Spawned
# programs have mpirun's environment.
mpi()
{
	local library=$1 ranks=$2
	local -a launch=(mpirun.mpich) environment=()
	shift 2

	[[ $library == mpich ]] || launch=(mpirun.openmpi --allow-run-as-root --oversubscribe)
	while [[ $1 != -- ]]; do
		environment+=("$1")
		shift
	done
	shift
	(
		cd "$files" || exit
		rm -f ./*.json
		env "LD_PRELOAD=$top/build/libmodeswitch/mpi/.libs/liblwkmpi.so" LWK_MPI_PROFILE=profile.json \
			"${environment[@]}" timeout 200 "${launch[@]}" -n "$ranks" "$@"
	)
}

# matrix FILE: prints sender, receiver and number of messages of each pair.
matrix()
{
	"$top/build/lwkctl" mpi --json "$1" | jq -c '.matrix[] | [.from, .to, .messages]'
}

@test "where no room is left for the ranks' pages, the program runs and has its profile" {
	mkdir "$files/full"
	mount -t tmpfs -o size=256k tmpfs "$files/full"
	for library in mpich openmpi; do
		run -0 mpi "$library" 2 LWK_MPI_PAGES="$files/full" -- "./pairs.$library" 10
		echo "$output"
		[[ $output == *'No space left on device; its profile is lost'* && $output == *'2 ranks'* ]]
		diff <(matrix "$files/profile.json") - <<-'EOF'
		[0,1,14]
		[1,0,14]
		EOF
		# A rank leaves nothing in the room that others lack.
		[[ -z $(ls "$files/full") ]]
	done
	umount "$files/full"
}

@test "a program that others spawn has a profile of its own beside theirs" {
	run -0 mpi openmpi 1 -- ./spawn.openmpi
	echo "$output"
	[[ $(jq .ranks "$files/profile.json") == 1 ]]
	[[ $("$top/build/lwkctl" mpi --json "$files/profile.json" |
		jq .functions.Send.calls) == 14 ]]
	[[ $(jq .ranks "$files"/profile.spawned-*.json) == 2 ]]
}

@test "--mpi-collectives=sites says why it does nothing" {
	for library in mpich openmpi; do
		run -0 mpi "$library" 4 LWK_MPI_COLLECTIVES=sites -- "./pairs.$library" 10
		echo "$output"
		[[ $output == *'expected SLURM_TOPOLOGY_ADDR with the switches above each node, found none'* ]]
		run -0 mpi "$library" 4 LWK_MPI_COLLECTIVES=sites SLURM_TOPOLOGY_ADDR=s0.n1 -- "./pairs.$library" 10
		[[ $output == *'expected 3 ranks or more on several sites, found them on one'* ]]
		(($(grep -c 'lwk: ' <<<"$output") == 1))
	done
}

@test "a program knows when it was placed by the profile of another one" {
	for library in mpich openmpi; do
		mpi "$library" 2 -- "./pairs.$library" 10
		hash=$("$top/build/lwkctl" mpi --json "$files/profile.json" | jq -r .program_hash)
		run -0 mpi "$library" 2 LWK_MPI_PLACED="2:$hash" -- "./pairs.$library" 10
		[[ $output != *lwk:* ]]
		run -0 mpi "$library" 2 LWK_MPI_PLACED="2:${hash:1}1" -- "./pairs.$library" 10
		[[ $output == *'expected the profile of this program, found that of another one'* ]]
		run -0 mpi "$library" 2 LWK_MPI_PLACED="3:$hash" -- "./pairs.$library" 10
		[[ $output == *'expected the profile of 2 ranks, found that of 3'* ]]
		(($(grep -c 'lwk: ' <<<"$output") == 1))
	done
}

# The ranks are on this host, which has no topology: a rank's number stands for its site.
@test "collective operations that know of sites have the same results with both libraries" {
	cat >"$files/on-sites" <<-'EOF'
	#!/bin/sh
	rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
	case $SITES in
	block) site=$((rank * 2 / 5)) ;;
	cyclic) site=$((rank % 2)) ;;
	esac
	SLURM_TOPOLOGY_ADDR=site$site.node exec "$@"
	EOF
	chmod +x "$files/on-sites"
	for library in mpich openmpi; do
		for sites in block cyclic; do
			run -0 mpi "$library" 5 SITES=$sites LWK_MPI_COLLECTIVES=sites,always -- \
				./on-sites "./collectives.$library" "$(times 60 500)" "$RANDOM"
			echo "$output"
			[[ $output == *done* && $output != *lwk:* ]]
		done
	done
}
