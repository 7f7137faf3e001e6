// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module's walk through page tables that a hostile LWK writes, and changes meanwhile: whatever
 * they say, no address outside the partition is formed, and what a call gets lies in the user pool.
 */
#include "process/memory/view.h"

#include "abi/shared/orders.h"

#define RANGES 2
#define RANGE_BYTES (4UL << 20)
#define RESERVE_BYTES (64UL << 10)
#define PIECES 4
/* Pages at the start of each range that the input fills as tables. */
#define TABLES 6

/* The ranges are neighbours neither of each other nor of physical address 0. */
static const u64 starts[RANGES] = { 0x40000000UL, 0x7ffffc00000UL };
static u8 memory[RANGES][RANGE_BYTES] __attribute__((aligned(4096)));
static struct lwk_control control;
static struct input input;
unsigned int simulated_levels;

void *phys_to_virt(u64 physical)
{
	for (unsigned int i = 0; i < RANGES; i++)
		if (physical >= starts[i] && physical - starts[i] < RANGE_BYTES)
			return &memory[i][physical - starts[i]];
	fuzz_broken("an address in the partition", __FILE__, __LINE__);
}

/* Mostly the address of a table, else that of anything. */
static u64 take_physical(void)
{
	u8 what = take_byte(&input);

	if (what == 0xff)
		return take_number(&input, 8);
	return starts[what % RANGES] + (what / RANGES % (TABLES + 1)) * PAGE_SIZE;
}

static void write_entry(void)
{
	u64 *table =
		(u64 *)&memory[take_byte(&input) % RANGES][take_byte(&input) % TABLES * PAGE_SIZE];
	u64 flags = take_byte(&input), value = take_physical();

	/* Entries that are not used by any address would be of no use. */
	table[take_byte(&input) % 4] = value |
				       (flags & 3 ? flags | _PAGE_PRESENT | _PAGE_USER : flags) |
				       (flags & 8 ? LWK_PTE_COPY : 0);
}

void scribble(void)
{
	if (!input.left || take_byte(&input) % 8)
		return;
	if (take_byte(&input) % 8 == 0)
		control.page_root = take_physical();
	else
		write_entry();
}

/* An address whose tables have small indices. */
static u64 take_address(void)
{
	u8 what = take_byte(&input);
	u64 address = take_number(&input, 2) % (4 * PAGE_SIZE);

	if (what == 0xff)
		return take_number(&input, 8);
	return address + ((what & 3) << 21) + ((u64)(what >> 2 & 3) << 30) +
	       ((u64)(what >> 4 & 3) << 39);
}

static void check_piece(const struct kvec *piece)
{
	for (unsigned int i = 0; i < RANGES; i++) {
		u64 at = (u8 *)piece->iov_base - memory[i];

		if (at < RANGE_BYTES && piece->iov_len <= RANGE_BYTES - at) {
			must(i || at >= RESERVE_BYTES);
			return;
		}
	}
	fuzz_broken("a piece in the partition", __FILE__, __LINE__);
}

static void map(struct lwk_thread *thread)
{
	u64 address = take_address(), size = take_number(&input, 3), sum = 0;
	bool write = take_byte(&input) & 1;
	struct kvec pieces[PIECES];
	unsigned int n = view_map(thread, address, size, write, pieces, PIECES);
	void *known = size ? view_known(thread, address, size, write) : NULL;

	must(n <= PIECES);
	for (unsigned int i = 0; i < n; i++) {
		check_piece(&pieces[i]);
		sum += pieces[i].iov_len;
	}
	must(!n || (sum == size && address >= LWK_USER_START && address + size <= LWK_USER_END));
	if (known)
		check_piece(&(struct kvec){ known, size });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct instance instance = { .n_mem = RANGES,
				     .controls = &control,
				     .reserve_start = starts[0],
				     .reserve_size = RESERVE_BYTES };
	struct lwk_process process = { .instance = &instance, .hidings = 1 };

	process.first.process = &process;
	input = (struct input){ data, size };
	simulated_levels = 4 + (take_byte(&input) & 1);
	for (unsigned int i = 0; i < RANGES; i++) {
		instance.mem[i] = (struct lwk_boot_mem){ .start = starts[i], .size = RANGE_BYTES };
		memset(memory[i], 0, TABLES * PAGE_SIZE);
	}
	control.page_root = take_physical();
	while (input.left) {
		if (take_byte(&input) % 4)
			write_entry();
		else
			map(&process.first);
	}
	return 0;
}
