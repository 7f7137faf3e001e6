# SPDX-License-Identifier: GPL-2.0-or-later
lib_LTLIBRARIES += libmodeswitch/libmodeswitch.la
include_HEADERS = libmodeswitch/modeswitch.h

# All of the library; the unit tests see what the shared library hides.
noinst_LTLIBRARIES += libmodeswitch/libmodeswitch_all.la
libmodeswitch_libmodeswitch_all_la_SOURCES = \
	libmodeswitch/modeswitch.h \
	libmodeswitch/check.c libmodeswitch/check.h \
	libmodeswitch/check_node.c \
	libmodeswitch/check_slurm.c \
	libmodeswitch/configuration.c libmodeswitch/configuration.h \
	libmodeswitch/counters.c libmodeswitch/counters.h \
	libmodeswitch/driver.c libmodeswitch/driver.h \
	libmodeswitch/driver_lwkpart.c \
	libmodeswitch/dump.c libmodeswitch/dump.h \
	libmodeswitch/dump_lwkpart.c \
	libmodeswitch/error.c \
	libmodeswitch/files.c libmodeswitch/files.h \
	libmodeswitch/home.c libmodeswitch/home.h \
	libmodeswitch/image.c libmodeswitch/image.h \
	libmodeswitch/interrupts.c libmodeswitch/interrupts.h \
	libmodeswitch/irqs.c \
	libmodeswitch/irqbalance.c libmodeswitch/irqbalance.h \
	libmodeswitch/job_cgroups.c libmodeswitch/job_cgroups.h \
	libmodeswitch/job_cpus.c libmodeswitch/job_cpus.h \
	libmodeswitch/journal.c libmodeswitch/journal.h \
	libmodeswitch/json.c libmodeswitch/json.h \
	libmodeswitch/proxy_limits.c libmodeswitch/proxy_limits.h \
	libmodeswitch/proxy_limits_step.c \
	libmodeswitch/memory.c libmodeswitch/memory.h \
	libmodeswitch/migrate.c libmodeswitch/migrate.h \
	libmodeswitch/migrate_cpusets.c \
	libmodeswitch/migrate_move.c \
	libmodeswitch/migrate_pages.c \
	libmodeswitch/migrate_state.c \
	libmodeswitch/migrate_targets.c \
	libmodeswitch/migrate_throttle.c \
	libmodeswitch/node_info.c \
	libmodeswitch/parse.c libmodeswitch/parse.h \
	libmodeswitch/plan.c libmodeswitch/plan.h libmodeswitch/planning.h \
	libmodeswitch/plan_cpus.c libmodeswitch/plan_memory.c \
	libmodeswitch/plan_proxies.c \
	libmodeswitch/prepare.c \
	libmodeswitch/process.c libmodeswitch/process.h \
	libmodeswitch/quiet.c libmodeswitch/quiet.h \
	libmodeswitch/quiet_bans.c \
	libmodeswitch/quiet_pass.c libmodeswitch/quiet_pass.h \
	libmodeswitch/quiet_state.c \
	libmodeswitch/record.c libmodeswitch/record.h \
	libmodeswitch/report.c libmodeswitch/report.h \
	libmodeswitch/reset.c \
	libmodeswitch/services.c libmodeswitch/services.h \
	libmodeswitch/state.c libmodeswitch/state.h \
	libmodeswitch/steer.c libmodeswitch/steer.h \
	libmodeswitch/step_cpus.c \
	libmodeswitch/step_instance.c \
	libmodeswitch/step_interrupts.c \
	libmodeswitch/step_limits.c \
	libmodeswitch/step_memory.c \
	libmodeswitch/step_module.c \
	libmodeswitch/step_sysview.c \
	libmodeswitch/steps.c libmodeswitch/steps.h \
	libmodeswitch/supply.c libmodeswitch/supply.h \
	libmodeswitch/switch.c libmodeswitch/switch.h \
	libmodeswitch/sysview.c libmodeswitch/sysview.h \
	libmodeswitch/times.c libmodeswitch/times.h \
	libmodeswitch/topology.c libmodeswitch/topology.h \
	libmodeswitch/warm.c libmodeswitch/warm.h \
	libmodeswitch/usage.c libmodeswitch/usage.h \
	libmodeswitch/usage_json.c \
	libmodeswitch/watch.c \
	libmodeswitch/watch_lwkpart.c
libmodeswitch_libmodeswitch_all_la_CPPFLAGS = $(AM_CPPFLAGS) -DMS_DOCDIR='"$(docdir)"' \
	-DLWKCTL_PATH='"$(bindir)/lwkctl"'
libmodeswitch_libmodeswitch_all_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) \
	$(INIH_CFLAGS) $(ELF_CFLAGS) $(NUMA_CFLAGS) $(CGROUP_CFLAGS)
libmodeswitch_libmodeswitch_all_la_LIBADD = $(HWLOC_LIBS) $(JSONC_LIBS) $(INIH_LIBS) $(ELF_LIBS) \
	$(NUMA_LIBS) $(CGROUP_LIBS) -lm

libmodeswitch_libmodeswitch_la_SOURCES =
libmodeswitch_libmodeswitch_la_LIBADD = libmodeswitch/libmodeswitch_all.la
# It is loaded into Slurm's programs, which export thousands of names.
libmodeswitch_libmodeswitch_la_LDFLAGS = -version-info 0:0:0 -export-symbols-regex '^ms_' \
	-no-undefined

bin_PROGRAMS += lwkctl
lwkctl_SOURCES = libmodeswitch/lwkctl.c libmodeswitch/lwkctl.h \
	libmodeswitch/lwkctl_counters.c \
	libmodeswitch/lwkctl_plan.c \
	libmodeswitch/lwkctl_prepare.c \
	libmodeswitch/lwkctl_irqs.c \
	libmodeswitch/lwkctl_quiet.c \
	libmodeswitch/lwkctl_migrate.c \
	libmodeswitch/lwkctl_calibrate.c libmodeswitch/lwkctl_calibrate.h \
	libmodeswitch/drawing.c libmodeswitch/drawing.h \
	libmodeswitch/drawing_svg.c \
	libmodeswitch/json.c libmodeswitch/json.h \
	libmodeswitch/lwkctl_metrics.c libmodeswitch/lwkctl_node.c \
	libmodeswitch/lwkctl_top.c libmodeswitch/lwkctl_watch.c
lwkctl_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(NCURSES_CFLAGS) \
	$(NUMA_CFLAGS)
lwkctl_LDADD = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) $(JSONC_LIBS) $(NCURSES_LIBS) \
	$(NUMA_LIBS)
