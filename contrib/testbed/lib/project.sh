# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Configures, builds and stages the project outside its sources, for the kernel of the machines.

# find_build: sets where the project is built for the machines, built, and what is staged there.
find_build()
{
	built=$top/build
	host_builds || built=$top/build/on-$release-$kernel_version
	[[ ! $modules ]] || built=$top/build/on-$release-without-module
	stage=$built/stage
}

# where_built COMMAND...: runs it in the builder, or on this host where that builds for the machines.
where_built()
{
	if host_builds; then
		"$@"
	else
		in_builder "$@"
	fi
}

# configure_options: prints the options for configure.
configure_options()
{
	local headers=$kernel_build

	# Modules that stand for lwkpart.ko may be for a kernel for which lwkpart.ko cannot be built.
	[[ ! $modules ]] || headers=no
	echo "--prefix=/usr --sysconfdir=/etc --enable-werror --with-kernel=$headers"
}

project_is_configured()
{
	[[ -e $top/configure && ! $top/configure.ac -nt $top/configure && -e $built/config.status ]] &&
		[[ $(cat "$built/testbed-configured" 2>/dev/null) == "$(configure_options)" ]]
}

# The host makes configure and Makefile.in, for all releases: builders have no autotools.
run_autotools()
{
	local lock

	take_lock lock "$top/build/configure.lock"
	if [[ ! -e $top/configure || $top/configure.ac -nt $top/configure ]]; then
		(cd "$top" && autoreconf -i)
		# autoreconf leaves a configure alone that would not change.
		touch "$top/configure"
	elif [[ -n $(find "$top" -path "$top/build" -prune -o \( -name local.mk -o -name Makefile.am \) \
		-newer "$top/Makefile.in" -print -quit) ]]; then
		(cd "$top" && automake)
	fi
	exec {lock}>&-
}

configure_project()
{
	mkdir -p "$built"
	# shellcheck disable=SC2046  # options, one word each
	(cd "$built" && where_built "$top/configure" $(configure_options))
	configure_options >"$built/testbed-configured"
}

make_project()
{
	touch "$built/testbed-making"
	# Without jobs: config.status runs a make that looks for those of ours at descriptors which it does not get, and
	# fails where something else has their numbers.
	where_built make -C "$built" Makefile
	where_built make -C "$built" -j"$(nproc)"
	rm -rf "$stage"
	where_built make -C "$built" install DESTDIR="$stage"
	mv "$built/testbed-making" "$built/testbed-made"
}

# Directories count as well: they change when a file goes away.
project_is_current()
{
	project_is_configured && [[ -d $stage && -e $built/testbed-made ]] &&
		[[ -z $(find "$top" \( -path "$top/build" -o -path "$top/.git" \) -prune -o \
			! -path "$top" -newer "$built/testbed-made" -print -quit) ]]
}

build_project()
{
	local lock

	[[ -e $top/configure.ac ]] || return 0
	find_build
	take_lock lock "$stage.lock"
	if ! project_is_current; then
		run_autotools
		project_is_configured || step 'project configured' configure_project
		step 'project built and staged' make_project
	fi
	exec {lock}>&-
}
