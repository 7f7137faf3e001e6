# SPDX-License-Identifier: GPL-2.0-or-later
# ---- helpers that the tests in the test bed put into the machines ----
noinst_PROGRAMS = tests/vm/switch-once
tests_vm_switch_once_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(JSONC_CFLAGS)
tests_vm_switch_once_LDADD = libmodeswitch/libmodeswitch.la $(HWLOC_LIBS) $(JSONC_LIBS)
