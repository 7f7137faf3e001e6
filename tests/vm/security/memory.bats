#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# The memory of an LWK has nothing of its former users, and its programs reach no other memory. The
# tests look at the physical memory from outside, by QEMU's monitor, as an LWK program could on CPUs
# with Meltdown.

load ../helpers

setup_file()
{
	prepare
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		sed -i "s/^KeepWarm.*/KeepWarm = 600/" /etc/slurm/lwk.conf'
}

teardown_file()
{
	bed sh -c 'mv /root/lwk.conf.before /etc/slurm/lwk.conf; lwkctl cool'
	node_is_clean
}

# ranges: "START SIZE" of the memory that is lent, a line each.
ranges()
{
	bed lwkctl status --json | jq -r '.lent[] | select(.kind != "cpu") | "\(.start) \(.bytes)"'
}

# secrets_in RANGES: counts the bytes 0x5e, of which secrets consist.
secrets_in()
{
	local start size

	while read -r start size; do
		testbed monitor pmemsave "$start" "$size" "\"$BATS_TEST_TMPDIR/memory\"" >&2
		cat "$BATS_TEST_TMPDIR/memory"
	done <<<"$1" | tr -dc '\136' | wc -c
}

# cool: gives the warm partition back.
cool()
{
	wait_for 60 bed sh -c 'lwkctl status --json | grep -q warm'
	bed lwkctl cool
	node_is_clean
}

# waiting_job USER [OPTION]...: starts an LWK job whose LWK runs its first program; sets $job and $memory.
waiting_job()
{
	job=$(submit "$1" -n1 -c3 --mem=600 "${@:2}" --lwk --wrap 'srun sh -c "echo waiting; exec sleep 600"')
	wait_for 60 has_printed "$1" "$job" waiting
	memory=$(ranges)
	[[ $memory ]]
}

# finds_nothing USER: true when the LWK of such a job has none of the secrets.
finds_nothing()
{
	waiting_job "$1"
	found=$(secrets_in "$memory")
	echo "found $found"
	((found < 100000)) || return
	bed scancel "$job"
	wait_for_job "$job"
	cool
}

@test "an LWK that runs its first program has nothing of an earlier job of another user" {
	as user1 srun -n1 -c3 --mem=600 --lwk "$programs/secret" leave 400
	wait_for 60 bed sh -c 'lwkctl status --json | grep -q warm'
	left=$(secrets_in "$(ranges)")
	echo "left $left"
	((left > 400000000))
	finds_nothing user2
}

# bats test_tags=nightly
@test "nothing that an LWK tells of itself is an address of its memory" {
	# The addresses of the second node's memory are larger than any amount of an LWK's.
	waiting_job user1 --mem=256 --lwk-numa=bind=1
	mapfile -t lent < <(tr " " "\n" <<<"$memory")
	# shellcheck disable=SC2016  # the job's shell expands it
	run inside sh -c 'program=$1; shift; "$program" /dev/lwk/* "$@"' - "$programs/find-addresses" "${lent[@]}"
	echo "$output"
	[[ $status == 0 && $output == *'found 0'* ]]
	bed scancel "$job"
	wait_for_job "$job"
	cool
}

# bats test_tags=nightly
@test "an LWK that runs its first program has nothing of Linux's programs and files" {
	waiting_job user1
	before=$memory
	bed scancel "$job"
	wait_for_job "$job"
	cool
	# Linux has it in the memory of that NUMA node, and frees it.
	bed sh -c "taskset -c 1 $programs/secret leave 800
		head -c 800M /dev/zero | tr '\\0' '\\136' | taskset -c 1 dd of=/tmp/secret bs=1M status=none
		rm /tmp/secret"
	left=$(secrets_in "$before")
	echo "left $left"
	((left > 1000000))
	finds_nothing user1
}

# bats test_tags=nightly
@test "a program finds what an earlier job of its own user had nowhere in its own memory" {
	as user1 srun -n1 -c3 --mem=600 --lwk "$programs/secret" leave 400
	run -0 as user1 srun -n1 -c3 --mem=600 --lwk "$programs/secret" look 400
	[[ $output == *'found 0 bytes'* ]]
	run -0 as user1 srun -n1 -c3 --mem=600 --lwk sh -c "
		$programs/secret leave 300; $programs/secret leave 300; $programs/secret look 400"
	[[ $output == *'found 0 bytes'* ]]
	cool
}
