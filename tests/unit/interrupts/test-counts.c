// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of interrupts, from a file that looks like /proc/interrupts.
 */
#include "unit/unit.h"

#include "modeswitch/interrupts.h"

static void counts_by_interrupt_and_cpu(void **state)
{
	struct ms_irqs irqs;
	struct ms_error err;

	unit_file("proc/interrupts",
		  "           CPU0       CPU5       \n"
		  "  4:          0          7   IO-APIC   4-edge      ttyS0\n"
		  " 43:        859          1   PCI-MSI 16385-edge      eth0-rx, eth0-tx\n"
		  " 44:          3          0   PCI-MSI 16386-edge\n"
		  " 45 1 a line without a colon is none of an interrupt\n"
		  "LOC:      17723        100   Local timer interrupts\n"
		  "ERR:          5\n"
		  "MIS:          0\n");
	assert_int_equal(ms_irqs_read(&irqs, &err), 0);
	assert_int_equal(irqs.n_cpus, 2);
	assert_int_equal(irqs.cpus[1], 5);
	assert_int_equal(irqs.n_irqs, 4);
	assert_string_equal(irqs.irqs[0].label, "ttyS0");
	assert_string_equal(irqs.irqs[1].name, "43");
	assert_string_equal(irqs.irqs[1].label, "eth0-rx, eth0-tx");
	assert_string_equal(irqs.irqs[3].label, "Local timer interrupts");
	assert_true(irqs.irqs[1].device);
	assert_false(irqs.irqs[3].device);
	assert_int_equal(ms_irqs_of_cpu(&irqs, 0, true), 862);
	assert_int_equal(ms_irqs_of_cpu(&irqs, 5, true), 8);
	assert_int_equal(ms_irqs_of_cpu(&irqs, 5, false), 100);
	assert_int_equal(ms_irqs_of_cpu(&irqs, 1, true), 0);
	ms_irqs_release(&irqs);
	unit_file("proc/interrupts", "nonsense\n");
	assert_int_equal(ms_irqs_read(&irqs, &err), -1);
	assert_has(err.text, "expected a line of CPUs");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup_root, unit_teardown_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counts_by_interrupt_and_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
