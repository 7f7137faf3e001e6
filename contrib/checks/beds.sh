# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests in test beds, and those of them that failed once more.

# claim_beds: sets claimed_beds to all test beds, which are this check's own until it ends: another check
# would take them down.
claim_beds()
{
	local places=${LWK_TESTBED_CACHE:-/var/cache/slurm-lwk/testbed} claim

	mkdir -p "$places"
	exec {claim}>"$places/check-${beds:-of-all-}beds.lock"
	flock -n "$claim" || {
		echo 'check: expected test beds that are free, found another check that uses them; wait for its end, or give this one beds of its own (LWK_TESTBED=NAME)' >&2
		exit 1
	}
	claimed_beds=$(all_beds)
}

# boot BED [OPTION]...: brings up a fresh one. The files of "own" bring up beds by themselves.
boot()
{
	local bed=$1
	shift

	[[ $bed != own ]] || return 0
	take_down "$bed"
	"$testbed" up --name "$beds$bed" "$@"
}

take_down()
{
	"$testbed" down --name "$beds$1" 2>&1 | grep -v 'nothing done' || true
}

# run_file BED TAGS FILE LOG [BATS-OPTION]...: the tests of a file that have these tags.
run_file()
{
	local bed=$1 tags=$2 file=$3 log=$4
	shift 4

	tap "$file" env LWK_TESTBED="$beds$bed" bats --tap --timing --print-output-on-failure \
		--filter-tags "$tags" "$@" "tests/vm/$file.bats" |
		if [[ $tags == '!'* ]]; then
			# Every test can run on the beds as they are: one that is skipped has failed.
			sed -u 's/^ok \(.*\) in [0-9]*ms\( # skip\)/not ok \1\2/'
		else
			cat
		fi | tee "$log"
}

# other_version BED: prints the tag of tests for the version of cgroups that the bed has not.
other_version()
{
	case $("$testbed" status --name "$beds$1") in
	*'cgroup v2'*) echo version-1 ;;
	*) echo version-2 ;;
	esac
}

# run_files BED "OPTIONS" FILE[,TAG]...: boots the bed and runs what is chosen of these files, of one with a TAG
# the tests that have it.
run_files()
{
	local bed=$1 options=$2 file tags text log booted=''
	local -a filter

	for file in "${@:3}"; do
		tags=''
		[[ $file != *,* ]] || tags=${file#*,}
		file=${file%,*}
		chosen "$file" || continue
		filter=()
		if ! text=$(text_of "$file"); then
			[[ $nightly ]] || tags+="${tags:+,}!nightly"
		elif ! runs_in_order "$file"; then
			filter=(--filter "$text")
		fi
		(($(bats --count ${tags:+--filter-tags "$tags"} "${filter[@]}" "tests/vm/$file.bats"))) || continue
		# shellcheck disable=SC2086  # options, one word each
		[[ $booted ]] || boot "$bed" $options
		booted=yes
		tags+="${tags:+,}!$(other_version "$bed")"
		# Only the bed tells its version of cgroups, and bats calls a file without tests a failure.
		(($(bats --count --filter-tags "$tags" "${filter[@]}" "tests/vm/$file.bats"))) || continue
		log=$logs/$bed${options:+.${options//[^a-z0-9]/}}.${file//\//-}.tap
		printf '%s\n' "$bed" "$tags" "$options" "$file" >"$log.run"
		run_file "$bed" "$tags" "$file" "$log" "${filter[@]}"
		# A test that failed may have left a drained node, on which all tests after it would fail.
		! grep -q '^not ok ' "$log" || booted=''
	done
}

# on_bed BED: the files that name it, then those that want it once more with other options.
on_bed()
{
	local bed=$1 file options
	local -a files again

	mapfile -t files < <(for file in $(bed_files); do
		[[ $(header "$file" bed) != "$bed" ]] || echo "$file"
	done)
	run_files "$bed" '' "${files[@]}"

	mapfile -t again < <(for file in $(bed_files); do repeats "$file"; done |
		sed -n "s/^$bed \(.*\), .*/\1/p" | sort -u)
	for options in "${again[@]}"; do
		mapfile -t files < <(for file in $(bed_files); do
			repeats "$file" | sed -n "s|^$bed $options, |$file,|p"
		done)
		run_files "$bed" "$options" "${files[@]}"
	done
	take_down "$bed"
}

# failed_in LOG: the texts of the tests that failed there, one a line, as regular expressions.
failed_in()
{
	sed -nE 's/( in [0-9]+ms| # skip.*)$//; s/^not ok ([0-9]+ )?(- )?[^ :]*: //; T; s/[][(){}.*+?|^$\\]/./g; p' "$1"
}

# once_more LOG: the tests that failed there, alone in a fresh test bed.
once_more()
{
	local log=$1 text bed tags options file
	local -a filter=()

	{ read -r bed; read -r tags; read -r options; read -r file; } <"$log.run"
	text=$(failed_in "$log")
	if ! runs_in_order "$file" && [[ $text != *'setup_file failed'* ]]; then
		filter=(--filter "^(${text//$'\n'/|})\$")
	fi
	echo "# once more, alone: $file"
	# shellcheck disable=SC2086  # options, one word each
	boot "$bed" $options
	run_file "$bed" "$tags" "$file" "$log.again" "${filter[@]}"
	take_down "$bed"
}

failed_tests_once_more()
{
	local log
	local -a failed

	mapfile -t failed < <(find "$logs" -name '*.run' | sed 's/\.run$//' | xargs -r grep -l '^not ok ')
	# More failures than these are no accident.
	(($(cat /dev/null "${failed[@]}" | grep -c '^not ok ') <= most_flaky)) || return 0
	for log in "${failed[@]}"; do
		all_of again once_more "$log"
	done
}
