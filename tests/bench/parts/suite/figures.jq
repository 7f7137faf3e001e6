# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of a suite's results ("TEST<tab>RESULT ON LINUX<tab>ON THE LWK" lines). $listed is the
# number of tests that should have a result.
include "goals";

def rows: split("\n") | map(select(. != "" and (startswith("#") | not)));

($decided | rows | map(split(" ") | {key: .[0], value: .[1]}) | from_entries) as $decisions
| rows | map(split("\t")) as $all | $all
| map(select(.[1] == "0")) as $counted
| ($counted | map(select(.[2] != "0"))) as $failed
| (($counted | length) - ($failed | length)) as $good
| [$failed[] | .[0] | select(in($decisions) | not)] as $new
| result($suite; [
	goal("tests that pass, of those that pass on Linux"; $good / ($counted | length); ">="; $goal),
	goal("failures without a decision"; if $counted == [] then null else $new | length end; "<="; 0),
	goal("tests with a result on Linux, of those listed"; ($all | length) / $listed; ">="; 0.99)];
	{run: ($all | length), pass_on_linux: ($counted | length), pass_on_lwk: $good,
	decisions: ($failed | map($decisions[.[0]] // "none") | group_by(.) | map({key: .[0], value: length})
		| from_entries),
	new: $new,
	pass_against_decision: [$counted[] | select(.[2] == "0") | .[0] | select(in($decisions))]})
