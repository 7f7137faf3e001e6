#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: default
#
# The bundled LWK loads programs of all languages and forms, and scripts; files that are neither are refused with the
# reason. All tests share one allocation.

load allocation

@test "programs run as gcc links them by default" {
	for program in memory-calls-dynamic memory-calls-no-pie; do
		run -0 inside lwkexec "$programs/$program"
		[[ $output == *'all of it is right'* ]]
	done
	run -0 inside lwkexec "$programs/load-library" libm.so.6 cos
	[[ $output == 'cos(0) = 1' ]]
	run -1 inside lwkexec "$programs/load-library" libnone.so cos
	[[ $output == *'libnone.so: cannot open shared object file: No such file or directory'* ]]
}

# bats test_tags=nightly
@test "a position-independent static program runs too" {
	run -0 inside lwkexec "$programs/memory-calls-pie"
	[[ $output == *'all of it is right'* ]]
}

@test "a script is run by the program that its first line names" {
	# shellcheck disable=SC2016
	bed sh -c 'mkdir -p /tmp/scripts && cd /tmp/scripts
		printf "#!/bin/sh -u\necho \"\$0 \$# \$*\"; uname() { :; }; read line; echo \"\$line\"\nexit 5" >plain
		printf "#! /tmp/scripts/plain  with  blanks \n" >nested
		printf "#!/tmp/scripts/loop\n" >loop
		printf "#!/nonexistent/sh\n" >missing
		printf "#!\n" >empty
		printf "#!/%0300d\n" 0 >long
		printf "#!/usr/bin/perl\nprint \$0, \"\\n\";" >perl
		printf "no program" >text
		chmod 755 *'
	run -0 same /tmp/scripts/plain 'a b' c <<<text
	[[ $output == $'/tmp/scripts/plain 2 a b c\ntext\nstatus 5' ]]
	run -0 same /tmp/scripts/nested c <<<text
	[[ $output == $'/tmp/scripts/plain 3 with  blanks /tmp/scripts/nested c\ntext\nstatus 5' ]]
	run -0 same /tmp/scripts/perl </dev/null
	run -126 inside lwkexec /tmp/scripts/loop
	[[ $output == *'Too many levels of symbolic links'* ]]
	run -127 inside lwkexec /tmp/scripts/missing
	[[ $output == *'wants to be run by /nonexistent/sh: No such file or directory'* ]]
	for script in empty long; do
		run -126 inside lwkexec /tmp/scripts/$script
		[[ $output == *'expected the name of a program behind #!'* ]]
	done
	run -126 inside lwkexec /tmp/scripts/text
	[[ $output == *'expected an ELF program or a script (#!), found neither'* ]]
	run -7 inside lwkexec sh -c '/bin/true && exit 7'
}

# mutant NAME OFFSET BYTES [SIZE]: makes a copy of /bin/true with other bytes at OFFSET, in printf's
# octal numbers, or cut off at SIZE.
mutant()
{
	bed sh -c 'mkdir -p /tmp/mutants && cd /tmp/mutants && cp /bin/true "$1" &&
		printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none &&
		{ [ -z "$4" ] || truncate -s "$4" "$1"; }' - "$@"
}

# field TYPE OFFSET: prints where in /bin/true this field of the first program header of TYPE is.
field()
{
	bed perl -e 'open F, "/bin/true"; read F, $f, 4096;
		for (0 .. unpack("S", substr($f, 56, 2)) - 1) { $at = 64 + 56 * $_;
			if (unpack("L", substr($f, $at, 4)) == $ARGV[0]) { print $at + $ARGV[1]; exit } }' \
		"$1" "$2"
}

# field_value HEADER: prints p_offset of the program header that lies there in /bin/true.
field_value()
{
	bed perl -e 'open F, "/bin/true"; seek F, $ARGV[0] + 8, 0; read F, $f, 8; print unpack "Q", $f' "$1"
}

# bats test_tags=nightly
@test "an ELF file with absurd headers is refused with the reason" {
	local load interpreter ff='\377\377\377\377\377\377\377\377'
	load=$(field 1 0)
	interpreter=$(field 3 0)
	((load > 0 && interpreter > 0))

	mutant machine 18 '\267'
	mutant class 4 '\001'
	mutant type 16 '\001'
	mutant no-headers 56 '\000\000'
	mutant many-headers 56 '\377\377'
	mutant header-size 54 '\001\000'
	mutant headers-far-away 32 "$ff"
	mutant entry 24 "$ff"
	mutant segment-offset $((load + 8)) "$ff"
	mutant segment-address $((load + 16)) "$ff"
	mutant segment-in-kernel $((load + 16)) '\0\0\0\0\0\220\377\377'
	mutant segment-file-size $((load + 32)) "$ff"
	mutant segment-size $((load + 40)) "$ff"
	mutant segment-huge $((load + 40)) '\0\0\0\0\0\020\0\0'
	mutant segment-overlaps $((load + 40)) '\0\0\001\0'
	mutant interpreter-offset $((interpreter + 8)) "$ff"
	mutant interpreter-long $((interpreter + 32)) '\0\0\1\0'
	mutant interpreter-empty $((interpreter + 32)) '\0'
	mutant interpreter-open $((interpreter + 32)) '\4'
	mutant interpreter-missing "$(field_value "$interpreter")" '/none'
	mutant interpreter-text "$(field_value "$interpreter")" '/etc/hostname\0'
	mutant cut-in-header 0 '\177' 40
	mutant cut-in-headers 0 '\177' 100
	mutant cut-in-segment 0 '\177' 8192
	mutant empty 0 '' 0
	run -0 inside sh -c 'cd /tmp/mutants; for file in *; do
			lwkexec ./$file; echo "$file: status $?"
		done 2>&1'
	echo "$output"
	[[ $(grep -c '^lwkexec: error: ' <<<"$output") == 25 ]]
	[[ $(grep -c 'status 12[567]$' <<<"$output") == 25 ]]
	[[ $output == *'wants to be run by /none'*': No such file or directory'*'interpreter-missing: status 127'* ]]
	run -0 inside lwkexec "$programs/hello"
	[[ $output == *' LWK'* ]]
}

@test "static arrays and large stacks cost the memory that is touched, and the stack may have code" {
	for shell in '' lwkexec; do
		run -0 inside sh -c "ulimit -s unlimited && exec $shell $programs/static-memory"
		echo "$shell: $output"
		[[ $output == *'static-arrays: right'*'first-touch: right'*'large-stack: right'*'nested-functions: right' ]]
	done
	run ! inside sh -c "ulimit -s 8192 && exec lwkexec $programs/static-memory large-stack"
}

@test "C++ programs use iostream, exceptions and thread_local" {
	for program in exceptions exceptions-static; do
		run -0 same "$programs/$program" <<<$'one three two'
		[[ $output == $'from the depth, 11 destroyed\nbad cast\nbad alloc\none 1\nthree 0\ntwo 2\nff tls\nstatus 0' ]]
	done
}

@test "Fortran programs use formatted, unformatted and internal files" {
	run -0 same "$programs/fortran-io" <<<'17'
	[[ $output == *'42 in a string'*'read'*17*'status 0' ]]
}

# Sanitizers choose the addresses of their shadow memory, which is larger than the partition.
# bats test_tags=nightly
@test "sanitizers find what is wrong with a program, and only that" {
	run -0 inside env ASAN_OPTIONS=detect_leaks=0 lwkexec "$programs/sanitized-address" clean
	[[ $output == 'sum 299995, counted' ]]
	run -1 inside lwkexec "$programs/sanitized-address" overflow
	[[ $output == *'ERROR: AddressSanitizer: heap-buffer-overflow'*'sanitized.c'* ]]
	run -0 inside lwkexec "$programs/sanitized-threads" clean
	[[ $output == 'sum 299995, counted' ]]
	run -66 inside lwkexec "$programs/sanitized-threads" race
	[[ $output == *'WARNING: ThreadSanitizer: data race'*'sanitized.c'* ]]
}

# bats test_tags=nightly
@test "coreutils, awk and perl of the distribution do what they do on Linux" {
	run -0 same ls -lR /etc/slurm </dev/null
	[[ $output == *lwk.conf*'status 0' ]]
	run -0 same cat /etc/hostname /nonexistent </dev/null
	[[ $output == *'No such file or directory'*'status 1' ]]
	run -0 same sort -rn <<<$'1\n30\n2'
	[[ $output == $'30\n2\n1\nstatus 0' ]]
	run -0 same wc /bin/bash </dev/null
	run -0 same sha256sum /bin/bash </dev/null
	run -0 same awk '{ n += $1 } END { print n, cos(0) }' <<<$'1\n30\n2'
	[[ $output == $'33 1\nstatus 0' ]]
	run -0 same perl -MList::Util=sum -e 'print sum(map { length } <STDIN>), "\n"; exit 3' <<<$'1\n30'
	[[ $output == $'5\nstatus 3' ]]
}

# bats test_tags=nightly
@test "busybox of the distribution runs" {
	run -0 inside lwkexec busybox uname -srv
	[[ $output == 'Linux '*'+lwk slurm-lwk '*' LWK' ]]
	run -0 inside sh -c 'lwkexec busybox sha256sum /bin/busybox; sha256sum /bin/busybox'
	[[ ${lines[0]} == "${lines[1]}" ]]
	run -0 inside sh -c 'printf "b\na\n" | lwkexec busybox sort; lwkexec busybox find /etc/slurm -name lwk.conf'
	[[ $output == $'a\nb\n/etc/slurm/lwk.conf' ]]
}
