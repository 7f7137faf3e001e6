# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of the lines of tests/bench/first-touch: "lwk|linux MB MS".
include "goals";

def spread: {median: median, min: min, max: max};

[inputs | split(" ") | {how: .[0], mb: (.[1] | tonumber), ms: (.[2] | tonumber)}] as $all
| def times($how): [$all[] | select(.how == $how).ms];
def always($how): times($how) | if length == $rounds then median else null end;
# Linux must have had the large pages that it is compared with.
def huge_per_round: $huge / $rounds;
result("first-touch"; [
	goal("first touch of all memory, LWK / Linux with THP"; always("lwk") / always("linux"); "<="; 0.7),
	goal("share of Linux's memory in pages of 2 MB, while it is compared"; huge_per_round * 2 / $all[0].mb; ">="; 0.9)];
	{caveat: "without KVM this flatters the LWK: Linux clears pages by REP STOSB, slow in QEMU, and twice (init_on_alloc)",
	mb: $all[0].mb, rounds: (times("lwk") | length), linux_2m_pages_per_round: huge_per_round,
	lwk_ms: (times("lwk") | spread), linux_ms: (times("linux") | spread)})
