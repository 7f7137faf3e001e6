# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two sites of machines, with a link between them that is as slow as one wants: relay.c on this host carries the
# frames, and orders come to it by the socket `link` of the state directory.

# site_of MACHINE: prints the first and the last machine of its site.
site_of()
{
	local first=${sites%,*}

	if [[ ! $sites ]]; then
		echo "1 $machines"
	elif (($1 <= first)); then
		echo "1 $first"
	else
		echo "$((first + 1)) $machines"
	fi
}

# require_link_word OPTION VALUE UNIT
require_link_word()
{
	[[ $2 =~ ^[0-9]{1,6}(\.[0-9]{1,3})?$3$ ]] ||
		die_usage "a number and $3 for $1" "'$2'" "give $1 ${4:-5}$3, for example"
}

# take_sites: checks --sites and --link, and sets what follows from them: machines, delay and rate.
take_sites()
{
	local word

	delay=0ms rate=0mbit
	if [[ ! $sites ]]; then
		[[ ! $link ]] || die_usage '--sites beside --link' "none" 'give --sites 1,1, for example'
		return 0
	fi
	[[ $sites =~ ^[1-7],[1-7]$ ]] ||
		die_usage 'the numbers of machines on two sites after --sites' "'$sites'" 'give --sites 3,1, for example'
	[[ ! $machines || $machines == $((${sites/,/+})) ]] ||
		die_usage "--machines as the sum of --sites $sites" "$machines" 'leave --machines out'
	machines=$((${sites/,/+}))
	while read -rd , word; do
		case $word in
		delay=*) delay=${word#delay=} ;;
		rate=*) rate=${word#rate=} ;;
		*) die_usage '--link delay=NUMBERms,rate=NUMBERmbit, both or one' "'$word'" 'see testbed --help' ;;
		esac
	done <<<"${link:+$link,}"
	require_link_word --link "$delay" ms
	require_link_word --link "$rate" mbit
}

# start_relay: machines may come later, and go: a frame for one that is not there is lost.
start_relay()
{
	local first

	first=$((${sites%,*} + 1))
	cc -O2 -o "$state/relay" "$testbed_dir/relay.c" ||
		die "expected a program that links the sites, found that it cannot be compiled (see above)"
	detached "$state/relay" "dgram:$state/relay1,$state/link1-relay" \
		"dgram:$state/relay$first,$state/link$first-relay" --delay "${delay%ms}" --rate "${rate%mbit}" \
		--control "$state/link" --daemonize "$state/pidrelay" >"$state/relay.log" 2>&1 || {
		cat "$state/relay.log"
		die 'expected a relay between the sites, found that it did not start (its words are above)'
	}
}

verb_link()
{
	local delay='' rate='' answer

	while (($#)); do
		case $1 in
		--delay | --rate | --name) take_option "$@"; shift 2 ;;
		*) die_usage 'link [--delay D] [--rate R] [--name N]' "'$1'" 'see testbed --help' ;;
		esac
	done
	[[ ! $delay ]] || require_link_word --delay "$delay" ms
	[[ ! $rate ]] || require_link_word --rate "$rate" mbit
	require_up
	[[ $sites ]] || die "expected a test bed with two sites, found one network; say: testbed up --sites 1,1"
	answer=$(socat -t 10 - "UNIX-CONNECT:$state/link" <<<"${delay:+delay=${delay%ms}} ${rate:+rate=${rate%mbit}}")
	echo "$answer"
	[[ $answer == *'"ways"'* ]]
}
