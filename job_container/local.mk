# SPDX-License-Identifier: GPL-2.0-or-later
# Slurm looks for the plugin by the name of its kind, which was job_container before 25.11.
if HAVE_SLURM_NAMESPACE
slurmplugin_LTLIBRARIES += job_container/namespace_lwk.la
else
if HAVE_SLURM
slurmplugin_LTLIBRARIES += job_container/job_container_lwk.la
endif
endif

namespace_sources = \
	$(slurm_compat_sources) \
	spank/compat/namespace_compat.c \
	spank/drain.c \
	job_container/plugin.c \
	libmodeswitch/base/cgroup.c \
	libmodeswitch/base/files.c \
	job_container/os_cores.c \
	job_container/view.c \
	job_container/restore.c \
	job_container/alive.c \
	job_container/lost.c \
	job_container/restart.c
namespace_cppflags = $(AM_CPPFLAGS) $(slurm_compat_cppflags)
# Slurm's programs export thousands of names: ours must not meet theirs.
namespace_ldflags = $(AM_LDFLAGS) -module -avoid-version \
	-export-symbols-regex '^(plugin_|container_p_|namespace_p_)'
namespace_libs = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) $(JSONC_LIBS)

job_container_namespace_lwk_la_SOURCES = $(namespace_sources)
job_container_namespace_lwk_la_CPPFLAGS = $(namespace_cppflags)
job_container_namespace_lwk_la_LDFLAGS = $(namespace_ldflags)
job_container_namespace_lwk_la_LIBADD = $(namespace_libs)

job_container_job_container_lwk_la_SOURCES = $(namespace_sources)
job_container_job_container_lwk_la_CPPFLAGS = $(namespace_cppflags)
job_container_job_container_lwk_la_LDFLAGS = $(namespace_ldflags)
job_container_job_container_lwk_la_LIBADD = $(namespace_libs)
