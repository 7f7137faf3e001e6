# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the results of tests/bench/irq-noise the goals, or the picture's data of a job's size, as $what
# says.
include "goals";

. as $results
| {part: ($part | split(",")), all: ($all | split(","))} as $jobs
| def runs($size; $how): [$results[] | select(.size == $size and .how == $how)];
def on_job($run): [$jobs[$run.size][] as $cpu | $run.cpus[$cpu]] | present;
# At least one, for a quotient.
def busiest_by_least($run): (on_job($run) | max) / ([on_job($run) | min, 1] | max);
# The time with --quiet-irqs by that with irqbalance, within each round.
def by_round($size): [range($rounds) as $round | [("quiet", "irqbalance") as $how
	| runs($size; $how)[] | select(.round == $round).seconds] | .[0] / .[1]];
def per_second($size; $how; $cpu): [runs($size; $how)[] | .cpus[$cpu] / .seconds] | median;

if $what != "goals" then
	"CPU \"irqbalance off\" \"irqbalance on\" \"--quiet-irqs\"",
	($jobs.all[] as $cpu | "\($cpu) \(per_second($what; "off"; $cpu)) \(per_second($what; "irqbalance"; $cpu)) \(
		per_second($what; "quiet"; $cpu))")
else
	result("irq-noise"; [
		goal_of("interrupts on the job's cores after its first tenth of a second, with a spare core";
			[runs("part"; "quiet")[] | on_job(.) | add]; $rounds; max; "<="; 0),
		goal_of("busiest by least busy core of a job with all cores";
			[runs("all"; "quiet")[] | busiest_by_least(.)]; $rounds; max; "<="; 1.5),
		# Without a watcher there is no share.
		goal_of("share of a core that looking after interrupts takes";
			[$results[] | select(.how == "looking") | .share]; 1; max; "<="; 0.001),
		# The host's other work is in every turn alike; the spread of the turns says how much it was.
		(("part", "all") as $size
			| goal_of("time of a job on \($jobs[$size] | length) cores with --quiet-irqs, by that with irqbalance";
				by_round($size); $rounds; median; "<="; 1))];
	([("part", "all") as $size | {key: (if $size == "part" then "spare core" else "all cores" end),
		value: ([("alone", "off", "irqbalance", "quiet") as $how | runs($size; $how) as $runs | {key: $how, value: {
			interrupts_per_second: ([$jobs.all[] as $cpu | {key: $cpu,
				value: (per_second($size; $how; $cpu) | to_4)}] | from_entries),
			on_the_jobs_cores: ([$runs[] | on_job(.) | add] | median),
			busiest_by_least: ([$runs[] | busiest_by_least(.)] | median | to_4),
			time_by_alone: (([$runs[].seconds] | median) / ([runs($size; "alone")[].seconds] | median) | to_4),
			looking_by_the_clock: ([$runs[].watching] | max),
			mbits: ([$runs[].mbits] | median | to_4)}}] | from_entries)}] | from_entries))
end
