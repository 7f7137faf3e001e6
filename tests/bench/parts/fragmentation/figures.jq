# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of the two phases of tests/bench/fragmentation: [prepared, unprepared]. $node is the
# job node's size in bytes.
include "goals";

.[0] as $with | .[1] as $without
| def first_round: $with.rounds[0]; def last_round: $with.rounds[-1:][0];
def obtained: .on_job_node / $node;
result("fragmentation"; [
	goal_of("share of the memory lent in runs >= 256 MB, prepared, worst round";
		[$with.rounds[].share_256m]; $rounds; min; ">="; 0.97),
	goal_of("share of a 4 GB job node obtained, prepared, worst round";
		[$with.rounds[] | obtained]; $rounds; min; ">="; 0.85),
	# A node that nobody prepares must be worse, or the bench does not strain it.
	goal_of("share of the job node obtained, prepared beside unprepared, worst rounds";
		[$without.rounds[] | obtained]; $rounds; ([$with.rounds[] | obtained] | present | min) - min; ">="; 0.05),
	goal("2 MB pages lost on the job node, prepared, after the last round";
		$with.huge_pages.fresh - $with.huge_pages.last_round; "<="; 4),
	goal("share in runs >= 256 MB after the last round beside the first";
		last_round.share_256m / first_round.share_256m; ">="; 0.99),
	goal("memory obtained after the last round beside the first"; last_round.lent / first_round.lent; ">="; 0.99),
	goal("processes killed for want of memory, prepared"; $with.oom_kills; "<="; 0)];
	{prepared: $with, unprepared: $without})
