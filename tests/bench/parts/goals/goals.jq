# SPDX-License-Identifier: GPL-2.0-or-later
# The goals of a bench and its line of JSON: `include "goals";`, with `jq -L tests/bench/parts`.
#
# A figure that could not be measured is a failed goal: no goal is left out, and no missing value holds.

# An array of numbers as it is; an error when one is missing, because jq would add null as 0, and prefer any
# number to it.
def present: if all(.[]; type == "number") then . else error("a figure is missing") end;

# The median of an array; null when the array is empty or lacks one of its values.
def median: sort | if length == 0 or any(.[]; . == null) then null
	elif length % 2 == 1 then .[length / 2 | floor]
	else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# A number rounded to so many places; what is no number stays as it is.
def to_places($scale): if type == "number" then . * $scale | round / $scale else . end;
def to_3: to_places(1000);
def to_4: to_places(10000);

# The result of f, if it is one finite number. An error in f, as a division by a missing figure or by zero,
# is a figure that could not be measured: null.
def figure(f): [try f catch null]
	| if length == 1 and (.[0] | type == "number" and (isinfinite or isnan | not)) then .[0] else null end;

# Makes a goal of the figure f: { name, value, op, goal, holds }, with $op "<=" or ">=".
def goal($name; f; $op; $goal): figure(f) as $value
	| {name: $name, value: ($value | to_4), op: $op, goal: $goal,
	   holds: ($value != null and (if $op == "<=" then $value <= $goal elif $op == ">=" then $value >= $goal
		else error("goal \"\($name)\": expected <= or >=, found \($op)") end))};

# Makes a goal of at least $least samples that are numbers: "samples" says how many there were. f has them as
# its input. With fewer samples, or one that is missing, the value is null.
def goal_of($name; samples; $least; f; $op; $goal): ((try samples catch [null]) // [null]) as $samples
	| ([$samples[] | select(type == "number")] | length) as $n
	| goal($name; if $n >= $least and $n == ($samples | length) then $samples | f else null end; $op; $goal)
	+ {samples: $n, samples_wanted: $least};

# Makes a goal of a ratio f beside a control: a ratio that is 1 but for what disturbs the run. Where it is off by
# more than $most, or missing, f is as wrong: the value is null, and "why" says so. A goal with samples needs as many
# as goal_of() does.
def unless_drifted(control; $most; goal): figure(control) as $control
	| if $control != null and ($control - 1 | fabs) <= $most then goal + {control: ($control | to_4)}
	  else goal + {value: null, holds: false, control: ($control | to_4),
		why: (if $control == null then "no control" else "drift: the control was \($control | to_4)" end)} end;

# A bench's line. Two goals of one name, or none at all, are a mistake in the bench. Where figures cannot be
# computed, "figures" says why, and the goals are there all the same.
def result($bench; $goals; figures):
	if ($goals | length) == 0 then error("bench \($bench): expected goals, found none")
	elif ($goals | map(.name) | unique | length) != ($goals | length)
	then error("bench \($bench): expected goals with different names, found one twice")
	else {bench: $bench, goals: $goals, figures: (try figures catch {failed: .})} end;
