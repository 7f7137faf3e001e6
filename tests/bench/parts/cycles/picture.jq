# SPDX-License-Identifier: GPL-2.0-or-later
# The charts of doc/figures/cycles.json, for draw.jq: one for each CPU.

def opponents: [["Linux", "linux"], ["LWK, by the kernel", "kernel"], ["LWK, by the proxy", "proxy"], ["LWK, by a server", "server"]];

def picture: [.result.figures.nanoseconds | to_entries[]
	| {title: "what a path takes on \(.key), by the model", unit: "nanoseconds, all on one socket",
	groups: [.value | to_entries[] | {name: .key, bars: [.value as $how | opponents[] | {name: .[0], value: $how[.[1]].one_socket}
		| select(.value)]}]}];
