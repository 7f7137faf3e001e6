# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests that there are, and those of them that --only chooses.

# The checks of the sources: NAME, which is also the function check_NAME, and its text.
source_checks()
{
	cat <<-'EOF'
	shellcheck shell scripts pass shellcheck
	format C sources have the project's format
	comments comments begin with their subject
	subjects the subjects of commits have the project's form, and bodies say why
	lists each list of sources has those that are there
	licenses every source names its license
	headers every header compiles alone
	abi_versions no ABI header changed beside its version
	addresses each delegated call that takes an address is handed foreign ones by a test
	slurm_releases the plugins compile for each release of Slurm
	rooms includes run one way through the rooms
	counting the last line counts tests that pass, fail and are skipped apart
	figures README.md and doc/figures have the tables and pictures of the figures that are kept
	goals a bench's figure that is missing is a goal that failed
	manuals groff formats the man pages without a warning
	version configure.ac, NEWS and the packages have one version
	sanitizers the project builds out of tree with sanitizers
	without_kernel the project builds and installs without kernel headers, for Slurm in any place
	model the delegation channel holds in every order of its steps, and errors in it are found
	sparse sparse finds nothing in lwkpart.ko
	hardening what is installed is built hardened and starts no shell
	units the systemd units are valid and sandboxed
	permissions what is installed or created by root is not others' to write
	EOF
}

# Names that only the nightly run has, or --only.
nightly_source_checks()
{
	cat <<-'EOF'
	reproducible what is installed is the same, whatever folder it is built in
	tarball make distcheck passes: the tarball builds, installs and uninstalls
	releases all builds, the module too, and unit tests pass on Debian 11 to 13 and forky
	analyzer gcc -fanalyzer finds nothing in libmodeswitch, the plugins and lwkexec
	EOF
}

unit_tests()
{
	find tests/unit -mindepth 2 -name 'test-*.c' -printf '%P\n' | sed 's/\.c$//' | sort
}

bed_files()
{
	find tests/vm -mindepth 2 -name '*.bats' -printf '%P\n' | sed 's/\.bats$//' | sort
}

# header FILE KEY: the values that the file's first lines give to KEY, one a line.
header()
{
	sed -n "s/^# $2: //p; 10q" "tests/vm/$1.bats"
}

# repeats FILE: its runs in a bed with other options, those of this check.
repeats()
{
	header "$1" also
	[[ ! ${nightly-} ]] || header "$1" 'also nightly'
}

runs_in_order()
{
	[[ -e tests/vm/$1.bats && $(header "$1" tests) == 'in order' ]]
}

names()
{
	{ source_checks; nightly_source_checks; } | sed 's/ .*//'
	unit_tests
	echo fuzz
	bed_files
}

all_beds()
{
	local file

	for file in $(bed_files); do
		header "$file" bed
		repeats "$file" | sed 's/ .*//'
	done | sort -u
}

# tests_in FILE: "TAGS|TEXT" for each of its tests.
tests_in()
{
	awk '/^# bats test_tags=/ { tags = substr($0, 18) }
		/^@test "/ {
			match($0, /".*"/)
			print tags "|" substr($0, RSTART + 1, RLENGTH - 2)
			tags = ""
		}' "tests/vm/$1.bats"
}

# list: KIND or bed, name and text of all tests.
list()
{
	list_host
	list_beds | sort -s -k1,1
	list_nightly
}

list_host()
{
	local file name text

	source_checks | while read -r name text; do
		printf '%-10s %-28s %s\n' source "$name" "$text"
	done
	for file in $(unit_tests); do
		printf '%-10s %s\n' unit "$file"
	done
	printf '%-10s %-28s %s fuzzers\n' fuzz fuzz "$(tests/fuzz/run --list | wc -l)"
}

list_beds()
{
	local file

	for file in $(bed_files); do
		printf '%-10s %-28s %s tests\n' "$(header "$file" bed)" "$file" \
			"$(tests_in "$file" | grep -vc '^[^|]*nightly')"
		header "$file" also | list_repeats "$file"
	done
}

# list_repeats FILE [nightly]: of the runs on stdin.
list_repeats()
{
	local bed options

	while read -r bed options; do
		printf '%-10s %-28s again with %s: tests with the tag %s\n' "${2-$bed}" "$1" \
			"${options%, *}" "${options##*, }"
	done
}

list_nightly()
{
	local file name text

	nightly_source_checks | while read -r name text; do
		printf '%-10s %s: %s\n' nightly "$name" "$text"
	done
	for file in $(bed_files); do
		tests_in "$file" | sed -n "s,^[^|]*nightly[^|]*|,nightly    $file: ,p"
		header "$file" 'also nightly' | list_repeats "$file" nightly
	done
	for file in $(benches); do
		case $file in
		ltp) text=', when LWK_LTP names the source of LTP' ;;
		mckernel) text=', when LWK_MCKERNEL has its other options' ;;
		*) text='' ;;
		esac
		printf '%-10s tests/bench/%s --quick%s\n' nightly "$file" "$text"
	done
}

benches()
{
	find tests/bench -maxdepth 1 -type f -executable ! -name all -printf '%P\n' | sort
}

# matches NAME ENTRY: NAME is the entry, its room or its file.
matches()
{
	[[ $2 == "$1" || $2 == "$1"/* || $2 == */"$1" ]]
}

# chosen ENTRY: true when --only names it, or when there is no --only.
chosen()
{
	local name

	((${#only[@]})) || return 0
	for name in "${only[@]}"; do
		! matches "${name%%:*}" "$1" || return 0
	done
	return 1
}

# any_chosen COMMAND: true when one of the names that it prints is chosen.
any_chosen()
{
	local name

	for name in $("$1"); do
		! chosen "$name" || return 0
	done
	return 1
}

# text_of FILE: prints the TEXT that --only has for it; fails when there is none.
text_of()
{
	local name

	for name in "${only[@]}"; do
		if [[ $name == *:* ]] && matches "${name%%:*}" "$1"; then
			echo "${name#*:}"
			return
		fi
	done
	return 1
}
