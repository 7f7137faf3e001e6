# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Brings the virtual machines of one test bed up and down, and prints their state. The test bed's state
# directory has portK, consoleK.log, monitorK, qmpK, pidK, qemu-logK and seedK.tar for each machine K.

boot_timeout_tiny=300
boot_timeout_systemd=600

# machine_runs MACHINE|relay: after a reboot of the host the pid file could name another process.
machine_runs()
{
	local machine=$1 pid

	pid=$(cat "$state/pid$machine" 2>/dev/null) && [[ -n $pid ]] &&
		grep -qxF -- "$state/pid$machine" < <(tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline")
}

# is_up: reads the settings; true when the test bed came up completely and all machines still run.
is_up()
{
	local machine

	[[ -e $state/settings ]] || return 1
	# shellcheck source=/dev/null
	source "$state/settings"
	for ((machine = 1; machine <= machines; machine++)); do
		machine_runs "$machine" || return 1
	done
	[[ ! $sites ]] || machine_runs relay
}

# last_words MACHINE: prints what its kernel said last before it would end the machine, if it said anything.
last_words()
{
	LC_ALL=C awk -v ready="$console_ready" '
		index($0, ready) { words = "" }
		words !~ /panic/ && match($0, /(Kernel panic - not syncing|reboot): .*/) { words = substr($0, RSTART) }
		END { print words }' "$state/console$1.log" 2>/dev/null | tr -d '\r'
}

# why_ended MACHINE [LOG]: prints how its QEMU ended, as far as that can be known; LOG is where its log will be.
why_ended()
{
	local log=$state/qemu-log$1 words

	words=$(last_words "$1" || true)
	if [[ $(tail -n 1 "$log" 2>/dev/null) == 'Triple fault' ]]; then
		echo "its QEMU ended by a triple fault (CPU reset state in ${2-$log})${words:+, after \"$words\"}"
	elif [[ $words ]]; then
		echo "its QEMU ended after \"$words\""
	else
		echo 'its QEMU ended without a word of its kernel, and by no triple fault that QEMU tells; it may have been killed'
	fi
}

# dead_machines: a line for each machine that does not run any more.
dead_machines()
{
	local machine

	for ((machine = 1; machine <= machines; machine++)); do
		machine_runs "$machine" || echo "machine $machine died: $(why_ended "$machine")"
	done
	[[ ! $sites ]] || machine_runs relay || echo 'the relay between the sites ended'
}

require_up()
{
	local dead

	is_up && return
	if [[ -e $state/settings ]]; then
		dead=$(dead_machines)
		die "expected the test bed '$name' up, found that ${dead//$'\n'/, } (console logs: $state/console*.log); say: testbed down --name $name"
	fi
	die "expected the test bed '$name' up, found it down; say: testbed up --name $name"
}

start_machines()
{
	local machine

	[[ ! $sites ]] || start_relay
	for ((machine = 1; machine <= machines; machine++)); do
		start_machine "$machine"
	done
	bring_up_tap
}

# keep_logs MACHINE: those of a machine that has failed outlive the test bed, in $cache/failed.
keep_logs()
{
	local log

	mkdir -p "$cache/failed"
	for log in "console$1.log" "qemu-log$1"; do
		[[ ! -e $state/$log ]] || cp "$state/$log" "$cache/failed/$name-$log"
	done
}

# boot_failed MACHINE [WHAT_WAS_FOUND]: without it, that its QEMU ended.
boot_failed()
{
	local found

	found=${2-$(why_ended "$1" "$cache/failed/$name-qemu-log$1")}
	keep_logs "$1"
	tail -n 20 "$state/console$1.log"
	die "expected machine $1 of '$name' to boot, found that $found; its console log is kept: $cache/failed/$name-console$1.log"
}

# start_again MACHINE
start_again()
{
	local machine=$1 tries

	say "machine $machine lost a timer interrupt while it booted, as emulated machines rarely do; started again"
	kill -KILL "$(<"$state/pid$machine")" || true
	for ((tries = 0; tries < 50; tries++)); do
		machine_runs "$machine" || break
		sleep 0.1
	done
	rm -f "$state/pid$machine" "$state/monitor$machine" "$state/qmp$machine" "$state/link$machine-"*
	start_machine "$machine"
}

await_boot()
{
	local timeout=boot_timeout_$init machine deadline restarts=0

	timeout=${!timeout}
	# The kernels that report errors make a call for each access of memory, and boot slowly.
	[[ ! $built_kernel ]] || timeout=$((4 * timeout))
	deadline=$((SECONDS + timeout))
	for ((machine = 1; machine <= machines; machine++)); do
		until grep -q "$console_ready" "$state/console$machine.log"; do
			! grep -qE "$console_failed" "$state/console$machine.log" ||
				boot_failed "$machine" 'it gave up'
			machine_runs "$machine" || boot_failed "$machine"
			if grep -q "$console_lost" "$state/console$machine.log"; then
				((++restarts <= 2)) || boot_failed "$machine" 'it lost timer interrupts three times'
				start_again "$machine"
				deadline=$((SECONDS + timeout))
			fi
			((SECONDS < deadline)) || boot_failed "$machine" "it was not ready after $timeout s"
			sleep 0.1
		done
	done
	connect root 1
}

write_settings()
{
	local since
	since=$(date +%s)

	# Without "declare" they become globals where a function reads them back.
	declare -p all_cpus all_nodes all_mem threads release kernel_version built cgroup init machines sites accelerator \
		append net_queues since |
		sed 's/^declare -[^ ]* //' >"$state/settings.new"
	mv "$state/settings.new" "$state/settings"
}

# take_shapes OPTION LIST LOWEST HIGHEST: sets the array all_OPTION to one value for all machines, or to
# one for each.
take_shapes()
{
	local -n values=all_${1#--}
	local list=$2 value

	# The comma at the end keeps an empty last value.
	mapfile -d , -t values <<<"$list,"
	unset 'values[-1]'
	((${#values[@]} == 1 || ${#values[@]} == machines)) ||
		die_usage "one value of $1 for all machines, or one for each of --machines $machines" \
			"${#values[@]} in '$list'" 'separate them with commas'
	for value in "${values[@]}"; do
		require_number "$1" "$value" "$3" "$4"
	done
}

require_shapes_that_divide()
{
	local machine cpus nodes mem sockets banks

	for ((machine = 1; machine <= machines; machine++)); do
		shape_of "$machine"
		((nodes > 1)) || [[ $last_node == full ]] ||
			die_usage "two nodes or more for --last-node $last_node" "--nodes $nodes" 'give --nodes 2'
		sockets=$(nodes_with cpus) banks=$(nodes_with memory)
		((cpus % (sockets * threads) == 0)) ||
			die_usage "--cpus as a multiple of --nodes times --threads" \
				"$cpus CPUs for $sockets nodes with $threads thread(s) a core" \
				"give --cpus $((sockets * threads * (cpus / (sockets * threads) + 1)))"
		# Linux plugs memory in blocks of 128 MB.
		((mem % (128 * banks) == 0)) ||
			die_usage "--mem as a multiple of 128 MB per node" "$mem MB for $banks nodes" \
				"give --mem $((128 * banks * (mem / (128 * banks) + 1)))"
	done
}

# join_shapes: prints the shapes, as lists where machines differ.
join_shapes()
{
	local IFS=,

	echo "${all_cpus[*]} CPUs, ${all_nodes[*]} NUMA nodes, ${all_mem[*]} MB"
}

# Debian's kernels from 6.12 on have no cpuset and memory controllers of version 1.
default_cgroup()
{
	case $release in
	bullseye | bookworm) echo v1 ;;
	*) echo v2 ;;
	esac
}

verb_up()
{
	local lock project=yes cpus=8 nodes=2 mem=4096 link=''

	chipset=q35 firmware=bios iommu='' cpu=max last_node=full
	release='' kernel='' built_kernel='' packages='' modules='' cgroup='' init=tiny append='' machines='' sites='' threads=1 icount='' plugin='' net_queues=0
	while (($#)); do
		case $1 in
		--cpus | --nodes | --mem | --release | --kernel | --modules | --cgroup | --init | --append | --plugin | --machines | --sites | --link | --threads | --name | --packages | --firmware | --cpu)
			take_option "$@"; shift 2 ;;
		--machine)
			(($# >= 2)) || die_usage 'a value after --machine' nothing 'see testbed --help'
			require_one_of --machine "$2" q35 pc
			chipset=$2
			shift 2
			;;
		--last-node)
			(($# >= 2)) || die_usage 'a value after --last-node' nothing 'see testbed --help'
			require_one_of --last-node "$2" full no-cpus no-memory
			last_node=$2
			shift 2
			;;
		--iommu) iommu=yes; shift ;;
		--net-queues)
			(($# >= 2)) || die_usage 'a value after --net-queues' nothing 'see testbed --help'
			require_number --net-queues "$2" 2 8
			net_queues=$2
			shift 2
			;;
		--without-project) project=''; shift ;;
		--icount) icount=yes; shift ;;
		*) die_usage 'an option of up' "'$1'" 'see testbed --help' ;;
		esac
	done
	if [[ $plugin ]]; then
		[[ -e ${plugin%%,*} ]] ||
			die_usage 'a file of a plugin after --plugin' "no ${plugin%%,*}" 'build it, or check its name'
		# QEMU starts in another directory, so the path must be absolute.
		plugin=$(realpath -s "${plugin%%,*}")${plugin#"${plugin%%,*}"}
	fi
	take_sites
	machines=${machines:-1}
	require_number --machines "$machines" 1 8
	require_number --threads "$threads" 1 2
	require_one_of --firmware "$firmware" bios uefi
	[[ $cpu =~ ^[A-Za-z0-9._-]+(,[+-][a-z0-9._-]+)*$ ]] ||
		die_usage 'MODEL[,+flag,-flag...] for --cpu' "'$cpu'" 'qemu-system-x86_64 -cpu help lists both'
	[[ ! $iommu || $chipset == q35 ]] || die_usage '--machine q35 beside --iommu' "$chipset" 'leave out one of them'
	require_one_of --init "$init" tiny systemd
	take_shapes --cpus "$cpus" 2 255
	take_shapes --nodes "$nodes" 1 16
	take_shapes --mem "$mem" 1024 1048576
	require_shapes_that_divide
	take_release
	cgroup=${cgroup:-$(default_cgroup)}
	require_one_of --cgroup "$cgroup" v1 v2
	[[ $cgroup == v2 || $(default_cgroup) == v1 ]] ||
		die_usage "--cgroup v2 with $release, whose kernels have no cpusets of version 1" "--cgroup $cgroup" \
			'give --release bookworm, too'

	take_lock lock "$state.lock"
	# is_up reads settings that must not replace those of the command line.
	if (is_up); then
		is_up
		say "'$name' is up already ($machines machine(s) of $(join_shapes)); nothing done"
		return
	fi
	remove_state
	install_missing_tools
	build_kernel
	build_image
	find_build
	[[ -z $project ]] || build_project
	mkdir -p "$state"
	at_exit give_up
	choose_accelerator
	choose_form
	choose_init_arguments
	step 'configuration and staged project' make_seeds
	step "$machines machine(s) started" start_machines
	step 'booted, all nodes idle' await_boot
	write_settings
}

# give_up: removes a test bed that did not come up completely.
give_up()
{
	[[ -e $state/settings ]] || {
		remove_state
		rm -f "$state.lock"
	}
}

remove_state()
{
	local file signal tries left

	[[ -d $state ]] || return 0
	for file in "$state"/ssh-*; do
		[[ ! -S $file ]] || ssh -F none -o "ControlPath=$file" -O exit 127.0.0.1 2>/dev/null || true
	done
	for signal in TERM KILL; do
		for ((tries = 0; tries < 30; tries++)); do
			left=''
			for file in "$state"/pid*; do
				machine_runs "${file##*/pid}" || continue
				left=yes
				((tries)) || kill -s $signal "$(<"$file")"
			done
			[[ $left ]] || break 2
			sleep 0.1
		done
	done
	rm -rf "$state"
}

keep_logs_of_the_dead()
{
	local machine

	for ((machine = 1; machine <= machines; machine++)); do
		! machine_runs "$machine" || continue
		say "machine $machine died: $(why_ended "$machine" "$cache/failed/$name-qemu-log$machine"); its console log is kept: $cache/failed/$name-console$machine.log"
		keep_logs "$machine"
	done
}

verb_down()
{
	local lock

	parse_name_only down "$@"
	take_lock lock "$state.lock"
	if [[ ! -d $state ]]; then
		say "'$name' is not up; nothing done"
	elif [[ -e $state/settings ]] && ! is_up; then
		keep_logs_of_the_dead
	fi
	remove_state
	rm -f "$state.lock"
}

verb_monitor()
{
	local machine=1 line

	while (($#)); do
		case $1 in
		--name | --machine) take_option "$@"; shift 2 ;;
		--) shift; break ;;
		*) break ;;
		esac
	done
	(($#)) || die_usage 'a command of the monitor' none 'say: testbed monitor info status'
	require_up
	require_number --machine "$machine" 1 "$machines"
	coproc monitor { socat - "UNIX-CONNECT:$state/monitor$machine"; }
	# The empty command after it shows where the answer ends. QEMU forgets the rest of an answer whose reader hangs up.
	printf '%s\n\n' "$*" >&"${monitor[1]}"
	# QEMU shows its prompt, repeats the command letter by letter with escape sequences, and answers.
	while IFS=$'\r' read -r -t 60 line <&"${monitor[0]}" && [[ $line != '(qemu) ' ]]; do
		[[ $line == '(qemu) '* || $line == 'QEMU '*' monitor'* ]] || printf '%s\n' "$line"
	done
	kill "$monitor_PID" 2>/dev/null || true
}

# times_ready MACHINE: prints how often the machine has told that it can be used.
times_ready()
{
	grep -c "$console_ready" "$state/console$1.log" || true
}

# tell_qemu MACHINE COMMAND...: commands of its machine protocol (JSON).
tell_qemu()
{
	printf '%s\n' '{"execute":"qmp_capabilities"}' "${@:2}" |
		socat -t 2 - "UNIX-CONNECT:$state/qmp$1" >/dev/null
}

# A machine that restarts by itself has failed, and its QEMU ends; only this one may.
verb_reset()
{
	local machine=1 before deadline timeout socket

	while (($#)); do
		case $1 in
		--name | --machine) take_option "$@"; shift 2 ;;
		*) die_usage 'reset [--machine K] [--name N]' "'$1'" 'see testbed --help' ;;
		esac
	done
	require_up
	require_number --machine "$machine" 1 "$machines"
	before=$(times_ready "$machine")
	tell_qemu "$machine" '{"execute":"set-action","arguments":{"reboot":"reset"}}' '{"execute":"system_reset"}'
	# A shared connection of ssh would find out only after minutes.
	for socket in "$state"/ssh-*-"$machine"; do
		[[ ! -S $socket ]] || ssh -F none -o "ControlPath=$socket" -O exit 127.0.0.1 2>/dev/null || rm -f "$socket"
	done
	timeout=boot_timeout_$init
	deadline=$((SECONDS + ${!timeout}))
	until (($(times_ready "$machine") > before)); do
		machine_runs "$machine" || boot_failed "$machine"
		((SECONDS < deadline)) || boot_failed "$machine" "it was not ready ${!timeout} s after its reset"
		sleep 0.2
	done
	tell_qemu "$machine" '{"execute":"set-action","arguments":{"reboot":"shutdown"}}'
}

verb_status()
{
	local machine cpus nodes mem only_built=''

	while (($#)); do
		case $1 in
		--name) take_option "$@"; shift 2 ;;
		--built) only_built=yes; shift ;;
		*) die_usage 'status [--built] [--name N]' "'$1'" 'see testbed --help' ;;
		esac
	done
	if ! is_up; then
		if [[ -e $state/settings ]]; then
			echo "$name: dead (testbed down clears it)"
			dead_machines
			ls "$state"/console*.log
		else
			echo "$name: down"
		fi
		return 1
	fi
	if [[ $only_built ]]; then
		echo "$built"
		return
	fi
	cat <<-EOF
	$name: up since $(date -d "@$since" '+%F %T')
	machines: $machines${sites:+, $sites on each site}; accelerator $accelerator
	guest: $release, Linux $kernel_version, init $init, cgroup $cgroup${append:+, kernel arguments: $append}
	EOF
	for ((machine = 1; machine <= machines; machine++)); do
		shape_of "$machine"
		echo "node$machine: $cpus CPUs in $nodes NUMA nodes, $mem MB; ssh port $(<"$state/port$machine"), console $state/console$machine.log, monitor $state/monitor$machine"
	done
	echo 'Slurm:'
	remote root 1 sinfo -N -h -o '  %N %T %E'
}
