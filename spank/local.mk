# SPDX-License-Identifier: GPL-2.0-or-later
slurmplugin_LTLIBRARIES =

if HAVE_SLURM
slurmplugin_LTLIBRARIES += spank/lwk.la
endif

# Both plugins need this of each release of Slurm.
slurm_compat_sources = \
	spank/compat/slurm_compat.c \
	libmodeswitch/base/child.c \
	libmodeswitch/base/clock.c \
	libmodeswitch/base/signals.c
slurm_compat_cppflags = -I$(top_srcdir)/spank -DSCONTROL_PATH='"$(SCONTROL)"'

spank_lwk_la_SOURCES = \
	$(slurm_compat_sources) \
	spank/plugin.c \
	spank/cgroups.c \
	spank/command/command_option.c \
	libmodeswitch/base/cgroup.c \
	libmodeswitch/base/cpusets.c \
	libmodeswitch/base/files.c \
	libmodeswitch/base/trust.c \
	spank/command/cpu_binding.c \
	spank/command/memory_binding.c \
	spank/command/mpi_place.c \
	spank/drain.c \
	spank/mpi_profile.c \
	spank/mpirun.c \
	spank/option_forms.c \
	spank/options.c \
	spank/prolog.c \
	spank/request.c \
	spank/task.c \
	spank/verdict.c
spank_lwk_la_CPPFLAGS = $(AM_CPPFLAGS) $(slurm_compat_cppflags) -DLWKEXEC_PATH='"$(bindir)/lwkexec"' \
	-DLWKCTL_PATH='"$(bindir)/lwkctl"' -DLWKMPI_PATH='"$(pkglibdir)/liblwkmpi.so"'
# Slurm's programs export thousands of names: ours must not meet theirs.
spank_lwk_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version \
	-export-symbols-regex '^(plugin_|spank_plugin_|slurm_spank_)'
spank_lwk_la_LIBADD = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) $(JSONC_LIBS)

if HAVE_SLURM
# Slurm loads plugins by their names and has no use for libtool's descriptions of them.
plugin_descriptions = $(notdir $(slurmplugin_LTLIBRARIES))
after_install += remove-plugin-descriptions
remove-plugin-descriptions:
	cd $(DESTDIR)$(slurmplugindir) && rm -f $(plugin_descriptions)
	rm -f $(DESTDIR)$(pkglibdir)/liblwkmpi.la
# libtool uninstalls by its description.
after_uninstall += remove-plugins
remove-plugins:
	cd $(DESTDIR)$(slurmplugindir) && rm -f $(plugin_descriptions:.la=.so)
	rm -f $(DESTDIR)$(pkglibdir)/liblwkmpi.so
endif
