#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Another user of the node gets nothing of a job: he lays traps where root writes, looks at a job that is not his,
# and looks for traces of a job that has ended.

load ../helpers

setup_file()
{
	prepare
}

teardown_file()
{
	# Nobody but root can remove such a link where the sticky bit is set.
	bed sh -c 'for dir in /root /dev/shm /tmp /var/tmp; do find $dir -xdev -samefile $dir/precious -delete; done
		rm -f /dev/shm/left; ipcrm -M 0x4c574b; perl -e "\$queue = q(left); syscall(241, \$queue)"'
	node_is_clean
}

# traps FROM TO: a program that makes, again and again, links to a precious file, FIFOs and directories
# with all names that root makes for these jobs, wherever it can. It ends when ~/stop is there, and
# prints the directories in which it could make something.
traps()
{
	cat <<-EOF
	use POSIX 'mkfifo';
	my (\$from, \$to, %made) = ($1, $2);
	my @dirs = ('/run', '/run/slurm-lwk', '/run/slurm-lwk/jobs', '/run/slurm-lwk/sysfs', '/dev', '/dev/lwk',
		'/var/log', '/var/log/slurm-lwk', '/var/log/slurm', '/var/lib/slurm/slurmd', '/etc/slurm',
		'/tmp', '/var/tmp', '/dev/shm', '/tmp/slurm-lwk', '/tmp/jobs');
	EOF
	cat <<-'EOF'
	my @names = ('lock', 'jobs', 'lwk', 'slurm-lwk', 'lwkpart', 'topology.xml', 'topology.xml.new', 'sysfs',
		'jobs.json', 'jobs.json.new', 'quiet.json', 'irqs.json', 'state.json', 'prepared.json');
	for my $id ($from .. $to) {
		push @names, map { "$id$_" } '', '.json', '.json.new', '.journal', '.journal.new', '.sys', '.away',
			'.away.new', '.mpi', '.dump';
		push @names, "job_$id", "lwk-$id.core", ".lwk-$id.core.part";
	}
	until (-e "$ENV{HOME}/stop") {
		my @groups = (glob('/sys/fs/cgroup/*/slurm-lwk'), glob('/sys/fs/cgroup/*/slurm-lwk/*'),
			glob('/sys/fs/cgroup/*/slurm*/uid_*/job_*'),
			glob('/sys/fs/cgroup/*/*slurmstepd.scope{,/job_*,/job_*/step_*}'), '/sys/fs/cgroup');
		for my $dir (@dirs, @groups) {
			for my $name (@names) {
				my $at = "$dir/$name";
				(rand() < 0.5 ? symlink('/root/precious', $at) : link("$dir/precious", $at)) ||
					mkfifo($at, 0777) || mkdir($at) || next;
				$made{$dir}++;
				select(undef, undef, undef, 0.001);
				unlink($at) || rmdir($at);
				mkfifo($at, 0777) && unlink($at);
				mkdir($at) && rmdir($at);
			}
		}
	}
	print join(' ', sort keys %made), "\n";
	EOF
}

# A link that root followed would change a precious file; a FIFO would hold root for ever.
@test "traps where root writes are never stepped into, and switches go on" {
	bed sh -c 'umask 0; rm -f /home/user2/*
		for dir in /root /dev/shm /tmp /var/tmp; do echo precious >$dir/precious; done'
	rounds=$(times 2 50)
	last=$(as user1 sbatch --parsable -c2 --mem=300 --wrap true)
	traps "$last" $((last + rounds + 1)) | as user2 sh -c 'cat >traps.pl; setsid perl traps.pl >made 2>&1 </dev/null &'
	run -0 as user1 sh -c 'for n in $(seq "$2"); do srun -n1 -c2 --mem=300 --lwk "$1"; done' - \
		"$programs/hello" "$rounds"
	echo "$output"
	[[ $(grep -c 'kernel=slurm-lwk' <<<"$output") == "$rounds" ]]
	as user2 touch stop
	wait_for 20 as user2 test -s made
	run -0 as user2 cat made
	echo "$output"
	[[ $output == '/dev/shm /tmp /var/tmp' ]]
	run -0 bed sh -c 'for dir in /root /dev/shm /tmp /var/tmp; do
			echo "$(cat $dir/precious) $(stat -c %a:%u $dir/precious)"
		done | sort -u'
	[[ $output == 'precious 666:0' ]]
	node_is_clean
}

@test "another user sees nothing of a running job but that it runs" {
	as user1 rm -f over
	job=$(submit user1 -n1 -c2 --mem=300 --lwk --wrap "srun $programs/hold-memory 10 0 over")
	wait_for 60 has_printed user1 "$job" holding
	run -0 as user2 bash -s "$job" <<-'EOF'
	job=$1
	refused()
	{
		local output

		! output=$("$@" 2>&1) || echo "given: $*: $output"
	}
	for verb in info stat kmsg counters 'counters * set processes' freeze thaw dump reset 'events'; do
		[[ $verb == *\** ]] || verb+=' *'
		set -f
		refused timeout 20 lwkctl ${verb/\*/$job}
		set +f
	done
	refused lwkctl dump "$job" own.core
	device=$(grep -o '/dev/lwk/[0-9]*' "/run/slurm-lwk/jobs/$job.json")
	[[ $device == /dev/lwk/* ]] || echo "device: $device"
	refused dd if="$device" of=/dev/null count=1
	refused dd if=/dev/null of="$device" count=0 conv=notrunc
	refused env LWK_DEVICE="$device" lwkexec /opt/lwk-tests/hello
	refused cat "/run/slurm-lwk/jobs/$job.journal" /run/slurm-lwk/lock /var/log/slurm-lwk/jobs.json
	refused cat "/var/lib/slurm/slurmd/job$(printf %05d "$job")/slurm_script"
	refused scancel "$job"
	proxy=$(pgrep -x hold-memory)
	[[ $proxy ]] || echo 'no proxy'
	for file in mem maps environ fd/0 root cwd exe map_files pagemap stack; do
		refused ls "/proc/$proxy/$file/."
		refused head -c 1 "/proc/$proxy/$file"
	done
	refused kill -0 "$proxy"
	refused lwkctl migrate --pid "$proxy" --to 1
	# No other user can write the files that root has made for the job; only the device is the job's user's.
	find /run/slurm-lwk /dev/lwk \
		$(ls -d /sys/fs/cgroup/*/slurm-lwk /sys/fs/cgroup/*/slurm*/uid_* /sys/fs/cgroup/*/*slurmstepd.scope 2>/dev/null) \
		\( -perm /022 -o ! -user root \) ! -type l ! -name cgroup.event_control -printf '%p %u %m\n'
	EOF
	echo "$output"
	[[ $output =~ ^/dev/lwk/[0-9]+\ user1\ 600$ ]]
	as user1 touch over
	wait_for_job "$job"
	node_is_clean
}

# names: prints what is where jobs could leave files.
names()
{
	bed sh -c 'ls -A /dev/shm /run/slurm-lwk /var/log/slurm-lwk 2>&1; true'
}

@test "the next job finds nothing of the last one" {
	# The first LWK job makes a directory that stays.
	bed test -e /run/slurm-lwk || as user1 srun -n1 -c2 --mem=300 --lwk "$programs/hello"
	node_is_clean
	before=$(names)
	# shellcheck disable=SC2016  # the job's shells expand these
	look='lwkctl counters "$SLURM_JOB_ID"; lwkctl stat "$SLURM_JOB_ID" --json | tr -d " \n" |
		grep -oE "[a-z_]*(calls|faults|processes|signals)\":[0-9]*"; lwkctl kmsg "$SLURM_JOB_ID" |
		sed -E "s/[0-9.]+/N/g"; echo "and then"'
	# shellcheck disable=SC2016  # the job's shells expand these
	run -0 as user1 srun -Q -n1 -c2 --mem=300 --lwk --lwk-launch=none sh -c "$look"'
		lwkctl counters "$SLURM_JOB_ID" set processes page-faults; lwkctl counters "$SLURM_JOB_ID" start
		lwkexec perl -e "syscall(185)"; '"$look"
	echo "$output"
	first=${output%%and then*}
	# The first job has something that it could leave.
	[[ $output == *page-faults*'system call'* && $first != *page-faults* ]]
	run -0 as user2 srun -Q -n1 -c2 --mem=300 --lwk --lwk-launch=none sh -c "$look"
	echo "$output"
	[[ $output == "$first"* ]]
	node_is_clean
	diff <(echo "$before") <(names)
}

# shared_memory: a Perl program that makes a file in /dev/shm, a segment and a queue with what a job leaves behind, or
# with the argument "take" tells what of these somebody else's it can have.
shared_memory()
{
	cat <<-'EOF'
	my ($key, $file, $queue, $create) = (0x4c574b, '/dev/shm/left', 'left', 01000);
	my ($mq_open, $new, $word) = (240, 0100, 'left behind');
	if ($ARGV[0] eq 'take') {
		print "file\n" if open(my $in, '<', $file) || open(my $out, '>>', $file) || unlink($file);
		for my $flags (0400, 0600, $create | 0600) {
			print "segment\n" if defined shmget($key, $flags & $create ? 4096 : 0, $flags);
		}
		for my $id (split /,/, $ARGV[1]) {
			print "segment $id\n" if shmread($id, my $found, 0, 11) || shmwrite($id, 'taken', 0, 5) || shmctl($id, 0, 0);
		}
		for my $flags (0, 1, 2, $new | 2) {
			print "queue\n" if syscall($mq_open, $queue, $flags, 0600, 0) >= 0;
		}
		print "tried\n";
	} else {
		my ($out, $id, $found);
		umask 077;
		open($out, '>', $file) && print($out $word) && close($out) or die "file: $!";
		$id = shmget($key, 4096, $create | 0600) // die "segment: $!";
		shmwrite($id, $word, 0, 11) && shmread($id, $found, 0, 11) && $found eq $word or die "segment: $!";
		syscall($mq_open, $queue, $new | 2, 0600, 0) >= 0 or die "queue: $!";
		print "left $id\n";
	}
	EOF
}

@test "what the last job has left in shared memory is its user's only" {
	shared_memory | as user1 sh -c 'cat >shared.pl'
	shared_memory | as user2 sh -c 'cat >shared.pl'
	run -0 as user1 srun -Q -n1 -c2 --mem=300 --lwk perl shared.pl leave
	echo "$output"
	[[ $output == 'left '* ]]
	id=${output#left }
	# The segment is there, and the LWK that had it attached has given it up.
	run -0 bed awk -v id="$id" '$2 == id { print $3, $7 }' /proc/sysvipc/shm
	[[ $output == '600 0' ]]
	for launch in auto none; do
		run -0 as user2 srun -Q -n1 -c2 --mem=300 --lwk --lwk-launch="$launch" perl shared.pl take "$id"
		echo "$output"
		[[ $output == tried ]]
	done
	# All of it is there still, for its user.
	run -0 as user1 sh -c 'cat /dev/shm/left; perl shared.pl take "$1"' - "$id"
	echo "$output"
	[[ $output == 'left behind'*file*segment*"segment $id"*queue*tried ]]
	node_is_clean
}
