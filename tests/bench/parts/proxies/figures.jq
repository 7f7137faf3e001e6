# SPDX-License-Identifier: GPL-2.0-or-later
# Makes of the turns of tests/bench/proxies the goals or the data of the picture, as $what says.
include "goals";

def mean_of_logs: present | map(log) | add / length | exp;

# Host's CPU time by guest's busy time: of a core; of the cores, by the weights of "$of".
def speed($of): . as $turn
	| [range(.host | length) | . as $i | {weight: $turn[$of][$i], busy: ($turn.us - $turn.idle[$i]), host: $turn.host[$i]}
		| select(.busy > 0 and .weight > 0)]
	| (map(.weight * .host / .busy) | add) / (map(.weight) | add);
def work: .n / .us / speed("job");
def wall: .n / .us;
def share($of): (.[$of] | add) / .us;

. as $turns
| ["shared", "unlimited", "assistant", "unconfined"] as $arrangements
| def here($arrangement; $operation): [$turns[]
	| select(.arrangement == $arrangement and .operation == $operation)];
# The median ratio to the turn alone just before.
def alone: if . == "shared" or . == "unlimited" then "alone shared" else "alone assistant" end;
def ratios($arrangement; $operation; f): [here($arrangement | alone; $operation), here($arrangement; $operation)]
	| transpose
	| map((.[1] | f) / (.[0] | f));
def beside($arrangement; $operation; f): ratios($arrangement; $operation; f) | median;
def ratio($arrangement; $operation): beside($arrangement; $operation; work);
# An operation alone beside one job and alone beside the other: nothing differs between these two turns of a round.
def control($operation): [here("alone shared"; $operation), here("alone assistant"; $operation)]
	| transpose
	| map((.[1] | work) / (.[0] | work)) | median;
def controls: [$operations[] | control(.)] | present;
def worst_control: controls | max_by(. - 1 | fabs);
def most_drift: 0.03;
def index($arrangement): [$operations[] as $operation | ratio($arrangement; $operation)] | mean_of_logs;
def all($arrangement): [$turns[] | select(.arrangement == $arrangement and .operation != "none")];
# The share used of the quota, which is half of two cores.
def used($turns): ($turns | map(.proxies | add) | add) / ($turns | map(.us) | add);
def delegations($arrangement): [$throughput[] | select(.arrangement == $arrangement)
	| .calls_per_s / (.turn | speed("proxies"))] | median;
def lost_to_the_limit: 1 - delegations("shared") / delegations("unlimited");
# The quota is one core; without a limit the same requests had more.
def lost_to_the_quota: used([$throughput[] | select(.arrangement == "unlimited") | .turn]) as $unlimited
	| [1 - 1 / $unlimited, 0] | max;

if $what == "drifts" then
	try (worst_control - 1 | fabs > most_drift) catch true
elif $what == "picture" then
	"operation \($arrangements | join(" "))",
	($operations[] as $operation
		| "\"\($operation)\" \([$arrangements[] as $arrangement | ratio($arrangement; $operation) | to_4] | join(" "))"),
	"index \([$arrangements[] as $arrangement | index($arrangement) | to_4] | join(" "))"
else
	result("proxies"; [
		(("shared", "assistant") as $arrangement
			| ("execl", "syscall") as $operation
			| unless_drifted(control($operation); most_drift;
				goal_of("\($operation), proxies \($arrangement)"; ratios($arrangement; $operation; work); $rounds;
					median; ">="; 0.95))),
		(("shared", "assistant") as $arrangement
			| unless_drifted(controls | mean_of_logs; most_drift;
				goal("index, proxies \($arrangement)"; index($arrangement); ">="; 0.95)),
			unless_drifted(worst_control; most_drift;
				goal("worst operation, proxies \($arrangement)";
					[$operations[] as $operation | ratio($arrangement; $operation)] | present | min; ">="; 0.95))),
		goal_of("CPU time of the proxies by the quota, the most in a turn";
			[all("shared")[] | used([.])]; $rounds * ($operations | length); max; "<="; 1.02),
		goal("CPU time of the proxies off the quota, nothing beside";
			used([$throughput[] | select(.arrangement == "shared") | .turn]) - 1 | fabs; "<="; 0.02),
		# Half of the cores' time costs half of what saturates them, and no more than 5 % beyond.
		goal("throughput of delegation lost to the CPU limit, beside the quota's own share";
			lost_to_the_limit - lost_to_the_quota; "<="; 0.05)];
	{
		rounds: $rounds, control: ($operations | map(. as $operation | {key: ., value: (control($operation) | to_4)}) | from_entries),
		ratios: ($arrangements | map(. as $arrangement | {key: ., value: ($operations | map(. as $operation | {key: .,
			value: {ratio: (ratio($arrangement; $operation) | to_4), wall: (beside($arrangement; $operation; wall) | to_4),
			share: (beside($arrangement; $operation; share("job")) | to_4),
			proxies_share: (here($arrangement; $operation) | map(share("proxies")) | median | to_4)}}) | from_entries)})
			| from_entries),
		index: ($arrangements | map(. as $arrangement | {key: ., value: (index($arrangement) | to_4)}) | from_entries),
		quota_used: {beside_the_job: (used(all("shared")) | to_4), least: (all("shared") | map(used([.])) | min | to_4),
			nothing_beside: (used([$throughput[] | select(.arrangement == "shared") | .turn]) | to_4)},
		delegation: {
			lost_to_the_limit: (lost_to_the_limit | to_4), lost_to_the_quota: (lost_to_the_quota | to_4),
			calls_per_s_by_the_clock: ($throughput | group_by(.arrangement)
				| map({key: .[0].arrangement, value: (map(.calls_per_s) | median | round)}) | from_entries)}})
end
