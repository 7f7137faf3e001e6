#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Memory of a Linux job on the NUMA node that an LWK job takes moves away before, within the limits of
# lwk.conf, and comes home afterwards, whatever happens in between.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
	bed modprobe lwkpart
	# The LWK can have all of a prepared node 1, so that the memory of a job there has to go.
	bed lwkctl prepare >/dev/null || true
	# NUMA balancing would move pages, too.
	bed sysctl -q kernel.numa_balancing=0
	bed cp /etc/slurm/lwk.conf /tmp/lwk.conf.before
}

teardown_file()
{
	bed lwkctl prepare --undo >/dev/null
}

setup()
{
	# With the default of 10 % the way home takes minutes on an emulated machine.
	configure RehomeCpu=100%
}

# lwk_size: prints a share of node 1 for which most of a job's memory there has to go.
lwk_size()
{
	bed awk '/MemTotal/ { printf "%dM\n", $4 / 1024 - 380 }' /sys/devices/system/node/node1/meminfo
}

teardown()
{
	unlock
	bed sh -c 'cp /tmp/lwk.conf.before /etc/slurm/lwk.conf; pkill switch-once; lwkctl reset >/dev/null
		scancel --user=user1 --signal=KILL --full'
	node_is_clean
}

# unlock: ends processes that keep their own memory maps locked. ps(1) and pkill(1) wait for these.
unlock()
{
	bed sh -c 'grep -lsx lock-own-map /proc/[0-9]*/comm | cut -d/ -f3 | xargs -r kill -9; rm -f /tmp/lock-own-map.*
		! test -e /sys/fs/cgroup/session ||
			timeout 60 sh -c "until rmdir /sys/fs/cgroup/session; do sleep 0.1; done"'
}

# configure LINE...: sets lines of section [node] until the end of the test.
configure()
{
	local line

	for line; do
		bed sed -i "/^${line%%=*} *=/d; s/^\[node\]\$/&\n$line/" /etc/slurm/lwk.conf
	done
}

# linux_job MEGABYTES [COMMAND]: starts a Linux-only job with that much memory on node 1; sets id and pid.
linux_job()
{
	id=$(submit user1 -c1 --mem=$(($1 + 100)) --wrap "exec ${2:-$programs/keep-memory $1 1}")
	wait_for 60 has_printed user1 "$id" ready
	pid=$(job_output user1 "$id" | sed -n 's/^ready //p')
	pages=$(($1 * 256))
	[[ $(on_node 1) -ge $pages ]]
}

# on_node N: prints how many pages of 4 KB of its large mapping the job has there.
on_node()
{
	bed awk -v node="$1" '/anon=/ { for (i = 3; i <= NF; i++) { split($i, part, "=")
		if (part[1] == "N" node && part[2] > most) most = part[2] } } END { print most + 0 }' \
		"/proc/$pid/numa_maps"
}

is_home()
{
	(($(on_node 1) >= pages)) && bed sh -c '! ls /run/slurm-lwk/jobs/*.away'
}

# True when the job still computes and has computed right all the time.
ends_right()
{
	as user1 scancel --full --signal=TERM "$id"
	wait_for_job "$id"
	run job_output user1 "$id"
	echo "$output"
	[[ $output == *'right after many rounds'* ]]
}

@test "a Linux job's memory leaves the node that an LWK job takes, and comes home afterwards" {
	linux_job 450
	run --separate-stderr bed switch-once on 300 1000 4-7 "$(lwk_size)"
	echo "$output"
	[[ $(jq -r .state <<<"$output") == active ]]
	# The record tells how much went, and has the step.
	(($(jq .vacated <<<"$output") > 100 << 20))
	[[ $(jq '[.steps[] | select(.name == "vacate")] | length' <<<"$output") -ge 1 ]]
	run -0 bed lwkctl status
	[[ $output == *'moved away for it: '*' MB of other programs'* ]]
	away=$(on_node 0)
	((away > pages / 4))
	# While the LWK job has the node, nothing comes home.
	bed lwkctl rehome
	(($(on_node 0) == away))
	bed switch-once off 300
	wait_for 90 is_home
	ends_right
}

# names_nodes: fails if Linux would wait for the job's memory map when a CPU goes: if its cpuset of version 2 names no nodes.
names_nodes()
{
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed sh -c 'mems=/sys/fs/cgroup$(sed -n s/^0:://p "/proc/$1/cgroup")/cpuset.mems
		! test -e "$mems" || grep -q . "$mems"' - "$pid"
}

@test "a user's process that keeps its own memory map locked does not hold up a switch" {
	linux_job 450
	names_nodes
	bed sh -c 'modprobe fuse; chmod 666 /dev/fuse'
	# The page that is being read, for which Linux itself waits, stays on the node that the LWK job does not take.
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed sh -c 'if test -e /sys/fs/cgroup/cgroup.procs; then
			mkdir /sys/fs/cgroup/session && echo $$ >/sys/fs/cgroup/session/cgroup.procs || exit
		fi
		setsid taskset -c 1 setpriv --reuid=user2 --regid=user2 --init-groups "$1" >/run/lwk-tests.locked \
			2>&1 </dev/null &' - "$programs/lock-own-map"
	wait_for 30 bed grep -q '^locked' /run/lwk-tests.locked
	run --separate-stderr bed timeout -s KILL 100 switch-once on 308 1000 4-7 "$(lwk_size)"
	echo "$output"
	[[ $(jq -r .state <<<"$output") == active ]]
	# The memory of all others has moved.
	(($(jq .vacated <<<"$output") > 100 << 20))
	run -0 bed timeout -s KILL 100 switch-once off 308
	wait_for 90 is_home
	unlock
	ends_right
}

# is_told_locked: brings memory home until that tells of a locked process.
is_told_locked()
{
	[[ $(bed lwkctl rehome 2>&1) == *'keep their memory maps locked'* ]]
}

# bats test_tags=nightly
@test "memory of a job whose memory map is locked just then comes home afterwards" {
	bed sh -c 'modprobe fuse; chmod 666 /dev/fuse; rm -f /dev/shm/rehome.lock'
	linux_job 450 "$programs/lock-own-map 450 1 /dev/shm/rehome.lock"
	bed switch-once on 309 1000 4-7 "$(lwk_size)"
	(($(on_node 0) > pages / 4))
	# The turn is taken, so that what the end of the LWK job starts leaves the memory alone.
	bed sh -c 'flock -F /run/slurm-lwk/rehome.lock sleep 600 >/dev/null 2>&1 & echo $! >/run/lwk-tests.turn'
	wait_for 30 bed sh -c '! flock -n /run/slurm-lwk/rehome.lock true'
	bed touch /dev/shm/rehome.lock
	wait_for 60 has_printed user1 "$id" '^locked'
	run -0 bed timeout -s KILL 100 switch-once off 309
	bed sh -c 'kill "$(cat /run/lwk-tests.turn)"'
	wait_for 90 is_told_locked
	bed test -e /run/slurm-lwk/jobs/309.away
	bed rm /dev/shm/rehome.lock
	wait_for 60 has_printed user1 "$id" unlocked
	bed lwkctl rehome
	wait_for 60 is_home
	as user1 scancel "$id"
	wait_for_job "$id"
}

# bats test_tags=nightly
@test "memory comes home also when the switch is killed while it moves, or after it" {
	linux_job 450
	configure VacateRate=30M
	# shellcheck disable=SC2016  # the machine's shell expands these
	bed bash -c 'switch-once on 301 1000 4-7 $1 >/dev/null &
		while kill -0 $! && ! grep -q "anon=[0-9]\{4,\} .* N0=[0-9]\{4\}" "/proc/$2/numa_maps"; do sleep 0.1; done
		kill -9 $!; wait $! 2>/dev/null; true' - "$(lwk_size)" "$pid"
	bed test -e /run/slurm-lwk/jobs/301.journal
	away=$(on_node 0)
	((away > 0 && away < pages))
	bed lwkctl reset
	wait_for 90 is_home

	configure VacateRate=0
	bed switch-once on 302 1000 4-7 "$(lwk_size)"
	(($(on_node 0) > pages / 4))
	# The process that brings memory home is killed; the next lwkctl that gives back begins again.
	bed bash -c 'switch-once off 302 >/dev/null; sleep 1; pkill -9 -x -f ".*lwkctl rehome"; true'
	bed lwkctl reset
	wait_for 90 is_home
	ends_right
}

# bats test_tags=nightly
@test "memory leaves no faster than VacateRate=" {
	linux_job 450
	configure VacateRate=100M
	run --separate-stderr bed switch-once on 303 1000 4-7 "$(lwk_size)"
	echo "$output"
	# There is no upper bound, because the host may be busy.
	jq -e '.vacated > 100 * 1048576 and ([.steps[] | select(.name == "vacate") | .us] | add) / 1000000
		>= 0.9 * (.vacated / 1048576 / 100 - 0.5)' <<<"$output"
	bed switch-once off 303
	wait_for 90 is_home
	ends_right
}

# bats test_tags=nightly
@test "with Rehome=no memory stays where it went" {
	linux_job 450
	configure Rehome=no
	bed switch-once on 304 1000 4-7 "$(lwk_size)"
	away=$(on_node 0)
	((away > pages / 4))
	bed switch-once off 304
	run -0 bed lwkctl rehome
	[[ $output == 'nothing was away' ]]
	(($(on_node 0) == away))
	ends_right
}

# bats test_tags=nightly
@test "memory stays away for a warm partition, and a job that ends leaves nothing to bring home" {
	linux_job 450
	configure KeepWarm=600
	size=$(lwk_size)
	bed switch-once on 305 1000 4-7 "$size"
	bed switch-once ended 305
	bed switch-once on 306 1000 4-7 "$size"
	(($(on_node 0) > pages / 4))
	bed test -e /run/slurm-lwk/jobs/306.away
	bed switch-once off 306
	wait_for 90 is_home
	bed switch-once on 307 1000 4-7 "$size"
	bed test -e /run/slurm-lwk/jobs/307.away
	ends_right
	bed switch-once off 307
	wait_for 30 bed test ! -e /run/slurm-lwk/jobs/307.away
}
