# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A test bed with McKernel. The variables kernel and root are directories as check --help tells them, name and
# release are those of the test bed, and $top is the project's.

# shellcheck disable=SC2154,SC2034  # who sources this sets these variables, and uses those that it sets

testbed()
{
	local verb=$1
	shift

	"$top/contrib/testbed/testbed" "$verb" --name "$name" "$@"
}

# in_root NAME: prints the path in the machines of McKernel's file of that name.
in_root()
{
	local found

	found=$(find "$root" -name "$1" -print -quit)
	[[ $found ]] || wrong "expected $1 below --root $root, found none"
	echo "${found#"$root"}"
}

# boot_machines [OPTION]...: boots the kernel, on which both McKernel and the bundled LWK run. On AMD's CPUs, IHK's
# copy of the kernel's struct x86_pmu is another than that of RHEL 8.1, and with page-table isolation IHK
# overwrites memory of Linux.
boot_machines()
{
	testbed up --release "$release" --kernel "$kernel" --cgroup v1 --cpu Haswell \
		--append 'pti=off random.trust_cpu=on' "$@"
}

# bring_up_mckernel: boots with IHK's modules, and installs McKernel. Sets library, image, mcexec and config, which
# are paths in the machines.
bring_up_mckernel()
{
	local module

	kernel=$(realpath -- "$kernel") root=$(realpath -- "$root")
	library=$(in_root libihk.so)
	image=$(in_root mckernel.img)
	mcexec=$(in_root mcexec)
	config=$(in_root ihkconfig)
	module=$(in_root ihk.ko)
	boot_machines --modules "$root${module%/*}"
	tar -c -C "$root" --owner 0 --group 0 . | testbed exec -- tar -x --keep-directory-symlink -C /
	# mcctrl serves mcexec, and no module asks for it.
	# shellcheck disable=SC2016  # the machine's shell expands it
	testbed exec -- sh -euc '
		echo "softdep ihk-smp-x86_64 post: mcctrl" >/etc/modprobe.d/mckernel.conf
		[ -e /usr/local/bin/mcexec ] || ln -s "$1" /usr/local/bin/mcexec
		ldconfig' - "$mcexec"
}
