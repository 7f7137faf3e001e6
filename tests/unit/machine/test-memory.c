// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests memory blocks, their obstacles and pieces, and room for them, on files like the kernel's. */
#include "unit/unit.h"

#include "base/child.h"
#include "base/clock.h"
#include "machine/memory.h"
#include "machine/obstacles.h"
#include "machine/spare.h"

#define MB (1UL << 20)

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
	/* The first block is full of slab; a look at its pages would show. */
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

static void a_block_with_huge_pages_stays(void **state)
{
	enum { PAGES = 1024, LRU = 1 << 5, HUGE = 1 << 17 };
	struct memory_block *blocks;
	uint64_t flags[2 * PAGES];

	unit_file("sys/devices/system/memory/block_size_bytes", "%x\n", PAGES * 4096);
	make_block(0, "online", "Movable", 0);
	make_block(1, "online", "Normal", 0);
	for (int i = 0; i < 2 * PAGES; i++)
		flags[i] = i < PAGES + 512 ? LRU : HUGE;
	write_flags(flags, 2 * PAGES);
	for (int reserved = 0; reserved < 2; reserved++) {
		unit_file("proc/meminfo", "MemAvailable: 1 kB\nHugetlb: %d kB\n", 2048 * reserved);
		assert_int_equal(memory_blocks(0, &blocks), 2);
		assert_false(blocks[0].unfit);
		assert_int_equal(blocks[1].unfit, reserved);
		free(blocks);
	}
}

/* Drivers remove such a block when it is off-line, and the memory of the LWK would be gone. */
static void a_block_that_a_driver_may_remove_stays(void **state)
{
	struct memory_block *blocks;

	unit_file("sys/devices/system/memory/block_size_bytes", "8000000\n");
	for (unsigned i = 8; i < 14; i++)
		make_block(i, "online", "Movable", 0);
	unit_file("proc/iomem", "00100000-4fffffff : System RAM\n"
				"  01000000-01ffffff : Kernel code\n"
				"50000000-57ffffff : Persistent Memory\n"
				"  50200000-57ffffff : dax0.0\n"
				"    50200000-57ffffff : System RAM (kmem)\n"
				"60000000-6fffffff : virtio0\n"
				"  60000000-67ffffff : System RAM (virtio_mem)\n");
	assert_int_equal(memory_blocks(0, &blocks), 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(blocks[i].unfit, blocks[i].index == 10 || blocks[i].index == 12);
	free(blocks);
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
	flags[PAGES + 512] = 0; /* a page of the kernel, or a free one in a cache */
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

/* Returns true if the cache is dropped before 'mb' MB of node 1 are taken. */
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
	/* The part that is taken holds less than a block's worth of cache. */
	assert_false(drops_cache(256));
	/* The other node has much more cache, and free room. */
	make_node(0, 16384, 8000, 8000);
	assert_false(drops_cache(3600));
	/* The other node has no free room. */
	make_node(0, 16384, 100, 8000);
	assert_true(drops_cache(3600));
	/* The node's memory is used, but not by cache. */
	make_node(1, 4096, 1000, 10);
	assert_false(drops_cache(3600));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, unit_setup_root, unit_teardown_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_known_of_blocks),
		TEST(what_its_pages_are),
		TEST(a_block_with_huge_pages_stays),
		TEST(a_block_that_a_driver_may_remove_stays),
		TEST(what_could_be_lent_of_a_block),
		TEST(linux_keeps_what_it_needs),
		TEST(cache_is_dropped_where_moving_it_costs_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
