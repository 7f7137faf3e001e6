# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Live progress for scripts. Source this file, then
#
#	step "root image" build_root_image ARG...
#
# runs the command with its output in a log and shows the step's name and its
# elapsed seconds on stderr: in place on a terminal, one line per finished step
# elsewhere. When the command fails, the tail of its log is shown as well.
# A step returns its command's status, and obeys `set -e` like any command.
#
#	at_exit COMMAND ARG...
#
# runs the command when the script ends, the latest first. (The library owns
# the EXIT trap, because a step that ends the script must still be reported.)

progress_tail_lines=25
progress_log=''
progress_name=''
progress_ticker=''
progress_exit_commands=()
progress_terminal=''
# A step inside another step's command writes to that step's log: no terminal.
[[ ! -t 2 ]] || progress_terminal=yes

progress_line()
{
	local started=$1 text=$2 tenths

	tenths=$(( (${EPOCHREALTIME/[.,]/} - started) / 100000 ))
	printf '[%4d.%d s] %s' $((tenths / 10)) $((tenths % 10)) "$text"
}

progress_tick()
{
	while kill -0 "$1" 2>/dev/null; do
		printf '\r\e[K%s' "$(progress_line "$2" "$3 ...")"
		sleep 0.2
	done
}

# progress_finish STATUS: ends the step that is under way and shows its result.
progress_finish()
{
	local status=$1

	exec 1>&"$progress_stdout" 2>&"$progress_stderr"
	exec {progress_stdout}>&- {progress_stderr}>&-
	if [[ -n $progress_ticker ]]; then
		kill "$progress_ticker" 2>/dev/null || true
		wait "$progress_ticker" 2>/dev/null || true
		progress_ticker=''
		printf '\r\e[K' >&2
	fi
	if ((status == 0)); then
		printf '%s\n' "$(progress_line "$progress_started" "$progress_name")" >&2
	else
		printf '%s\n' "$(progress_line "$progress_started" "$progress_name: FAILED (status $status)")" >&2
		tail -n "$progress_tail_lines" "$progress_log" | sed 's/^/    | /' >&2
	fi
	rm -f "$progress_log"
	progress_name=''
}

step()
{
	local status

	progress_name=$1
	shift
	progress_started=${EPOCHREALTIME/[.,]/}
	progress_log=$(mktemp -t progress.XXXXXX)
	if [[ -n $progress_terminal ]]; then
		progress_tick $$ "$progress_started" "$progress_name" >&2 &
		progress_ticker=$!
	fi
	exec {progress_stdout}>&1 {progress_stderr}>&2
	exec >"$progress_log" 2>&1
	# `"$@" || status=$?` would switch off `set -e` inside the command.
	"$@"
	status=$?
	progress_finish $status
	return $status
}

at_exit()
{
	progress_exit_commands=("$(printf '%q ' "$@")" "${progress_exit_commands[@]}")
}

progress_at_exit()
{
	local status=$? command

	trap - EXIT
	[[ -z $progress_name ]] || progress_finish $((status ? status : 1))
	for command in "${progress_exit_commands[@]}"; do
		eval "$command" || true
	done
	exit $status
}
trap progress_at_exit EXIT
# bash runs the EXIT trap for a signal only when that has a trap of its own.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
