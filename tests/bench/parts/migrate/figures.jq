# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the bench's figures (an array of objects) data for a picture, or the line of goals.

include "goals";

def section($name): map(select(.section == $name));

# ---- cost ----
# Each against the kernel's own just after it: pairs see the same machine.
def cost_ratios: section("cost") | group_by([.pages, .method, .n]) | map({
	pages: .[0].pages, method: .[0].method, n: .[0].n,
	ratio: (map(.cost / .kernel_cost) | median | to_3),
	speed: (map(.kernel_ms / .ms) | median | to_3)});
def cost($pages; $method; $n): section("cost") | map(select(.pages == $pages and .method == $method and .n == $n));
def ratios($pages; $method; $n): [cost($pages; $method; $n)[] | .cost / .kernel_cost];
def cost_goals: . as $figures
	| ($counts | max) as $most | ($counts | min) as $least
	| (("small", "huge") as $pages
		| (("mild", "adaptive") as $method | $counts[] | select(. >= 5000) as $n
			| goal_of("CPU time of \($method), n = \($n), \($pages) pages, by migrate_pages";
				$figures | ratios($pages; $method; $n); $turns; median; "<="; 1.10)),
		(("periodical", "mild", "adaptive", "severe") as $method
			| goal_of("throughput of \($method), n = \($most), \($pages) pages, by migrate_pages";
				[$figures | cost($pages; $method; $most)[] | .kernel_ms / .ms]; $turns; median; ">="; 1))),
	# The paper: Severe costs more as n shrinks, Mild does not. A flat line is no curve of Severe.
	goal("CPU time of severe: least n by largest n"; $figures
		| (ratios("small"; "severe"; $least) | median) / (ratios("small"; "severe"; $most) | median); ">="; 1.1),
	goal("CPU time of mild: least n by largest n"; $figures
		| (ratios("small"; "mild"; $least) | median) / (ratios("small"; "mild"; $most) | median); "<="; 1.1);

# ---- local ----
# The time from which five samples in a row have 95 % on average. In a run that does not begin with remote
# accesses there is nothing to see.
def time_95: . as $run | if (.samples[0][1] // 1) > 0.5 then null else
	[range(0; (.samples | length) - 4) as $i
	| select(([$run.samples[$i:$i + 5][][1]] | add / 5) >= 0.95) | $run.samples[$i][0]] | .[0] end;
def remote_until($until): [.samples[] | select(.[0] <= $until) | 1 - .[1]] | add / length;
def locals: section("local") | map({key: "\(.pattern) \(.pages) \(.method)", value: (. + {time_95: time_95})}) | from_entries;
def by_periodical($runs; $set; $method): $runs["\($set) \($method)"].time_95 / $runs["\($set) periodical"].time_95;
def local_goals: locals as $runs
	| (("mild", "adaptive") as $method | ("half small", "half huge") as $set
		| goal("time to 95 % local, \($method), \($set) pages, by periodical"; by_periodical($runs; $set; $method); "<="; 0.5)),
	  ($more_methods[] as $method
		| goal("time to 95 % local, \($method), half small pages, by periodical";
			by_periodical($runs; "half small"; $method); "<="; 0.5)),
	  goal("time to 95 % local, adaptive, zipf set, by periodical"; by_periodical($runs; "zipf small"; "adaptive"); "<="; 0.4),
	  ($runs["moving small periodical"].seconds as $until
		| goal("remote accesses, adaptive, moving set, by periodical";
			($runs["moving small adaptive"] | remote_until($until))
			/ ($runs["moving small periodical"] | remote_until($until)); "<="; 0.75));

# ---- limits ----
def limit_goals: section("limits") as $limits
	| ({cpu: 6, bandwidth: 4} | to_entries[]
	| goal_of("\(.key) limit: largest deviation from what was asked";
		.key as $what | [$limits[] | select(.what == $what) | .got / .asked - 1 | fabs]; .value; max; "<="; 0.05)),
	# A migration that was done before SIGINT has no figure.
	goal_of("seconds from SIGINT to the end, unthrottled, the longest";
		[$limits[] | select(.what == "stop" and .got != "none").got]; 3; max; "<="; 0.2);

# ---- beside ----
def beside_values($what; $kind): section("beside") | map(select(.what == $what and .kind == $kind).value);
def beside_of($what): . as $figures | [("idle", "kernel", "ours") as $kind
	| {key: $kind, value: ($figures | beside_values($what; $kind) | median)}] | from_entries;
def damage($what): beside_of($what)
	| if $what == "sysbench" then {kernel: (1 - .kernel / .idle), ours: (1 - .ours / .idle)}
	  else {kernel: (.kernel - .idle), ours: (.ours - .idle)} end;
# Where the kernel's own does no damage there is nothing to compare, and that is no success.
def beside_goals: . as $figures | ("sysbench", "udp") as $what
	| goal("loss of a neighbour (\($what)) at a tenth of the speed, by migrate_pages";
		$figures | damage($what) | if .kernel > 0 then .ours / .kernel else null end; "<="; 0.1);

if $what == "goals" then
	. as $figures
	| {cost: [cost_goals], local: [local_goals], limits: [limit_goals], beside: [beside_goals]} as $goals
	| result("migrate"; [$sections[] | $goals[.][]];
		{cost: cost_ratios,
		local: (locals | map_values({time_95, seconds, n})),
		limits: (section("limits") | map(del(.section))),
		beside: ({sysbench: beside_of("sysbench"), udp: beside_of("udp")}
			+ {damage: {sysbench: (try damage("sysbench") catch null), udp: (try damage("udp") catch null)}})})
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
	| select($s[.] and $u[.]) | "\(.) \($s[.] / $s.idle * 100) \($u[.])"
else error("what?") end
