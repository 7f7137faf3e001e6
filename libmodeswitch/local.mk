# SPDX-License-Identifier: GPL-2.0-or-later
lib_LTLIBRARIES += libmodeswitch/libmodeswitch.la
include_HEADERS = libmodeswitch/modeswitch.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = libmodeswitch/libmodeswitch.pc
modeswitchdir = $(includedir)/modeswitch
modeswitch_HEADERS = $(wildcard $(srcdir)/libmodeswitch/modeswitch/*.h)

# All of the library; the unit tests see what the shared library hides. HACKING.md has the rooms.
noinst_LTLIBRARIES += libmodeswitch/libmodeswitch_all.la
libmodeswitch_libmodeswitch_all_la_SOURCES = \
	libmodeswitch/base/cgroup.c \
	libmodeswitch/base/child.c \
	libmodeswitch/base/clock.c \
	libmodeswitch/base/cpusets.c \
	libmodeswitch/base/error.c \
	libmodeswitch/base/files.c \
	libmodeswitch/base/json.c \
	libmodeswitch/base/parse.c \
	libmodeswitch/base/patience.c \
	libmodeswitch/base/process.c \
	libmodeswitch/base/signals.c \
	libmodeswitch/base/trust.c \
	libmodeswitch/config/configuration.c \
	libmodeswitch/config/image.c \
	libmodeswitch/config/keys.c \
	libmodeswitch/store/announced.c \
	libmodeswitch/store/journal.c \
	libmodeswitch/store/lock_holder.c \
	libmodeswitch/store/record.c \
	libmodeswitch/store/mpi_sums.c \
	libmodeswitch/store/state.c \
	libmodeswitch/store/times.c \
	libmodeswitch/driver/counters.c \
	libmodeswitch/driver/driver.c \
	libmodeswitch/driver/ihk/check.c \
	libmodeswitch/driver/ihk/driver.c \
	libmodeswitch/driver/ihk/instance.c \
	libmodeswitch/driver/ihk/library.c \
	libmodeswitch/driver/ihk/load.c \
	libmodeswitch/driver/ihk/memory.c \
	libmodeswitch/driver/ihk/owned.c \
	libmodeswitch/driver/ihk/proxies.c \
	libmodeswitch/driver/ihk/watch.c \
	libmodeswitch/driver/lwkpart/driver.c \
	libmodeswitch/driver/lwkpart/dump.c \
	libmodeswitch/driver/lwkpart/usage.c \
	libmodeswitch/driver/lwkpart/watch.c \
	libmodeswitch/machine/memory.c \
	libmodeswitch/machine/obstacles.c \
	libmodeswitch/machine/signatures.c \
	libmodeswitch/machine/spare.c \
	libmodeswitch/machine/sysview/job.c \
	libmodeswitch/machine/sysview/machine.c \
	libmodeswitch/machine/sysview/tree.c \
	libmodeswitch/machine/topology.c \
	libmodeswitch/machine/topology_load.c \
	libmodeswitch/machine/vulnerabilities.c \
	libmodeswitch/plan/cpus.c \
	libmodeswitch/plan/make.c \
	libmodeswitch/plan/memory.c \
	libmodeswitch/plan/plan.c \
	libmodeswitch/plan/proxies.c \
	libmodeswitch/plan/row.c \
	libmodeswitch/plan/supply.c \
	libmodeswitch/migrate/adaptive.c \
	libmodeswitch/migrate/base/context.c \
	libmodeswitch/migrate/base/throttle.c \
	libmodeswitch/migrate/find/page_list.c \
	libmodeswitch/migrate/find/scan.c \
	libmodeswitch/migrate/find/targets.c \
	libmodeswitch/migrate/home/away_list.c \
	libmodeswitch/migrate/home/rehome.c \
	libmodeswitch/migrate/methods.c \
	libmodeswitch/migrate/migrate.c \
	libmodeswitch/migrate/move.c \
	libmodeswitch/migrate/place/cpusets.c \
	libmodeswitch/migrate/place/destinations.c \
	libmodeswitch/migrate/place/policies.c \
	libmodeswitch/migrate/request.c \
	libmodeswitch/migrate/rounds.c \
	libmodeswitch/migrate/state_json.c \
	libmodeswitch/interrupts/affinity.c \
	libmodeswitch/interrupts/counts.c \
	libmodeswitch/interrupts/irqbalance.c \
	libmodeswitch/interrupts/steer.c \
	libmodeswitch/interrupts/quiet/bans.c \
	libmodeswitch/interrupts/quiet/job_cpus.c \
	libmodeswitch/interrupts/quiet/pass.c \
	libmodeswitch/interrupts/quiet/state.c \
	libmodeswitch/interrupts/quiet/watch.c \
	libmodeswitch/limits/cgroup_v1.c \
	libmodeswitch/limits/cgroup_v2.c \
	libmodeswitch/limits/controllers.c \
	libmodeswitch/limits/kills.c \
	libmodeswitch/limits/libcgroup.c \
	libmodeswitch/limits/step.c \
	libmodeswitch/watch/core_file.c \
	libmodeswitch/watch/dump.c \
	libmodeswitch/watch/kmsg.c \
	libmodeswitch/watch/panic_dump.c \
	libmodeswitch/watch/usage_json.c \
	libmodeswitch/watch/watch.c \
	libmodeswitch/switch/quiet_job.c \
	libmodeswitch/switch/report.c \
	libmodeswitch/switch/reset.c \
	libmodeswitch/switch/engine.c \
	libmodeswitch/switch/fault.c \
	libmodeswitch/switch/look.c \
	libmodeswitch/switch/switch.c \
	libmodeswitch/switch/undo.c \
	libmodeswitch/switch/warm.c \
	libmodeswitch/switch/warm_adopt.c \
	libmodeswitch/switch/warm_keep.c \
	libmodeswitch/switch/warm_watch.c \
	libmodeswitch/switch/steps/cpus.c \
	libmodeswitch/switch/steps/instance.c \
	libmodeswitch/switch/steps/interrupts.c \
	libmodeswitch/switch/steps/limits.c \
	libmodeswitch/switch/steps/memory/attempt.c \
	libmodeswitch/switch/steps/memory/blocks.c \
	libmodeswitch/switch/steps/memory/give_back.c \
	libmodeswitch/switch/steps/memory/memory.c \
	libmodeswitch/switch/steps/memory/runs.c \
	libmodeswitch/switch/steps/memory/vacate.c \
	libmodeswitch/switch/steps/module.c \
	libmodeswitch/switch/steps/step.c \
	libmodeswitch/switch/steps/sysview.c \
	libmodeswitch/switch/steps/table.c \
	libmodeswitch/node/info.c \
	libmodeswitch/node/ledger.c \
	libmodeswitch/node/prepare/cpuset.c \
	libmodeswitch/node/prepare/interrupts.c \
	libmodeswitch/node/prepare/memory.c \
	libmodeswitch/node/prepare/prepare.c \
	libmodeswitch/node/prepare/services.c \
	libmodeswitch/node/prepare/state.c \
	libmodeswitch/node/prepare/systemd.c \
	libmodeswitch/node/check/check.c \
	libmodeswitch/node/check/installation.c \
	libmodeswitch/node/check/jobs.c \
	libmodeswitch/node/check/kernel.c \
	libmodeswitch/node/check/memory.c \
	libmodeswitch/node/check/scontrol.c \
	libmodeswitch/node/check/slurm/node.c \
	libmodeswitch/node/check/slurm/over.c \
	libmodeswitch/node/check/slurm/plugstack.c \
	libmodeswitch/node/check/slurm/releases.c \
	libmodeswitch/node/check/slurm/settings.c
libmodeswitch_libmodeswitch_all_la_CPPFLAGS = $(AM_CPPFLAGS) -DMS_DOCDIR='"$(docdir)"' \
	-DLWKCTL_PATH='"$(bindir)/lwkctl"' -DSCONTROL_PATH='"$(SCONTROL)"' -DSQUEUE_PATH='"$(SQUEUE)"' \
	-DLWK_IMAGE_PATH='"$(lwkimagedir)/lwk.elf"'
libmodeswitch_libmodeswitch_all_la_LIBADD = $(HWLOC_LIBS) $(JSONC_LIBS) $(INIH_LIBS) $(ELF_LIBS) \
	$(NUMA_LIBS) $(CGROUP_LIBS) -lm

libmodeswitch_libmodeswitch_la_SOURCES =
libmodeswitch_libmodeswitch_la_LIBADD = libmodeswitch/libmodeswitch_all.la
# CURRENT:REVISION:AGE. Before a release: functions or structures of modeswitch/ that went or changed, and the
# soname with them: CURRENT + 1, AGE 0; only new ones: both + 1; neither: REVISION + 1. A structure that
# callers allocate counts as changed when it grows. Debian's libmodeswitch1 is named after CURRENT - AGE.
# 1:0:0 is that of 0.3.0; 0.2.0 had 0:0:0.
# The library is loaded into Slurm's programs, which export thousands of names.
libmodeswitch_libmodeswitch_la_LDFLAGS = $(AM_LDFLAGS) -version-info 1:0:0 -export-symbols-regex '^ms_' \
	-no-undefined

# The linker finds a library in a folder of the system by its cache.
install-exec-hook: cache-library
cache-library:
	test -n "$(DESTDIR)" || test "$$(id -u)" != 0 || PATH="$$PATH:/sbin" ldconfig

# In front of MPI programs: it has symbols of MPI only, and nothing of the library.
pkglib_LTLIBRARIES =
if HAVE_SLURM
pkglib_LTLIBRARIES += libmodeswitch/mpi/liblwkmpi.la
libmodeswitch_mpi_liblwkmpi_la_SOURCES = \
	libmodeswitch/mpi/calls.c \
	libmodeswitch/mpi/count.c \
	libmodeswitch/mpi/groups.c \
	libmodeswitch/mpi/print.c \
	libmodeswitch/mpi/program.c \
	libmodeswitch/mpi/session.c \
	libmodeswitch/mpi/turns.c \
	libmodeswitch/mpi/library/library.c \
	libmodeswitch/mpi/sites/collectives.c \
	libmodeswitch/mpi/sites/exchanges.c \
	libmodeswitch/mpi/sites/gathers.c \
	libmodeswitch/mpi/sites/messages.c \
	libmodeswitch/mpi/sites/model.c \
	libmodeswitch/mpi/sites/parts.c \
	libmodeswitch/mpi/sites/reductions.c \
	libmodeswitch/mpi/sites/sides.c \
	libmodeswitch/mpi/sites/sites.c
libmodeswitch_mpi_liblwkmpi_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -export-symbols-regex '^P?MPI_'
libmodeswitch_mpi_liblwkmpi_la_LIBADD = -ldl
endif

# All of lwkctl but its main(), for the unit tests too.
noinst_LTLIBRARIES += libmodeswitch/liblwkctl.la
libmodeswitch_liblwkctl_la_SOURCES = \
	libmodeswitch/lwkctl/bench/bench.c \
	libmodeswitch/lwkctl/bench/measure.c \
	libmodeswitch/lwkctl/bench/show.c \
	libmodeswitch/lwkctl/common.c \
	libmodeswitch/lwkctl/confine.c \
	libmodeswitch/lwkctl/drawing/svg.c \
	libmodeswitch/lwkctl/drawing/terminal.c \
	libmodeswitch/lwkctl/irqs/irqs.c \
	libmodeswitch/lwkctl/irqs/rates.c \
	libmodeswitch/lwkctl/irqs/report.c \
	libmodeswitch/lwkctl/job/counters.c \
	libmodeswitch/lwkctl/job/dump.c \
	libmodeswitch/lwkctl/job/events.c \
	libmodeswitch/lwkctl/job/freeze.c \
	libmodeswitch/lwkctl/job/guard.c \
	libmodeswitch/lwkctl/job/info.c \
	libmodeswitch/lwkctl/job/instance.c \
	libmodeswitch/lwkctl/job/kmsg.c \
	libmodeswitch/lwkctl/job/list.c \
	libmodeswitch/lwkctl/job/stat.c \
	libmodeswitch/lwkctl/job/top.c \
	libmodeswitch/lwkctl/migrate/calibrate.c \
	libmodeswitch/lwkctl/migrate/migrate.c \
	libmodeswitch/lwkctl/migrate/summary.c \
	libmodeswitch/lwkctl/mpi/choice.c \
	libmodeswitch/lwkctl/mpi/field.c \
	libmodeswitch/lwkctl/mpi/heat.c \
	libmodeswitch/lwkctl/mpi/hosts.c \
	libmodeswitch/lwkctl/mpi/mpi.c \
	libmodeswitch/lwkctl/mpi/part.c \
	libmodeswitch/lwkctl/mpi/place.c \
	libmodeswitch/lwkctl/mpi/predict.c \
	libmodeswitch/lwkctl/mpi/profile.c \
	libmodeswitch/lwkctl/mpi/save.c \
	libmodeswitch/lwkctl/mpi/show.c \
	libmodeswitch/lwkctl/node/check.c \
	libmodeswitch/lwkctl/node/metrics.c \
	libmodeswitch/lwkctl/node/node.c \
	libmodeswitch/lwkctl/node/plan.c \
	libmodeswitch/lwkctl/node/prepare.c \
	libmodeswitch/lwkctl/node/quiet.c \
	libmodeswitch/lwkctl/node/setup.c \
	libmodeswitch/lwkctl/node/status.c \
	libmodeswitch/lwkctl/repair/cool.c \
	libmodeswitch/lwkctl/repair/rehome.c \
	libmodeswitch/lwkctl/repair/reset.c \
	libmodeswitch/lwkctl/verbs.c \
	libmodeswitch/mpi/print.c \
	libmodeswitch/mpi/turns.c
libmodeswitch_liblwkctl_la_LIBADD = $(NCURSES_LIBS) $(NUMA_LIBS) $(SECCOMP_LIBS) -lm

libmodeswitch_liblwkctl_la_CPPFLAGS = $(AM_CPPFLAGS) -DLSTOPO_PATH='"$(LSTOPO)"' -DLWKEXEC_PATH='"$(bindir)/lwkexec"' \
	-DLWK_PROBE_PATH='"$(lwkimagedir)/lwk-probe"' -DSCONTROL_PATH='"$(SCONTROL)"'

dist_lwkimage_SCRIPTS = contrib/lwk-feature
# The program of lwkctl bench.
lwkimage_PROGRAMS = libmodeswitch/lwkctl/bench/lwk-probe
libmodeswitch_lwkctl_bench_lwk_probe_SOURCES = libmodeswitch/lwkctl/bench/probe.c
libmodeswitch_lwkctl_bench_lwk_probe_CFLAGS = $(AM_CFLAGS) $(PIE_FLAGS)
libmodeswitch_lwkctl_bench_lwk_probe_LDADD =

bin_PROGRAMS += lwkctl
lwkctl_SOURCES = libmodeswitch/lwkctl/main.c libmodeswitch/base/json.c libmodeswitch/base/trust.c
lwkctl_CFLAGS = $(AM_CFLAGS) $(PIE_FLAGS)
lwkctl_LDADD = libmodeswitch/liblwkctl.la libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) \
	$(JSONC_LIBS)
