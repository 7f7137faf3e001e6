// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which memory blocks are taken, what is known of them, and where interrupts go: on files that
 * look like the kernel's.
 */
#include "unit/unit.h"

#include "base/child.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "interrupts/affinity.h"
#include "machine/memory.h"
#include "store/journal.h"

#define MB (1UL << 20)
#define MAX_BLOCKS 32

static int setup(void **state)
{
	if (unit_setup(state) < 0)
		return -1;
	files_root = unit_dir;
	return 0;
}

static int teardown(void **state)
{
	files_root = "";
	return unit_teardown(state);
}

/* Blocks are letters: 'm' can be taken, '.' cannot, ' ' is not there. */
static size_t choose(const char *map, size_t wanted, size_t *from)
{
	struct memory_block blocks[MAX_BLOCKS] = { 0 };
	bool fit[MAX_BLOCKS];
	size_t n = 0, first, count;

	for (size_t i = 0; map[i]; i++) {
		if (map[i] == ' ')
			continue;
		blocks[n].index = i;
		fit[n++] = map[i] == 'm';
	}
	count = memory_choose_row(blocks, fit, n, wanted, &first);
	*from = count ? blocks[first].index : 0;
	return count;
}

#define assert_choice(map, wanted, count, from)                                                    \
	do {                                                                                       \
		size_t at;                                                                         \
		assert_int_equal(choose(map, wanted, &at), count);                                 \
		assert_int_equal(at, from);                                                        \
	} while (0)

static void the_smallest_row_that_is_long_enough(void **state)
{
	assert_choice("mmmmm.mmm.mm.", 2, 2, 10);
	assert_choice("mmmmm.mmm.mm.", 3, 3, 6);
	assert_choice("mm.mmm.mmmmm", 4, 4, 7);
	assert_choice("mmmm.m.mm", 1, 1, 5);
}

static void the_lower_end_of_it(void **state)
{
	assert_choice(".mmmmm.", 2, 2, 1);
	assert_choice("mmmmm", 1, 1, 0);
}

static void the_longest_row_where_none_is_long_enough(void **state)
{
	assert_choice("mm.mmm.m", 6, 3, 3);
	assert_choice("m.m.m", 2, 1, 0);
}

static void a_hole_ends_a_row(void **state)
{
	assert_choice("mm mm", 4, 2, 0);
	assert_choice("mmm mm", 2, 2, 4);
}

static void nothing_to_choose_from(void **state)
{
	assert_choice("", 3, 0, 0);
	assert_choice("...", 1, 0, 0);
	assert_choice("mmm", 0, 0, 0);
}

static void make_block(unsigned index, const char *state, const char *zones, int node)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/memory/memory%u/state", index);
	unit_file(path, "%s\n", state);
	snprintf(path, sizeof(path), "sys/devices/system/memory/memory%u/valid_zones", index);
	unit_file(path, "%s\n", zones);
	snprintf(path, sizeof(path), "sys/devices/system/memory/memory%u/phys_index", index);
	unit_file(path, "%08x\n", index);
	snprintf(path, sizeof(path), "sys/devices/system/memory/memory%u/node%d/here", index, node);
	unit_file(path, "\n");
}

static void what_is_known_of_blocks(void **state)
{
	struct memory_block *blocks;

	unit_file("sys/devices/system/memory/block_size_bytes", "8000000\n");
	make_block(10, "online", "Movable", 1);
	make_block(9, "online", "Normal", 1);
	make_block(11, "offline", "Normal Movable", 1);
	make_block(12, "online", "none", 1);
	make_block(13, "online", "Normal", 1);
	unit_file("sys/devices/system/memory/memory13/node0/here", "\n");
	make_block(2, "online", "DMA32", 0);

	assert_int_equal(memory_block_bytes(), 128 * MB);
	assert_int_equal(memory_blocks(1, &blocks), 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(blocks[i].index, 9 + i);
		assert_int_equal(blocks[i].start, (9 + i) * 128 * MB);
		assert_int_equal(blocks[i].online, i != 2);
		assert_int_equal(blocks[i].movable, i == 1);
		assert_int_equal(blocks[i].unfit, i >= 3);
	}
	free(blocks);
	assert_int_equal(memory_blocks(7, &blocks), 0);
	free(blocks);
}

static void write_flags(const uint64_t *flags, size_t n)
{
	FILE *file = fopen(unit_file("proc/kpageflags", "%s", ""), "w");

	assert_int_equal(fwrite(flags, sizeof(*flags), n, file), n);
	fclose(file);
}

static void what_its_pages_are(void **state)
{
	enum { PAGES = 16 }; /* of a block, here */
	enum { LRU = 1 << 5, SLAB = 1 << 7, BUDDY = 1 << 10 };
	const struct memory_block second = { .index = 1, .start = PAGES * 4096 };
	struct memory_obstacles found;
	uint64_t flags[2 * PAGES];

	unit_file("sys/devices/system/memory/block_size_bytes", "%x\n", PAGES * 4096);
	/* The first block is full of slab, and must not be looked at. */
	for (int i = 0; i < 2 * PAGES; i++)
		flags[i] = i < PAGES ? SLAB : BUDDY;
	flags[PAGES] = flags[PAGES + 1] = LRU;
	write_flags(flags, 2 * PAGES);
	assert_int_equal(memory_block_doubtful(&second), 0);
	assert_int_equal(memory_block_used(&second), 2 * 4096);

	flags[PAGES + 2] = 0;
	write_flags(flags, 2 * PAGES);
	assert_int_equal(memory_block_doubtful(&second), 1);

	flags[2 * PAGES - 1] = SLAB;
	flags[PAGES + 3] = 1ULL << 26; /* page table */
	flags[PAGES + 4] = 1ULL << 32; /* reserved */
	flags[PAGES + 5] = 1ULL << 19; /* broken */
	flags[PAGES + 6] = 1ULL << 20; /* no page */
	write_flags(flags, 2 * PAGES);
	memory_look_for_obstacles(&second, &found);
	assert_int_equal(found.slab, 1);
	assert_int_equal(found.page_tables, 1);
	assert_int_equal(found.reserved, 1);
	assert_int_equal(found.broken, 1);
	assert_int_equal(found.holes, 1);
	assert_int_equal(memory_block_doubtful(&second), ALL_PAGES);
}

struct heard {
	uint64_t start[2], bytes[2];
	size_t n;
};

static void hear_piece(uint64_t start, uint64_t bytes, void *context)
{
	struct heard *heard = context;

	assert_true(heard->n < 2);
	heard->start[heard->n] = start;
	heard->bytes[heard->n++] = bytes;
}

static void what_could_be_lent_of_a_block(void **state)
{
	enum { PAGES = 1024 }; /* of a block: two pieces */
	enum { LRU = 1 << 5, SLAB = 1 << 7, BUDDY = 1 << 10 };
	struct memory_block second = { .index = 1, .start = PAGES * 4096 };
	struct heard heard = { .n = 0 };
	uint64_t flags[2 * PAGES];

	unit_file("sys/devices/system/memory/block_size_bytes", "%x\n", PAGES * 4096);
	for (int i = 0; i < 2 * PAGES; i++)
		flags[i] = i < PAGES ? SLAB : i % 2 ? LRU : BUDDY;
	flags[PAGES + 512] = 0; /* the kernel's, or in a cache of free ones */
	flags[PAGES + 513] = SLAB;
	flags[PAGES + 514] = 1ULL << 19; /* broken */
	write_flags(flags, 2 * PAGES);
	memory_block_pieces(&second, hear_piece, &heard);
	assert_int_equal(heard.n, 2);
	assert_int_equal(heard.start[0], second.start);
	assert_int_equal(heard.bytes[0], 2 * MB);
	assert_int_equal(heard.start[1], second.start + 2 * MB);
	assert_int_equal(heard.bytes[1], 2 * MB - 3 * 4096);

	heard.n = 0;
	second.movable = true;
	memory_block_pieces(&second, hear_piece, &heard);
	assert_int_equal(heard.bytes[1], 2 * MB - 2 * 4096);
}

static void linux_keeps_what_it_needs(void **state)
{
	unit_file("proc/meminfo", "MemTotal: 4194304 kB\nMemAvailable: 1048576 kB\n");
	unit_file("proc/sys/vm/min_free_kbytes", "8192\n");
	assert_int_equal(memory_linux_can_spare(), (1024 - 128) * MB);
	unit_file("proc/sys/vm/min_free_kbytes", "%u\n", 200 << 10);
	assert_int_equal(memory_linux_can_spare(), (1024 - 400) * MB);
	unit_file("proc/meminfo", "MemTotal: 4194304 kB\nMemAvailable: 1024 kB\n");
	assert_int_equal(memory_linux_can_spare(), 0);
}

static void make_node(int node, unsigned total_mb, unsigned free_mb, unsigned cached_mb)
{
	char path[128];

	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/meminfo", node);
	unit_file(path,
		  "Node %d MemTotal: %u kB\nNode %d MemFree: %u kB\nNode %d Active(file): 0 kB\n"
		  "Node %d Inactive(file): %u kB\n",
		  node, total_mb << 10, node, free_mb << 10, node, node, cached_mb << 10);
}

/* Of node 1, before 'mb' of it are taken. */
static bool drops_cache(unsigned mb)
{
	unit_file("proc/sys/vm/drop_caches", "%s", "");
	memory_make_room(1, mb * MB, clock_ms() + 10000);
	child_end_calls();
	return strcmp(unit_read("proc/sys/vm/drop_caches"), "1") == 0;
}

static void cache_is_dropped_where_moving_it_costs_more(void **state)
{
	unit_file("sys/devices/system/memory/block_size_bytes", "8000000\n");
	unit_file("sys/devices/system/node/has_memory", "0-1\n");
	make_node(0, 4096, 3000, 100);
	make_node(1, 4096, 3000, 1000);
	assert_true(drops_cache(3600));
	/* Less than a block's worth is in what is taken. */
	assert_false(drops_cache(256));
	/* Others have much more, and there is room. */
	make_node(0, 16384, 8000, 8000);
	assert_false(drops_cache(3600));
	/* There is no room. */
	make_node(0, 16384, 100, 8000);
	assert_true(drops_cache(3600));
	/* What it holds is no cache. */
	make_node(1, 4096, 1000, 10);
	assert_false(drops_cache(3600));
}

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
	interrupts_find(cpus, found);
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
	/* Somebody else has set it since: it stays. */
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
	unit_file("proc/irq/8/smp_affinity_list", "0-7\n"); /* nobody's */
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
	interrupts_of(from, to, found);
	assert_int_equal(json_object_array_length(found), 4);
	for (int i = 0; i < 4; i++) {
		/* Of no node; of nodes 0 and 1; of one without such CPUs. */
		static const char *const now[] = { "0,4", "0", "4", "0,4" };

		one = json_object_array_get_idx(found, i);
		assert_int_equal(atoi(journal_text(one, "irq")), 20 + i);
		assert_string_equal(journal_text(one, "was"), "5");
		assert_string_equal(journal_text(one, "now"), now[i]);
	}
	/* Its driver has let it go, and another device has it now. */
	assert_int_equal(interrupt_set(one), 0);
	json_add_text(one, "name", "eth7");
	assert_int_equal(interrupt_restore(one), 0);
	assert_string_equal(unit_read("proc/irq/23/smp_affinity_list"), "0,4");
	/* It has vanished. */
	json_add_text(one, "irq", "99");
	assert_int_equal(interrupt_set(one), -ENOENT);
	assert_int_equal(interrupt_restore(one), 0);
	hwloc_bitmap_free(from);
	hwloc_bitmap_free(to);
	json_object_put(found);
}

static void masks_as_the_kernel_says_them(void **state)
{
	static const char *const bad[] = { "", "0x1", "f...f", "1-3", "g" };
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

static void what_came_to_which_cpu(void **state)
{
	struct ms_irqs irqs;
	struct ms_error err;

	unit_file("proc/interrupts",
		  "           CPU0       CPU5       \n"
		  "  4:          0          7   IO-APIC   4-edge      ttyS0\n"
		  " 43:        859          1   PCI-MSI 16385-edge      eth0-rx, eth0-tx\n"
		  " 44:          3          0   PCI-MSI 16386-edge\n"
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
	assert_has(err.text, "wanted a line of CPUs");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_smallest_row_that_is_long_enough),
		TEST(the_lower_end_of_it),
		TEST(the_longest_row_where_none_is_long_enough),
		TEST(a_hole_ends_a_row),
		TEST(nothing_to_choose_from),
		TEST(what_is_known_of_blocks),
		TEST(what_its_pages_are),
		TEST(what_could_be_lent_of_a_block),
		TEST(linux_keeps_what_it_needs),
		TEST(cache_is_dropped_where_moving_it_costs_more),
		TEST(interrupts_of_other_cpus),
		TEST(interrupts_go_to_cpus_near_their_device),
		TEST(masks_as_the_kernel_says_them),
		TEST(what_came_to_which_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
