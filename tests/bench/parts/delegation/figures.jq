# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the figures of tests/bench/delegation $what: "goals", "distribution" (of reads, $how) or "growth".
include "goals";

. as $all
| [$all[] | select(.call) | .call] | unique as $calls
| def medians($how; $call): [$all[] | select(.how == $how and .call == $call) | .median];
def took($how; $call): medians($how; $call) | median;
# The median of all rounds; null when a round is missing.
def took_always($how; $call): medians($how; $call) | if length == $rounds then median else null end;
def p95($how; $call): [$all[] | select(.how == $how and .call == $call) | .p95] | median;
def at_once($asking; $servers): [$all[]
	| select(.how == "at once" and .asking == $asking and .servers == $servers)];
def growth($asking; $servers): (at_once($asking; $servers) | map(.mean) | median) /
	(at_once(1; $servers) | map(.mean) | median) | to_4;
# The growth of the faster half of the calls; the others waited for another program's turn to end.
def growth_of_median($asking; $servers): (at_once($asking; $servers) | map(.medians | median) | median) /
	(at_once(1; $servers) | map(.medians | median) | median) | to_4;
def instructions($how; $call): [$all[] | select(.how == $how + ", counted" and .call == $call) | .median] | median;
if $what == "distribution" then
	[$all[] | select(.how == $how and (.call == "read" or .call == $how)) | .histogram | to_entries[]]
	| group_by(.key | tonumber) | (map(map(.value) | add) | add) as $sum
	| .[] | "\(.[0].key) \((map(.value) | add) / $sum)"
elif $what == "growth" then
	(1, 2, 3) as $servers | "\"\($servers) CPUs of Linux\"",
	((1, 2, 4, 6) as $asking | "\($asking) \(growth($asking; $servers))"), "", ""
else
	result("delegation"; [
		goal("read by the proxy, by a ping-pong";
			took_always("proxy"; "read")
			/ ([("futex", "eventfd") as $how | took_always($how; $how)] | present | min); "<="; 1.5),
		# FACTS.md: 40 to 150.
		goal("read by the proxy, by Linux (a quarter of McKernel)";
			took_always("proxy"; "read") / took_always("linux"; "read"); "<="; 10),
		(("pread 1 MB", "pipe 64 KB") as $call
		| goal("throughput of \($call) by a server, by Linux";
			took_always("linux"; $call) / took_always("server"; $call); ">="; 1)),
		goal("calls done on the LWK, by Linux, worst";
			[("getpid", "sched_yield", "clock_gettime", "clock_gettime as a call") as $call
			| took_always("kernel"; $call) / took_always("linux"; $call)] | max; "<="; 1)];
	{
		note: (if $cpus < 10 then "the host has \($cpus) CPUs: times of many at once tell about the host" else "" end),
		cycles: ($calls | map(. as $call | {key: $call, value: (["linux", "proxy", "kernel", "server", "futex", "eventfd"]
			| map(. as $how | select(took($how; $call)) | {key: $how,
				value: {median: took($how; $call), p95: p95($how; $call)}}) | from_entries)}) | from_entries),
		by_linux: ([$calls[] | . as $call | select(took("linux"; $call)) | {key: $call, value: {
			proxy: (took("proxy"; $call) / took("linux"; $call) | to_4),
			kernel: (took("kernel"; $call) / took("linux"; $call) | to_4),
			server: (took("server"; $call) / took("linux"; $call) | to_4)}}] | from_entries),
		instructions: (["getpid", "read", "write", "lseek", "openat+close"] | map(. as $call | {key: $call,
			value: (["linux", "proxy", "kernel", "server"] | map(. as $how | {key: $how, value: instructions($how; $call)})
			| from_entries)}) | from_entries),
		at_once: [(1, 2, 3) as $servers | (1, 2, 4, 6) as $asking | at_once($asking; $servers)
			| {servers: $servers, asking: $asking, growth: growth($asking; $servers),
			growth_of_median: growth_of_median($asking; $servers),
			interrupts_per_call: {linux: (map(.to_linux) | median | to_4), lwk: (map(.to_lwk) | median | to_4)},
			slowest_by_mean: (map((.medians | max) / ((.medians | add) / (.medians | length))) | median | to_4)}]})
end
