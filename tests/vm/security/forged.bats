#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# bed: third
#
# Text that a user forges, in options, variables and names, is refused with a clear message or taken
# as it is. Root's programs make of it neither a command nor a path nor a line of their logs.

load ../helpers

setup_file()
{
	prepare
	# Users might write all of this: newlines, terminal commands, shell, paths, formats, bytes, much.
	bed sh -c 'cat >/opt/lwk-tests/forged' <<-'EOF'
	texts=(
		$'1M\n[2026-01-01T00:00:00] error: FORGED'
		'../../../tmp/forged'
		"$(head -c 65536 /dev/zero | tr '\0' A)"
		$'a\x01\x1b[2J\x7f\xc2\x9b2J'
		'%n%n%s%s'
		'größer'
		'; touch /tmp/forged #'
		'$(touch /tmp/forged)'
		'`touch /tmp/forged`'
		'/tmp/forged'
		'-x'
		$'\xff\xfe'
		' '
	)
	control='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]'
	EOF
	# A user's own slurm.conf, which has the user's plugin in the place of the project's.
	# shellcheck disable=SC2016  # the machine's shell expands these
	as user1 sh -c 'mkdir -p own && echo "required $1/forge.so" >own/plugstack.conf &&
		cp /etc/slurm/cgroup.conf own/ && cp /etc/slurm/slurm.conf own/ &&
		echo "PlugStackConfig=$HOME/own/plugstack.conf" >>own/slurm.conf' - "$programs"
}

teardown_file()
{
	node_is_clean
}

# as_user1_with WORD...: runs the script on stdin, which finds the texts and the words.
as_user1_with()
{
	as user1 bash -c '. /opt/lwk-tests/forged; . /dev/stdin' - "$@"
}

# nothing_forged: true when no text has become a command, a path or a line of a log.
nothing_forged()
{
	run -0 bed sh -s <<-'EOF'
	cd /var/log/slurm
	grep -aE '^(\[[^]]*\] (error: )?)?FORGED' slurmd.log slurmctld.log
	grep -aP '[\x00-\x08\x0b-\x1f\x7f]' slurmd.log
	find / -xdev -name '*forged' -newer /run/lwk-tests.before ! -path /opt/lwk-tests/forged
	true
	EOF
	[[ -z $output ]] || { echo "$output"; return 1; }
}

@test "forged option text never leaves srun" {
	run -0 as_user1_with "$(times 3 13)" <<-'EOF'
	try()
	{
		local output

		if output=$(srun -n1 -c2 --mem=300 --lwk "--$1=$2" true 2>&1); then
			echo "--$1=$2 was taken"
		elif [[ $output != *"lwk: --$1: expected "* ]] ||
			grep -a 'error: lwk' <<<"$output" | grep -aqP "$control"; then
			printf '%q\n' "${output::500}"
		fi
	}
	for text in "${texts[@]}"; do
		try lwk "$text"
	done
	for option in lwk-mem lwk-numa lwk-proxy-mem lwk-launch mpi-collectives; do
		for text in "${texts[@]::$1}"; do
			try "$option" "$text"
		done
	done
	squeue -h
	EOF
	[[ -z $output ]] || { echo "$output"; return 1; }
	nothing_forged
}

@test "forged text that Slurm hands to the prolog is refused there, in one line" {
	run -0 as_user1_with "$(times 3 13)" "$(times 1 3)" <<-'EOF'
	cd own
	rm -f ./*.out
	export SLURM_CONF=$PWD/slurm.conf
	option=_SLURM_SPANK_OPTION_lwk_lwk
	jobs=0
	job()
	{
		env "$@" sbatch -Q -n1 -c2 --mem=300 --output=%j.out --wrap 'echo the script runs'
		((++jobs))
	}
	for text in "${texts[@]::$1}"; do
		job "FORGE_$option=$text"
	done
	names=(LWK_NUMA "${option}_mem" "${option}_numa" "${option}_proxy_mem")
	for name in "${names[@]::$2+1}"; do
		job "FORGE_$option=lwk" "FORGE_$name=${texts[0]}"
	done
	until [[ ! $(squeue -h -u user1) ]]; do sleep 0.5; done
	refused=$(grep -alE 'lwk: job [0-9]+ cannot have LWK mode on this node: --lwk.*: expected ' ./*.out | wc -l)
	echo "$jobs jobs, $refused refused, $(cat ./*.out | grep -ac 'the script runs') run"
	cat ./*.out | cut -c 1-300
	EOF
	echo "$output"
	[[ $output =~ ^([0-9]+)\ jobs,\ ([0-9]+)\ refused,\ 0\ run ]]
	((BASH_REMATCH[1] == BASH_REMATCH[2] && BASH_REMATCH[1] >= 5))
	nothing_forged
}

@test "a step's forged image name is refused, in one line" {
	run -0 as_user1_with <<-'EOF'
	option=_SLURM_SPANK_OPTION_lwk_lwk
	for lwk in '' --lwk; do
		sbatch -Q $lwk -n1 -c2 --mem=300 --output="step$lwk.out" "--export=ALL,$option=${texts[0]}" \
			--wrap 'echo the script runs'
	done
	until [[ ! $(squeue -h -u user1) ]]; do sleep 0.5; done
	cat step.out
	echo 'with --lwk:'
	cat step--lwk.out
	EOF
	echo "$output"
	[[ ${output%with --lwk:*} == *'a Linux-only job'* && ${output%with --lwk:*} != *'the script runs'* ]]
	# In Slurm 24.11 the job's own option wins, so that the variable has no effect.
	with_lwk=${output#*with --lwk:}
	[[ $with_lwk == $'\nthe script runs' ]] ||
		[[ $with_lwk == *'(--lwk=1M?[2026-01-01T00:00:00] error: FORGED)'* && $with_lwk != *'the script runs'* ]]
	nothing_forged
}

# The profile's path is the user's own; the setting of collectives has two values.
@test "forged options of MPI become a line, a file of root's or a setting nowhere" {
	run -0 as_user1_with "$(times 4 13)" <<-'EOF'
	cd own
	rm -f mpi*.out
	for text in "${texts[@]::$1}"; do
		_SLURM_SPANK_OPTION_lwk_mpi_profile=$text _SLURM_SPANK_OPTION_lwk_mpi_collectives=$text \
			sbatch -Q -n1 -c2 --mem=100 --output="mpi$((++n)).out" --wrap 'echo "collectives ${LWK_MPI_COLLECTIVES-no}"
				echo "pages $(stat -c %U "$LWK_MPI_PAGES")"; echo no page >"$LWK_MPI_PAGES/0"'
	done
	until [[ ! $(squeue -h -u user1) ]]; do sleep 0.5; done
	echo "$n jobs, $(cat mpi*.out | grep -acx 'collectives no') without, $(cat mpi*.out | grep -acx 'pages user1') with pages"
	cat mpi*.out | grep -aP "$control"
	cat mpi*.out
	EOF
	echo "$output"
	[[ ${lines[0]} =~ ^([0-9]+)\ jobs,\ ([0-9]+)\ without,\ ([0-9]+)\ with\ pages$ ]]
	((BASH_REMATCH[1] >= 4 && BASH_REMATCH[1] == BASH_REMATCH[2] && BASH_REMATCH[1] == BASH_REMATCH[3]))
	run ! grep -aqP '[\x00-\x08\x0b-\x1f\x7f]' <<<"$output"
	wait_for 20 bed sh -c '[ -z "$(ls -A /run/slurm-lwk/mpi)" ]'
	nothing_forged
}

# The variables are those that lwkexec, the plugins, hwloc and Slurm's prolog would read.
@test "forged variables and names change nothing of a job but what its user sees" {
	run -0 as_user1_with <<-'EOF'
	mkdir -p own/$'line\nFORGED'
	cp /opt/lwk-tests/hello own/$'line\nFORGED/%n'
	export SLURM_CONF=$PWD/own/slurm.conf FORGE__SLURM_SPANK_OPTION_lwk_lwk=lwk
	for name in SLURMD_NODENAME PATH LD_PRELOAD HWLOC_XMLFILE SLURM_CONF SLURM_JOB_UID LWK_DEVICE; do
		export "FORGE_$name=/tmp/forged"
	done
	sbatch -Q -n1 -c2 --mem=300 --output=names.out -J $' Nodes=node1 CPU_IDs=0-7 Mem=99999\nFORGED' \
		--comment=' Nodes=node1 CPU_IDs=0-7 Mem=99999' <<-'SCRIPT'
		#!/bin/bash
		unset SLURM_CONF
		lwkctl list
		cd own
		export LWK_DEVICE=/dev/lwkpart LWK_ARGV0=$'evil\nFORGED' LWK_REPORT=$'\nFORGED' LWK_CALLS=%n
		export LWK_STACK_LIMIT=-1 LWK_WAIT=x SPANK_LWK_NUMA=x SLURMD_NODENAME=/tmp/forged
		export _SLURM_SPANK_OPTION_lwk_lwk=evil
		srun $'./line\nFORGED/%n' $'two\nlines'
		echo "step: $?"
		unset LWK_ARGV0 LWK_STACK_LIMIT
		for LWK_DEVICE in /dev/lwkpart /etc/passwd /dev/null /dev/lwk/../null $'\n' "$(head -c 65536 /dev/zero | tr '\0' /)"; do
			lwkexec /opt/lwk-tests/hello 2>&1 | cut -c 1-200
		done
		(exec -a 'lwkexec: another program' lwkexec 0:0:0:0:0:0:0:0 '' /opt/lwk-tests/hello hello)
		echo "resumed: $?"
	SCRIPT
	until [[ ! $(squeue -h -u user1) ]]; do sleep 0.5; done
	cat names.out
	EOF
	echo "$output"
	[[ $output =~ kernel=slurm-lwk && $output == *$'<two\nlines>'* && $output == *'step: 0'* ]]
	[[ $output == *'/dev/lwkpart: cannot be opened (Permission denied)'* ]]
	[[ $output == *'/dev/lwk/../null: expected an LWK instance'* && $output == *'resumed: 125'* ]]
	[[ $output != *'Mem=99999'* ]]
	nothing_forged
	node_is_clean
}
