# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the figures of tests/bench/delegation $what: "goals", "distribution" (of reads, $how), "growth"
# or "model".
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
# Times in nanoseconds: of a call that nobody else delays, and what a CPU of Linux works for it.
def alone_ns: [$all[] | select(.how == "server" and .call == "read") | .median / .ghz] | median;
# A CPU that several proxies share also switches between them, which one of its own need not.
def server_ns: [$all[] | select(.how == "work of Linux") | .ns] | median;
# Exact mean value analysis (Reiser and Lavenberg 1980) of a closed queueing network: each CPU of Linux
# is a queue with as many programs as come to it; outside, a call takes what is not Linux's work.
def model($asking; $servers): (if $asking <= $servers then [server_ns, alone_ns] | min else server_ns end) as $work
	| ([alone_ns - $work, 0] | max) as $outside
	| reduce range(1; ($asking / $servers | ceil) + 1) as $n ({waiting: 0};
		($work * (1 + .waiting)) as $served | ($n / ($served + $outside)) as $rate
		| {waiting: ($rate * $served), ns: ($served + $outside), rate: $rate, busy: ($rate * $work)})
	| {asking: $asking, servers: $servers, ns: (.ns | round), growth: (.ns / alone_ns | to_4),
		busy: (.busy | to_4), calls_per_second: (.rate * 1e9 * $servers | round)};
def instructions($how; $call): [$all[] | select(.how == $how + ", counted" and .call == $call) | .median] | median;
if $what == "distribution" then
	[$all[] | select(.how == $how and (.call == "read" or .call == $how)) | .histogram | to_entries[]]
	| group_by(.key | tonumber) | (map(map(.value) | add) | add) as $sum
	| .[] | "\(.[0].key) \((map(.value) | add) / $sum)"
elif $what == "growth" then
	(1, 2, 3) as $servers | "\"\($servers) CPUs of Linux\"",
	((1, 2, 4, 6) as $asking | "\($asking) \(growth($asking; $servers))"), "", ""
elif $what == "model" then
	(1, 2, 3, 4) as $servers | "\"\($servers) CPUs of Linux\"",
	(range(1; 65) as $asking | model($asking; $servers) | "\(.asking) \(.growth)"), "", ""
else
	result("delegation"; [
		goal("read by the proxy, by a ping-pong";
			took_always("proxy"; "read")
			/ ([("futex", "eventfd") as $how | took_always($how; $how)] | present | min); "<="; 1.5),
		# FACTS.md: 40 to 150.
		goal("read by the proxy, by Linux (a quarter of McKernel)";
			took_always("proxy"; "read") / took_always("linux"; "read"); "<="; 10),
		goal("read in the kernel, by the proxy";
			took_always("kernel"; "read") / took_always("proxy"; "read"); "<="; 0.5),
		goal("read by a server, by the proxy";
			took_always("server"; "read") / took_always("proxy"; "read"); "<="; 0.35),
		goal("read by a server, instructions of both sides by those of the proxy's path";
			instructions("server"; "read") / instructions("proxy"; "read"); "<="; 0.5),
		(("pread 1 MB", "pipe 64 KB") as $call
		| goal("throughput of \($call) by a server, by Linux";
			took_always("linux"; $call) / took_always("server"; $call); ">="; 1)),
		goal("calls done on the LWK, by Linux, worst";
			[("getpid", "sched_yield", "clock_gettime", "clock_gettime as a call") as $call
			| took_always("kernel"; $call) / took_always("linux"; $call)] | max; "<="; 1),
		((2, 4, 6) as $asking | {"2": 1.1, "4": 1.3, "6": 1.5}["\($asking)"] as $goal
		| goal("time of a read with \($asking) programs at once, by 1, 3 CPUs of Linux";
			growth($asking; 3); "<="; $goal))];
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
		model: {alone_ns: (alone_ns | round), server_ns: (server_ns | round),
			programs: [model((1, 2, 4, 6); 3), model(6; 1), model((4, 16, 64); 4)]},
		at_once: [(1, 2, 3) as $servers | (1, 2, 4, 6) as $asking | at_once($asking; $servers)
			| {servers: $servers, asking: $asking, growth: growth($asking; $servers),
			growth_of_median: growth_of_median($asking; $servers),
			interrupts_per_call: {linux: (map(.to_linux) | median | to_4), lwk: (map(.to_lwk) | median | to_4)},
			slowest_by_mean: (map((.medians | max) / ((.medians | add) / (.medians | length))) | median | to_4)}]})
end
