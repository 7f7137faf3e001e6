# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the goals of the bench soak of what tests/soak found.
include "goals";

result("soak"; [
	goal("jobs that ended in another way than they should"; .unexpected | length; "<="; 0),
	goal("things that are not as before, on all nodes"; .leaks | length; "<="; 0),
	goal("slab caches that grew above a plain loop"; .slab | length; "<="; 0),
	goal("kernel memory that did not come back, kB above a plain hotplug loop, the worst node";
		[.kernel_kb[] | .jobs + ([.plain_loop, 0] | min) - ([.plain_loop, 0] | max)] | present | max; "<="; 2048),
	goal("seconds from the last job to an idle cluster"; .to_idle_s | tonumber; "<="; 60)]; .)
