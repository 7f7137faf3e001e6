# SPDX-License-Identifier: GPL-2.0-or-later
# Weighs counts into time. Input: lines "PATH NANOSECONDS TICKS" of cycles-load; $kept is doc/figures/counts.json, $costs
# is costs.json.
#
# The model: a path takes cycles for each instruction, the same for each time it enters a kernel, for each byte that a string
# instruction moves, and a message's time for each cache line that passes. The first two are fitted to this host's own Linux, the
# third is measured here, the fourth is published.
#
# Programs that read at the same time wait for their server: a closed network of one queue and one delay, by exact mean
# value analysis (Reiser and Lavenberg, Mean-Value Analysis of Closed Multichain Queueing Networks, JACM 27, 1980).
include "goals";

["getpid", "clock", "read", "batch", "fault"] as $calibrating
| [inputs | split(" ") | {path: .[0], ns: (.[1] | tonumber), ticks: (.[2] | tonumber)}] as $native
| ($kept[0].result.figures.paths // {}) as $paths
| def taken($path): [$native[] | select(.path == $path)] | if length == $rounds then . else error("a round is missing") end;
def ticks($path): taken($path) | map(.ticks) | median;
def instructions($path; $how): $paths[$path][$how] | .asking.instructions + .others.instructions;
# Ticks that a side's string instructions take.
def string_ticks: .string_bytes * ticks("set") / 4096;
def string_ticks($path; $how): $paths[$path][$how] | (.asking | string_ticks) + (.others | string_ticks);

# Least squares of the errors by what was measured: {instruction, entry}, in ticks.
def fitted: map({n: (instructions(.; "linux") / ticks(.)), one: (1 / ticks(.)), rest: (1 - string_ticks(.; "linux") / ticks(.))})
	| (map(.n * .n) | add) as $nn | (map(.one * .one) | add) as $oo | (map(.n * .one) | add) as $no
	| (map(.n * .rest) | add) as $n | (map(.one * .rest) | add) as $o
	| ($nn * $oo - $no * $no) as $d
	| {instruction: (($n * $oo - $o * $no) / $d), entry: (($o * $nn - $n * $no) / $d)};
def told($path; $by): $by.instruction * instructions($path; "linux") + $by.entry + string_ticks($path; "linux");
# The error of the model for a path that it was not fitted to.
def off: . as $path | told($path; $calibrating - [$path] | fitted) / ticks($path) - 1;
def ghz: [$native[] | .ticks / .ns] | median;

# Nanoseconds of a path on a CPU of costs.json. One instruction costs as many cycles there as ticks here.
def nanoseconds($cpu; $path; $how; $line): ($calibrating | fitted) as $fitted
	| ($fitted.instruction * instructions($path; $how) + $fitted.entry + string_ticks($path; $how)) / $cpu.ghz
	+ ($paths[$path][$how] | .lines_to_others + .lines_from_others) * $line
	| round;

# A delegated read on a CPU of costs.json, in nanoseconds: what the LWK's CPU does, and what the server does. A side
# waits for the lines that come to it. The program enters its kernel; the server is in its own.
def sides($cpu): ($calibrating | fitted) as $fitted
	| $paths.read.server
	| {asking: (($fitted.instruction * .asking.instructions + $fitted.entry + (.asking | string_ticks)) / $cpu.ghz
		+ .lines_from_others * $cpu.line_ns),
	   serving: (($fitted.instruction * .others.instructions + (.others | string_ticks)) / $cpu.ghz + .lines_to_others * $cpu.line_ns)};
# The time from a read to the next one, when $n programs have one server.
def round_of($n): . as $sides
	| reduce range(1; $n + 1) as $i ({waiting: 0}; ($sides.serving * (1 + .waiting)) as $served
		| {round: ($sides.asking + $served), waiting: ($i * $served / ($sides.asking + $served))})
	| .round;
# The factor by which a read takes longer with $n programs and $servers of them, which share the
# programs out.
def growth($cpu; $n; $servers): sides($cpu) | round_of(($n / $servers) | ceil) / round_of(1);

# This host is one of the CPUs, as far as it is known.
def cpus: $costs[0].cpus[], {name: "this host", ghz: ghz, line_ns: (taken("message") | map(.ns) | median)};

result("cycles"; [
	goal("time of a path of Linux that the model was not fitted to, off, worst path";
		[$calibrating[] | off | fabs] | present | max; "<="; 0.3),
	# Nobody knows whether the two CPUs of a virtual machine are on one socket or on two.
	goal("a message from one of this host's CPUs to the other, factor outside of what is published for one socket and for two";
		(taken("message") | map(.ns) | median) as $ns
		| [($ns / ([$costs[0].cpus[].line_other_socket_ns] | present | max)), (([$costs[0].cpus[].line_ns] | present | min) / $ns)]
		| max; "<="; 1.5),
	([2, 1.1], [4, 1.3], [6, 1.5] | . as [$n, $most]
		| goal("a read by a server with \($n) programs at once and 3 servers, by one alone, worst CPU";
			[$costs[0].cpus[] | growth(.; $n; 3)] | present | max; "<="; $most))];
	{
		counts_of: $kept[0].tree, caveat: "instructions and lines follow one another; IPIs, page walks and what waiting costs are not in it",
		source_of_lines: $costs[0].source,
		host: {ghz_of_the_counter: (ghz | to_3), message_ns: (taken("message") | map(.ns) | median),
			ticks: ($calibrating | map({key: ., value: (ticks(.) | to_3)}) | from_entries)},
		fitted_ticks: ($calibrating | fitted | map_values(to_3)), ticks_to_set_a_page: (ticks("set") | to_3),
		read_by_a_server: ([cpus] | map(. as $cpu | {key: .name, value: (sides($cpu) as $sides | {
			asking_ns: ($sides.asking | round), serving_ns: ($sides.serving | round),
			reads_a_second_of_one_server: ([1, 2, 4, 8, 16, 32, 64] | map(. as $n | {key: tostring,
				value: ($n / ($sides | round_of($n)) * 1e9 | round)}) | from_entries)})}) | from_entries),
		off: ($calibrating | map({key: ., value: (off | to_3)}) | from_entries),
		nanoseconds: ([cpus] | map(. as $cpu | {key: .name, value: ($calibrating | map(. as $path | {key: ., value: (
			$paths[$path] | to_entries | map(select(.value) | .key) | map(. as $how | {key: ., value: {
				one_socket: nanoseconds($cpu; $path; $how; $cpu.line_ns),
				two_sockets: ($cpu.line_other_socket_ns | if . then nanoseconds($cpu; $path; $how; .) else null end)}}) | from_entries)}) | from_entries)}) | from_entries)})
