# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The release of Debian that the machines have, and their kernel. The release's builder builds for them what
# the host cannot: a root with the compiler and the headers of that release, and a chroot.

releases=(bullseye bookworm trixie forky)

# release is "" (LWK_TESTBED_RELEASE, else trixie) or "host" until take_release; kernel is "" (the release's
# own), a package (NAME or NAME/SUITE) or the directory of a built kernel, which built_kernel names if the test
# bed builds it.
# packages is "" or a file with the names of more packages for the machines, one a line.
# modules is "" or the directory of kernel modules that stand for the project's.
release='' kernel='' built_kernel='' packages='' modules=''

host_release()
{
	sed -n 's/^VERSION_CODENAME=//p' /etc/os-release
}

# take_release: checks the choice of the command line.
take_release()
{
	release=${release:-${LWK_TESTBED_RELEASE:-trixie}}
	[[ $release != host ]] || release=$(host_release)
	require_one_of --release "$release" "${releases[@]}"
	[[ ! $packages || -r $packages ]] ||
		die_usage '--packages FILE with names of packages' "$packages" 'name a file that can be read'
	if [[ $modules ]]; then
		compgen -G "$modules/*.ko" >/dev/null ||
			die_usage '--modules DIR with kernel modules (*.ko)' "$modules" 'name a directory that has them'
		modules=$(realpath -- "$modules")
	fi
	case $kernel in
	debug | kcsan)
		built_kernel=$kernel
		kernel=$cache/kernel-$release-$built_kernel
		;;
	/*)
		kernel=$(realpath -- "$kernel")
		[[ -e $kernel/arch/x86/boot/bzImage && -e $kernel/include/config/kernel.release ]] ||
			die_usage '--kernel DIR with a built kernel (arch/x86/boot/bzImage)' "$kernel" \
				'say there: make bzImage modules'
		;;
	'' | linux-image-*) ;;
	*)
		die_usage '--kernel as a package linux-image-...[/SUITE], the directory of a built kernel, debug or kcsan' \
			"'$kernel'" 'give one of them'
		;;
	esac
}

# host_builds: true when what the host builds fits the machines.
host_builds()
{
	[[ $release == "$(host_release)" && ! $kernel ]]
}

# package_sources: prints the release's lines of sources.list.
package_sources()
{
	local mirror=http://deb.debian.org

	echo "deb $mirror/debian $release main"
	# Debian has ended bullseye: mirrors lack files that its security lists name.
	case $release in
	bookworm | trixie)
		echo "deb $mirror/debian $release-updates main"
		echo "deb $mirror/debian-security $release-security main"
		echo "deb $mirror/debian $release-backports main"
		;;
	esac
}

# keep_packages: a killed installation leaves its work directory, and in it packages worth keeping.
keep_packages()
{
	local work

	mkdir -p "$cache/debs/$release"
	for work in "$cache/work-$release".*; do
		[[ -d $work ]] || continue
		find "$work/root/var/cache/apt/archives" -maxdepth 1 -name '*.deb' \
			-exec mv -t "$cache/debs/$release" {} + 2>/dev/null || true
		rm -rf --one-file-system "$work"
	done
}

# install_root ROOT HOOK PACKAGE...: makes a root of the release; HOOK is a command for it, $1.
install_root()
{
	local root=$1 hook=$2 list sources options=() pattern
	shift 2

	list=$(IFS=,; echo "$*")
	mapfile -t sources < <(package_sources)
	for pattern in "${image_left_out[@]}"; do
		options+=(--dpkgopt="path-exclude=$pattern")
	done

	# Debian's installer merges /lib into /usr in each of these releases, mmdebstrap not in this one.
	# shellcheck disable=SC2016  # mmdebstrap's shell expands the hook
	[[ $release != bullseye ]] || options+=(
		--setup-hook='for place in bin sbin lib lib32 lib64 libx32; do
			mkdir -p "$1/usr/$place"; ln -s "usr/$place" "$1/$place"; done')

	# In a PID and a mount namespace of its own the whole installation ends
	# with this script, however the script ends, and leaves no mounts.
	# INITRD=No: the distribution's initial RAM disk is of no use here. Java's package fails without man1.
	# shellcheck disable=SC2016  # mmdebstrap's shell expands the hooks
	INITRD=No DEBS=$cache/debs/$release setpriv --pdeathsig KILL \
		unshare --mount --pid --fork --kill-child --mount-proc \
		mmdebstrap --mode=root --variant=essential --format=directory \
		--skip=essential/unlink \
		--dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
		--aptopt='Acquire::Check-Valid-Until "false"' "${options[@]}" \
		--setup-hook='mkdir -p "$1/var/cache/apt/archives" "$1/usr/share/man/man1"' \
		--setup-hook='find "$DEBS" -name "*.deb" -exec cp -l -t "$1/var/cache/apt/archives" {} +' \
		--customize-hook="$hook" \
		--customize-hook='cp -ln -t "$DEBS" "$1"/var/cache/apt/archives/*.deb; rm "$1"/var/cache/apt/archives/*.deb' \
		--include="$list" \
		"$release" "$root" "${sources[@]}" ||
		die "expected a root of $release with the packages $list, found that mmdebstrap failed (its words are above); check the network and the names of the packages"
}

# kernel_packages: prints what the builder has for the machines' kernel: its headers, or, where a directory
# has the kernel, the distribution's source and what builds it.
kernel_packages()
{
	local headers=${kernel:-linux-image-amd64}

	if [[ $kernel == /* ]]; then
		printf '%s\n' linux-source flex bison libssl-dev xz-utils
	else
		echo "${headers/#linux-image-/linux-headers-}"
	fi
}

find_builder()
{
	local inputs

	# Other changes of this file make no new builder, which takes minutes.
	inputs=$(declare -f package_sources install_root
		"$top/contrib/install-dependencies" --list-build
		printf '%s\n' "$release"
		if [[ $kernel == /* ]]; then kernel_packages; else echo "$kernel"; fi)
	inputs=$(sha256sum <<<"$inputs")
	builder=$cache/builder-$release-${inputs:0:16}
}

# keep_root ROOT PACKAGE...: makes a root of the release with these packages, unless there is one.
keep_root()
{
	local root=$1 lock work
	shift

	take_lock lock "$cache/build-$release.lock"
	if [[ ! -d $root ]]; then
		keep_packages
		work=$(mktemp -d "$cache/work-$release.XXXXXX")
		install_root "$work/root" true "$@"
		mv "$work/root" "$root"
		rm -rf --one-file-system "$work"
	fi
	exec {lock}>&-
}

build_builder()
{
	local packages

	find_builder
	[[ ! -d $builder ]] || return 0
	mapfile -t packages < <("$top/contrib/install-dependencies" --list-build; kernel_packages)
	step "builder of $release from Debian packages" keep_root "$builder" "${packages[@]}"
	find "$cache" -maxdepth 1 -name 'builder-*' ! -path "$builder" -mtime +7 -exec rm -rf --one-file-system {} +
}

# in_builder COMMAND...: runs it in the builder, which has the project (and a kernel's directory, and the
# cache) where the host has it. The mounts end with the command.
in_builder()
{
	local places=("$top")

	[[ $kernel != /* ]] || places+=("$kernel" "$cache")
	# shellcheck disable=SC2016  # text for the inner shell
	setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -euc '
		root=$1 here=$PWD
		shift
		for place; do
			shift
			[[ $place != -- ]] || break
			mkdir -p "$root$place"
			mount --rbind "$place" "$root$place"
		done
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
			sh -ec "cd \"\$1\"; shift; exec \"\$@\"" sh "$here" "$@"
	' bash "$builder" "${places[@]}" -- "$@"
}

# find_kernel: the machines' kernel and the module built for them must be one version. Sets
# kernel_version, and kernel_build, which is its directory in the builder or here.
find_kernel()
{
	local kernels

	if host_builds; then
		find_host_kernel
		kernel_build=/lib/modules/$kernel_version/build
	elif [[ $kernel == /* ]]; then
		kernel_version=$(<"$kernel/include/config/kernel.release")
		kernel_build=$kernel
	else
		kernels=("$builder"/usr/lib/modules/*/build)
		[[ ${#kernels[@]} == 1 && -L ${kernels[0]} ]] ||
			die "expected the headers of one kernel in $builder, found: ${kernels[*]}; give --kernel one linux-image package that $release has"
		kernel_version=${kernels[0]%/build}
		kernel_version=${kernel_version##*/}
		kernel_build=/lib/modules/$kernel_version/build
	fi
}

find_host_kernel()
{
	local depends

	depends=$(dpkg-query -W -f '${Depends}' linux-headers-amd64 2>/dev/null) ||
		die 'expected linux-headers-amd64 on this host, found it not installed; say: contrib/install-dependencies'
	[[ $depends =~ linux-headers-([0-9][^ ]*-amd64) ]] ||
		die "expected linux-headers-amd64 to name a kernel, found '$depends'; report this"
	kernel_version=${BASH_REMATCH[1]}
	[[ -d /lib/modules/$kernel_version/build ]] ||
		die "expected /lib/modules/$kernel_version/build, found none; say: contrib/install-dependencies"
}
