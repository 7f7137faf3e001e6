#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# The device of an instance is its owner's alone, as long as the instance exists. A descriptor that names the device,
# or has it open, is of no use afterwards.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
}

teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel'
}

# A script for bash in the machine: a process of user1 keeps a device and tries to use it.
keeper='
	export PATH=$PATH:/opt/lwk-tests
	as_user1="setpriv --reuid user1 --regid user1 --clear-groups"
	# on JOB USER: makes an instance without Slurm; prints its device.
	on() { switch-once on "$1" "$(id -u "$2")" 4-5 400M | grep -o "/dev/lwk/[0-9]*"; }
	keep() {
		coproc KEEPER { exec $as_user1 keep-device "$1"; }
		read -r line <&"${KEEPER[0]}"
		echo "$line"
	}
	try() { echo >&"${KEEPER[1]}"; sed "/^done/q" <&"${KEEPER[0]}"; }'

# is_useless OUTPUT: true when neither descriptor of the device could be used for anything.
is_useless()
{
	local line

	grep -qx 'reopen: Permission denied' <<<"$1"
	grep -qx 'reopen to read: Permission denied' <<<"$1"
	grep -qx 'status while it runs: ok' <<<"$1"
	grep -qx 'status: Bad address' <<<"$1"
	# GET_STATUS and GET_DETAILS tell how the instance ended.
	grep -v '^\(reopen\|status\|GET_STATUS\|GET_DETAILS\|open\|done\)' <<<"$1" | while read -r line; do
		[[ $line == *': Host is down' ]] || { echo "expected an error, found: $line"; return 1; }
	done
	grep -qx 'done' <<<"$1"
}

@test "a user without a job can open, map and ask nothing, whatever the node's mode" {
	run -0 bed bash -s <<-EOF
	$keeper
	device=\$(on 400 user2)
	chmod 666 "\$device"
	for node in "\$device" /dev/lwkpart; do
		keep "\$node"
		try
		kill "\$KEEPER_PID"
		wait
	done
	unshare --help >/dev/null && \$as_user1 unshare --user --map-root-user keep-device "\$device" </dev/null
	switch-once off 400
	EOF
	[[ $output != *': ok'* ]]
	[[ $(grep -c '^open: Permission denied' <<<"$output") == 3 ]]
	[[ $(grep -c '^done' <<<"$output") == 2 ]]
	node_is_clean
}

@test "what an ended instance left open does not lead to the next one with its number" {
	for owner in user2 user1; do
		run -0 bed bash -s "$owner" <<-EOF
		$keeper
		device=\$(on 401 user1)
		keep "\$device"
		switch-once off 401 >/dev/null
		keep-device --next "\${device##*/}"
		next=\$(on 402 "\$1")
		[[ \$device == "\$next" ]] || echo "expected \$device, found \$next"
		try
		switch-once off 402 >/dev/null
		EOF
		[[ $output == 'open: ok'* ]]
		is_useless "$output"
	done
	node_is_clean
}

# The LWK believes proxies of its job that they have removed a mapping.
@test "a proxy that keeps memory which its LWK has taken back loses it at the instance's end" {
	run -0 bed bash -s <<-EOF
	$keeper
	device=\$(on 405 user1)
	coproc KEEPER { exec \$as_user1 kept-window "\$device"; }
	trap : PIPE
	exec {to}>&"\${KEEPER[1]}" {from}<&"\${KEEPER[0]}"
	read -r line <&"\$from"
	echo "\$line"
	switch-once off 405 >/dev/null
	device=\$(on 406 user2)
	LWK_DEVICE=\$device setpriv --reuid user2 --regid user2 --clear-groups lwkexec /opt/lwk-tests/hold-memory 300 1
	echo >&"\$to"
	cat <&"\$from"
	switch-once off 406 >/dev/null
	EOF
	echo "$output"
	[[ $output == kept*holding*'nothing left'*'keep: right' ]]
	node_is_clean
}

@test "lwkctl reset ends what has the device open" {
	run -0 bed bash -s <<-EOF
	$keeper
	keep "\$(on 403 user1)"
	lwkctl reset 403 >/dev/null
	try
	EOF
	[[ $output == 'open: ok'* ]]
	is_useless "$output"
	node_is_clean
}

# bats test_tags=nightly
@test "the node in a job's private view does not lead to the next instance with its number" {
	job=$(submit user1 -n2 --mem=400 --lwk --wrap 'echo "/proc/$$/root$LWK_DEVICE"; sleep 300')
	wait_for 60 has_printed user1 "$job" /proc
	private=$(job_output user1 "$job")
	run -0 bed bash -s "$job" "$private" <<-EOF
	$keeper
	keep "\$2"
	scancel "\$1"
	until [[ ! -e /run/slurm-lwk/jobs/\$1.json ]]; do sleep 0.2; done
	keep-device --next "\${2##*/}"
	next=\$(on 404 user2)
	[[ \${2##*/} == "\${next##*/}" ]] || echo "expected \$2, found \$next"
	try
	switch-once off 404 >/dev/null
	EOF
	[[ $output == 'open: ok'* ]]
	is_useless "$output"
	wait_for_job "$job"
	node_is_clean
}
