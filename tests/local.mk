# SPDX-License-Identifier: GPL-2.0-or-later
# ---- helpers that the tests in the test bed put into the machines ----
noinst_PROGRAMS = tests/vm/switch-once tests/vm/lwkpart-abi tests/vm/page-kinds
tests_vm_switch_once_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS)
tests_vm_switch_once_LDADD = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) $(JSONC_LIBS)
tests_vm_page_kinds_LDADD = $(NUMA_LIBS)

# ---- and the benches ----
noinst_PROGRAMS += tests/bench/raw-switch tests/bench/migrate-load
tests_bench_migrate_load_LDADD = $(NUMA_LIBS) -lm
tests_bench_raw_switch_CPPFLAGS = $(AM_CPPFLAGS)
EXTRA_DIST += tests/bench/switch tests/bench/switch.jq
EXTRA_DIST += tests/bench/migrate tests/bench/migrate.jq tests/bench/migrate.gnuplot
EXTRA_DIST += tests/bench/fragmentation tests/bench/memory-load.c
# They run on the LWK, as its users' programs do, or beside.
bench_programs = tests/bench/kernels tests/bench/delegation-load tests/bench/fwq \
	tests/bench/proxies-load tests/bench/irq-noise-job \
	tests/bench/first-touch-load
all-local: $(bench_programs)
$(bench_programs): %: $(srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -static $< -o $@ -lm
EXTRA_DIST += tests/bench/first-touch tests/bench/first-touch-load.c
EXTRA_DIST += tests/bench/disturbance tests/bench/kernels.c
EXTRA_DIST += tests/bench/delegation tests/bench/delegation.jq tests/bench/delegation.gnuplot \
	tests/bench/delegation-load.c
EXTRA_DIST += tests/bench/proxies tests/bench/proxies.jq tests/bench/proxies.gnuplot \
	tests/bench/proxies-load.c
EXTRA_DIST += tests/bench/irq-noise tests/bench/irq-noise.jq tests/bench/irq-noise.gnuplot \
	tests/bench/irq-noise-job.c
EXTRA_DIST += tests/bench/noise tests/bench/noise.gnuplot tests/bench/fwq.c
EXTRA_DIST += tests/bench/ltp tests/bench/ltp-run
CLEANFILES += $(bench_programs)

include $(srcdir)/tests/vm/programs/local.mk

# ---- unit tests: no root, no virtual machine ----
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/test-parse \
	tests/unit/test-check \
	tests/unit/test-configuration \
	tests/unit/test-counters \
	tests/unit/test-topology \
	tests/unit/test-plan \
	tests/unit/test-plan-machines \
	tests/unit/test-plan-random \
	tests/unit/test-drawing \
	tests/unit/test-migrate \
	tests/unit/test-journal \
	tests/unit/test-record \
	tests/unit/test-image \
	tests/unit/test-memory \
	tests/unit/test-process \
	tests/unit/test-steer \
	tests/unit/test-steps \
	tests/unit/test-switch \
	tests/unit/test-sysview \
	tests/unit/test-usage
noinst_LTLIBRARIES += tests/unit/libunit.la
endif

tests_unit_libunit_la_SOURCES = tests/unit/unit.c tests/unit/unit.h \
	tests/unit/machine.c tests/unit/machine.h
tests_unit_libunit_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DTOPOLOGIES='"$(abs_top_srcdir)/tests/unit/topologies"'
tests_unit_libunit_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_libunit_la_LIBADD = libmodeswitch/libmodeswitch_all.la $(CMOCKA_LIBS)

tests_unit_test_parse_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_parse_LDADD = tests/unit/libunit.la

tests_unit_test_check_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_check_LDADD = tests/unit/libunit.la

tests_unit_test_configuration_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_configuration_LDADD = tests/unit/libunit.la

tests_unit_test_counters_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_counters_LDADD = tests/unit/libunit.la $(JSONC_LIBS)

tests_unit_test_plan_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_plan_LDADD = tests/unit/libunit.la

tests_unit_test_topology_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_topology_LDADD = tests/unit/libunit.la

tests_unit_test_plan_machines_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_plan_machines_LDADD = tests/unit/libunit.la

tests_unit_test_plan_random_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_plan_random_LDADD = tests/unit/libunit.la

tests_unit_test_drawing_SOURCES = tests/unit/test-drawing.c \
	libmodeswitch/lwkctl/drawing.c libmodeswitch/lwkctl/drawing_svg.c libmodeswitch/lwkctl/drawing.h
tests_unit_test_drawing_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_drawing_LDADD = tests/unit/libunit.la

tests_unit_test_migrate_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_migrate_LDADD = tests/unit/libunit.la $(JSONC_LIBS) $(HWLOC_LIBS)

tests_unit_test_journal_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_journal_LDADD = tests/unit/libunit.la

tests_unit_test_record_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_record_LDADD = tests/unit/libunit.la

tests_unit_test_image_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_image_LDADD = tests/unit/libunit.la

tests_unit_test_memory_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_memory_LDADD = tests/unit/libunit.la

tests_unit_test_process_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_process_LDADD = tests/unit/libunit.la

tests_unit_test_steer_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_steer_LDADD = tests/unit/libunit.la $(HWLOC_LIBS)

tests_unit_test_steps_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_steps_LDADD = tests/unit/libunit.la

tests_unit_test_switch_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_switch_LDADD = tests/unit/libunit.la
tests_unit_test_sysview_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_sysview_LDADD = tests/unit/libunit.la

tests_unit_test_usage_CPPFLAGS = $(AM_CPPFLAGS)
tests_unit_test_usage_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_test_usage_LDADD = tests/unit/libunit.la $(JSONC_LIBS)

EXTRA_DIST += tests/vm/.shellcheckrc tests/vm/helpers.bash \
	tests/vm/accounting.bats \
	tests/vm/allocations.bats \
	tests/vm/beside.bats \
	tests/vm/counters.bats \
	tests/vm/delegation.bats \
	tests/vm/dump.bats \
	tests/vm/ends.bats \
	tests/vm/interrupts.bats \
	tests/vm/lwk-job.bats \
	tests/vm/lwk-programs.bats \
	tests/vm/lwkpart.bats \
	tests/vm/migrate.bats \
	tests/vm/node.bats \
	tests/vm/operations.bats \
	tests/vm/panic.bats \
	tests/vm/plans.bats \
	tests/vm/prepare.bats \
	tests/vm/processes.bats \
	tests/vm/programs.bats \
	tests/vm/proxies.bats \
	tests/vm/prepare-machines.bats \
	tests/vm/recovery.bats \
	tests/vm/refusals.bats \
	tests/vm/rehome.bats \
	tests/vm/report.bats \
	tests/vm/shared-memory.bats \
	tests/vm/sharing.bats \
	tests/vm/steps.bats \
	tests/vm/testbed.bats \
	tests/vm/threads.bats \
	tests/vm/twenty-jobs.bats \
	tests/vm/warm.bats \
	tests/vm/watch.bats
EXTRA_DIST += tests/unit/topologies/README tests/unit/topologies/COPYING.hwloc \
	tests/unit/topologies/a64fx.xml \
	tests/unit/topologies/epyc-7451-8n.xml \
	tests/unit/topologies/hidden-nodes.xml \
	tests/unit/topologies/knl-snc4-flat.xml \
	tests/unit/topologies/node-without-cpus.xml \
	tests/unit/topologies/offline-threads.xml \
	tests/unit/topologies/xeon-2s-smt.xml
