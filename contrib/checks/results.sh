# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How a result is printed, and how all of them are counted.

# expect TEXT ALONE COMMAND...: a command that fails is a test that failed; ALONE runs it alone.
expect()
{
	local text=$1 alone=$2 out=$logs/output status
	shift 2

	# Not `if "$@"`, which would switch off `set -e` inside it.
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
	} | awk -v name="$name" -v in_order="$(runs_in_order "$name" && echo yes)" '
		function finish()
		{
			if (block != "")
				printf "%s# alone: contrib/check --only \047%s\047\n", block, alone
			block = ""
		}
		/^[0-9]+\.\.[0-9]+$/ { next }
		/^exit status [0-9]+$/ { status = $3; next }
		/^(not )?ok / {
			finish()
			results++
			match($0, /^(not )?ok ([0-9]+ )?(- )?/)
			text = substr($0, RLENGTH + 1)
			line = substr($0, 1, RLENGTH) name ": " text
		}
		/^ok / {
			print line
			fflush()
			next
		}
		/^not ok / {
			failures++
			sub(/ in [0-9]+ms$/, "", text)
			gsub(/[][(){}.*+?|^$\\\047]/, ".", text)
			alone = in_order ? name : name ":^" text "$"
			block = line "\n"
			next
		}
		block != "" { block = block $0 "\n"; next }
		{ print; fflush() }
		END {
			finish()
			# A program that died between two tests, or has none, has failed one.
			if (!results || (status && !failures))
				printf "not ok - %s: no test failed, but its status is %d\n", name, status
		}'
}

# Lists the flaky tests and counts all of them. A test's result is its second one where there is
# one; one that passed in one run and failed in the other is flaky.
summary()
{
	# shellcheck disable=SC2016  # awk expands these
	find "$logs" \( -name '*.tap' -o -name '*.tap.again' \) -print0 | sort -z |
		xargs -0 awk -v most="$most_flaky" '
		/^(not )?ok / {
			log_name = FILENAME
			again = sub(/\.again$/, "", log_name)
			result = /^not / ? "failed" : / # skip/ ? "skipped" : "passed"
			text = $0
			sub(/^(not )?ok ([0-9]+ )?(- )?/, "", text)
			sub(/ in [0-9]+ms( # skip.*)?$/, "", text)
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
			results[key] = result
		}
		END {
			for (key in results) {
				split(key, part, SUBSEP)
				if (part[2] ~ /: setup_file failed$/ && ran_again[part[1]]) {
					flaky[part[2]] = part[1]
					continue
				}
				count[results[key]]++
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
