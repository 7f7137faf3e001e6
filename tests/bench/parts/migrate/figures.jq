# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the bench's figures (an array of objects) data for a picture, or the line of goals.

def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def to_3: if . == null then null else . * 1000 | round / 1000 end;
def goal($name; $value; $op; $goal): select($value != null)
	| {name: $name, value: ($value | to_3), op: $op, goal: $goal,
	   holds: (if $op == "<=" then $value <= $goal else $value >= $goal end)};

def section($name): map(select(.section == $name));

# ---- cost ----
# Each against the kernel's own just after it: pairs see the same machine.
def cost_ratios: section("cost") | group_by([.pages, .method, .n]) | map({
	pages: .[0].pages, method: .[0].method, n: .[0].n,
	ratio: (map(.cost / .kernel_cost) | median | to_3),
	speed: (map(.kernel_ms / .ms) | median | to_3)});
def cost_goals: cost_ratios as $all
	| ($all[] | select((.method == "mild" or .method == "adaptive") and .n >= 5000)
		| goal("CPU time of \(.method), n = \(.n), \(.pages) pages, by migrate_pages"; .ratio; "<="; 1.10)),
	  ($all | map(select(.method == "severe" and .pages == "small")) | sort_by(.n) | select(length > 1)
		| goal("CPU time of severe: least n by largest n"; .[0].ratio / .[-1].ratio; ">="; 1)),
	  ($all | map(select(.method == "mild")) | group_by(.pages)[] | max_by(.n)
		| goal("throughput of mild, n = \(.n), \(.pages) pages, by migrate_pages"; .speed; ">="; 1));

# ---- local ----
# The time from which five samples in a row have 95 % on average.
def time_95: . as $run | [range(0; (.samples | length) - 4) as $i
	| select(([$run.samples[$i:$i + 5][][1]] | add / 5) >= 0.95) | $run.samples[$i][0]] | .[0];
def remote_until($until): [.samples[] | select(.[0] <= $until) | 1 - .[1]] | if length > 0 then add / length else null end;
def locals: section("local") | map({key: "\(.pattern) \(.pages) \(.method)", value: (. + {time_95: time_95})}) | from_entries;
def by_periodical($runs; $set; $method): $runs["\($set) \($method)"].time_95 as $a | $runs["\($set) periodical"].time_95 as $b
	| if $a == null or $b == null then null else $a / $b end;
def local_goals: locals as $runs | select($runs | length > 0)
	| (("mild", "adaptive") as $method | ("half small", "half huge") as $set
		| goal("time to 95 % local, \($method), \($set) pages, by periodical"; by_periodical($runs; $set; $method); "<="; 0.5)),
	  goal("time to 95 % local, adaptive, zipf set, by periodical"; by_periodical($runs; "zipf small"; "adaptive"); "<="; 0.4),
	  ($runs["moving small periodical"].seconds as $until
		| goal("remote accesses, adaptive, moving set, by periodical";
			(($runs["moving small adaptive"] // {samples: []}) | remote_until($until)) as $a
			| (($runs["moving small periodical"] // {samples: []}) | remote_until($until)) as $b
			| if $a == null or $b == null then null else $a / $b end; "<="; 0.75));

# ---- limits ----
def limit_goals: (section("limits") | map(select(.what != "stop")) | group_by(.what)[]
	| goal("\(.[0].what) limit: largest deviation from what was asked"; (map((.got / .asked - 1) | fabs) | max); "<="; 0.05)),
	(section("limits") | map(select(.what == "stop").got)
	| goal("seconds from SIGINT to the end, unthrottled, the longest"; max; "<="; 0.2));

# ---- beside ----
def beside_of($what): section("beside") | map(select(.what == $what)) | group_by(.kind)
	| map({key: .[0].kind, value: (map(.value) | median)}) | from_entries;
def damage($what): beside_of($what) | select(length == 3)
	| if $what == "sysbench" then {kernel: (1 - .kernel / .idle), ours: (1 - .ours / .idle)}
	  else {kernel: (.kernel - .idle), ours: (.ours - .idle)} end;
# No damage by the kernel's own: nothing to compare.
def beside_goals: (("sysbench", "udp") as $what | damage($what) | select(.kernel > 0)
	| goal("loss of a neighbour (\($what)) at a tenth of the speed, by migrate_pages"; .ours / .kernel; "<="; 0.1));

if $what == "goals" then
	{
		bench: "migrate",
		goals: [cost_goals, local_goals, limit_goals, beside_goals],
		figures: {
			cost: cost_ratios,
			local: (locals | map_values({time_95, seconds, n})),
			limits: (section("limits") | map(del(.section))),
			beside: ({sysbench: beside_of("sysbench"), udp: beside_of("udp"),
				damage: {sysbench: ([damage("sysbench")] | first), udp: ([damage("udp")] | first)}})}}
elif $what == "cost" then
	cost_ratios | map(select(.pages == "small" and .n > 0)) | group_by(.method)[]
	| "\(.[0].method)", (sort_by(.n)[] | "\(.n) \(.ratio)"), "", ""
elif $what == "local" then
	section("local") | map(select(.pattern == "half" and .pages == "small"))[]
	# The paper's latencies: 73 ns local, 121 ns remote.
	| "\(.method)", (.samples[] | "\(.[0]) \(.[1]) \(73 * .[1] + 121 * (1 - .[1]))"), "", ""
elif $what == "limits" then
	section("limits") | map(select(.what == "cpu"))[] | "\(.asked) \(.got)"
elif $what == "beside" then
	beside_of("sysbench") as $s | beside_of("udp") as $u | ("idle", "kernel", "ours")
	| select($s[.]) | "\(.) \($s[.] / $s.idle * 100) \($u[.])"
else error("what?") end
