# SPDX-License-Identifier: GPL-2.0-or-later
# The chart of doc/figures/rings.json, for draw.jq.

def picture: [{title: "until the answer is there", unit: "nanoseconds, median", groups: [{name: "", bars: [
	{name: "two cache lines to and fro", value: .result.figures.ping_pong_ns.median},
	{name: "a call, by a server", value: .result.figures.by_server_ns.median}]}]}];
