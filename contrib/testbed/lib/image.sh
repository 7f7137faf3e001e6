# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The root image: a release of Debian with Slurm, a kernel, and an initial RAM disk
# that mounts it. It depends on nothing but the lists below and the choice of
# release and kernel, so the scripts and settings of a run can change without it.

image_packages=(
	slurmctld slurmd slurm-client munge	# the cluster
	slurmdbd				# its accounting, for who starts it
	openssh-server				# the way in
	systemd-sysv udev dbus			# for --init systemd
	busybox-static				# for --init tiny and the initial RAM disk
	iproute2 procps kmod util-linux strace	# to look around with
	libhwloc15 libjson-c5 libinih1		# the project's libraries
	libnuma1 numactl libseccomp2
	irqbalance				# moves interrupts, too
	sysbench iperf3				# neighbours that a bench disturbs
	libmpich12 libopenblas0-pthread		# programs that run on the LWK
	python3-numpy sqlite3 stress-ng
)

# packages_of_release: prints those whose names have numbers that change between releases.
packages_of_release()
{
	case $release in
	bullseye) echo 'libelf1 libcgroup1 mariadb-server-core-10.5' ;;
	bookworm) echo 'libelf1 libcgroup2 mariadb-server-core' ;;
	*) echo 'libelf1t64 libcgroup3 mariadb-server-core' ;;
	esac
}

# No machine here has such hardware, and nobody reads manuals in it.
image_left_out=(
	'/usr/share/man/*' '/usr/share/doc/*' '/usr/share/locale/*' '/usr/share/info/*'
	'/lib/modules/*/kernel/sound/*'
	'/lib/modules/*/kernel/drivers/'{gpu,media,iio,isdn,staging,infiniband,hwmon,mfd,usb}'/*'
	'/lib/modules/*/kernel/drivers/net/'{wireless,ethernet,can,usb}'/*'
)

# Modules that the initial RAM disk needs to mount the root disk; the network driver is
# here too because without udev nobody else loads it.
image_boot_modules=(virtio_pci virtio_blk ext4 virtio_net)

image_size=4G
# The file is sparse: it takes as much of the disk as the packages need.
image_size_with_more=12G

find_image()
{
	local inputs

	find_kernel
	inputs=$(cat "$testbed_dir/lib/image.sh" "$testbed_dir/guest/initrd-init"
		printf '%s\n' "$release" "$kernel_version"
		[[ $kernel != /* ]] || sha256sum <"$kernel/arch/x86/boot/bzImage"
		[[ ! $packages ]] || cat "$packages")
	inputs=$(sha256sum <<<"$inputs")
	image=$cache/image-${inputs:0:16}
}

install_packages()
{
	local work=$1 all more

	read -ra more < <(packages_of_release)
	all=("${image_packages[@]}" "${more[@]}")
	[[ $kernel == /* ]] || all+=("linux-image-$kernel_version")
	if [[ $packages ]]; then
		mapfile -t more <"$packages"
		all+=("${more[@]}")
	fi
	# shellcheck disable=SC2016  # mmdebstrap's shell expands the hook
	install_root "$work/root" '
		for user in 1 2; do chroot "$1" useradd -m -p \* -u 100$user -s /bin/bash user$user; done
		rm -rf "$1"/etc/machine-id "$1"/etc/munge/munge.key' "${all[@]}"
}

# install_built_kernel ROOT: from its directory, as make put it there. make runs where the module is built:
# by another compiler's make, the directory's own tools become such as the builder cannot run.
install_built_kernel()
{
	mkdir -p "$1/boot"
	cp "$kernel/arch/x86/boot/bzImage" "$1/boot/vmlinuz-$kernel_version"
	where_built make -C "$kernel" modules_install INSTALL_MOD_PATH="$1/usr" INSTALL_MOD_STRIP=1
	rm -f "$1/usr/lib/modules/$kernel_version"/{build,source}
	# A builder may have no depmod.
	depmod -b "$1" "$kernel_version"
}

make_initrd()
{
	local work=$1 tree=$1/initrd module modules=()

	mkdir -p "$tree"/{bin,dev,proc,root,modules}
	cp "$work/root/bin/busybox" "$tree/bin/"
	ln -s busybox "$tree/bin/sh"
	cp "$testbed_dir/guest/initrd-init" "$tree/init"
	mapfile -t modules < <(
		for module in "${image_boot_modules[@]}"; do
			modprobe -d "$work/root" -S "$kernel_version" --show-depends "$module"
		done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
	)
	cp -t "$tree/modules" "${modules[@]}"
	# busybox's insmod knows no compression.
	find "$tree/modules" -name '*.xz' -exec unxz {} +
	modules=("${modules[@]##*/}")
	printf '%s\n' "${modules[@]%.xz}" >"$tree/modules/order"
	# The archive is not compressed: unpacking costs the emulated machine more than reading.
	(cd "$tree" && find . | cpio -o -H newc --quiet) >"$work/image/initrd"
}

make_image()
{
	local work=$1

	mkdir "$work/image"
	[[ $kernel != /* ]] || install_built_kernel "$work/root"
	cp "$work/root/boot/vmlinuz-$kernel_version" "$work/image/vmlinuz"
	# depmod needs these when the project's module joins them.
	cp -al "$work/root/lib/modules/$kernel_version" "$work/image/modules"
	make_initrd "$work"
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$work/root" "$work/image/root.img" \
		"$([[ $packages ]] && echo "$image_size_with_more" || echo "$image_size")"
	mv "$work/image" "$image"
	rm -rf --one-file-system "$work"
	# Removes earlier recipes' images; a process that has one open can still read it.
	find "$cache" -maxdepth 1 -name 'image-*' ! -path "$image" -mtime +7 -exec rm -rf {} +
}

make_ssh_key()
{
	[[ ! -e $cache/ssh-key ]] || return 0
	rm -f "$cache"/ssh-key.new*
	ssh-keygen -q -t ed25519 -N '' -C slurm-lwk-testbed -f "$cache/ssh-key.new"
	mv "$cache/ssh-key.new.pub" "$cache/ssh-key.pub"
	mv "$cache/ssh-key.new" "$cache/ssh-key"
}

build_image()
{
	local lock work

	host_builds || build_builder
	find_image
	[[ ! -e $image/root.img || ! -e $cache/ssh-key ]] || return 0
	take_lock lock "$cache/build-$release.lock"
	make_ssh_key
	if [[ ! -e $image/root.img ]]; then
		keep_packages
		work=$(mktemp -d "$cache/work-$release.XXXXXX")
		step "root file system of $release from Debian packages" install_packages "$work"
		step 'root image and initial RAM disk' make_image "$work"
	fi
	exec {lock}>&-
}
