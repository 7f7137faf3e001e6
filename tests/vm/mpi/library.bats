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
		for program in spawn abort communicators; do
			"mpicc.$mpi" -o "$files/$program.$mpi" "$top/tests/vm/mpi/$program.c"
		done
		"mpicc.$mpi" -o "$files/collectives.$mpi" "$top/tests/vm/programs/mpi/mpi-collectives.c"
	done
	make_on_sites
}

# on-sites PROGRAM ARG...: the ranks are on this host, which has no topology: a rank's number stands for its site.
make_on_sites()
{
	cat >"$files/on-sites" <<-'EOF'
	#!/bin/sh
	rank=${PMI_RANK:-$OMPI_COMM_WORLD_RANK}
	case $SITES in
	block) site=$((rank * 2 / 5)) ;;
	cyclic) site=$((rank % 2)) ;;
	three) site=$((rank % 3)) ;;
	esac
	SLURM_TOPOLOGY_ADDR=site$site.node exec "$@"
	EOF
	chmod +x "$files/on-sites"
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

# bats test_tags=nightly
@test "where no room is left for the profile, the program ends well and a line says so" {
	mkdir -p "$files/full"
	mount -t tmpfs -o size=4k tmpfs "$files/full"
	dd if=/dev/zero of="$files/full/filler" bs=4k status=none || true
	for library in mpich openmpi; do
		run -0 mpi "$library" 2 LWK_MPI_PROFILE="$files/full/profile.json" -- "./pairs.$library" 10
		echo "$output"
		[[ $output == *'2 ranks'* && $output == *'No space left on device'* ]]
		(($(grep -c 'lwk: ' <<<"$output") == 1))
		[[ $(ls "$files/full") == filler ]]
	done
	umount "$files/full"
}

@test "programs in Fortran are counted, with mpif.h and with the module mpi_f08" {
	for library in mpich openmpi; do
		for with in '' -DWITH_MODULE; do
			# shellcheck disable=SC2086  # one option, or none
			"mpif90.$library" $with -o "$files/fortran" "$top/tests/vm/mpi/pairs.F90"
			run -0 mpi "$library" 2 -- ./fortran
			echo "$library $with: $output"
			[[ $output == *done* && $output != *lwk:* ]]
			diff <(matrix "$files/profile.json") - <<-'EOF'
			[0,1,14]
			[1,0,14]
			EOF
			[[ $("$top/build/lwkctl" mpi --json "$files/profile.json" |
				jq -c '.functions | [.Send.calls, .Recv.calls, .Allreduce.calls]') == '[28,28,2]' ]]
		done
	done
}

# bats test_tags=nightly
@test "another tool with MPI's profiling interface counts beside the profile" {
	for library in mpich openmpi; do
		"mpicc.$library" -shared -fPIC -o "$files/libtool.so" "$top/tests/vm/mpi/tool.c"
		"mpicc.$library" -o "$files/with-tool" "$top/tests/vm/programs/mpi/mpi-pairs.c" \
			-Wl,--no-as-needed -L"$files" -ltool -Wl,-rpath,"$files"
		run -0 mpi "$library" 2 -- ./with-tool 10
		echo "linked: $output"
		[[ $output == *'tool: 14'*'tool: 14'* ]]
		diff <(matrix "$files/profile.json") <(printf '[0,1,14]\n[1,0,14]\n')
		run -0 mpi "$library" 2 \
			LD_PRELOAD="$files/libtool.so $top/build/libmodeswitch/mpi/.libs/liblwkmpi.so" \
			-- "./pairs.$library" 10
		echo "loaded before: $output"
		[[ $output == *'tool: 14'*'tool: 14'* ]]
		diff <(matrix "$files/profile.json") <(printf '[0,1,14]\n[1,0,14]\n')
	done
}

# bats test_tags=nightly
@test "MPI_Abort ends a program with a profile and with collective operations that know of sites" {
	for library in mpich openmpi; do
		for sites in '' sites,always; do
			run mpi "$library" 4 SITES=cyclic LWK_MPI_COLLECTIVES=$sites -- ./on-sites "./abort.$library"
			echo "$library $sites: status $status, $output"
			# Both libraries end the ranks with this status; 124 would be the time limit's.
			((status == 3))
			[[ ! -e $files/profile.json ]]
		done
	done
}

@test "calls of MPI 4 with large counts and partitioned messages are counted" {
	mpicc.mpich -o "$files/large-counts" "$top/tests/vm/mpi/large-counts.c"
	run -0 mpi mpich 2 -- ./large-counts
	echo "$output"
	[[ $output == *done* && $output != *lwk:* ]]
	"$top/build/lwkctl" mpi --json "$files/profile.json" | jq -c '.matrix[] | [.from, .to, .bytes]' | tee "$files/bytes"
	diff "$files/bytes" <(printf '[0,1,72]\n[1,0,72]\n')
}

# bats test_tags=nightly
@test "ten thousand communicators, and more at once than have a place in the page, do no harm" {
	for library in mpich openmpi; do
		run -0 mpi "$library" 4 SITES=cyclic LWK_MPI_COLLECTIVES=sites,always -- \
			./on-sites "./communicators.$library" 10000 1500
		echo "$output"
		[[ $output == *done* ]]
	done
}

# Debian's MPICH refuses to spawn.
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

@test "collective operations that know of sites have the same results with both libraries" {
	for library in mpich openmpi; do
		for sites in block cyclic three; do
			run -0 mpi "$library" 5 SITES=$sites LWK_MPI_COLLECTIVES=sites,always -- \
				./on-sites "./collectives.$library" "$(times 20 500)" "$RANDOM"
			echo "$output"
			[[ $output == *done* && $output != *lwk:* ]]
		done
	done
}
