#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# The examples of the man pages work as they are printed. A block of EXAMPLES is a session: "$" begins a command of
# a user, "#" one of root, and the lines after it are the command's output. The lines after `cat FILE` are a file
# that the reader must write.

load ../helpers

declare -gA to from

setup_file()
{
	prepare
	bed modprobe lwkpart
	bed cp -p /etc/slurm/lwk.conf /root/lwk.conf.before
}

teardown()
{
	close_shells
	# lwkctl-migrate(8) starts one.
	bed pkill -x python3 || true
	bed scancel --user=user1
	bed rm -f /usr/lib/slurm-lwk/lwk-debug.elf
	bed cp -p /root/lwk.conf.before /etc/slurm/lwk.conf
}

# commands_of PAGE DIRECTORY: the N-th command of its examples becomes the file N.user1 or N.root, its output
# N.printed. The lines of a block before any command become the file "given".
commands_of()
{
	mkdir "$2"
	awk -v directory="$2/" '
		/^\.Sh / { examples = $0 == ".Sh EXAMPLES" }
		!examples { next }
		/^\.Bd -literal/ { inside = 1; printed = directory "given"; next }
		/^\.Ed/ { inside = more = 0 }
		!inside { next }
		{
			gsub(/\\&/, "")
			gsub(/\\e/, "\001")
			if (/^\.|\\/) {
				print FILENAME ":" FNR ": expected a line as a terminal shows it, \\e or \\&, found " $0
				exit 1
			}
			gsub("\001", "\\")
		}
		!more && /^[$#] / {
			name = sprintf("%s%02d.", directory, ++n)
			printed = name "printed"
			printf "" >printed
			command = name (/^#/ ? "root" : "user1")
			$0 = substr($0, 3)
			more = 1
		}
		more { print >command; more = /\\$/; next }
		{ print >printed }
		END { exit !n }
	' "$1"
}

# form FOLDED: prints the text on stdin without what differs from run to run: numbers, times, addresses, releases
# of the kernel, bars, how often the same line comes, whether the job before was still ending. A line that is one
# number is a program's result, and stays. Lines that fold(1) broke are joined.
form()
{
	sed -E '/^srun: job [0-9]+ (queued and waiting for|has been allocated) resources$/d
		/^[0-9.]+$/b
		s/[0-9.]+[-+][^ ]*amd64/RELEASE/g
		s/\b(0x[0-9a-f]+|[0-9a-f]{8,})\b/N/g
		s/[#.]{8,}/BAR/g
		s/[0-9]+([-.,: ]+[0-9]+)*/N/g
		s/\bN runs\b/N run/g
		s/[ \t]+/ /g; s/ $//' | uniq | if [[ $1 ]]; then paste -sd ' ' | tr -s ' '; else cat; fi
}

# open_shell USER: a shell of the user in the machine, which reads commands from ${to[USER]} and prints to
# ${from[USER]}.
open_shell()
{
	local fifo=$BATS_TEST_TMPDIR/fifo write read

	mkfifo "$fifo"
	exec {write}> >(exec 3>&-; as "$1" bash >"$fifo" 2>&1)
	exec {read}<"$fifo"
	rm "$fifo"
	to[$1]=$write from[$1]=$read
}

# close_shells: they end, and so does salloc, whose shell is one of them.
close_shells()
{
	local fd

	for fd in "${to[@]}" "${from[@]}"; do
		exec {fd}>&-
	done
	to=() from=()
}

# type_in USER COMMAND: gives it to the user's shell, and sets output and status.
type_in()
{
	local line

	# The shell that salloc starts reads the commands after it.
	if [[ $2 == salloc* ]]; then
		printf '%s\n' "$2"
	else
		printf '{ %s\n} </dev/null\n' "$2"
	fi >&"${to[$1]}"
	# shellcheck disable=SC2016  # the machine's shell expands it
	echo 'echo "status=$?"' >&"${to[$1]}"
	output='' status=''
	while IFS= read -r -t 600 line <&"${from[$1]}"; do
		if [[ $line == status=* ]]; then
			status=${line#*=}
			break
		fi
		output+=$line$'\n'
	done
}

# examples PAGE [FILE]: true when all commands of the page succeed and print what the page shows. FILE in the
# machine is what a block without a command shows.
examples()
{
	local directory=$BATS_TEST_TMPDIR/commands file user command printed expected folded page_job='' job=''

	commands_of "$1" "$directory" || return
	if [[ -e $directory/given ]]; then
		bed tee "${2-}" <"$directory/given" >/dev/null || return
	fi
	open_shell user1
	open_shell root
	for file in "$directory"/[0-9]*.[ur]*; do
		command=$(<"$file")
		printed=${file%.*}.printed
		user=${file##*.}
		# shellcheck disable=SC2001  # whole words
		[[ ! $page_job ]] || command=$(sed "s/\b$page_job\b/$job/g" <<<"$command")
		if [[ $command == 'cat '* ]]; then
			as "$user" tee "${command#cat }" <"$printed" >/dev/null
		fi
		echo "$user: $command"
		type_in "$user" "$command"
		echo "$output"
		expected=0
		[[ $command == *\|* ]] || expected=$(sed -n '$s/.*Exited with exit code //p' "$printed")
		[[ $status == "${expected:-0}" ]] || {
			echo "$1: $command: expected status ${expected:-0}, found $status"
			return 1
		}
		folded=$(grep -w fold <<<"$command") || true
		diff -u --label "$1" --label found <(form "$folded" <"$printed") \
			<(printf %s "$output" | form "$folded") || return
		if [[ $output == 'Submitted batch job '* && $command != *--wait* ]]; then
			page_job=$(grep -o '[0-9]*' "$printed")
			job=$(grep -o '[0-9]*' <<<"$output")
			# shellcheck disable=SC2016  # the machine's shell expands it
			wait_for 60 bed sh -c 'lwkctl status | grep "^job $1 .*: active"' - "$job" || return
		fi
	done
	close_shells
	bed scancel --user=user1
	node_is_clean
}

# a_page LINE...: prints the name of a page whose only example are these lines.
a_page()
{
	printf '%s\n' '.Sh EXAMPLES' '.Bd -literal -offset 2n' "$@" .Ed >"$BATS_TEST_TMPDIR/page"
	rm -rf "$BATS_TEST_TMPDIR/commands"
	echo "$BATS_TEST_TMPDIR/page"
}

# bats test_tags=nightly
@test "an example that is wrong is found" {
	examples "$(a_page '$ echo 5; echo a 5' 5 'a 7')"
	run ! examples "$(a_page '$ echo 5' 6)"
	run ! examples "$(a_page '$ echo a word' 'another word')"
	run ! examples "$(a_page '$ echo a; echo b' a)"
	run ! examples "$(a_page '$ true' a)"
	run ! examples "$(a_page '# echo a; false' a)"
	run ! examples "$(a_page '$ exit 3')"
	run ! examples "$(a_page 'no command')"
}

# bats test_tags=nightly
@test "each man page has a test here" {
	diff <(cd "$top/doc" && ls ./*.[1-8]) \
		<(sed -n 's/^\texamples_of \([^ ]*\).*/.\/\1/p' "$BATS_TEST_FILENAME" | sort)
}

examples_of()
{
	examples "$top/doc/$1" "${@:2}"
}

# bats test_tags=nightly
@test "lwk(7)" {
	offer_faulty_image inject=fault
	examples_of lwk.7
}

# bats test_tags=nightly
@test "lwk.conf(5)" {
	examples_of lwk.conf.5 /etc/slurm/lwk.conf
}

# bats test_tags=nightly
@test "lwk-calls(7)" {
	examples_of lwk-calls.7
}

# bats test_tags=nightly
@test "lwk-glossary(7)" {
	examples_of lwk-glossary.7
}

# bats test_tags=nightly
@test "lwk-programs(7)" {
	examples_of lwk-programs.7
}

# bats test_tags=nightly
@test "lwkctl(8)" {
	examples_of lwkctl.8
}

# bats test_tags=nightly
@test "lwkctl-migrate(8)" {
	examples_of lwkctl-migrate.8
}

# bats test_tags=nightly
@test "lwkexec(1)" {
	examples_of lwkexec.1
}

# bats test_tags=nightly
@test "slurm-lwk(7)" {
	examples_of slurm-lwk.7
}

# bats test_tags=nightly
@test "slurm-lwk-admin(7)" {
	examples_of slurm-lwk-admin.7
}
