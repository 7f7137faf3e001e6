# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of the counts of tests/bench/noise (an array with an object for each kind and
# round) and of $spreads.
include "goals";

def total($kind): [.[] | select(.kind == $kind) | to_entries[] | select(.key != "kind" and .key != "round")]
	| group_by(.key) | map({key: .[0].key, value: (map(.value) | add)}) | from_entries;

. as $counts
# Only rounds on the LWK have a count "disturbances".
| result("noise"; [
	goal_of("interrupts on an LWK CPU while it computes";
		[$counts[] | select(.kind == "lwk").disturbances]; $rounds; add; "<="; 0)];
	{counts: {lwk: total("lwk"), isolated: total("isolated"), plain: total("plain")},
	spreads: ($spreads | map({key: .kind, value: del(.kind)}) | from_entries)})
