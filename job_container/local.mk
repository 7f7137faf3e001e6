# SPDX-License-Identifier: GPL-2.0-or-later
if HAVE_SLURM
slurmplugin_LTLIBRARIES += job_container/job_container_lwk.la
endif

job_container_job_container_lwk_la_SOURCES = \
	job_container/plugin.c \
	libmodeswitch/base/cgroup.c libmodeswitch/base/cgroup.h \
	libmodeswitch/base/files.c libmodeswitch/base/files.h \
	job_container/os_cores.c job_container/os_cores.h \
	job_container/view.c job_container/view.h \
	job_container/restore.c job_container/restore.h \
	job_container/alive.c job_container/alive.h \
	job_container/restart.c job_container/restart.h
# Slurm's programs export thousands of names: ours must not meet theirs.
job_container_job_container_lwk_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version \
	-export-symbols-regex '^(plugin_|container_p_)'
job_container_job_container_lwk_la_LIBADD = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS)
