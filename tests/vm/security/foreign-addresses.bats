#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# A program on the LWK hands addresses that are not its own to calls: those that Linux carries out for
# it, whether by a server, the module or the proxy, and those of the LWK itself, which run in ring 0.

load ../helpers

setup_file()
{
	prepare
}

teardown_file()
{
	node_is_clean
}

@test "no call of the LWK itself reads or writes memory that is not the program's" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 as user1 srun -Q -n1 -c3 --mem=400 --lwk --lwk-launch=none sh -c '
		lwkexec "$0/foreign-addresses"
		lwkexec "$0/hello"
		lwkctl info "$SLURM_JOB_ID"' "$programs"
	echo "$output"
	[[ ${lines[0]} =~ ^([0-9]+)' tries, 0 wrong'$ ]]
	((BASH_REMATCH[1] > 700))
	[[ $output == *kernel=slurm-lwk* && $output =~ state\ +running ]]
	node_is_clean
}

@test "each delegated call does with foreign addresses what it does in a process on Linux" {
	# shellcheck disable=SC2016  # the job's shell expands these
	run -0 as user1 srun -Q -n1 -c3 --mem=400 --lwk --lwk-launch=none sh -c '
		cd "$(mktemp -d)"
		"$0/foreign-delegated" >linux
		for LWK_CALLS in server kernel proxy; do
			export LWK_CALLS
			lwkexec "$0/foreign-delegated" >lwk
			echo "$LWK_CALLS: status $?"
			diff linux lwk
		done
		lwkexec "$0/hello"
		lwkctl info "$SLURM_JOB_ID"
		cat linux
		rm -r "$PWD"' "$programs"
	sed '/^read valid/,$d' <<<"$output"
	[[ $output == *kernel=slurm-lwk* && $output =~ state\ +running ]]
	[[ ${lines[0]} == 'server: status 0' && ${lines[1]} == 'kernel: status 0' && ${lines[2]} == 'proxy: status 0' ]]
	[[ $output =~ [^0-9]([0-9]+)' tries, 0 wrong' ]]
	((BASH_REMATCH[1] > 5000))
	# EFAULT shows of each address that Linux looks at it, except where it looks at the caller's rights before, and
	# where it leaves out what it cannot write.
	run -0 awk -F': ' '
		/ (length|valid)/ || $2 !~ /^-?[0-9]+$/ { next }
		{ split($1, words, " "); what = words[1] " " words[2] (words[2] == "of" ? " " words[3] : ""); seen[what] }
		$2 == -14 { looked[what] }
		END { for (what in seen) if (!(what in looked)) print what }' <<<"$output"
	run -0 sed '/^open_by_handle_at/d; s/ of.*msg_control/ control/' <<<"$output"
	[[ $(sort <<<"$output" | paste -sd,) == 'recvmmsg control,recvmsg control,setgroups 1,sethostname 0' ]]
	node_is_clean
}
