#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: second
#
# Dumps of an LWK: gdb reads them, and a dump that cannot be written does not hold up the node.

load ../helpers

setup_file()
{
	prepare
	bed sh -c 'cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
		mkdir -p /var/dumps /var/small /var/stuck
		mount -t tmpfs -o size=256k,mode=755 none /var/small
		busybox syslogd -O /root/dump.log
		for what in fault panic hang; do
			printf "\n[image %s]\nDriver=lwkpart\nPath=/usr/lib/slurm-lwk/lwk.elf\nArgs=inject=%s\n" $what $what
		done >>/etc/slurm/lwk.conf'
}

teardown_file()
{
	bed sh -c 'mv /root/lwk.conf.before /etc/slurm/lwk.conf
		umount /var/small; kill $(cat /var/run/syslogd.pid)
		rm -r /var/dumps /var/small /var/stuck'
	node_is_clean
}

# keep_in DIRECTORY: sets DumpOnPanic=.
keep_in()
{
	bed sed -i "/^DumpOnPanic/d; s:^OsCpus:DumpOnPanic = $1\n&:" /etc/slurm/lwk.conf
}

# fails IMAGE: runs an srun on it that fails; $told is its output, $job its number.
fails()
{
	run ! as user1 srun --lwk="$1" -n1 -c3 --mem=256M "$programs/hello"
	echo "$output"
	told=$output
	job=$(bed scontrol -o show job | sed -n 's/^JobId=\([0-9]*\).*/\1/p' | sort -n | tail -n1)
	node_is_clean
}

# debug CORE COMMAND...: runs gdb's commands on a dump that lies in the machine.
debug()
{
	local core=$BATS_TEST_TMPDIR/core commands=() command

	testbed get "$1" "$core" >/dev/null
	shift
	for command; do
		commands+=(-ex "$command")
	done
	gdb -nx -batch "${commands[@]}" "$(built)/stage/usr/lib/slurm-lwk/lwk.elf" "$core" 2>&1
}

@test "gdb shows where the LWK faulted, and what it said" {
	keep_in /var/dumps
	fails fault
	run -0 bed find /var/dumps -type f -printf '%p %m %u\n'
	[[ $output == "/var/dumps/lwk-$job.core 600 root"* && $output != *part* ]]
	# The user gets one message.
	[[ $told == *"lwk: job $job: the LWK of job $job is in PANIC: CPU 0: page fault"*"its dump is /var/dumps/lwk-$job.core"* ]]
	[[ $(grep -c 'its dump is' <<<"$told") == 1 ]]
	run -0 debug "/var/dumps/lwk-$job.core" 'info registers rip' bt 'print status->message' \
		'print boot->job_id' 'info threads' 'thread 2' bt
	echo "$output"
	[[ $output != *'Cannot access memory'* && $output != *warning* ]]
	[[ $output =~ rip\ +0xffffffff800[0-9a-f]+.*process_run ]]
	[[ $output == *'#0 '*'start ('*'*(volatile u32 *)LWK_IMAGE_LIMIT = 0;'*'process_run ()'*'slot_loop ()'* ]]
	[[ $output == *'"CPU 0: page fault (vector 14'*"= $job"* ]]
	# The other CPU has halted.
	[[ $output == *'thread 2'*'halt_with_interrupts'*'slot_sleep'*'slot_loop ()'* ]]
	run -0 bed cat /root/dump.log
	[[ $output == *"the LWK of job $job is in PANIC: CPU 0: page fault"*"its dump is /var/dumps/lwk-$job.core"* ]]
}

# bats test_tags=nightly
@test "gdb shows where the LWK panicked by itself" {
	keep_in /var/dumps
	fails panic
	run -0 debug "/var/dumps/lwk-$job.core" bt 'print status->message'
	[[ $output == *'#0 '*'panic (format='*'"injected"'*'process_run ()'*'$1 = "injected"'* ]]
}

@test "the dump of a hanging LWK shows where its CPUs are" {
	keep_in /var/dumps
	bed sed -i 's/^HangTimeout.*/HangTimeout = 3/' /etc/slurm/lwk.conf
	fails hang
	bed sed -i 's/^HangTimeout.*/HangTimeout = 10/' /etc/slurm/lwk.conf
	[[ $output == *'the LWK is hung'* ]]
	run -0 debug "/var/dumps/lwk-$job.core" 'print status->cpus_up' 'print boot->job_id' 'thread apply all bt'
	echo "$output"
	[[ $output == *'$1 = 2'*"= $job"* ]]
	# One CPU hangs where inject=hang makes it, the other one halts.
	[[ $output == *'#0 '*'process_run ()'* && $output == *'#0 '*'halt_with_interrupts'*'slot_sleep'* ]]
	[[ $output == *'Thread 2'* ]]
}

# bats test_tags=nightly
@test "without a fault, or without DumpOnPanic=, there is no dump" {
	keep_in /var/dumps
	before=$(bed ls -A /var/dumps)
	run -0 as user1 srun --lwk -n1 -c3 --mem=256M "$programs/hello"
	keep_in no
	fails panic
	[[ $(bed ls -A /var/dumps) == "$before" ]]
}

# bats test_tags=nightly
@test "on a full disk no part of a dump stays, the log says why, and the node goes on" {
	keep_in /var/small
	fails panic
	[[ -z $(bed ls -A /var/small) && $told == *"a dump of job $job's LWK was to be kept in /var/small"*'there is no room for it'* ]]
	run -0 bed grep "a dump of job $job" /root/dump.log
	[[ $output == *"a dump of job $job's LWK was to be kept in /var/small"*'there is no room for it'* ]]
}

@test "a dump follows no links and goes to no directory that others can write" {
	keep_in /var/dumps
	next=$(($(bed scontrol show config | sed -n 's/^NEXT_JOB_ID *= //p')))
	bed sh -c "echo precious >/root/precious; cd /var/dumps
		ln -s /root/precious lwk-$next.core; ln -s /root/precious .lwk-$next.core.part"
	fails panic
	run -0 bed sh -c "cat /root/precious; stat -c %F /var/dumps/lwk-$next.core; ls -A /var/dumps/.lwk* || true"
	[[ $output == *$'precious\nregular file'* && $output != *"$next.core.part"$'\n'* ]]
	bed chmod 1777 /var/stuck
	keep_in /var/stuck
	fails panic
	[[ -z $(bed ls -A /var/stuck) && $(bed tail -n1 /root/dump.log) == *'directory that only root can write'* ]]
	bed chmod 755 /var/stuck
}

# bats test_tags=nightly
@test "a file system that does not answer holds up neither the node nor the lock" {
	truncate -s 16M "$BATS_TEST_TMPDIR/stuck.img"
	PATH=$PATH:/usr/sbin mke2fs -q -t ext4 "$BATS_TEST_TMPDIR/stuck.img"
	testbed put "$BATS_TEST_TMPDIR/stuck.img" /root/stuck.img
	bed sh -ec 'modprobe loop; mount -o loop /root/stuck.img /var/stuck; mountpoint /var/stuck; fsfreeze -f /var/stuck'
	bed sed -i 's/^SwitchTimeout.*/SwitchTimeout = 15/' /etc/slurm/lwk.conf
	keep_in /var/stuck
	fails panic
	bed sed -i 's/^SwitchTimeout.*/SwitchTimeout = 240/' /etc/slurm/lwk.conf
	run -0 as user1 srun --lwk -n1 -c3 --mem=256M "$programs/hello"
	bed sh -c 'fsfreeze -u /var/stuck'
	run -0 bed grep "a dump of job $job" /root/dump.log
	[[ $output == *'it was not written in time'* ]]
	bed sh -c 'umount /var/stuck || { sleep 2; umount /var/stuck; }; rm /root/stuck.img'
}

@test "lwkctl events tells of a panic with its time" {
	keep_in no
	# The job's Linux side outlives its program, and so does the instance.
	id=$(submit user1 -n3 --mem=512 --lwk=panic --wrap "while [ ! -e go.\$SLURM_JOB_ID ]; do sleep 0.2; done
		srun -n1 $programs/hello; sleep 100")
	wait_for 60 bed sh -c "lwkctl info $id | grep 'state *running'"
	as user1 sh -c "timeout 300 lwkctl events $id >events.$id 2>&1 &"
	wait_for 30 as user1 grep -q ' state running' "events.$id"
	as user1 touch "go.$id"
	wait_for 60 as user1 grep -q ' panic: ' "events.$id"
	bed lwkctl dump "$id" /var/dumps/panicked
	panicked=$(debug /var/dumps/panicked 'print status->panic_ns' | sed -n 's/^$1 = //p')
	seen=$(bed lwkctl info "$id" --json | jq .instance_since_ns)
	told=$(as user1 sed -n 's/^\([^ ]* [^ ]*\) panic: .*/\1/p' "events.$id")
	told=$(bed date -d "$told" +%s%N)
	echo "panicked at $panicked, seen $(((seen - panicked) / 1000)) us later, told $(((told - panicked) / 1000)) us later"
	# Times of events are in milliseconds. lwkctl looks once a second.
	((panicked > 0 && seen >= panicked && seen - panicked <= 1000000000 && told >= panicked - 1000000))
	as user1 scancel "$id"
	wait_for_job "$id"
}

# bats test_tags=nightly
@test "an LWK that runs goes on after its dump" {
	id=$(submit user1 -n3 --mem=512 --lwk --wrap "srun -n1 $programs/spin")
	wait_for 60 has_printed user1 "$id" 'spinning'
	run -0 bed lwkctl dump "$id" /var/dumps/live
	run -0 debug /var/dumps/live 'print boot->job_id' 'print status->state' 'print status->cpu[0].processes'
	[[ $output == *"\$1 = $id"*'$2 = 4'*'$3 = '* ]]
	run -1 bed lwkctl dump "$id" /var/dumps/live
	[[ $output == *'expected a new file'* ]]
	run -1 bed lwkctl dump "$id" /var/small/live
	[[ $output == *'there is no room for it'* && -z $(bed ls -A /var/small) ]]
	run -1 bed lwkctl dump "$id" /nowhere/live
	run -1 as user1 lwkctl dump "$id" live
	[[ $output == *'expected to run as root'* ]]
	run -2 bed lwkctl dump "$id"
	run -1 bed lwkctl dump 4000000 /var/dumps/none
	[[ $output == *'no LWK job 4000000'* ]]
	run -0 bed lwkctl info "$id"
	[[ $output == *running* ]]
	as user1 scancel "$id"
	wait_for_job "$id"
}
