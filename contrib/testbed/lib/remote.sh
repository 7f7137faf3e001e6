# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs commands in a machine and copies files to and from it, over one ssh connection per user.

ssh_options()
{
	local user=$1 machine=$2

	ssh_options=(
		-F none -i "$cache/ssh-key" -p "$(<"$state/port$machine")" -l "$user"
		-o "ControlPath=$state/ssh-$user-$machine"
		-o IdentitiesOnly=yes -o BatchMode=yes -o LogLevel=ERROR
		-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null
		-o ServerAliveInterval=15 -o ServerAliveCountMax=8
	)
}

# The shared connection is opened by a process of its own: one that an ordinary
# command leaves behind would keep that command's output open.
connect()
{
	local user=$1 machine=$2

	ssh_options "$user" "$machine"
	! ssh "${ssh_options[@]}" -O check 127.0.0.1 2>/dev/null || return 0
	detached ssh "${ssh_options[@]}" -o ControlMaster=yes -o ControlPersist=yes \
		-o ConnectTimeout=60 -N -f 127.0.0.1 >>"$state/ssh.log" 2>&1 ||
		# Another command may have opened it in the meantime.
		ssh "${ssh_options[@]}" -O check 127.0.0.1 2>/dev/null ||
		die "expected a connection to machine $machine as $user, found: $(tail -n 1 "$state/ssh.log"); see the console log $state/console$machine.log"
}

# remote USER MACHINE COMMAND ARG...
remote()
{
	local user=$1 machine=$2
	shift 2

	connect "$user" "$machine"
	ssh "${ssh_options[@]}" -T 127.0.0.1 "$(printf '%q ' "$@")"
}

require_user_and_machine()
{
	require_one_of --user "$1" "${users[@]}"
	require_up
	require_number --machine "$2" 1 "$machines"
}

verb_exec()
{
	local user=root machine=1 status

	while (($#)); do
		case $1 in
		--name | --user | --machine) take_option "$@"; shift 2 ;;
		--) shift; break ;;
		-*) die_usage 'exec [--user U] [--machine K] [--name N] -- COMMAND' "$1" 'put -- before the command' ;;
		*) break ;;
		esac
	done
	(($#)) || die_usage 'a command' 'none' "say: testbed exec -- COMMAND"
	require_user_and_machine "$user" "$machine"
	remote "$user" "$machine" "$@" || {
		status=$?
		((status != 255)) || machine_runs "$machine" ||
			say "machine $machine died: $(why_ended "$machine"); its console log: $state/console$machine.log"
		return $status
	}
}

# Like cp: into DST when that is a directory, else as DST.
# shellcheck disable=SC2016  # the machine's shell expands these
put_file='
	if [ -d "$1" ]; then to=$1/$2; else to=$1; fi
	cat >"$to.$$" && chmod "$3" "$to.$$" && mv -f "$to.$$" "$to"'
# shellcheck disable=SC2016
put_directory='
	if [ -d "$1" ]; then to=$1/$2; else to=$1; fi
	mkdir -p "$to" && tar -x -p --no-same-owner -C "$to"'

verb_put()
{
	local user=root machine=1 source target mode

	parse_copy "$@"
	[[ -e $source ]] || die "expected a file or directory to put, found no $source; check its name"
	source=$(realpath -s -- "$source")
	if [[ -d $source ]]; then
		tar -c -C "$source" . | remote "$user" "$machine" sh -c "$put_directory" put "$target" "${source##*/}"
	else
		mode=$(stat -L -c %a -- "$source")
		remote "$user" "$machine" sh -c "$put_file" put "$target" "${source##*/}" "$mode" <"$source"
	fi
}

verb_get()
{
	local user=root machine=1 source target mode

	parse_copy "$@"
	[[ ! -d $target ]] || target=$target/$(basename -- "$source")
	if remote "$user" "$machine" test -d "$source"; then
		mkdir -p -- "$target"
		remote "$user" "$machine" tar -c -C "$source" . | tar -x -p --no-same-owner -C "$target"
	else
		mode=$(remote "$user" "$machine" stat -L -c %a -- "$source")
		remote "$user" "$machine" cat -- "$source" >"$target.$$" || { rm -f -- "$target.$$"; return 1; }
		chmod "$mode" -- "$target.$$"
		mv -f -- "$target.$$" "$target"
	fi
}

parse_copy()
{
	local operands=()

	while (($#)); do
		case $1 in
		--name | --user | --machine) take_option "$@"; shift 2 ;;
		--) shift; operands+=("$@"); break ;;
		-*) die_usage 'SRC DST and --user, --machine, --name' "$1" 'see testbed --help' ;;
		*) operands+=("$1"); shift ;;
		esac
	done
	((${#operands[@]} == 2)) || die_usage 'SRC and DST' "${#operands[@]} operands" 'see testbed --help'
	require_user_and_machine "$user" "$machine"
	source=${operands[0]}
	target=${operands[1]}
}
