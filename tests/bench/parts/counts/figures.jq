# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the line of goals of what tests/bench/counts has counted (an array of objects), beside $kept.
include "goals";

def sum: present | add;
def instructions: .user + .kernel + .module;

# One path, for each time: the CPU that asked, and all others, which serve it and have their own ticks.
def each: . as $run
	| def by($vcpus): {
		user: ([$vcpus[].user] | sum / $run.times), kernel: ([$vcpus[] | .kernel + .module] | sum / $run.times),
		waiting: ([$vcpus[].waiting] | sum / $run.times),
		instructions: ([$vcpus[] | instructions - .waiting] | sum / $run.times),
		loads_and_stores: ([$vcpus[] | .loads + .stores] | sum / $run.times),
		string_bytes: ([$vcpus[].string_bytes] | sum / $run.times),
		locked: ([$vcpus[].locked] | sum / $run.times), upgraded: ([$vcpus[].upgraded] | sum / $run.times),
		fetched: ([$vcpus[].fetched] | sum / $run.times), irets: ([$vcpus[].irets] | sum / $run.times),
		wrmsr: ([$vcpus[].wrmsr] | sum / $run.times)} | map_values(to_4);
	{asking: by([.vcpus[] | select(.vcpu == $run.vcpu)]), others: by([.vcpus[] | select(.vcpu != $run.vcpu)] | if . == [] then
		[$run.vcpus[0] | map_values(0)] else . end),
	lines_to_others: ([0, (.passes[] | select(.from == $run.vcpu and .to != $run.vcpu).n)] | add / $run.times | to_4),
	lines_from_others: ([0, (.passes[] | select(.to == $run.vcpu).n)] | add / $run.times | to_4),
	lines_among_others: ([0, (.passes[] | select(.from != $run.vcpu and .to != $run.vcpu).n)] | add / $run.times | to_4),
	lines: [.lines[] | {address, at, passes: (.passes / $run.times | to_4)} | select(.passes >= 0.1)]};

def both: .asking.instructions + .others.instructions;

. as $all
| def run($how; $path): [$all[] | select(.how == $how and .path == $path and .vcpus)]
	| map(each) | min_by(both);
def lines: .lines_to_others + .lines_from_others;
# A store to a line that the other side has read takes as long as a line that passes: that side has to let go of it first.
def lines_and_upgrades: lines + .asking.upgraded + .others.upgraded;
# These counts are compared with what is kept. (Linux's side of a read by the proxy or by the module is not: it has so many
# instructions of ticks and of waking that it varies by 5 %.)
def counted: {
	"getpid": (run("kernel"; "getpid") | .asking.instructions),
	"clock_gettime as a call": (run("kernel"; "clock") | .asking.instructions),
	"page fault": (run("kernel"; "fault") | .asking.instructions),
	"delegated read by the kernel, the LWK's side": (run("kernel"; "read") | .asking.instructions),
	"delegated read by a server, Linux's side": (run("server"; "read") | .others.instructions),
	"delegated read by the proxy, the LWK's side": (run("proxy"; "read") | .asking.instructions),
	"vfork, exec and end of a program, both sides": (run("kernel"; "spawn") | both)}
	+ ($programs | map(. as $name | {key: $name, value: (run("program"; $name) | both)}) | from_entries);
result("counts"; [
	goal("getpid on the LWK, instructions by Linux";
		run("kernel"; "getpid").asking.instructions / run("linux"; "getpid").asking.instructions; "<="; 1),
	goal("cache lines that pass for a read in the kernel"; run("kernel"; "read") | lines; "<="; 6),
	goal("cache lines that pass for a read by the proxy"; run("proxy"; "read") | lines; "<="; 6),
	goal("cache lines that pass for a read by a server"; run("server"; "read") | lines; "<="; 6),
	# The request, the reply and the byte that was read are a line each, which passes and is taken back; and one line more
	# says that they are there.
	goal("cache lines that pass or are taken back for a read by a server"; run("server"; "read") | lines_and_upgrades; "<="; 8),
	goal("read by a server, instructions of Linux by those of the proxy's path";
		run("server"; "read").others.instructions / run("proxy"; "read").others.instructions; "<="; 0.35),
	goal("read by a server, instructions of both sides by those of the proxy's path";
		(run("server"; "read") | both) / (run("proxy"; "read") | both); "<="; 0.5),
	goal("32 reads of a byte as a batch by a server, instructions by those of single ones";
		(run("server"; "batch") | both) / (32 * (run("server"; "read") | both)); "<="; 0.2),
	goal("page fault on the LWK, instructions by Linux";
		run("kernel"; "fault").asking.instructions / run("linux"; "fault").asking.instructions; "<="; 1),
	goal("clock_gettime as a call on the LWK, instructions by Linux";
		run("kernel"; "clock").asking.instructions / run("linux"; "clock").asking.instructions; "<="; 1),
	goal("vfork, exec and end of a program on the LWK, instructions of both sides by Linux";
		(run("kernel"; "spawn") | both) / (run("linux"; "spawn") | both); "<="; 2),
	(try counted catch {} | to_entries[] | .value as $now
		| goal("\(.key), instructions, off what is kept"; $now / $kept[0].counted[.key] - 1 | fabs; "<="; 0.02))];
	{counted: counted,
	paths: ($paths | map(. as $path | {key: ., value: (["linux", "kernel", "proxy", "server"]
		| map(. as $how | {key: ., value: run($how; $path)}) | from_entries)}) | from_entries)})
