# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The root image: a Debian 12 with Slurm, the kernel that the host has headers
# for, and an initial RAM disk that mounts it. It depends on nothing but the
# lists below, so the scripts and settings of a run can change without it.

image_packages=(
	slurmctld slurmd slurm-client munge	# the cluster
	slurmdbd mariadb-server-core		# its accounting, for who starts it
	openssh-server				# the way in
	systemd-sysv udev dbus			# for --init systemd
	busybox-static				# for --init tiny and the initial RAM disk
	iproute2 procps kmod util-linux strace	# to look around with
	libhwloc15 libjson-c5 libinih1 libelf1	# the project's libraries
	libnuma1 numactl libcgroup2
	irqbalance				# moves interrupts, too
	sysbench iperf3				# neighbours that a bench disturbs
	libmpich12 libopenblas0-pthread		# programs that run on the LWK
	python3-numpy sqlite3 stress-ng
)

# No machine here has such hardware, and nobody reads manuals in it.
image_left_out=(
	'/usr/share/man/*' '/usr/share/doc/*' '/usr/share/locale/*' '/usr/share/info/*'
	'/lib/modules/*/kernel/sound/*'
	'/lib/modules/*/kernel/drivers/'{gpu,media,iio,isdn,staging,infiniband,hwmon,mfd,usb}'/*'
	'/lib/modules/*/kernel/drivers/net/'{wireless,ethernet,can,usb}'/*'
)

# What the initial RAM disk needs to mount the root disk; the network driver is
# here too because without udev nobody else loads it.
image_boot_modules=(virtio_pci virtio_blk ext4 virtio_net)

image_size=4G

# The image's kernel and the module built on the host must be one version.
find_kernel_version()
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

find_image()
{
	local inputs

	find_kernel_version
	inputs=$(cat "$testbed_dir/lib/image.sh" "$testbed_dir/guest/initrd-init"; printf '%s\n' "$kernel_version")
	inputs=$(sha256sum <<<"$inputs")
	image=$cache/image-${inputs:0:16}
}

# A killed build leaves its work directory, and in it packages worth keeping.
clear_killed_builds()
{
	local work

	for work in "$cache"/work.*; do
		[[ -d $work ]] || continue
		find "$work/root/var/cache/apt/archives" -maxdepth 1 -name '*.deb' \
			-exec mv -t "$cache/debs" {} + 2>/dev/null || true
		rm -rf --one-file-system "$work"
	done
}

install_packages()
{
	local work=$1 options=() pattern

	for pattern in "${image_left_out[@]}"; do
		options+=(--dpkgopt="path-exclude=$pattern")
	done

	# In a PID and a mount namespace of its own the whole installation dies
	# with this script, however that dies, and leaves no mounts.
	# INITRD=No: the distribution's initial RAM disk is of no use here.
	# shellcheck disable=SC2016  # mmdebstrap's shell expands the hooks
	INITRD=No DEBS=$cache/debs setpriv --pdeathsig KILL \
		unshare --mount --pid --fork --kill-child --mount-proc \
		mmdebstrap --mode=root --variant=essential --format=directory \
		--skip=essential/unlink \
		--dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' "${options[@]}" \
		--setup-hook='mkdir -p "$1/var/cache/apt/archives"' \
		--setup-hook='find "$DEBS" -name "*.deb" -exec cp -l -t "$1/var/cache/apt/archives" {} +' \
		--customize-hook='for user in 1 2; do chroot "$1" useradd -m -p \* -u 100$user -s /bin/bash user$user; done' \
		--customize-hook='rm -f "$DEBS"/*.deb; mv -t "$DEBS" "$1"/var/cache/apt/archives/*.deb' \
		--customize-hook='rm -rf "$1"/etc/machine-id "$1"/etc/munge/munge.key' \
		--include="linux-image-$kernel_version,$(IFS=,; echo "${image_packages[*]}")" \
		bookworm "$work/root" ||
		die "expected a root file system, found that mmdebstrap failed (its words are above); if it knows no linux-image-$kernel_version any more, say: apt-get update && apt-get install linux-headers-amd64"
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
		done | awk '!seen[$2]++ { print $2 }'
	)
	cp -t "$tree/modules" "${modules[@]}"
	printf '%s\n' "${modules[@]##*/}" >"$tree/modules/order"
	# Not compressed: unpacking costs the emulated machine more than reading.
	(cd "$tree" && find . | cpio -o -H newc --quiet) >"$work/image/initrd"
}

make_image()
{
	local work=$1

	mkdir "$work/image"
	cp "$work/root/boot/vmlinuz-$kernel_version" "$work/image/vmlinuz"
	# depmod needs these when the project's module joins them.
	cp -al "$work/root/lib/modules/$kernel_version" "$work/image/modules"
	make_initrd "$work"
	mke2fs -q -t ext4 -O ^has_journal -m 0 -d "$work/root" "$work/image/root.img" "$image_size"
	mv "$work/image" "$image"
	rm -rf --one-file-system "$work"
	# Earlier recipes' images; those in use stay readable to who has them open.
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

	find_image
	[[ ! -e $image/root.img || ! -e $cache/ssh-key ]] || return 0
	take_lock lock "$cache/build.lock"
	make_ssh_key
	if [[ ! -e $image/root.img ]]; then
		mkdir -p "$cache/debs"
		clear_killed_builds
		work=$(mktemp -d "$cache/work.XXXXXX")
		step 'root file system from Debian packages' install_packages "$work"
		step 'root image and initial RAM disk' make_image "$work"
	fi
	exec {lock}>&-
}
