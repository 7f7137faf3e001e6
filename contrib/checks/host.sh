# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs the tests that need no test bed: the checks of the sources, unit tests, fuzzers, and the
# benches, which bring up test beds of their own.

# shellcheck source=contrib/checks/sources.sh
source "$top/contrib/checks/sources.sh"

unit_test()
{
	tap "$1" env CMOCKA_MESSAGE_OUTPUT=TAP "$sanitized/tests/unit/$1"
}

on_host()
{
	run_source_checks | tee "$logs/sources.tap"
	run_unit_tests | tee "$logs/units.tap"
}

run_source_checks()
{
	local name text

	while read -r name text; do
		! chosen "$name" || expect "$text" "contrib/check --only $name" "check_$name"
	done < <(source_checks; [[ ! $nightly && ${#only[@]} == 0 ]] || nightly_source_checks)
}

run_unit_tests()
{
	local program built=''

	for program in $(unit_tests); do
		chosen "$program" || continue
		if [[ ! $built ]] && ! chosen sanitizers; then
			(check_sanitizers) >"$logs/sanitizers.log" 2>&1
		fi
		built=yes
		unit_test "$program"
	done
}

# The fuzzers take the CPU time that the other tests leave. LWK_FUZZ_SECONDS is how long each fuzzer runs.
run_fuzzers()
{
	local seconds=${LWK_FUZZ_SECONDS:-$([[ $nightly ]] && echo 300 || echo 60)} text
	local -a targets

	chosen fuzz || return 0
	text=$(text_of fuzz) || text=.
	mapfile -t targets < <(tests/fuzz/run --list | grep -E "$text")
	tap fuzz tests/fuzz/run --seconds "$seconds" "${targets[@]}" | tee "$logs/fuzz.tap"
}

# Each bench brings up test beds of its own. LWK_LTP is the directory of the source that the bench ltp needs, and
# LWK_MCKERNEL the options of the bench mckernel.
run_benches()
{
	local bench
	local -a source

	((${#only[@]} == 0)) || return 0
	for bench in $(benches); do
		source=()
		case $bench in
		ltp)
			[[ ${LWK_LTP-} ]] || continue
			source=("$LWK_LTP")
			;;
		mckernel)
			[[ ${LWK_MCKERNEL-} ]] || continue
			read -ra source <<<"$LWK_MCKERNEL"
			;;
		# Counts that differ from those kept are a failure, not a figure.
		counts) source=(--check) ;;
		esac
		expect "tests/bench/$bench runs" "tests/bench/$bench --quick ${source[*]}" \
			timeout 7200 "tests/bench/$bench" --quick "${source[@]}"
	done | tee "$logs/benches.tap"
}
