# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of the lines of tests/model/native: "HOW N calls, NS ns a call where 64 were quickest".
include "goals";

def spread: {median: median, min: min, max: max};

[inputs | capture("^(?<how>[a-z-]+) (?<calls>[0-9]+) calls, (?<ns>[0-9.]+) ns") | {how, ns: (.ns | tonumber)}] as $all
| def times($how): [$all[] | select(.how == $how).ns];
def always($how): times($how) | if length == $rounds then median else null end;
result("rings"; [
	goal("answer of a server, by two cache lines to and fro"; always("one-by-server") / always("ping-pong"); "<="; 1.5)];
	{caveat: "a call does nothing but answer; a server and its proxy wait by looking as lwkpart.ko does",
	rounds: $rounds, ping_pong_ns: (times("ping-pong") | spread), by_server_ns: (times("one-by-server") | spread)})
