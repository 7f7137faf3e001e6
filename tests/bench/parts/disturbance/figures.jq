# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of the turns of tests/bench/disturbance (an array of objects) and of $monitor.
include "goals";

# The times of the least disturbed turns say what watching costs, because the host's other work only adds to a
# time; average and deviation say how much there was of it.
def spread: present | (add / length) as $mean
	| {mean: $mean, deviation: (map(. - $mean | . * .) | add / length | sqrt)};

. as $turns
| ["unwatched", "1s", "10ms", "next_door", "six_next_door"] as $watched
| def times($how; $kernel): [$turns[] | select(.how == $how and .kernel == $kernel) | .host_ns]
	| if length == $rounds then present else error("a turn is missing") end;
def least($how; $kernel): times($how; $kernel) | min;
def by_alone($how; $kernel): least("alone"; $kernel) / least($how; $kernel);
def mean_by_alone($how; $kernel): (times("alone"; $kernel) | spread.mean) / (times($how; $kernel) | spread.mean);
def worst(f): [$kernels[] as $kernel | $kernel | f] | present | min;
def seconds($how; $kernel): [$turns[] | select(.how == $how and .kernel == $kernel) | .seconds] | median;
def goals($what; $how; $goal):
	goal("performance \($what), worst kernel, best turns"; worst(by_alone($how; .)); ">="; $goal),
	goal("performance \($what), worst kernel, average"; worst(mean_by_alone($how; .)); ">="; $goal);

result("disturbance"; [
	# -1 would be Linux, which has no such count: kernels prints null there.
	goal_of("interrupts and calls that monitoring causes";
		# The cost of reading is subtracted, so one turn's -1 must not hide another one's 1.
		[$turns[] | [.disturbances, .calls] | present | map(fabs) | add]; $rounds * ($kernels | length) * (1 + ($watched | length));
		add; "<="; 0),
	goals("at 1 s"; "1s"; 0.994),
	goals("at 10 ms"; "10ms"; 0.99),
	goals("beside a starting instance"; "next_door"; 0.994),
	goals("beside six starting instances"; "six_next_door"; 0.994),
	goal("CPU time of the monitor at 1 s, share of a core"; $monitor[0] | .ticks / .hz / 28; "<="; 0.001),
	goal("resident memory of the monitor, KB"; $monitor[0].rss_kb; "<="; 4160)];
	{ratios: ($watched | map(. as $how | {key: ., value: ($kernels | map(. as $kernel | {key: ., value: {
		host_time: (by_alone($how; $kernel) | to_4),
		by_unwatched: (least("unwatched"; $kernel) / least($how; $kernel) | to_4),
		mean: (mean_by_alone($how; $kernel) | to_4),
		deviation: (times($how; $kernel) | spread | .deviation / .mean | to_4),
		wall_time: (seconds("alone"; $kernel) / seconds($how; $kernel) | to_4)}}) | from_entries)}) | from_entries),
	turns: $turns, monitor: $monitor[0]})
