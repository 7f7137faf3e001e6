# shellcheck shell=bash
# shellcheck disable=SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Builds the kernels that report errors of kernel code (`--kernel debug` and `--kernel kcsan`) from the
# release's linux-source package, in the release's builder. The tree stays, so that a changed option
# compiles only what it concerns.

configs=$testbed_dir/kernel

# kernel_options: prints the options that the kernel is built with, without comments: a comment that
# changes builds nothing again.
kernel_options()
{
	grep -h '^CONFIG_' "$configs/machine.config" "$configs/$built_kernel.config"
}

kernel_is_current()
{
	[[ -e $kernel/arch/x86/boot/bzImage && $(kernel_options) == "$(cat "$kernel/testbed-built" 2>/dev/null)" ]]
}

unpack_kernel()
{
	local sources=("$builder"/usr/src/linux-source-*.tar.xz)

	[[ ${#sources[@]} == 1 && -e ${sources[0]} ]] ||
		die "expected one source of Linux in $builder/usr/src, found: ${sources[*]}; remove $builder"
	rm -rf "$kernel" "$kernel.new"
	mkdir -p "$kernel.new"
	tar -x --strip-components=1 -f "${sources[0]}" -C "$kernel.new"
	mv "$kernel.new" "$kernel"
}

# require_options: releases name some of the machine's options differently; what finds errors must be there.
require_options()
{
	local missing

	missing=$(sed -n '/^CONFIG_/ { /=n$/! p }' "$configs/$built_kernel.config" | grep -vxFf "$kernel/.config") || return 0
	die "expected these options in the configuration of $release's kernel, found them not: $missing; correct $configs"
}

make_kernel()
(
	cd "$kernel" || exit
	rm -f testbed-built
	kernel_options >testbed-options
	in_builder make KCONFIG_ALLCONFIG=testbed-options allnoconfig
	require_options
	in_builder make -s -j"$(nproc)" bzImage modules
	mv testbed-options testbed-built
)

# build_kernel: unless there is no such kernel to build, or it is built.
build_kernel()
{
	local lock

	[[ $built_kernel ]] || return 0
	build_builder
	take_lock lock "$cache/kernel-$release.lock"
	if ! kernel_is_current; then
		[[ -e $kernel/Makefile ]] || step "source of $release's kernel unpacked" unpack_kernel
		step "kernel with $built_kernel.config" make_kernel
	fi
	exec {lock}>&-
}
