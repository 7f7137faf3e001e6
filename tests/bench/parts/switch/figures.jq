# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the bench's rounds (an array of objects) a table for people or the line of goals.

include "goals";

def ms: . / 1000;
def to_1: . * 10 | round / 10;
def spread: {median: (median | ms | to_1), least: (min | ms | to_1), most: (max | ms | to_1)};
def pad($n): tostring | " " * ([0, $n - length] | max) + .;
def step($name): ([.steps[] | select(.name == $name) | .us] | add) // 0;

def raw_off: .raw.cpu_off + .raw.block_off + .raw.run_off;
def raw_on: .raw.cpu_on + .raw.block_on + .raw.run_on;

# The time of slurm-lwk itself by what it may take: 15 % of Linux's own time or 100 ms, whichever is more. Both are
# of the same two rounds: the host's load is the same in both halves of a round, and each began in one of them.
def own_share($total; $raw): ($total - $raw) / ([0.15 * $raw, 100000] | max);
def own_shares(total; raw): [range(0; length - 1; 2) as $i | .[$i:$i + 2]]
	| map(if map(.first) | sort == ["raw", "switch"] then own_share(map(total) | add / 2; map(raw) | add / 2)
		else error("two rounds that follow each other have one order") end);

def sizes: group_by([.cpus, .mb]) | map({
	cpus: .[0].cpus,
	mb: .[0].mb,
	switch_on_ms: map(.on.call_us) | spread,
	raw_on_ms: map(raw_off) | spread,
	switch_off_ms: map(.off.call_us) | spread,
	raw_off_ms: map(raw_on) | spread,
	own_share_on: (own_shares(.on.call_us; raw_off) | median | to_3),
	own_share_off: (own_shares(.off.call_us; raw_on) | median | to_3),
	# The time that the kernel calls themselves took in that very switch.
	other_steps_on_ms: (map(.on.call_us - (.on | step("cpus") + step("memory"))) | spread),
	other_steps_off_ms: (map(.off.call_us - (.off | step("cpus") + step("memory"))) | spread),
	boot_ms: map(.on | step("boot")) | spread,
	boot_ms_less_5_per_cpu: (((map(.on | step("boot")) | median | ms) - 5 * .[0].cpus) | to_1),
	steps_on_ms: (. as $rounds | [.[0].on.steps[].name] | map(. as $name
		| {key: $name, value: ([$rounds[].on | step($name)] | median | ms | to_1)}) | from_entries),
	steps_off_ms: (. as $rounds | [.[0].off.steps[].name] | map(. as $name
		| {key: $name, value: ([$rounds[].off | step($name)] | median | ms | to_1)}) | from_entries),
	raw_parts_ms: (. as $rounds | [.[0].raw | keys_unsorted[]] | map(. as $name
		| {key: $name, value: ([$rounds[].raw[$name]] | median | ms | to_1)}) | from_entries)});

def warm: $warm | group_by([.cpus, .mb]) | map({
	cpus: .[0].cpus,
	mb: .[0].mb,
	cold_on_ms: map(.cold_on) | spread,
	warm_on_ms: map(.warm_on) | spread,
	cold_end_ms: map(.cold_end) | spread,
	warm_end_ms: map(.warm_end) | spread,
	warm_by_cold: (map((.warm_on + .warm_end) / (.cold_on + .cold_end)) | median | to_3),
	saved_ms: (map(.cold_on + .cold_end - .warm_on - .warm_end) | median | ms | to_1)});

def clearing: $clearing | group_by([.cpus, .mb]) | map({
	cpus: .[0].cpus,
	mb: .[0].mb,
	first_program_ms: map(.first) | spread,
	next_program_ms: map(.next) | spread,
	clearing_ms: (map(.first - .next) | median | ms | to_1)});

def row: map(pad(10)) | add;
def steps_table($key): (.[0][$key] | keys_unsorted) as $names
	| (["CPUs", "MB"] + $names | row), (.[] | [.cpus, .mb] + [.[$key][$names[]]] | row);

def table:
	"medians of \(length / ([sizes[]] | length)) rounds, in ms; own share: (switch - Linux) by 15 % of Linux, or by 100 ms if that is more", "",
	(["CPUs", "MB", "on", "Linux", "share", "off", "Linux", "share", "boot"] | row),
	(sizes[] | [.cpus, .mb, .switch_on_ms.median, .raw_on_ms.median, .own_share_on,
		.switch_off_ms.median, .raw_off_ms.median, .own_share_off, .boot_ms.median] | row),
	"", "the next job on what the last one had (KeepWarm): on and end, cold and warm",
	(["CPUs", "MB", "on", "warm", "end", "warm", "saved"] | row),
	(warm[] | [.cpus, .mb, .cold_on_ms.median, .warm_on_ms.median, .cold_end_ms.median,
		.warm_end_ms.median, .saved_ms] | row),
	"", "the LWK clears its memory before the first program: first and next program",
	(["CPUs", "MB", "first", "next", "clearing"] | row),
	(clearing[] | [.cpus, .mb, .first_program_ms.median, .next_program_ms.median, .clearing_ms] | row),
	"", "switch-on, by its steps", (sizes | steps_table("steps_on_ms")),
	"", "switch-off, by its steps", (sizes | steps_table("steps_off_ms")),
	"", "Linux alone", (sizes | steps_table("raw_parts_ms"));

# The worst of the sizes that were asked for; each must have all its rounds.
def worst(f): . as $all | [$wanted[] as $size | $all | map(select("\(.cpus):\(.mb)" == $size))
	| if length >= $rounds then sizes[0] | f else null end] | present | max;

def goals: result("switch"; [
		goal("own time of switch-on, by 15 % of Linux's or 100 ms"; worst(.own_share_on); "<="; 1),
		goal("own time of switch-off, by 15 % of Linux's or 100 ms"; worst(.own_share_off); "<="; 1),
		goal("switch-on and end of a job on a warm partition, by those of a cold one, worst size";
			[warm[] | .warm_by_cold] | present | max; "<="; 0.5),
		goal("LWK boot to RUNNING, in ms and without 5 for each CPU"; worst(.boot_ms_less_5_per_cpu); "<="; 50)];
	{
		rounds: (length / (sizes | length)),
		sizes: sizes,
		keep_warm: warm,
		clearing: clearing,
		slurm: {
			srun_lwk_ms: $slurm | map(.lwk_us) | spread,
			srun_linux_ms: $slurm | map(.linux_us) | spread,
			asking_slurmctld_ms: $asked | map(. * 1000) | spread}});

if $what == "table" then table else goals end
