// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which CPUs interrupts get, on files that look like the kernel's. */
#include "unit/unit.h"

#include "base/json.h"
#include "base/parse.h"
#include "interrupts/affinity.h"
#include "store/journal.h"

static void interrupts_of_other_cpus(void **state)
{
	struct json_object *found = json_object_new_array(), *one;
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	hwloc_bitmap_set_range(cpus, 0, 1);
	hwloc_bitmap_set(cpus, 40);
	unit_file("proc/irq/default_smp_affinity", "ff,ffffffff\n");
	unit_file("proc/irq/9/smp_affinity_list", "0-1\n");
	unit_file("proc/irq/10/smp_affinity_list", "0-63\n");
	unit_file("proc/irq/10/eth0-rx/x", "\n");
	interrupts_find_outside(cpus, found);
	assert_int_equal(json_object_array_length(found), 2);

	one = json_object_array_get_idx(found, 0);
	assert_string_equal(journal_text(one, "irq"), "default");
	assert_string_equal(journal_text(one, "now"), "100,00000003");
	assert_int_equal(interrupt_set(one), 0);
	assert_string_equal(unit_read("proc/irq/default_smp_affinity"), "100,00000003");
	assert_int_equal(interrupt_restore(one), 0);
	assert_string_equal(unit_read("proc/irq/default_smp_affinity"), "ff,ffffffff");

	one = json_object_array_get_idx(found, 1);
	assert_string_equal(journal_text(one, "irq"), "10");
	assert_string_equal(journal_text(one, "name"), "eth0-rx");
	assert_string_equal(journal_text(one, "now"), "0-1,40");
	assert_int_equal(interrupt_set(one), 0);
	/* An administrator has set other CPUs since: they stay. */
	unit_file("proc/irq/10/smp_affinity_list", "7\n");
	assert_int_equal(interrupt_restore(one), 0);
	assert_string_equal(unit_read("proc/irq/10/smp_affinity_list"), "7\n");

	hwloc_bitmap_free(cpus);
	json_object_put(found);
}

static void interrupts_go_to_cpus_near_their_device(void **state)
{
	struct json_object *found = json_object_new_array(), *one;
	hwloc_bitmap_t from = hwloc_bitmap_alloc(), to = hwloc_bitmap_alloc();

	hwloc_bitmap_set_range(from, 5, 7);
	hwloc_bitmap_set(to, 0);
	hwloc_bitmap_set(to, 4);
	unit_file("sys/devices/system/node/node0/cpulist", "0-3\n");
	unit_file("sys/devices/system/node/node1/cpulist", "4-7\n");
	unit_file("sys/devices/system/node/node2/cpulist", "8-11\n");
	unit_file("proc/irq/8/smp_affinity_list", "0-7\n"); /* without a device */
	unit_file("proc/irq/9/smp_affinity_list", "0-4\n");
	unit_file("proc/irq/9/acpi/x", "\n");
	for (int node = -1; node < 3; node++) {
		char name[64];

		snprintf(name, sizeof(name), "proc/irq/%d/node", 21 + node);
		unit_file(name, "%d\n", node);
		snprintf(name, sizeof(name), "proc/irq/%d/smp_affinity_list", 21 + node);
		unit_file(name, "5\n");
		snprintf(name, sizeof(name), "proc/irq/%d/eth%d/x", 21 + node, node);
		unit_file(name, "\n");
	}
	interrupts_find_on(from, to, found);
	assert_int_equal(json_object_array_length(found), 4);
	for (int i = 0; i < 4; i++) {
		/* The devices are on no node, on nodes 0 and 1, and on a node without such CPUs. */
		static const char *const now[] = { "0,4", "0", "4", "0,4" };

		one = json_object_array_get_idx(found, i);
		assert_int_equal(atoi(journal_text(one, "irq")), 20 + i);
		assert_string_equal(journal_text(one, "was"), "5");
		assert_string_equal(journal_text(one, "now"), now[i]);
	}
	/* Another device has the interrupt now. */
	assert_int_equal(interrupt_set(one), 0);
	json_add_text(one, "name", "eth7");
	assert_int_equal(interrupt_restore(one), 0);
	assert_string_equal(unit_read("proc/irq/23/smp_affinity_list"), "0,4");
	/* The interrupt has vanished. */
	json_add_text(one, "irq", "99");
	assert_int_equal(interrupt_set(one), -ENOENT);
	assert_int_equal(interrupt_restore(one), 0);
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(to);
	json_object_put(found);
}

/* Some drivers choose CPUs whenever one goes off-line or on-line. */
static void drivers_choose_cpus(void **state)
{
	struct json_object *found = json_object_new_array(), *one;
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	hwloc_bitmap_set_range(cpus, 0, 1);
	for (int irq = 10; irq < 12; irq++) {
		char name[64];

		snprintf(name, sizeof(name), "proc/irq/%d/eth%d/x", irq, irq);
		unit_file(name, "\n");
		/* CPU 2 is off-line. An administrator has chosen the CPUs of interrupt 11. */
		snprintf(name, sizeof(name), "proc/irq/%d/smp_affinity_list", irq);
		unit_file(name, irq == 10 ? "0-1,3\n" : "3\n");
		snprintf(name, sizeof(name), "proc/irq/%d/affinity_hint", irq);
		unit_file(name, "b\n");
	}
	interrupts_find_outside(cpus, found);
	assert_int_equal(json_object_array_length(found), 2);
	for (int irq = 10; irq < 12; irq++) {
		char name[64];

		one = json_object_array_get_idx(found, irq - 10);
		assert_int_equal(interrupt_set(one), 0);
		snprintf(name, sizeof(name), "proc/irq/%d/smp_affinity_list", irq);
		/* CPU 2 is on-line again. */
		unit_file(name, "0-3\n");
		snprintf(name, sizeof(name), "proc/irq/%d/affinity_hint", irq);
		unit_file(name, "f\n");
		assert_int_equal(interrupt_restore(one), 0);
	}
	assert_string_equal(unit_read("proc/irq/10/smp_affinity_list"), "0-3\n");
	assert_string_equal(unit_read("proc/irq/11/smp_affinity_list"), "3");
	hwloc_bitmap_free(cpus);
	json_object_put(found);
}

static void masks_as_the_kernel_says_them(void **state)
{
	static const char *const bad[] = { "", "0x1", "f...f", "1-3", "g", ",1" };
	hwloc_bitmap_t set = hwloc_bitmap_alloc();
	char text[64];

	assert_int_equal(parse_mask("100,00000003", set), 0);
	hwloc_bitmap_list_snprintf(text, sizeof(text), set);
	assert_string_equal(text, "0-1,40");
	assert_int_equal(parse_mask("e0", set), 0);
	hwloc_bitmap_list_snprintf(text, sizeof(text), set);
	assert_string_equal(text, "5-7");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(parse_mask(bad[i], set), -1);
	hwloc_bitmap_free(set);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup_root, unit_teardown_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(interrupts_of_other_cpus),
		TEST(interrupts_go_to_cpus_near_their_device),
		TEST(drivers_choose_cpus),
		TEST(masks_as_the_kernel_says_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
