# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the results of tests/bench/irq-noise the goals, or the picture's data of a job's size, as $what
# says.
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def to_4: if . == null then null else . * 10000 | round / 10000 end;

. as $results
| {part: ($part | split(",")), all: ($all | split(","))} as $jobs
| def runs($size; $how): [$results[] | select(.size == $size and .how == $how)];
def on_job($run): [$jobs[$run.size][] as $cpu | $run.cpus[$cpu]];
# At least one, for a quotient.
def busiest_by_least($run): (on_job($run) | max) / ([on_job($run) | min, 1] | max);
def per_second($size; $how; $cpu): [runs($size; $how)[] | .cpus[$cpu] / .seconds] | median;
def goal($name; $value; $goal): {name: $name, value: $value, op: "<=", goal: $goal, holds: ($value <= $goal)};

if $what != "goals" then
	"CPU \"irqbalance off\" \"irqbalance on\" \"--quiet-irqs\"",
	($jobs.all[] as $cpu | "\($cpu) \(per_second($what; "off"; $cpu)) \(per_second($what; "irqbalance"; $cpu)) \(
		per_second($what; "quiet"; $cpu))")
else
	{bench: "irq-noise",
	goals: [
		goal("interrupts on the job's cores, with a spare core";
			[runs("part"; "quiet")[] | on_job(.) | add] | max; 0),
		goal("busiest by least busy core of a job with all cores";
			[runs("all"; "quiet")[] | busiest_by_least(.)] | max | to_4; 1.5),
		goal("share of a core that looking after interrupts takes";
			[$results[] | select(.how == "looking") | .share] | max; 0.001)],
	figures: ([("part", "all") as $size | {key: (if $size == "part" then "spare core" else "all cores" end),
		value: ([("alone", "off", "irqbalance", "quiet") as $how | runs($size; $how) as $runs | {key: $how, value: {
			interrupts_per_second: ([$jobs.all[] as $cpu | {key: $cpu,
				value: (per_second($size; $how; $cpu) | to_4)}] | from_entries),
			on_the_jobs_cores: ([$runs[] | on_job(.) | add] | median),
			busiest_by_least: ([$runs[] | busiest_by_least(.)] | median | to_4),
			time_by_alone: (([$runs[].seconds] | median) / ([runs($size; "alone")[].seconds] | median) | to_4),
			looking_by_the_clock: ([$runs[].watching] | max),
			mbits: ([$runs[].mbits] | median | to_4)}}] | from_entries)}] | from_entries)}
end
