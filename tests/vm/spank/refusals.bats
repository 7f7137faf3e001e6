#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# A job that cannot have LWK mode fails; its user reads why and what to do; and the node stays as it
# was, as the job of the next test shows.

load ../helpers

setup_file()
{
	prepare
	bed sh -s <<-'EOF'
	cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
	image=$(sed -n 's/^Path *= *//p' /etc/slurm/lwk.conf)
	mkdir -p /opt/lwk-images
	cd /opt/lwk-images
	head -c 9000 "$image" >truncated
	echo 'not a kernel' >text
	cp "$image" arm64
	printf '\267' | dd of=arm64 bs=1 seek=18 conv=notrunc status=none
	cp "$image" writable
	chmod 0666 writable
	for name in missing truncated text arm64 writable; do
		printf '\n[image %s]\nPath = /opt/lwk-images/%s\n' $name $name
	done >>/etc/slurm/lwk.conf
	cp -p /etc/slurm/lwk.conf /root/lwk.conf.images
	EOF
}

teardown()
{
	bed sh -c 'cp -p /root/lwk.conf.images /etc/slurm/lwk.conf; rm -f /etc/modprobe.d/lwk-test.conf'
}

teardown_file()
{
	bed sh -c 'cp -p /root/lwk.conf.before /etc/slurm/lwk.conf; rm -r /opt/lwk-images'
}

# job_refused TEXT... -- SRUN-ARG...: true when the node refuses this srun of user1 with each text.
job_refused()
{
	local -a texts=()
	local id

	while [[ $1 != -- ]]; do
		texts+=("$1")
		shift
	done
	shift
	refused "${texts[@]}" -- as user1 srun "$@" "$programs/hello"
	[[ $output != *kernel=* ]]
	[[ $output =~ lwk:\ job\ ([0-9]+)\  ]]
	id=${BASH_REMATCH[1]}
	wait_for_job "$id"
	job_is "$id" JobState=FAILED ExitCode=1:0
	node_is_as_before
}

# node_is_as_before: the cheap part of node_is_clean.
node_is_as_before()
{
	bed sh -s <<-'EOF'
	[ "$(cat /sys/devices/system/cpu/online)" = "$(head -n 1 /run/lwk-tests.before)" ] &&
		[ -z "$(ls -A /dev/lwk 2>/dev/null)" ] &&
		! scontrol -o show node | grep -E ' State=[^ ]*(DRAIN|DOWN|FAIL)'
	EOF
}

@test "an unknown image is refused with the names of those that there are" {
	job_refused 'no LWK image "nosuch"' 'there are: lwk, missing' -- -c2 --lwk=nosuch
}

@test "a missing image file is refused" {
	job_refused '/opt/lwk-images/missing: No such file' 'administrator' -- -c2 --lwk=missing
}

@test "a truncated image file is refused" {
	job_refused 'truncated' 'install it again' -- -c2 --lwk=truncated
}

@test "an image file that is not ELF is refused" {
	job_refused 'expected an ELF file' -- -c2 --lwk=text
}

@test "an image for another machine is refused" {
	job_refused 'one for another (ELF machine 183' -- -c2 --lwk=arm64
}

@test "an image that other users can write is refused" {
	job_refused '/opt/lwk-images/writable' 'only root' 'chmod go-w' -- -c2 --lwk=writable
}

@test "a malformed image name never leaves srun" {
	before=$(bed sh -c 'scontrol -o show job | wc -l')
	for name in 'a/b' '../lwk' 'a b' 'a;id' '$(id)' '-x' "$(printf '%033d' 0)"; do
		refused "found \"$name\"" 'letters, digits' -- \
			as user1 srun -c2 "--lwk=$name" "$programs/hello"
		refused "found \"$name\"" -- as user1 sbatch -c2 "--lwk=$name" --wrap true
	done
	refused 'expected "auto" or "none", found "perhaps"' -- \
		as user1 srun -c2 --lwk --lwk-launch=perhaps "$programs/hello"
	[[ $(bed sh -c 'scontrol -o show job | wc -l') == "$before" ]]
}

@test "an allocation without a CPU for the LWK is refused" {
	job_refused 'at least 2 CPUs' 'stays with Linux' '-c 2' -- -c1 --lwk
}

@test "less memory than an LWK needs is refused" {
	job_refused '--lwk: expected at least' 'found 64 MB' '--mem=' -- -c2 --mem=64 --lwk
}

@test "more memory than the node can give away is refused" {
	job_refused 'memory' '--mem' -- -c2 --mem=3700 --lwk
}

@test "a node that cannot load lwkpart.ko refuses the job" {
	bed sh -s <<-'EOF'
	rmmod lwkpart 2>/dev/null
	echo 'install lwkpart false' >/etc/modprobe.d/lwk-test.conf
	EOF
	job_refused 'kernel module lwkpart cannot be loaded' 'lwkctl check' -- -c2 --lwk
}

@test "an unknown key in lwk.conf is named" {
	bed sh -c 'echo "Colour = green" >>/etc/slurm/lwk.conf'
	job_refused '/etc/slurm/lwk.conf:' 'unknown key "Colour"' -- -c2 --lwk
}

@test "a bad value in lwk.conf is named" {
	bed sed -i 's/^LinuxCpus.*/LinuxCpus = many/' /etc/slurm/lwk.conf
	job_refused '/etc/slurm/lwk.conf:' 'LinuxCpus' 'found "many"' -- -c2 --lwk
}

@test "the output of a refused batch job says why, and none of its script runs" {
	job=$(submit user1 -c2 --lwk=nosuch --wrap 'echo the script runs')
	wait_for_job "$job"
	run job_output user1 "$job"
	[[ $output == *'no LWK image "nosuch"'* ]]
	[[ $output != *'the script runs'* ]]
	job_is "$job" JobState=FAILED ExitCode=1:0
}

@test "the node is as before the refused jobs, and runs an LWK job" {
	node_is_clean
	run -0 as user1 srun -c2 --mem=512 --lwk "$programs/hello"
	[[ $output == *'LWK'* ]]
	node_is_clean
}
