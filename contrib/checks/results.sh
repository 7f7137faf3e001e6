# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Prints each result, and counts all of them.

# expect TEXT ALONE COMMAND...: a command that fails is a test that failed; ALONE runs it alone.
expect()
{
	local text=$1 alone=$2 out=$logs/output status
	shift 2

	# `if "$@"` would switch off `set -e` inside the command.
	set +e
	(set -e; "$@") >"$out" 2>&1
	status=$?
	set -e
	if ((status == 0)); then
		echo "ok - $text"
	else
		echo "not ok - $text"
		tail -n 40 "$out" | sed 's/^/# /'
		echo "# alone: $alone"
	fi
	rm -f "$out"
}

# tap NAME COMMAND...: runs a command that speaks TAP, and puts NAME before each test's text. The
# log of a failed test is printed in one piece and ends with the command that runs it alone.
tap()
{
	local name=$1
	shift

	{
		"$@" 2>&1 && echo 'exit status 0' || echo "exit status $?"
	} | named_results "$name"
}

# named_results NAME: the part of tap that reads. (mawk would not print a result before the end.)
named_results()
{
	local name=$1 line text block='' results=0 failures=0 status=0
	local result='^((not )?ok ([0-9]+ )?(- )?)(.*)$'

	while IFS= read -r line; do
		if [[ $line =~ ^[0-9]+\.\.[0-9]+$ ]]; then
			continue
		elif [[ $line =~ ^exit\ status\ ([0-9]+)$ ]]; then
			status=${BASH_REMATCH[1]}
		elif [[ $line =~ $result ]]; then
			[[ -z $block ]] || printf '%s\n' "$block$(alone "$name" "$text")"
			block=''
			text=${BASH_REMATCH[5]}
			line=${BASH_REMATCH[1]}$name:\ $text
			((++results))
			if [[ $line == ok* ]]; then
				echo "$line"
			else
				((++failures))
				block=$line$'\n'
			fi
		elif [[ $block ]]; then
			block+=$line$'\n'
		else
			echo "$line"
		fi
	done
	[[ -z $block ]] || printf '%s\n' "$block$(alone "$name" "$text")"
	# A program that died between two tests, or has none, has failed one.
	((results && (!status || failures))) ||
		echo "not ok - $name: no test failed, but its status is $status"
}

# alone NAME TEXT: prints the command that runs this test alone.
alone()
{
	local name=$1 text

	# TEXT without its time or number of executions, as a regular expression.
	text=$(sed -E "s/ in [0-9]+ms\$//; s/: [0-9]+ executions\$//; s/[][(){}.*+?|^\$\\\\']/./g" <<<"$2")
	runs_in_order "$name" || name+=":^$text\$"
	echo "# alone: contrib/check --only '$name'"
}

# Lists the flaky and the failed tests, and counts all of them. A test's result is its second one where
# there is one; one that passed in one run and failed in the other is flaky.
summary()
{
	# shellcheck disable=SC2016  # awk expands these
	find "$logs" \( -name '*.tap' -o -name '*.tap.again' \) -print0 | sort -z |
		xargs -0 awk -v most="$most_flaky" '
		/^(not )?ok / {
			log_name = FILENAME
			again = sub(/\.again$/, "", log_name)
			result = /^not / ? "failed" : / # (skip|SKIP)/ ? "skipped" : "passed"
			text = $0
			sub(/^(not )?ok ([0-9]+ )?(- )?/, "", text)
			sub(/( in [0-9]+ms)?( # (skip|SKIP).*)?$/, "", text)
			# The texts of unit tests need not differ.
			if (!again)
				number[log_name, text]++
			key = log_name SUBSEP text SUBSEP number[log_name, text]
			if (again) {
				ran_again[log_name] += result == "passed"
				if ((key in results) && results[key] != result)
					flaky[text] = log_name
				if ((key in results) && results[key] == "passed")
					next
			}
			if (!(key in results))
				order[++keys] = key
			results[key] = result
		}
		END {
			for (i = 1; i <= keys; i++) {
				key = order[i]
				split(key, part, SUBSEP)
				if (part[2] ~ /: setup_file failed$/ && ran_again[part[1]]) {
					flaky[part[2]] = part[1]
					continue
				}
				count[results[key]]++
				if (results[key] == "failed")
					printf "# failed: %s (%s)\n", part[2], part[1]
			}
			for (text in flaky)
				printf "# flaky: %s (%s, %s.again)\n", text, flaky[text], flaky[text]
			if (length(flaky) > most) {
				printf "not ok - %d tests are flaky, at most %d may be\n", length(flaky), most
				count["failed"]++
			}
			printf "%d passed, %d failed%s\n", count["passed"], count["failed"],
				count["skipped"] ? ", " count["skipped"] " skipped" : ""
			exit !(count["passed"] && !count["failed"])
		}'
}
