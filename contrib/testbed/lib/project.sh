# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the other parts
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Configures, builds and stages the project outside its sources, for the kernel of the machines.

stage=$top/build/stage

# configure_options: prints the options for configure.
configure_options()
{
	echo "--prefix=/usr --sysconfdir=/etc --enable-werror --with-kernel=/lib/modules/$kernel_version/build"
}

project_is_configured()
{
	[[ -e $top/configure && ! $top/configure.ac -nt $top/configure && -e $top/build/config.status ]] &&
		[[ $(cat "$top/build/testbed-configured" 2>/dev/null) == "$(configure_options)" ]]
}

configure_project()
{
	if [[ ! -e $top/configure || $top/configure.ac -nt $top/configure ]]; then
		(cd "$top" && autoreconf -i)
		# autoreconf leaves a configure alone that would not change.
		touch "$top/configure"
	fi
	# shellcheck disable=SC2046  # options, one word each
	(cd "$top/build" && "$top/configure" $(configure_options))
	configure_options >"$top/build/testbed-configured"
}

make_project()
{
	touch "$top/build/testbed-making"
	make -C "$top/build" -j"$(nproc)"
	rm -rf "$stage"
	make -C "$top/build" install DESTDIR="$stage"
	mv "$top/build/testbed-making" "$top/build/testbed-made"
}

# Directories count as well: they change when a file goes away.
project_is_current()
{
	project_is_configured && [[ -d $stage && -e $top/build/testbed-made ]] &&
		[[ -z $(find "$top" \( -path "$top/build" -o -path "$top/.git" \) -prune -o \
			! -path "$top" -newer "$top/build/testbed-made" -print -quit) ]]
}

build_project()
{
	local lock

	[[ -e $top/configure.ac ]] || return 0
	take_lock lock "$stage.lock"
	if ! project_is_current; then
		project_is_configured || step 'project configured' configure_project
		step 'project built and staged' make_project
	fi
	exec {lock}>&-
}
