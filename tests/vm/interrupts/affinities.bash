# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Setup and words that the tests of this room share: the CPUs that interrupts go to, and irqbalance.

load ../helpers

setup_file()
{
	prepare
	testbed put "$(built)/tests/vm/switch/.libs/switch-once" /usr/local/bin/switch-once
	affinities >"$BATS_FILE_TMPDIR/before"
}

teardown()
{
	bed sh -c 'squeue -h -o %A | xargs -r scancel; pkill -x irqbalance; true'
	wait_for 60 bed sh -c '[ -z "$(ls /run/slurm-lwk/jobs)" ]'
	while IFS=: read -r file cpus; do
		echo "echo $cpus >$file 2>/dev/null"
	done <"$BATS_FILE_TMPDIR/before" | bed sh
}

affinities()
{
	bed sh -c 'grep -H . /proc/irq/*/smp_affinity_list' | sort
}

# movable: prints number and CPUs of each interrupt that has a handler and can be moved: Linux then refuses what is
# no list of CPUs, and otherwise any write. A list could undo what somebody else changes meanwhile.
movable()
{
	bed sh -s <<-'EOF'
	cd /proc/irq
	for irq in [0-9]*; do
		[ -n "$(find $irq -mindepth 1 -type d)" ] || continue
		case $({ /bin/echo no-list >$irq/smp_affinity_list; } 2>&1) in
		*'Invalid argument'*) echo "$irq $(cat $irq/smp_affinity_list)" ;;
		esac
	done
	EOF
}

net_irq()
{
	bed sh -c 'basename $(dirname /proc/irq/*/virtio0-input.0)'
}

# to_irqbalance TEXT: sends it to irqbalance and prints the answer.
to_irqbalance()
{
	bed perl -MIO::Socket::UNIX -e '
		my $pid = `pgrep -x irqbalance`; chomp $pid;
		my $socket = IO::Socket::UNIX->new(Peer => "/run/irqbalance/irqbalance$pid.sock") ||
			IO::Socket::UNIX->new(Peer => "\0irqbalance$pid.sock") or die "no irqbalance";
		$socket->send($ARGV[0]); print <$socket>' "$1"
}

# banned_is MASK: true when irqbalance leaves these CPUs alone.
banned_is()
{
	local mask

	mask=$(banned) && ((16#${mask//,/} == 16#$1))
}

banned()
{
	to_irqbalance setup | grep -o 'BANNED [0-9a-f,]*' | cut -d' ' -f2
}

# unbind, bind: take a device and its interrupts away, and bring it back.
unbind() { bed sh -c 'echo i8042 >/sys/bus/platform/drivers/i8042/unbind'; }
bind() { bed sh -c 'echo i8042 >/sys/bus/platform/drivers/i8042/bind'; }
