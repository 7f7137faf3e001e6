# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tests that need no test bed: checks of the sources, unit tests, and the benches, which bring
# up test beds of their own.

sources()
{
	git ls-files --cached --others --exclude-standard -- "$@" |
		while read -r file; do [[ ! -e $file ]] || echo "$file"; done
}

check_shellcheck()
{
	sources contrib .ci tests | xargs grep -lE '^#!/bin/(ba)?sh|^#!/usr/bin/env bats|shellcheck shell=' |
		xargs shellcheck -x
}

check_format()
{
	sources '*.c' '*.h' | xargs clang-format --dry-run -Werror
}

check_licenses()
{
	# shellcheck disable=SC2046  # no blanks in our names
	! grep -L 'SPDX-License-Identifier' $(sources '*.[chS]' '*.mk' '*.ac' '*.am' '*.sh' '*.bats' '*.ld') | grep .
}

check_headers()
{
	local header status=0

	for header in $(sources 'libmodeswitch/*.h' 'kmod/abi/*.h' 'spank/*.h' 'job_container/*.h'); do
		gcc -std=gnu11 -D_GNU_SOURCE -I. -Ilibmodeswitch -Ikmod -fsyntax-only -x c - <<<"#include \"$header\"" ||
			status=1
	done
	return $status
}

check_rooms()
{
	contrib/rooms --check
}

# Out of the source tree and without kernel headers: both must be possible.
check_sanitizers()
{
	[[ -e $top/configure ]] || "$testbed" build
	mkdir -p "$sanitized"
	cd "$sanitized" || return
	[[ -e Makefile ]] || "$top/configure" --enable-sanitizers --with-kernel=no
	make -j2
	make -j2 check TESTS=
}

check_without_kernel()
{
	cd "$sanitized" || return
	# Not by a pipe: configure must live to its end, and grep -q stops reading at the line.
	"$top/configure" --enable-sanitizers --with-kernel=no >configured || return
	grep -q 'kernel module *no (--without-kernel)' configured || return
	make install DESTDIR="$sanitized/stage" || return
	[[ -e $sanitized/stage/usr/local/bin/lwkctl && ! -e $sanitized/stage/lib/modules ]]
}

check_sparse()
{
	local out

	"$testbed" build
	out=$(make -C "$(sed -n 's/^KERNEL_BUILD = //p' build/Makefile)" \
		M="$top/build/kmod/module" C=2 CHECK=sparse modules 2>&1)
	! grep -E 'kmod/module/.*(warning|error):' <<<"$out"
}

# The warnings of gcc 12 about allocations and null pointers are wrong too often to be of use.
check_analyzer()
{
	"$testbed" build
	contrib/compile-commands
	jq -r '.[] | select(.file | test("/libmodeswitch/")) | "cd \(.directory) && \(.command)
		-o /dev/null -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-null-dereference
		-Wno-analyzer-possible-null-dereference -Wno-analyzer-use-of-uninitialized-value" |
		gsub("\n"; " ")' build/compile_commands.json | sort -u | tr '\n' '\0' | xargs -0 -n1 -P2 sh -c
}

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
	done < <(source_checks)
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

# Each bench brings up test beds of its own. The bench ltp needs LTP's source: LWK_LTP is its directory.
run_benches()
{
	local bench
	local -a source

	((${#only[@]} == 0)) || return 0
	for bench in $(benches); do
		source=()
		if [[ $bench == ltp ]]; then
			[[ ${LWK_LTP-} ]] || continue
			source=("$LWK_LTP")
		fi
		expect "tests/bench/$bench runs" "tests/bench/$bench --quick ${source[*]}" \
			timeout 7200 "tests/bench/$bench" --quick "${source[@]}"
	done | tee "$logs/benches.tap"
}
