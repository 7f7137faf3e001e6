# SPDX-License-Identifier: GPL-2.0-or-later
# The figures of the bench sites. Input: lines "plain NS", "profiled NS", "place LEAST BLOCK FOUND", "seconds S",
# "torus BLOCK FOUND", "crossing LIBRARY ORDER own|ours RANKS OPERATION BYTES SECONDS",
# "base NAME RANKS LEAST MEDIAN MOST", "kernel NAME RANKS DELAY SECONDS PREDICTED CLASS RULE CROSSING".
include "goals";

[inputs | split(" ") | [.[0], (.[1:][] | tonumber? // .)]] as $lines
| def of($name): [$lines[] | select(.[0] == $name)];
([of("plain")[][1]] | min) as $plain | ([of("profiled")[][1]] | min) as $profiled
| [of("crossing") | group_by([.[1], .[2], .[4], .[5], .[6]])[]
	| {library: .[0][1], order: .[0][2], ranks: .[0][4], operation: .[0][5], bytes: .[0][6],
	   own: ([.[] | select(.[3] == "own") | .[7]] | median), ours: ([.[] | select(.[3] == "ours") | .[7]] | median)}
	| .times_as_fast = (try (.own / .ours | to_3) catch null)] as $crossing
| def speedups($operation; $ranks): [$crossing[] | select(.operation == $operation and .bytes == 1000000
	and .ranks == $ranks) | .times_as_fast];
# A kernel is network-intensive that takes more than 1.1 times as long over the link; 1: what was told was wrong.
[of("kernel")[] | (if .[8] / .[4] > 1.1 then "network" else "compute" end) as $class
	| {name: .[1], ranks: .[2], delay_ms: .[3], seconds: .[4], predicted: .[5], crossing: .[8],
	   wrong: (if .[6] == $class then 0 else 1 end), rule_wrong: (if .[7] == $class then 0 else 1 end)}] as $kernel
| [of("place")[] | if .[3] == 0 then 1 else .[1] / .[3] end] as $found
| [of("place")[] | if .[2] == 0 then 1 else .[3] / .[2] end] as $block
| result("sites";
	[goal("profile of MPI: nanoseconds a call"; [$profiled, $plain] | present | .[0] - .[1]; "<="; 40),
	 goal_of("placement of 8 ranks: fewest bytes that cross / those of lwkctl mpi, the worst case"; $found; $cases; min; ">="; 0.95),
	 goal_of("placement of 8 ranks: bytes that cross, lwkctl mpi / block, the worst case"; $block; $cases; max; "<="; 1),
	 goal("placement of 1024 ranks: seconds of CPU time"; of("seconds")[0][1]; "<="; 5),
	 goal("placement of 1024 ranks on a torus: cost, lwkctl mpi / block"; of("torus")[0] | .[2] / .[1]; "<="; 0.25),
	 goal_of("allreduce of 1 MB, 6 ranks on two sites: times as fast as the MPI library alone, the worst case";
		speedups("allreduce"; 6); 4; min; ">="; 2),
	 goal_of("broadcast of 1 MB, 8 ranks on two sites: times as fast as the MPI library alone, the worst case";
		speedups("bcast"; 8); 4; min; ">="; 3),
	 goal_of("collective operations over two sites: times as fast as the MPI library alone, the worst of all";
		[$crossing[].times_as_fast]; 112; min; ">="; 0.97),
	 goal_of("class of kernels over two sites: share that lwkctl mpi tells right";
		[$kernel[].wrong]; $listed; 1 - add / length; ">="; 0.95),
	 goal_of("class of kernels over two sites: how often lwkctl mpi is wrong, less how often a rule of 10 MB/s is";
		[$kernel[] | .wrong - .rule_wrong]; $listed; add; "<="; -1),
	 goal_of("time of kernels over two sites: predicted / measured, off by at most this in the worst case";
		[$kernel[] | .predicted / .crossing - 1 | fabs]; $listed; max; "<="; 0.15)];
	{kernel: $kernel, base: [of("base")[] | {name: .[1], ranks: .[2], least: .[3], median: .[4], most: .[5]}], plain_ns: $plain, profiled_ns: $profiled, rounds: $rounds, cases: ($found | length), crossing: $crossing,
	 optimal: ([$found[] | select(. >= 0.999999)] | length),
	 block_over_found_median: ([$block[] | 1 / .] | median | to_3)})
