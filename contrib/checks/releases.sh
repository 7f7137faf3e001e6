# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of contrib/check
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The check that everything builds, and that the unit tests pass, with the compilers, libraries, kernel and
# Slurm of each release of Debian, in roots that the test bed's cache keeps.

# make_checker: a root of the release with what building and the unit tests need.
make_checker()
{
	local packages

	mapfile -t packages < <("$top/contrib/install-dependencies" --list-build)
	packages+=(linux-headers-amd64 libcmocka-dev hwloc-nox)
	builder=$cache/checker-$release-$(sha256sum <<<"${packages[*]}" | cut -c1-16)
	[[ -d $builder ]] || keep_root "$builder" "${packages[@]}"
}

# check_release RELEASE: builds a copy of the sources, configure included.
check_release()
{
	local place=$top/build/releases/$1

	testbed_dir=$top/contrib/testbed
	# shellcheck source=contrib/testbed/lib/common.sh
	source "$testbed_dir/lib/common.sh"
	# shellcheck source=contrib/testbed/lib/image.sh
	source "$testbed_dir/lib/image.sh"
	# shellcheck source=contrib/testbed/lib/release.sh
	source "$testbed_dir/lib/release.sh"
	release=$1
	take_release
	make_checker
	rm -rf "$place"
	mkdir -p "$place/tree" "$place/build"
	sources . | tar -c -T - | tar -x -C "$place/tree"
	cd "$place/build" || return
	# shellcheck disable=SC2016  # the inner shell expands it
	in_builder sh -exc '(cd ../tree; autoreconf -i)
		../tree/configure --enable-werror --with-kernel=no
		make -j2
		make -j2 check VERBOSE=1
		make -f ../tree/kmod/Makefile kernels OUT=$PWD/kernels WERROR_CFLAGS=-Werror ||
			{ cat kernels/*/log; exit 1; }'
	rm -rf "$place"
}

# Each release in a shell of its own, which has the functions of the test bed and ends at an error.
check_releases()
{
	local name status=0

	# shellcheck source=contrib/testbed/lib/release.sh
	source "$top/contrib/testbed/lib/release.sh"
	for name in "${releases[@]}"; do
		top=$top bash -euo pipefail -c '
			source "$top/contrib/checks/sources.sh"
			source "$top/contrib/checks/releases.sh"
			check_release "$1"' bash "$name" || {
			echo "$name: expected a build without warnings and unit tests that pass, found what is above"
			status=1
		}
	done
	return $status
}
