# SPDX-License-Identifier: GPL-2.0-or-later
# The charts of doc/figures/counts.json, for draw.jq.

def opponents: [["Linux", "linux"], ["LWK, by the kernel", "kernel"], ["LWK, by the proxy", "proxy"], ["LWK, by a server", "server"]];
def side_by_side($title; $unit; f): {$title, $unit, groups: [.result.figures.paths | to_entries[] | select(.key != "nothing")
	| {name: .key, bars: [.value as $how | opponents[] | {name: .[0], value: ($how[.[1]] | if . then f else empty end)}]}]};

def picture: [
	side_by_side("what a path costs on both sides"; "instructions"; .asking.instructions + .others.instructions),
	# Less than a line in ten calls is of ticks.
	side_by_side("what passes between CPUs for a path"; "cache lines";
		.lines_to_others + .lines_from_others + .lines_among_others | if . < 0.1 then 0 else . end)];
