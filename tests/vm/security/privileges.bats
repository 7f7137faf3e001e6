#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Programs on the LWK get no rights that their proxy lacks, and Linux guards a proxy from other users as it guards
# every process: set-user-ID bits, file capabilities, ptrace, name spaces.

load ../helpers

setup_file()
{
	prepare
	bed sh -s <<-'EOF'
	mkdir -p /opt/lwk-rights
	cd /opt/lwk-rights
	cp /bin/cat suid
	cp /bin/cat capable
	cp /bin/cat unreadable
	chmod 4755 suid
	chmod 4711 unreadable
	setcap cap_dac_read_search,cap_sys_admin+ep capable
	echo secret >secret
	chmod 600 secret
	EOF
	bed sh -c 'cat >/opt/lwk-rights/calls.pl' <<-'EOF'
	# Calls that would give rights, or reach another process. Arguments are good where that matters.
	my ($victim, $buffer, $n) = ($ARGV[0], "x" x 64, 0);
	my $pidfd = syscall(434, $victim + 0, 0); # any user may have one
	my %calls = (kill => [62, $victim, 9], tkill => [200, $victim, 9], tgkill => [234, $victim, $victim, 9],
		rt_sigqueueinfo => [129, $victim, 9, $buffer], ptrace => [101, 16, $victim, 0, 0],
		ptrace_traceme => [101, 0, 0, 0, 0], process_vm_readv => [310, $victim, $buffer, 1, $buffer, 1, 0],
		process_vm_writev => [311, $victim, $buffer, 1, $buffer, 1, 0], setuid => [105, 0],
		setgid => [106, 0], setreuid => [113, 0, 0], setresuid => [117, 0, 0, 0], setresgid => [119, 0, 0, 0],
		setgroups => [116, 0, 0], capset => [126, $buffer, $buffer],
		mknod => [133, "/tmp/node", 020666, 0x100], mount => [165, "none", "/mnt", "tmpfs", 0, 0],
		umount2 => [166, "/dev/lwk", 2], pivot_root => [155, "/", "/"], chroot => [161, "/tmp"],
		unshare => [272, 0x10000000], setns => [308, 0, 0], init_module => [175, $buffer, 64, ""],
		finit_module => [313, 0, "", 0], kexec_load => [246, 0, 0, 0, 0], reboot => [169, 0xfee1dead, 672274793, 0, 0],
		iopl => [172, 3], ioperm => [173, 0, 1, 1], bpf => [321, 5, $buffer, 64],
		perf_event_open => [298, $buffer, -1, 0, -1, 0], userfaultfd => [323, 0], io_uring_setup => [425, 1, $buffer],
		pidfd_send_signal => [424, $pidfd, 9, 0, 0], pidfd_getfd => [438, $pidfd, 0, 0],
		swapon => [167, "/etc/passwd", 0], settimeofday => [164, $buffer, 0], sethostname => [170, "forged", 6],
		setpriority => [141, 0, $victim, -20],
		prlimit64 => [302, $victim, 7, $buffer, 0], ioprio_set => [251, 1, $victim, 0],
		move_pages => [279, $victim, 0, 0, 0, 0, 0], migrate_pages => [256, $victim, 64, $buffer, $buffer],
		acct => [163, "/tmp/acct"], quotactl => [179, 0, 0, 0, 0], syslog => [103, 5, 0, 0], vhangup => [153],
		open_lwkpart => [2, "/dev/lwkpart", 2], open_mem => [2, "/dev/mem", 2], open_kmsg => [2, "/dev/kmsg", 2],
		open_victim => [2, "/proc/$victim/mem", 2], open_shadow => [2, "/etc/shadow", 0]);
	for my $name (sort keys %calls) {
		my ($nr, @rest) = @{$calls{$name}};
		my $result = syscall($nr, map { /^-?\d+$/ ? $_ + 0 : $_ } @rest);
		print "$name was done: $result\n" if $result >= 0;
		$n++;
	}
	# setfsuid returns the previous user, whether it changes anything or not.
	syscall(122, 0);
	print "$n calls, fsuid ", syscall(122, -1), "\n";
	EOF
	bed sh -c 'cat >/opt/lwk-rights/reach.pl' <<-'EOF'
	my ($pid, $to) = ($ARGV[0] + 0, "x" x 64);
	my $into = pack("QQ", unpack("Q", pack("p", $to)), 64);
	my $from = pack("QQ", hex($ARGV[1]), 64);
	my $fd = syscall(434, $pid, 0); # pidfd_open
	my @taken = grep { syscall(438, $fd, $_, 0) >= 0 } 0 .. 1023; # pidfd_getfd
	print "descriptors: ", scalar(@taken), "\n";
	print "memory: ", syscall(310, $pid, $into, 1, $from, 1, 0), "\n"; # process_vm_readv
	EOF
}

teardown_file()
{
	bed rm -r /opt/lwk-rights
	node_is_clean
}

# in_job SCRIPT ARGUMENT...: runs it as user1 on the Linux side of an LWK job; both outputs come back.
in_job()
{
	as user1 srun -Q --input=none -n1 -c3 --mem=400 --lwk --lwk-launch=none bash -c "exec 2>&1; cd /opt/lwk-rights
		$1" "$programs" "${@:2}"
}

@test "set-user-ID bits and file capabilities give nothing on the LWK" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 in_job '
		echo linux: $(./suid secret) $(./capable secret) $(./unreadable secret)
		for program in suid capable unreadable; do
			lwkexec ./$program secret
			echo "$program: $?"
		done
		lwkexec sh -c "./suid secret; ./capable secret; ./unreadable secret; true"
		lwkexec ./suid /proc/self/status | grep -E "^(Uid|Gid|Cap(Prm|Eff|Amb)):" | tr -s "\t" " "'
	echo "$output"
	[[ ${lines[0]} == 'linux: secret secret secret' ]]
	[[ $(grep -c '^secret' <<<"$output") == 0 ]]
	[[ $(grep -c ': Permission denied' <<<"$output") == 5 ]]
	[[ $output == *'suid: 1'* && $output == *'capable: 1'* && $output == *'unreadable: 126'* ]]
	[[ $output == *'unreadable: cannot be read (Permission denied); the LWK needs read permission'* ]]
	[[ $output == *'Uid: 1001 1001 1001 1001'* && $(grep -c '^Cap[A-Za-z]*: 0*$' <<<"$output") == 3 ]]
}

@test "calls that change rights or reach into other processes are refused on the LWK" {
	victim=$(as user2 sh -c 'sleep 300 >/dev/null 2>&1 & echo $!')
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 in_job 'lwkexec perl calls.pl "$1"; lwkexec "$0/hello"' "$victim"
	echo "$output"
	[[ ${lines[0]} == '51 calls, fsuid 1001' && $output == *kernel=slurm-lwk* ]]
	as user2 kill "$victim"
}

@test "a proxy can be traced by its user, and by nobody else" {
	as user1 rm -f over
	job=$(submit user1 -n1 -c3 --mem=400 --lwk --wrap "srun $programs/hold-memory 10 0 over")
	wait_for 60 has_printed user1 "$job" holding
	proxy=$(bed pgrep -x hold-memory)
	stack=$(bed awk '/\[stack\]/ { sub(/.*-/, "", $1); print $1 }' "/proc/$proxy/maps")
	stack=$(printf %x $((0x$stack - 64)))
	# One user may do all of that to their own proxy, as to any other process of theirs.
	run -0 as user1 perl /opt/lwk-rights/reach.pl "$proxy" "$stack"
	echo "$output"
	[[ $output == 'descriptors: '[1-9]*'memory: 64' ]]
	run -0 as user2 sh -c 'perl /opt/lwk-rights/reach.pl "$1" "$2"; strace -p "$1" 2>&1; true' - "$proxy" "$stack"
	echo "$output"
	[[ ${lines[0]} == 'descriptors: 0' && ${lines[1]} == 'memory: -1' ]]
	[[ $output == *'attach'*'Operation not permitted'* ]]
	# On Linux users may trace their own processes; the LWK goes on.
	# shellcheck disable=SC2016  # the machine's shell expands these
	run -0 as user1 bash -c 'timeout 3 strace -f -p "$1" -o traced; touch over; kill -0 "$1" && echo goes on' - "$proxy"
	echo "$output"
	[[ $output == *'goes on'* ]]
	wait_for_job "$job"
	job_is "$job" JobState=COMPLETED
	node_is_clean
}

@test "a traced proxy, one without new privileges and one in a name space of its own run programs" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 in_job '
		echo "== traced"; strace -f -o ~/traced lwkexec "$0/hello" && grep -c "write(1, \"kernel=" ~/traced
		echo "== no_new_privs"; setpriv --no-new-privs lwkexec "$0/hello"
		echo "== user"; unshare -Ur lwkexec "$0/hello"
		echo "== container"
		unshare -Urmpf --mount-proc bash -c "mkdir -p ~/root && mount --rbind / ~/root && chroot ~/root lwkexec $0/hello"'
	echo "$output"
	[[ $(grep -c '^kernel=slurm-lwk' <<<"$output") == 4 ]]
}

@test "a user's name spaces open no device and uncover none" {
	as user1 rm -f over
	other=$(submit user1 -n1 -c3 --mem=400 --lwk --wrap "srun $programs/hold-memory 10 0 over")
	wait_for 60 has_printed user1 "$other" holding
	# shellcheck disable=SC2016  # the shells of user2 expand these
	try='
		device=$(echo /dev/lwk/*)
		for namespace in -U -Ur -Urm -Urmpf; do
			unshare $namespace bash -c "
				(: <>/dev/lwkpart) 2>/dev/null && echo given: lwkpart
				umount /dev/lwk 2>/dev/null && echo given: umount
				umount -l /dev 2>/dev/null && echo given: umount of dev
				mknod ~/node c 240 0 2>/dev/null && echo given: mknod
				mount -t devtmpfs none /mnt 2>/dev/null && echo given: devtmpfs
				lwkctl reset 2>/dev/null && echo given: reset
				for at in /dev/lwk/*; do (: <>\$at) 2>/dev/null && echo opened: \$at; done"
		done
		echo "own: $device"; id -u'
	run -0 as user2 bash -c "$try"
	echo "$output"
	[[ $output =~ ^own:\ /dev/lwk/[0-9]+$'\n'1002$ ]]
	run -0 as user2 srun -Q --input=none -n1 -c3 --mem=400 --lwk --lwk-launch=none bash -c "$try"
	echo "$output"
	[[ $output =~ own:\ (/dev/lwk/[0-9]+)$'\n'1002$ ]]
	own=${BASH_REMATCH[1]}
	run ! grep -vE "^(opened: $own|own: $own|1002)$" <<<"$output"
	as user1 touch over
	wait_for_job "$other"
	node_is_clean
}
