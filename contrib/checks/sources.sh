# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The checks of the sources, and of what this host builds from them.

pronouns='What|Who|Whoever|Whatever|Whose|Of|By whom|From whom|To whom|It|Its|That|They|Those'
pronouns+='|The same|Does the same|Does so|Likewise|Has it|Each makes|Each moves'

# Commits that were written before this time, in seconds since 1970, may have other subjects.
subjects_since=1795564800
# Commits that were written before this time may have no body.
bodies_since=1795824000

# build_for_host: the checks of what was built look at build/, which has what this host builds for itself.
build_for_host()
{
	"$testbed" build --release host
}

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
	sources '*.c' '*.h' | xargs clang-format-19 --dry-run -Werror
}

# A comment that begins with a pronoun leaves the reader to guess of what it speaks, as does a sentence in one that
# begins with What or Who. A question does not say what is true.
check_comments()
{
	local -a files

	mapfile -t files < <(sources '*.[chS]' '*.mk' '*.am' '*.ac' '*.in' '*.sh' '*.bash' '*.bats' contrib tests |
		grep -v '\.json$\|\.md$\|\.svg$' | sort -u)
	awk '
		function tell(place, what, text) {
			print place ": expected " what ", found:" text
			found = 1
		}
		function finish() {
			if (text ~ inner)
				tell(place, "a sentence that says its subject, and no question", text)
			text = ""
			inside = 0
		}
		FNR == 1 { finish(); before = "" }
		# The lines of a header before its first sentence.
		before ~ /^#(!.*| SPDX.*| shellcheck .*)?$/ { before = "" }
		$0 ~ first || before ~ /^[ \t]*\/\*\*?$/ && $0 ~ second || before !~ /^[ \t]*#/ && $0 ~ shell {
			tell(FILENAME ":" FNR, "a comment that begins with its subject", $0)
		}
		{ before = $0 }
		FILENAME ~ /\.[chS]$/ && !inside && match($0, /(^|[ \t])\/\*/) {
			inside = 1
			place = FILENAME ":" FNR
			$0 = substr($0, RSTART + RLENGTH)
		}
		inside {
			sub(/^[ \t]*\*+[ \t]/, " ")
			last = sub(/\*\/.*/, "")
			text = text " " $0
			if (last)
				finish()
			next
		}
		FILENAME !~ /\.[chS]$/ && /^[ \t]*#( |$)/ {
			if (text == "")
				place = FILENAME ":" FNR
			text = text substr($0, index($0, "#") + 1)
			next
		}
		{ finish() }
		END { finish(); exit found }
	' first="/[*][*]? *($pronouns)[^a-z_]" second="^[ \t]*[*] ($pronouns)[^a-z_]" \
		shell="^[ \t]*# ($pronouns)[^a-z_]" inner="[.;:] (What|Who|Whoever|Whatever|Whose|Of) |[?]( |$)| anew[ .,;:]" \
		"${files[@]}"
}

# The time is the author's, so a shallow clone and a rebased commit have the same answer.
check_subjects()
{
	git log --no-merges --format='%at %h %s%x1f%b%x1e' | awk -v RS='\036' -v since="$subjects_since" \
		-v bodies_since="$bodies_since" '
		{
			sub(/^\n/, "")
			split($0, parts, "\037")
			subject = parts[1]
			sub(/^[^ ]+ [^ ]+ /, "", subject)
		}
		$1 >= since && (length(subject) > 72 || subject !~ /^[a-zA-Z0-9_.,\/ ()-]+: [^ ].*[^ .]$/) {
			print $2 ": expected \"area: what changes\", at most 72 characters and no full stop, found " \
				length(subject) ": " subject "; reword it with git rebase -i"
			found = 1
		}
		$1 >= bodies_since && parts[2] !~ /[^ \n]/ {
			print $2 ": expected a body that says why, found none: " subject "; write one with git rebase -i"
			found = 1
		}
		END { exit found }
	'
}

# automake makes its rules from the names in its lists, so each source is named there.
check_lists()
{
	local difference

	difference=$(diff <(grep -ohE '(libmodeswitch|spank|job_container)/[^ ]*\.c' ./*/local.mk | sort -u) \
		<(sources 'libmodeswitch/*.c' 'spank/*.c' 'job_container/*.c' | sort)) && return
	printf '*/local.mk: expected the sources that are there, found others; take out those at < and add those at >:\n%s\n' \
		"$difference"
	return 1
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
		gcc -std=gnu11 -D_GNU_SOURCE -I. -Ilibmodeswitch -Ikmod -Ispank -fsyntax-only -x c - <<<"#include \"$header\"" ||
			status=1
	done
	return $status
}

# abi_checksum FOLDER...: prints the checksum of the ABI headers there, without comments and line breaks.
abi_checksum()
{
	sources "${@/%//*.h}" | xargs cat | gcc -fpreprocessed -dD -E -P -x c - | tr -s '[:space:]' ' ' | sha256sum |
		cut -d' ' -f1
}

# abi_version NAME: prints the number that an ABI header gives to it.
abi_version()
{
	grep -rhoP "^#define $1 \K[0-9]+" kmod/abi
}

check_abi_versions()
{
	local name folders version checksum status=0

	while read -r name folders version checksum; do
		if [[ $name == '#'* ]]; then
			continue
		fi
		# shellcheck disable=SC2086  # folders, one word each
		set -- "$(abi_version "$name")" "$(abi_checksum ${folders//,/ })"
		if [[ $1 != "$version" || $2 != "$checksum" ]]; then
			printf '%s: expected %s\n\tand headers with the sum %s, found %s and %s;\n' \
				kmod/abi/checksums "$name $version" "$checksum" "$1" "$2"
			printf '\traise the version if older programs or images would misread what changed, and write "%s"\n' \
				"$name $folders $1 $2"
			status=1
		fi
	done <kmod/abi/checksums
	return $status
}

# delegated_calls: prints the names of the system calls that the LWK's table delegates.
delegated_calls()
{
	tr -d '\n' <kmod/lwk/calls/table.c | grep -oE '(DELEGATES\([A-Z]+|GROUP\(UNRESTARTED)[^)]*' |
		grep -oE '__NR_[a-z0-9_]+' | sed 's/__NR_//'
}

# addresses_of NAME: prints the numbers of a call's arguments that are addresses, from 0, as Linux declares them.
# Where a command in another argument says whether one is, it is none there, and listed here.
addresses_of()
{
	local name=$1

	case $name in
	fcntl | ioctl) echo 2 ;;
	keyctl) printf '%s\n' 1 2 3 ;;
	prctl) echo 1 ;;
	semctl) echo 3 ;;
	stat | lstat | fstat | uname) name=new$name ;;
	sendfile) name=sendfile64 ;;
	esac
	grep -m 1 "sys_$name *(" <<<"$linux_calls" | sed 's/.*(//' | tr ',' '\n' | awk '/__user/ { print NR - 1 }'
}

# The addresses that the program tries, and its calls without one, are compared with Linux's own declarations.
check_addresses()
{
	local name argument tried linux_calls status=0

	linux_calls=$(cat /usr/src/linux-headers-*/include/linux/syscalls.h | tr '\n\t' '  ' |
		grep -oE 'asmlinkage long sys_[^)]*')
	gcc -std=gnu11 -Ikmod tests/vm/programs/hostile/foreign-delegated.c -o "$logs/foreign-delegated" -lrt || return
	tried=$("$logs/foreign-delegated" --list)
	# The calls that the table and the headers are known to have at least.
	(($(delegated_calls | wc -l) > 200 && $(wc -l <<<"$linux_calls") > 300)) || return
	for name in $(delegated_calls); do
		for argument in $(addresses_of "$name"); do
			if ! grep -qx "$name $argument" <<<"$tried"; then
				echo "foreign-delegated.c: expected a row of $name with an address as argument $argument, found none"
				status=1
			fi
		done
		if ! grep -qxE "$name( [0-5])?" <<<"$tried"; then
			echo "foreign-delegated.c: expected $name in a row or among the calls without an address, found it nowhere"
			status=1
		fi
	done
	return $status
}

# The plugins compile against our own declarations of what each release has, so no Slurm is needed.
check_slurm_releases()
{
	local release flags status=0
	local -a sources

	mapfile -t sources < <(sources 'spank/*.c' 'job_container/*.c')
	flags=$(sed -n 's/^STRICT_CFLAGS="\(.*\)"/\1/p' configure.ac)
	for release in 20.11 21.8 22.5 23.2 23.11 24.5 24.11 25.5 25.11 26.5; do
		# shellcheck disable=SC2046,SC2086  # flags
		gcc $flags -Werror -D_GNU_SOURCE -fsyntax-only -DRELEASE_YEAR=${release%.*} -DRELEASE_MONTH=${release#*.} \
			-DLWKEXEC_PATH='""' -DLWKCTL_PATH='""' -DLWKMPI_PATH='""' -DSCONTROL_PATH='""' -DMS_CONFIG_PATH='""' \
			-Itests/slurm -Ilibmodeswitch -Ikmod -Ispank $(pkg-config --cflags hwloc json-c) "${sources[@]}" || {
			echo "slurm $release: expected the plugins to compile, found the errors above"
			status=1
		}
	done
	return $status
}

# At the widths of a common and of a wide terminal.
check_manuals()
{
	local page width

	for page in doc/*.[1-8]; do
		for width in 78n 118n; do
			{ groff -ww -mandoc -Tutf8 "-rLL=$width" "$page" >/dev/null; } 2>&1
		done
	done >"$logs/manuals"
	cat "$logs/manuals"
	[[ ! -s $logs/manuals ]]
}

# Every file that names the version names the same one.
check_version()
{
	local version

	version=$(sed -n 's/^AC_INIT(\[slurm-lwk\], \[\(.*\)\])$/\1/p' configure.ac)
	[[ $version ]]
	grep -m1 '^slurm-lwk [0-9]' NEWS | grep -qE "^slurm-lwk $version( |\$)"
	grep -m1 . debian/changelog | grep -qF "slurm-lwk ($version)"
	grep -qE "^Version: *$version\$" contrib/rpm/slurm-lwk.spec
}

check_rooms()
{
	contrib/rooms --check
}

# counted LINE...: prints the summary of a check with these results, without the logs, and its status.
counted()
{
	local logs
	logs=$(mktemp -d -t lwk-check.XXXXXX)

	printf '%s\n' "$@" >"$logs/one.tap"
	{ summary && echo 0 || echo 1; } | sed 's/ (.*//' | paste -sd ' '
	rm -rf "$logs"
}

# of_bats TAGS LINE...: prints how a check takes these results of a file in a test bed.
of_bats()
{
	local tags=$1
	shift

	# shellcheck disable=SC2317  # run_file calls it
	tap() { printf '%s\n' "${results[@]}"; }
	local -a results=("$@")
	run_file bed "$tags" file /dev/null
}

check_counting()
{
	local -a tests=('ok 1 - a' 'ok 2 b in 5ms' 'ok 3 c in 5ms # skip no such bed' 'ok - d # SKIP')

	[[ $(counted "${tests[@]}") == '2 passed, 0 failed, 2 skipped 0' ]] || return
	[[ $(counted "${tests[@]:0:2}") == '2 passed, 0 failed 0' ]] || return
	[[ $(counted "${tests[@]}" 'not ok - e') == '# failed: e 2 passed, 1 failed, 2 skipped 1' ]] || return
	# A check whose tests were all skipped has not passed.
	[[ $(counted "${tests[2]}") == '0 passed, 0 failed, 1 skipped 1' ]] || return
	# In a test bed without options no test has a reason to be skipped.
	[[ $(of_bats '!version-2' "${tests[@]}" | grep -c '^not ok .* # skip') == 1 ]] || return
	[[ $(of_bats 'cgroups,!version-1' "${tests[@]}" | grep -c '^not ok') == 0 ]]
}

check_figures()
{
	tests/bench/all --check
}

check_goals()
{
	tests/bench/parts/goals/test
}

# Out of the source tree and without kernel headers: both must be possible.
check_sanitizers()
{
	[[ -e $top/configure ]] || build_for_host
	mkdir -p "$sanitized"
	cd "$sanitized" || return
	[[ -e Makefile ]] || "$top/configure" --enable-sanitizers --enable-werror --with-kernel=no
	make Makefile # see make_project()
	make -j2
	make -j2 check TESTS=
}

check_without_kernel()
{
	local slurm=$sanitized/slurm

	mkdir -p "$slurm/include"
	ln -sfT /usr/include/slurm "$slurm/include/slurm"
	cd "$sanitized" || return
	# No pipe leads to grep -q, which stops reading at the line: configure must live to its end.
	"$top/configure" --enable-sanitizers --enable-werror --with-kernel=no --with-slurm="$slurm" >configured || return
	grep -q 'kernel module *no (--without-kernel)' configured || return
	# libtool installs a plugin only into the directory that it was linked for.
	rm -f spank/lwk.la job_container/job_container_lwk.la
	make install DESTDIR="$sanitized/stage" || return
	[[ -e $sanitized/stage/usr/local/bin/lwkctl && -e $sanitized/stage$slurm/lib/slurm/lwk.so &&
		! -e $sanitized/stage/lib/modules ]]
}

check_model()
{
	tests/model/run
}

check_tarball()
{
	build_for_host
	make -C build -j2 distcheck
}

# Two folders, whose names differ in length.
check_reproducible()
{
	local place=$top/build/reproducible folder

	rm -rf "$place"
	for folder in one another/place; do
		mkdir -p "$place/$folder"
		sources | xargs -d '\n' cp -P --parents -t "$place/$folder" || return
		"$place/$folder/contrib/testbed/testbed" build --release host || return
	done
	diff -r "$place/one/build/stage" "$place/another/place/build/stage" || return
	rm -rf "$place"
}

check_sparse()
{
	local out

	build_for_host
	# With other flags than kmod/Makefile's the module would be compiled once more.
	out=$(make -C "$(sed -n 's/^KERNEL_BUILD = //p' build/Makefile)" \
		M="$top/build/kmod/module" KCFLAGS="-ffile-prefix-map=$top/build/kmod/module=lwkpart" C=2 CHECK=sparse modules 2>&1)
	! grep -E 'kmod/module/.*(warning|error):' <<<"$out"
}

# The warnings of gcc 12 about allocations and null pointers are wrong too often to be of use, and those of
# gcc 14 about lost descriptors: it takes standard input and output, made by dup2(), for lost.
check_analyzer()
{
	build_for_host
	contrib/compile-commands
	jq -r '.[] | select(.file | test("/(libmodeswitch|spank|job_container|kmod/lwkexec)/")) | "cd \(.directory) && \(.command)
		-o /dev/null -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-null-dereference
		-Wno-analyzer-possible-null-dereference -Wno-analyzer-use-of-uninitialized-value
		-Wno-analyzer-fd-leak" |
		gsub("\n"; " ")' build/compile_commands.json | sort -u | tr '\n' '\0' | xargs -0 -n1 -P2 sh -c
}

# The files that root's processes run, as they are installed. The LWK and lwkpart.ko are kernels' code.
installed_files()
{
	find build/stage -type f \( -path '*/bin/*' -o -name '*.so*' -o -path '*/ihk/ihk*' \)
}

# lacks_flags FILE: prints what the file should have been built with, and was not.
lacks_flags()
{
	local file=$1 headers dynamic symbols flag

	headers=$(readelf -hlW "$file")
	dynamic=$(readelf -dW "$file")
	# lwkexec has libc in itself.
	symbols=$(readelf -W --syms "$file")
	grep -q GNU_RELRO <<<"$headers" || echo 'RELRO'
	grep -q 'GNU_STACK .* RW ' <<<"$headers" || echo 'a stack that is not executable'
	# Plugins bind immediately, too: Slurm's symbols are there when they are loaded.
	grep -q 'FLAGS.*NOW' <<<"$dynamic" || echo 'immediate binding'
	[[ $file != */bin/* ]] || grep -q 'FLAGS_1.*PIE' <<<"$dynamic" || echo 'PIE'
	grep -qE '_chk(@|$)' <<<"$symbols" || echo 'fortified functions'
	# Options that no header shows are in the debug information of each compiled file. (The linker notes CET only
	# where the distribution's own start files have it.)
	readelf --debug-dump=info "$file" | sed -n 's/.*DW_AT_producer.*: GNU C/GNU C/p' >"$file_flags"
	for flag in -fstack-protector-strong -fstack-clash-protection -fcf-protection; do
		grep -q . "$file_flags" && ! grep -qv -e "$flag" "$file_flags" || echo "$flag in each object"
	done
}

# shells FILE: prints the functions of libc that it uses and that start a shell or search PATH.
shells()
{
	nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $2); print $2 }' |
		grep -xE 'system|popen|wordexp|exec[lv]pe?|posix_spawnp' || true
}

check_hardening()
{
	local file lack status=0 file_flags=$logs/flags

	build_for_host
	for file in $(installed_files); do
		while read -r lack; do
			echo "$file: expected $lack, found none"
			status=1
		done < <(lacks_flags "$file")
		while read -r lack; do
			echo "$file: expected programs run by their path and without a shell, found $lack()"
			status=1
		done < <(shells "$file")
	done
	# A file that is installed where installed_files() does not look would go unchecked.
	if (($(installed_files | wc -l) != 9)); then
		echo "build/stage: expected 9 programs and libraries, found others; change installed_files() or this number:"
		installed_files
		status=1
	fi
	if nm -u build/kmod/module/lwkpart.ko | grep usermodehelper ||
		sources 'spank/*.[ch]' 'job_container/*.[ch]' 'libmodeswitch/*.[ch]' 'kmod/*.[ch]' |
		xargs grep -nE '"(/usr)?(/bin/)?(ba|da)?sh"'; then
		status=1
	fi
	return $status
}

# Nobody but root can write the files that root writes, whatever the umask.
check_permissions()
{
	build_for_host
	! find build/stage ! -type l \( -perm /6002 -o -type f -perm /0020 \) | grep . || return 1
	# Each file that is created says its mode; only a drawing has what its user's umask leaves.
	! sources 'spank/*.c' 'job_container/*.c' 'libmodeswitch/*.c' |
		xargs sed -n '/O_CREAT/{/;$/!N; s/\n[[:space:]]*/ /; p}' |
		grep -vE ', (0|0600|0640|0644|0444|mode)\);|O_TRUNC.* 0666\);' || return 1
	! sources 'spank/*.c' 'job_container/*.c' 'libmodeswitch/*.c' |
		xargs grep -nE 'fopen\([^)]*, "[wa]|mkdir(at)?\(.*, 0?[0-7]*[2367]\)|chmod(at)?\(.*, 0?[0-7]*[2367]\)'
}

# Exposure is what systemd thinks of a unit's sandbox: 10 is none, and 2.0 is allowed.
check_units()
{
	local unit copies=$logs/units status=0

	mkdir -p "$copies"
	build_for_host
	for unit in build/contrib/systemd/*.service; do
		# Only a node has lwkctl.
		sed 's,/usr/bin/lwkctl,/bin/true,' "$unit" >"$copies/${unit##*/}"
		systemd-analyze verify --man=no "$copies/${unit##*/}" || status=1
		systemd-analyze security --offline=true --threshold=20 "$unit" || status=1
	done
	return $status
}
