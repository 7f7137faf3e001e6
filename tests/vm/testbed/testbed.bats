#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# The test bed does at the prompt what testbed --help says. The bed's name is $LWK_TESTBED, or
# `default`, and it is up.

# shellcheck disable=SC2016,SC2154  # text for other shells; bats sets stderr

bats_require_minimum_version 1.5.0

setup()
{
	testbed=$BATS_TEST_DIRNAME/../../../contrib/testbed/testbed
	bed_name=${LWK_TESTBED:-default}
	here=$BATS_TEST_TMPDIR
	there=/tmp/testbed-bats.$BATS_TEST_NUMBER
}

# testbed VERB ARGUMENT...
testbed()
{
	"$testbed" "$1" --name "$bed_name" "${@:2}"
}

# refused TEXT ARGUMENT...: true when this command line is refused with TEXT.
refused()
{
	local wanted=$1
	shift

	run -2 --separate-stderr testbed "$@"
	[[ $stderr == *"expected "*", found "*"; "* ]] || { echo "not helpful: $stderr"; return 1; }
	[[ $stderr == *"$wanted"* ]] || { echo "no '$wanted' in: $stderr"; return 1; }
}

@test "the test bed is up, and status says so" {
	run -0 testbed status
	[[ ${lines[0]} == "$bed_name: up since "* ]]
	[[ $output == *'node1: 8 CPUs in 2 NUMA nodes, 4096 MB; ssh port '* ]]
	[[ $output == *'node1 idle'* || $output == *'node1 mixed'* || $output == *'node1 allocated'* ]]
}

@test "a second up does nothing" {
	before=$(testbed exec -- cat /proc/sys/kernel/random/boot_id)
	run -0 testbed up
	[[ $output == *"'$bed_name' is up already"*'nothing done'* ]]
	[[ $(testbed exec -- cat /proc/sys/kernel/random/boot_id) == "$before" ]]
}

@test "exec passes each word on as it is" {
	run -0 testbed exec -- printf '<%s>\n' 'two words' '' "it's" '"' '$HOME' '*' 'a\b' $'two\nlines' '-n' 'ü'
	expected=$(printf '<%s>\n' 'two words' '' "it's" '"' '$HOME' '*' 'a\b' $'two\nlines' '-n' 'ü')
	[[ $output == "$expected" ]]
}

@test "exec gives the command's exit status" {
	run -0 testbed exec -- true
	run -1 testbed exec -- false
	run -7 testbed exec -- sh -c 'exit 7'
	run -127 testbed exec -- no-such-command
}

@test "exec keeps stdout and stderr apart" {
	run --separate-stderr testbed exec -- sh -c 'echo out; echo err >&2'
	[[ $output == out && $stderr == err ]]
}

@test "exec hands stdin over, and the output back, byte by byte" {
	head -c 3000000 /dev/urandom >"$here/sent"
	testbed exec -- cat <"$here/sent" >"$here/came"
	cmp "$here/sent" "$here/came"
}

@test "exec runs on a machine without a terminal" {
	run -1 testbed exec -- test -t 1
}

@test "exec does not keep the caller's pipe open" {
	run -0 timeout 60 bash -c '"$1" exec --name "$2" --user user2 -- true 2>&1 | cat' - "$testbed" "$bed_name"
}

@test "exec runs twenty commands at once" {
	for i in {1..20}; do
		testbed exec -- echo "$i" >"$here/$i" 3>&- &
	done
	wait
	[[ $(cat "$here"/* | sort -n | tr '\n' ' ') == "$(seq -s ' ' 20) " ]]
}

@test "exec --user runs as that user, at home" {
	run -0 testbed exec -- sh -c 'id -un; pwd'
	[[ $output == $'root\n/root' ]]
	run -0 testbed exec --user user1 -- sh -c 'id -un; pwd'
	[[ $output == $'user1\n/home/user1' ]]
	run -0 testbed exec --user user2 -- sh -c 'id -un; pwd'
	[[ $output == $'user2\n/home/user2' ]]
}

@test "a file goes there and comes back with its mode" {
	head -c 100000 /dev/urandom >"$here/tool"
	chmod 0751 "$here/tool"
	testbed put "$here/tool" "$there"
	run -0 testbed exec -- stat -c '%a %U' "$there"
	[[ $output == '751 root' ]]
	testbed get "$there" "$here/back"
	cmp "$here/tool" "$here/back"
	[[ $(stat -c %a "$here/back") == 751 ]]
	testbed exec -- rm "$there"
}

@test "a directory goes there and comes back, links and modes and odd names too" {
	mkdir -p "$here/tree/sub dir"
	echo 'some text' >"$here/tree/sub dir/file with ' in it"
	chmod 0400 "$here/tree/sub dir/file with ' in it"
	ln -s 'sub dir' "$here/tree/link"
	chmod 0750 "$here/tree"
	testbed put "$here/tree" "$there"
	testbed get "$there" "$here/back"
	diff -r --no-dereference "$here/tree" "$here/back"
	[[ $(cd "$here/tree" && find . -printf '%m %p\n' | sort) == "$(cd "$here/back" && find . -printf '%m %p\n' | sort)" ]]
	testbed exec -- rm -r "$there"
}

@test "put and get into a directory keep the name" {
	echo hello >"$here/letter"
	testbed exec --user user1 -- mkdir -p "$there"
	testbed put --user user1 "$here/letter" "$there"
	run -0 testbed exec -- stat -c %U "$there/letter"
	[[ $output == user1 ]]
	mkdir "$here/in"
	testbed get "$there/letter" "$here/in"
	cmp "$here/letter" "$here/in/letter"
	testbed exec -- rm -r "$there"
}

@test "put and get name what they cannot copy, and leave nothing" {
	run -1 testbed put "$here/none" "$there"
	[[ $output == *"$here/none"* ]]
	run ! testbed get /no/such/file "$here/none"
	[[ ! -e $here/none ]]
}

@test "users run Slurm jobs" {
	run -0 --separate-stderr testbed exec --user user1 -- srun -n 2 sh -c 'hostname; id -un'
	[[ $(sort <<<"$output" | uniq -c | tr -s ' \n' ' ') == ' 2 node1 2 user1 ' ]]
	run -3 testbed exec --user user2 -- srun sh -c 'exit 3'
}

@test "a batch job's state can be read when it is over" {
	job=$(testbed exec --user user2 -- sbatch --parsable --output /dev/null --wait --wrap 'exit 0')
	run -0 testbed exec -- grep "^JobId=$job " /var/log/slurm/jobs.log
	[[ $output == *'JobState=COMPLETED'* ]]
}

@test "a wrong command line of testbed is refused with what was expected and found" {
	refused 'a verb' dance
	refused '--cgroup as one of: v1 v2' up --cgroup v3
	refused 'trixie, whose kernels have no cpusets of version 1' up --release trixie --cgroup v1
	refused '--init as one of: tiny systemd' up --init upstart
	refused 'a whole number from 2' up --cpus many
	refused 'a whole number from 2' up --cpus -1
	refused '--cpus as a multiple of --nodes' up --cpus 7 --nodes 2
	refused '4 CPUs for 4 nodes with 2 thread(s)' up --cpus 4 --nodes 4 --threads 2
	refused '--threads' up --threads 3
	refused '--machine as one of: q35 pc' up --machine isapc
	refused '--firmware as one of: bios uefi' up --firmware coreboot
	refused 'MODEL[,+flag,-flag...] for --cpu' up --cpu 'max,pcid=off'
	refused "--last-node as one of: full no-cpus no-memory" up --last-node empty
	refused 'two nodes or more for --last-node no-cpus' up --last-node no-cpus --nodes 1
	refused '6 CPUs for 4 nodes with' up --last-node no-cpus --nodes 5 --cpus 6
	refused '--machine q35 beside --iommu' up --machine pc --iommu
	refused '--mem as a multiple of 128 MB per node' up --mem 4000
	refused 'a value after --mem' up --mem
	refused 'one value of --cpus for all machines, or one for each of --machines 2' up --machines 2 --cpus 8,6,4
	refused 'one for each of --machines 1' up --mem 2048,1024
	refused "found ''" up --machines 2 --cpus 8,
	refused "found ''" up --machines 2 --nodes ,2
	refused "found ''" up --mem ''
	refused "found 'two'" up --machines 2 --nodes 2,two
	refused "found '4 4'" up --machines 2 --cpus '4 4,4'
	refused '--cpus as a multiple of --nodes times --threads, found 6 CPUs for 4 nodes with' up --machines 2 --cpus 8,6 --nodes 2,4
	refused '--mem as a multiple of 128 MB per node, found 1280 MB for 4 nodes' up --machines 2 --mem 2048,1280 --nodes 2,4 --cpus 8
	refused '--machines' up --machines 0 --cpus 8,6
	refused 'the numbers of machines on two sites' up --sites 3
	refused "found '3,0'" up --sites 3,0
	refused '--machines as the sum of --sites 3,1' up --sites 3,1 --machines 3
	refused '--sites beside --link' up --link delay=5ms
	refused 'a number and ms for --link' up --sites 1,1 --link delay=5
	refused "found 'jitter=1ms'" up --sites 1,1 --link delay=5ms,jitter=1ms
	refused 'a number and mbit for --rate' link --rate fast
	refused "'--frob'" up --frob
	refused 'a command' exec
	refused '--user as one of: root user1 user2' exec --user nobody -- true
	refused '--machine' exec --machine 9 -- true
	refused 'SRC and DST' put /etc/passwd
	refused 'name' status --name ../default
	refused "'now'" down now
}

@test "each verb says what to do when the test bed is not up" {
	run -1 testbed exec --name no-such -- true
	[[ $output == *'testbed up --name no-such'* ]]
	run -1 testbed status --name no-such
	[[ $output == 'no-such: down' ]]
	run -1 testbed link --name no-such
	[[ $output == *'testbed up --name no-such'* ]]
	run -0 testbed down --name no-such
}

@test "--help tells every verb" {
	run -0 testbed --help
	for verb in build up exec put get link status down; do
		[[ $output == *"  $verb"* ]]
	done
}
