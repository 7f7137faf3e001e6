#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# srun --mpi-profile counts what the ranks of an MPI program send, on Linux and on the LWK, and lwkctl
# mpi shows it.

load ../helpers

setup_file()
{
	prepare
}

teardown_file()
{
	node_is_clean
}

# profiled DIRECTORY SRUN-ARG...: runs two ranks there with a profile in profile.json.
profiled()
{
	local directory=$1
	shift

	as user1 mkdir -p "$directory"
	as user1 timeout 300 srun --quiet --chdir="$directory" -n2 --mpi=pmi2 \
		--mpi-profile=profile.json "$@"
}

# counts FILE: prints messages, blocking ones and bytes of each pair, and a rank's allreduces.
counts()
{
	as user1 lwkctl mpi --json "$1" |
		jq -c '(.matrix[] | [.from, .to, .messages, .blocking, .bytes]),
			(.collectives[] | select(.function == "Allreduce") | [.ranks, .operations, .bytes]),
			[.present, .unknown_peers, .unknown_sizes, .lost]'
}

# 100 + 11 rounds of 8 bytes, 11 of 1 MB; two allreduces of 4 bytes by each rank.
expected='[0,1,122,122,11535224]
[1,0,122,122,11535224]
[2,2,16]
[2,0,0,0]'

@test "a profile has each message of a program on Linux, and none beside" {
	profiled /tmp/mpi-linux -c1 --mem=900 "$programs/mpi-pairs" 100
	run -0 counts /tmp/mpi-linux/profile.json
	diff <(echo "$expected") <(echo "$output")
	run -0 as user1 lwkctl mpi /tmp/mpi-linux/profile.json
	echo "$output"
	[[ $output == *'2 ranks'* && $output == *MPI_Send* && $output == *'class: '* ]]
	as user1 lwkctl mpi --svg /tmp/mpi-linux/heat.svg /tmp/mpi-linux/profile.json
	bed grep -q '<title>0 to 1: 11535224 bytes' /tmp/mpi-linux/heat.svg
	run -0 as user1 lwkctl mpi advise /tmp/mpi-linux/profile.json
	[[ $output == *'nothing to win'* ]]
	# Nothing stays behind.
	run -0 bed ls /run/slurm-lwk/mpi
	[[ $output == '' ]]
}

@test "a profile of a program on the LWK has the same numbers" {
	profiled /tmp/mpi-lwk -c3 --mem=900 --lwk "$programs/mpi-pairs" 100
	run -0 counts /tmp/mpi-lwk/profile.json
	diff <(echo "$expected") <(echo "$output")
}

# Each rank in each step: 122 messages, 2 allreduces and 2 allgathers of 4 bytes, 3 barriers.
# bats test_tags=nightly
@test "the record of an LWK job has the sums of its steps with profiles" {
	as user1 mkdir -p /tmp/mpi-record
	job=$(submit user1 -n2 -c3 --mem=900 --lwk --wrap "cd /tmp/mpi-record
		for i in 1 2; do
			srun -Q -n2 --mpi=pmi2 --mpi-profile=p\$i.json $programs/mpi-pairs 100
		done")
	wait_for_job "$job"
	node_is_clean
	record=$(bed tail -n1 /var/log/slurm-lwk/jobs.json)
	jq .mpi <<<"$record"
	[[ $(jq -c '[.job_id, (.mpi | .steps, .ranks, .messages, .operations, .bytes, .file)]' <<<"$record") == \
		"[$job,2,4,488,28,$((4 * (11535224 + 16))),\"/tmp/mpi-record/p2.json\"]" ]]
	jq -e '.mpi | .seconds > 0 and .mpi_share > 0 and .mpi_share <= 1' <<<"$record"
}

# The program makes 1300 calls of MPI. A few delegated calls come by time, not by message, such as those of threads
# of the MPI library.
@test "on the LWK a profile delegates no calls with the calls of MPI" {
	lone=(timeout 300 srun -Q -n1 -c2 --mem=640 --lwk --mpi=pmi2)
	run -0 as user1 "${lone[@]}" "$programs/mpi-delegated"
	without=$output
	[[ $without =~ ^delegated\ [0-9]+$ ]]
	run -0 as user1 "${lone[@]}" --mpi-profile=/tmp/mpi-delegated.json "$programs/mpi-delegated"
	echo "without a profile: $without, with one: $output"
	[[ $output =~ ^delegated\ [0-9]+$ ]]
	((${output#delegated } - ${without#delegated } < 10))
	as user1 lwkctl mpi --json /tmp/mpi-delegated.json | jq -e '.functions.Isend.calls == 500'
}

@test "calls of each kind are counted once, and none is led astray" {
	profiled /tmp/mpi-calls -c1 --mem=900 "$programs/mpi-calls" | grep -x 'done'
	run -0 as user1 lwkctl mpi --json /tmp/mpi-calls/profile.json
	# 600 messages by three ways and of two threads, 300 in communicators of their own, 100 puts; 100 gets.
	diff <(jq -c '.matrix[] | [.from, .to, .messages, .bytes]' <<<"$output") - <<-'EOF'
	[0,1,1000,8800]
	[1,0,1000,8800]
	EOF
	[[ $(jq -c '[.unknown_peers, .unknown_sizes, .lost]' <<<"$output") == '[0,0,0]' ]]
	[[ $(jq -c '[.collectives[] | select(.function == "Alltoallw") | .bytes]' <<<"$output") == '[32]' ]]
}

@test "a static program has no profile, and is told why" {
	run -0 as user1 srun -Q -n1 --mem=100 --mpi-profile "$programs/hello"
	echo "$output"
	[[ $output == *'has no profile'*'statically linked'* ]]
}

@test "what killed ranks have counted is saved, and a user's pages lead nowhere" {
	as user1 mkdir -p /tmp/mpi-killed
	run as user1 srun -Q -n1 --mem=100 --chdir=/tmp/mpi-killed --mpi-profile=p.json sh -c '
		ln -s /etc/shadow "$LWK_MPI_PAGES/0-1"
		echo junk >"$LWK_MPI_PAGES/0-2"
		mkfifo "$LWK_MPI_PAGES/0-3"
		mkdir -p "$LWK_MPI_PAGES/a/b"; : >"$LWK_MPI_PAGES/a/b/c"
		ln -s /etc "$LWK_MPI_PAGES/a/d"'
	echo "$output"
	[[ $status == 0 && $output == *'has no profile'* ]]
	bed test -e /etc/passwd
	run -0 bed ls /run/slurm-lwk/mpi
	[[ $output == '' ]]
	# A rank that ends before its time.
	run as user1 timeout 300 srun -Q -K -n2 -c1 --mem=900 --mpi=pmi2 --chdir=/tmp/mpi-killed \
		--mpi-profile=p.json sh -c '
		[ "$SLURM_PROCID" = 0 ] || exec '"$programs"'/mpi-pairs 1000000
		'"$programs"'/mpi-pairs 1000000 &
		until [ "$(find "$LWK_MPI_PAGES" -size +0 | wc -l)" -ge 2 ]; do sleep 0.1; done
		kill -9 $!; wait $!'
	echo "$output"
	[[ $output == *'did not come to MPI_Finalize'* ]]
	as user1 lwkctl mpi --json /tmp/mpi-killed/p.node1.json | jq -e '.ranks == 2 and .present >= 1'
}

@test "file systems that a user mounts over the pages and below hold nobody, and go" {
	job=$(submit user1 -n1 --mem=100 --wrap '
		srun -Q -n1 --mpi-profile sh -c "mkdir -p \"\$LWK_MPI_PAGES/below it/deep\"; : >\"\$LWK_MPI_PAGES/made\"
			until [ -e /run/lwk-tests.mounted ]; do sleep 0.1; done"')
	wait_for 60 bed test -e "/run/slurm-lwk/mpi/$job.0/made"
	# Root mounts them as fusermount3 does for the user.
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed sh -euc 'modprobe fuse
		for at in "$2/below it/deep" "$2/below it" "$2"; do
			"$1/mute-files" "$at" >/dev/null 2>&1 &
			until mountpoint -q "$at"; do sleep 0.1; done
		done
		pkill -STOP -x mute-files
		: >/run/lwk-tests.mounted' - "$programs" "/run/slurm-lwk/mpi/$job.0"
	wait_for_job "$job"
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/mpi)" ]'
	bed sh -c 'pkill -KILL -x mute-files; rm /run/lwk-tests.mounted'
}

# bats test_tags=nightly
@test "the epilog saves what ranks have counted whose slurmstepd was killed" {
	as user1 mkdir -p /tmp/mpi-dead
	job=$(submit user1 -n2 -c1 --mem=900 --wrap "cd /tmp/mpi-dead
		exec srun -Q -n2 --mpi=pmi2 --mpi-profile=-p.json $programs/mpi-pairs 1000000")
	wait_for 60 bed sh -c '[ "$(find "/run/slurm-lwk/mpi/$1.0" -type f -size +0 | wc -l)" = 2 ]' - "$job"
	# shellcheck disable=SC2016  # the machine's shell expands it
	bed sh -euc 'pkill -9 -f "^slurmstepd: \[$1\.0\]"; pkill -9 -x mpi-pairs' - "$job"
	as user1 scancel "$job"
	wait_for_job "$job"
	wait_for 60 as user1 test -s /tmp/mpi-dead/-p.node1.json
	as user1 lwkctl mpi --json /tmp/mpi-dead/-p.node1.json | jq -e '.ranks == 2 and .present == 2'
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/mpi)" ]'
}

# bats test_tags=nightly
@test "a job ends in time, whatever its user has left among the profiles" {
	# Sparse files take no memory, and reading them takes long.
	job=$(submit user1 -n3 -c1 --mem=900 --wrap '
		for _ in 1 2 3; do
			srun -Q -n1 --exact --mem=200 --mpi-profile sh -c \
				"cd \$LWK_MPI_PAGES; seq 4000 | xargs truncate -s 64M; : >full; sleep 1000" &
		done; wait')
	wait_for 120 bed sh -c '[ "$(ls /run/slurm-lwk/mpi/$1.[012]/full | wc -l)" = 3 ]' - "$job"
	# shellcheck disable=SC2016  # the machine's shell expands it
	bed sh -euc 'pkill -9 -f "^slurmstepd: \[$1\.[012]\]"; pkill -9 -u user1 -x sleep' - "$job"
	as user1 scancel "$job"
	wait_for_job "$job"
	wait_for 120 bed grep -q "expected the profiles of job $job within 10 s" /var/log/slurm/slurmd.log
	bed sh -c 'rm -r /run/slurm-lwk/mpi/$1.*' - "$job"
}

@test "the library stands behind a user's own" {
	run -0 as user1 env LD_PRELOAD=libm.so.6 srun -Q -n1 --mem=100 --mpi-profile sh -c 'echo "$LD_PRELOAD"'
	[[ $output == *'libm.so.6:/usr/'*'/slurm-lwk/liblwkmpi.so'* ]]
}

@test "collective operations that know of sites have the same results" {
	run -0 as user1 timeout 300 srun -Q -n4 -c1 --mem=900 --mpi=pmi2 --mpi-collectives=sites sh -c '
		[ "$LWK_MPI_COLLECTIVES" = sites ] || exit 2
		case $LD_PRELOAD in *liblwkmpi.so*) ;; *) exit 3 ;; esac
		export SLURM_TOPOLOGY_ADDR=site$((SLURM_PROCID / 3)).node LWK_MPI_COLLECTIVES=sites,always
		exec '"$programs"'/mpi-collectives 30'
	[[ $output == *done* ]]
	run ! as user1 srun -Q -n1 --mem=100 --mpi-collectives=fast true
	[[ $output == *'expected "sites"'* ]]
}
