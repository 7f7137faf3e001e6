# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of what tests/bench/mckernel has recorded: lines of delegation-load, of
# first-touch-load, of jobs.json and of the own tools' times, each with "how".
include "goals";

[inputs] as $all
# The median of a call in nanoseconds.
| def call($how; $name): [$all[] | select(.how == $how and .call == $name) | .median / .ghz]
	| if length == $rounds then median else null end;
def beside_linux($how; $name): call($how; $name) / call("linux beside " + $how; $name);
def touch($how): [$all[] | select(.how == $how) | .touch_ms // empty] | if length == $rounds then median else null end;
def touch_beside_linux($how): touch($how) / touch("linux beside " + $how);
def jobs($how): [$all[] | select(.how == $how and .job_id)];
def switch($how; $key): [jobs($how)[] | .[$key] // empty] | median;
def own($key): [$all[] | select(.how == "mckernel's own tools")[$key]] | if length == $rounds then median else null end;
def contiguous($how): [jobs($how)[] | .largest_run / .memory] | median;
def less($what; f): goal("\($what), bundled LWK / McKernel"; f; "<="; 1);
result("mckernel"; [
	less("getpid beside Linux's"; beside_linux("bundled"; "getpid") / beside_linux("mckernel"; "getpid")),
	less("delegated read beside Linux's"; beside_linux("bundled"; "read") / beside_linux("mckernel"; "read")),
	less("delegated write beside Linux's"; beside_linux("bundled"; "write") / beside_linux("mckernel"; "write")),
	less("delegated open and close beside Linux's"; beside_linux("bundled"; "openat+close") / beside_linux("mckernel"; "openat+close")),
	less("first touch of 128 MB beside Linux's"; touch_beside_linux("bundled") / touch_beside_linux("mckernel")),
	less("switch on"; switch("bundled"; "switch_on_ms") / switch("mckernel"; "switch_on_ms")),
	less("switch off"; switch("bundled"; "switch_off_ms") / switch("mckernel"; "switch_off_ms")),
	goal("McKernel's switch on, by slurm-lwk / by its own tools"; switch("mckernel"; "switch_on_ms") / own("on_ms"); "<="; 1),
	goal("McKernel's switch off, by slurm-lwk / by its own tools"; switch("mckernel"; "switch_off_ms") / own("off_ms"); "<="; 1)];
	{rounds: $rounds,
	beside_linux: (["bundled", "mckernel"] | map({key: ., value: (. as $how
		| ["getpid", "read", "write", "openat+close"] | map({key: ., value: (beside_linux($how; .) | to_3)}) | from_entries
			| . + {"first touch": (touch_beside_linux($how) | to_3)})}) | from_entries),
	linux_ns: (["getpid", "read", "write", "openat+close"] | map({key: ., value: (call("linux beside mckernel"; .) | to_3)}) | from_entries),
	switch_ms: {bundled: {on: switch("bundled"; "switch_on_ms"), off: switch("bundled"; "switch_off_ms")},
		mckernel: {on: switch("mckernel"; "switch_on_ms"), off: switch("mckernel"; "switch_off_ms")},
		"mckernel's own tools": {on: own("on_ms"), off: own("off_ms")}},
	largest_run_of_memory: {bundled: (contiguous("bundled") | to_3), mckernel: (contiguous("mckernel") | to_3)}})
