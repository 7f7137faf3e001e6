# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Paths, errors, locks and checks of options for all parts of the test bed.

cache=$(realpath -m -- "${LWK_TESTBED_CACHE:-/var/cache/slurm-lwk/testbed}")
console_ready='testbed: ready'
console_failed='testbed: failed:|Kernel panic'
console_lost="kthread timer wakeup didn't happen"
# UEFI for virtual machines.
ovmf=/usr/share/ovmf/OVMF.fd
users=(root user1 user2)

say()
{
	printf 'testbed: %s\n' "$*" >&2
}

# die TEXT...: ends the command because it could not be done (status 1).
die()
{
	say "$@"
	exit 1
}

# die_usage WANTED FOUND WHAT_TO_DO: ends the command because its command line is wrong (status 2).
die_usage()
{
	say "expected $1, found $2; $3"
	exit 2
}

# A name becomes part of paths, socket names and process titles.
require_name()
{
	[[ $1 =~ ^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$ ]] ||
		die_usage "a test bed's name (letters, digits, - and _, at most 32)" "'$1'" \
			'choose another name for --name'
}

# require_number OPTION VALUE LOWEST HIGHEST
require_number()
{
	if ! [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || (($2 < $3 || $2 > $4)); then
		die_usage "a whole number from $3 to $4 for $1" "'$2'" "give $1 such a number"
	fi
}

# require_one_of OPTION VALUE CHOICE...
require_one_of()
{
	local option=$1 value=$2 choice
	shift 2

	for choice; do
		[[ $choice != "$value" ]] || return 0
	done
	die_usage "$option as one of: $*" "'$value'" 'choose one of them'
}

# take_lock VARIABLE FILE: the variable gets the lock's descriptor. The holder
# may remove the file, so what was locked must still be what the name stands for.
take_lock()
{
	local -n descriptor=$1

	mkdir -p "$(dirname "$2")"
	while exec {descriptor}>"$2"; do
		flock -n "$descriptor" || {
			say "another testbed command holds $2: waiting for it"
			flock "$descriptor"
		}
		[[ ! $2 -ef /proc/self/fd/$descriptor ]] || return 0
		exec {descriptor}>&-
	done
}

# detached COMMAND...: runs a command that outlives this script. It gets none of this script's
# descriptors: locks would stay locked, and a reader of this script's output would never see its end.
detached()
(
	local descriptor

	for descriptor in "/proc/$BASHPID/fd/"*; do
		descriptor=${descriptor##*/}
		((descriptor <= 2)) || eval "exec $descriptor>&-"
	done
	exec "$@" </dev/null
)
