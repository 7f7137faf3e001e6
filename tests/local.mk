# SPDX-License-Identifier: GPL-2.0-or-later
if VM_TESTS
# ---- helpers that the tests in the test bed put into the machines ----
noinst_PROGRAMS = tests/vm/switch/switch-once tests/vm/switch/switch-steps tests/vm/lwkpart/abi \
	tests/vm/migrate/page-kinds
tests_vm_switch_switch_once_LDADD = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) $(JSONC_LIBS)
tests_vm_switch_switch_steps_LDADD = libmodeswitch/libmodeswitch_all.la
tests_vm_lwkpart_abi_SOURCES = \
	tests/vm/lwkpart/abi.c \
	tests/vm/lwkpart/commands.c \
	tests/vm/lwkpart/dump.c \
	tests/vm/lwkpart/images.c \
	tests/vm/lwkpart/instances.c \
	tests/vm/lwkpart/lend.c \
	tests/vm/lwkpart/life.c \
	tests/vm/lwkpart/load.c \
	tests/vm/lwkpart/machine.c \
	tests/vm/lwkpart/move.c \
	tests/vm/lwkpart/partition.c \
	tests/vm/lwkpart/requests.c \
	tests/vm/lwkpart/tap.c \
	tests/vm/lwkpart/watch.c
tests_vm_lwkpart_abi_LDADD =
tests_vm_migrate_page_kinds_LDADD = $(NUMA_LIBS)
noinst_PROGRAMS += tests/vm/driver/ihk-calls
tests_vm_driver_ihk_calls_LDADD = contrib/ihk-compat/libihk.la
include $(srcdir)/tests/vm/programs/local.mk

# The bundled LWK, some of whose functions are led to files that make it hostile.
hostile_image = tests/vm/hostile-image/hostile.elf
hostile_objects = tests/vm/hostile-image/answers.o tests/vm/hostile-image/scribble.o
hostile_functions = slot_loop share_pin space_fault space_revoke
all-local: $(hostile_image)
$(hostile_objects): %.o: $(srcdir)/%.c $(lwk_headers)
	$(lwk_compile) -c $< -o $@
$(hostile_image): $(hostile_objects) $(lwk_objects) $(srcdir)/kmod/lwk/lwk.ld
	$(lwk_link) $(hostile_functions:%=-Wl,--wrap=%) $(lwk_objects) $(hostile_objects) -o $@
CLEANFILES += $(hostile_image) $(hostile_objects)

# ---- programs of the benches: parts/BENCH has what a bench consists of ----
noinst_PROGRAMS += contrib/testbed/relay tests/bench/parts/migrate/load tests/bench/parts/switch/raw
contrib_testbed_relay_LDADD =
tests_bench_parts_migrate_load_LDADD = $(NUMA_LIBS) -lm
tests_bench_parts_switch_raw_LDADD =
# Programs that run on the LWK, as its users' programs do, or beside it.
bench_programs = $(addprefix tests/bench/parts/,counts/load delegation/load \
	disturbance/kernels first-touch/load irq-noise/job noise/fwq proxies/load)
if HAVE_MPICH
bench_mpi_programs = tests/bench/parts/sites/calls tests/bench/parts/sites/collectives.mpich
endif
all-local: $(bench_programs) $(bench_mpi_programs)
$(bench_programs): %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) -pthread -static $< -o $@ -lm
CLEANFILES += $(bench_programs)
tests/bench/parts/sites/calls: $(srcdir)/tests/bench/parts/sites/calls.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) $(MPICH_CFLAGS) $< -lmpich -o $@
tests/bench/parts/sites/collectives.mpich: $(srcdir)/tests/bench/parts/sites/collectives.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) $(MPICH_CFLAGS) -rdynamic $< -lmpich -o $@
CLEANFILES += $(bench_mpi_programs)
# QEMU loads it.
bench_plugin = tests/bench/parts/counts/libcounts.so
all-local: $(bench_plugin)
bench_plugin_sources = $(addprefix tests/bench/parts/counts/,lines.c places.c plugin.c)
$(bench_plugin): $(bench_plugin_sources) $(addprefix tests/bench/parts/counts/,lines.h mark.h places.h) contrib/testbed/qemu-plugin.h
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR_CFLAGS) -I$(srcdir)/contrib/testbed -fPIC -fvisibility=hidden -shared $(filter %.c,$^) -o $@
CLEANFILES += $(bench_plugin)
endif

# ---- unit tests: no root, no virtual machine; one folder for each room of the library ----
if HAVE_CMOCKA
check_PROGRAMS += \
	tests/unit/base/test-cgroup \
	tests/unit/base/test-child \
	tests/unit/base/test-cpusets \
	tests/unit/base/test-error \
	tests/unit/base/test-parse \
	tests/unit/config/test-configuration \
	tests/unit/config/test-image \
	tests/unit/driver/test-counters \
	tests/unit/driver/test-ihk \
	tests/unit/driver/test-usage \
	tests/unit/interrupts/test-affinity \
	tests/unit/interrupts/test-counts \
	tests/unit/interrupts/test-irqbalance \
	tests/unit/interrupts/test-steer \
	tests/unit/lwkctl/test-drawing \
	tests/unit/lwkctl/test-mpi-place \
	tests/unit/lwkctl/test-mpi-predict \
	tests/unit/lwkctl/test-mpi-profile \
	tests/unit/lwkctl/test-verbs \
	tests/unit/lwkexec/test-divide \
	tests/unit/machine/test-memory \
	tests/unit/machine/test-sysview \
	tests/unit/machine/test-topology \
	tests/unit/migrate/test-migrate \
	tests/unit/mpi/test-page \
	tests/unit/node/test-check \
	tests/unit/node/test-check-node \
	tests/unit/node/test-check-releases \
	tests/unit/plan/test-plan \
	tests/unit/plan/test-plan-machines \
	tests/unit/plan/test-plan-random \
	tests/unit/plan/test-row \
	tests/unit/plan/test-supply \
	tests/unit/spank/test-allocation \
	tests/unit/spank/test-cgroups \
	tests/unit/store/test-journal \
	tests/unit/store/test-record \
	tests/unit/switch/test-engine \
	tests/unit/switch/test-switch \
	tests/unit/switch/test-undo \
	tests/unit/switch/test-warm
noinst_LTLIBRARIES += tests/unit/libunit.la
check_LTLIBRARIES = tests/unit/driver/ihk-stub/libihk.la
endif
LDADD = tests/unit/libunit.la $(CMOCKA_LIBS) $(HWLOC_LIBS) $(JSONC_LIBS)

tests_unit_libunit_la_SOURCES = tests/unit/allocation.c tests/unit/unit.c tests/unit/fake.c tests/unit/machine.c
tests_unit_libunit_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTOPOLOGIES='"$(abs_top_srcdir)/tests/unit/topologies"'
tests_unit_libunit_la_LIBADD = libmodeswitch/libmodeswitch_all.la

# allocation.c has the functions that are called instead.
WRAP_ALLOCATIONS = $(AM_LDFLAGS) -Wl,--wrap=calloc,--wrap=hwloc_bitmap_alloc,--wrap=hwloc_bitmap_dup,--wrap=json_object_new_object
tests_unit_interrupts_test_steer_LDFLAGS = $(WRAP_ALLOCATIONS)
tests_unit_plan_test_plan_LDFLAGS = $(WRAP_ALLOCATIONS)
tests_unit_store_test_journal_LDFLAGS = $(WRAP_ALLOCATIONS)

# The test has some processes keep their memory maps locked, and does not wait for them.
tests_unit_migrate_test_migrate_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=migrate_selected,--wrap=usleep

# The driver finds this library by its name, because the test has it already.
tests_unit_driver_ihk_stub_libihk_la_SOURCES = tests/unit/driver/ihk-stub/stub.c
tests_unit_driver_ihk_stub_libihk_la_LDFLAGS = $(AM_LDFLAGS) -avoid-version -shared -rpath /nowhere
tests_unit_driver_test_ihk_LDADD = tests/unit/driver/ihk-stub/libihk.la $(LDADD)

tests_unit_lwkctl_test_drawing_LDADD = libmodeswitch/liblwkctl.la $(LDADD)
tests_unit_lwkctl_test_mpi_place_LDADD = libmodeswitch/liblwkctl.la $(LDADD)
tests_unit_lwkctl_test_mpi_predict_LDADD = libmodeswitch/liblwkctl.la $(LDADD)
tests_unit_lwkctl_test_mpi_profile_LDADD = libmodeswitch/liblwkctl.la $(LDADD)
tests_unit_mpi_test_page_LDADD = libmodeswitch/liblwkctl.la $(LDADD)
tests_unit_lwkctl_test_verbs_CPPFLAGS = $(AM_CPPFLAGS) -DTOP_SRCDIR='"$(abs_top_srcdir)"' \
	-DTOP_BUILDDIR='"$(abs_top_builddir)"'
tests_unit_lwkctl_test_verbs_LDADD = libmodeswitch/liblwkctl.la $(LDADD)

# For the newest release of Slurm, whichever is installed.
tests_unit_spank_test_allocation_CPPFLAGS = -I$(top_srcdir)/tests/slurm -DRELEASE_YEAR=26 -DRELEASE_MONTH=5 \
	-I$(top_srcdir)/spank $(AM_CPPFLAGS)
tests_unit_spank_test_cgroups_CPPFLAGS = $(tests_unit_spank_test_allocation_CPPFLAGS)

# Whole folders: what is in them belongs to the tests.
EXTRA_DIST += tests/soak tests/bench tests/fuzz tests/model tests/slurm tests/vm tests/unit/mutation tests/unit/topologies
