// SPDX-License-Identifier: GPL-2.0-or-later
#include "lwk/partition.h"

#include <asm/prctl.h>

#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/watch/panic.h"

/* The state of pages.c, which a reset clears. */
#include "lwk/paging/pages.c"

#define START 0x40000000UL
#define FIRST_BYTES (10UL << 20)
#define SECOND 0x80000000UL
#define SECOND_BYTES (6UL << 20)
#define RESERVE LARGE_SIZE

long syscall(long number, ...);
#define SYS_arch_prctl 158

static u8 first[FIRST_BYTES] __attribute__((aligned(4096)));
static u8 second[SECOND_BYTES] __attribute__((aligned(4096)));
static struct lwk_boot_params boot_area;
static union {
	struct lwk_status status;
	u8 bytes[LWK_STATUS_BYTES(SLOTS)];
} status_area;
static struct cpu cpus[SLOTS];
static struct slot slots[SLOTS];
static struct lwk_channel channels[SLOTS];
static struct lwk_control controls[SLOTS];
static struct lwk_channel channel;

struct lwk_boot_params *boot = &boot_area;
struct lwk_status *status = &status_area.status;
u64 boot_tsc;
uint64_t simulated_cr3, simulated_cr4;
static u64 kernel_at_start;

__asm__(".pushsection .rodata\n"
	".globl vdso_start, vdso_end\n"
	"vdso_start: .fill 4096, 1, 0xcc\n"
	"vdso_end:\n"
	".popsection");

/* The large pages that somebody has looked at since the reset, and so may have written to. */
static bool used[(FIRST_BYTES + SECOND_BYTES) / LARGE_SIZE];

/* ---- memory ---- */

void *phys_to_virt(u64 phys)
{
	if (phys >= START && phys < START + FIRST_BYTES) {
		used[(phys - START) / LARGE_SIZE] = true;
		return first + (phys - START);
	}
	/* pages.c asks for the place of an array that may be empty. */
	must(phys >= SECOND && phys < SECOND + SECOND_BYTES);
	used[(FIRST_BYTES + phys - SECOND) / LARGE_SIZE] = true;
	return second + (phys - SECOND);
}

u64 virt_to_phys(const void *virt)
{
	const u8 *at = virt;

	if (at >= first && at < first + FIRST_BYTES)
		return START + (at - first);
	must(at >= second && at < second + SECOND_BYTES);
	return SECOND + (at - second);
}

int partition_user_page(u64 phys)
{
	if (phys >= START + RESERVE && phys < START + FIRST_BYTES)
		return (phys - START - RESERVE) / PAGE_SIZE;
	if (phys >= SECOND && phys < SECOND + SECOND_BYTES)
		return (FIRST_BYTES - RESERVE + phys - SECOND) / PAGE_SIZE;
	return -1;
}

bool partition_is_whole(int page)
{
	return chunks[page / CHUNK_PAGES].state == CHUNK_WHOLE;
}

__attribute__((no_sanitize("coverage"))) u32 partition_owners(int page)
{
	const struct chunk *chunk = &chunks[page / CHUNK_PAGES];
	u32 i = page % CHUNK_PAGES;

	if (chunk->state == CHUNK_WHOLE)
		return 0;
	if (!chunk->split)
		return chunk->others[0] + 1;
	return chunk->free_map[i / 64] & 1UL << i % 64 ? 0 : chunk->others[i] + 1;
}

bool partition_kernel_page(u64 phys)
{
	return phys >= START + boot->reserve_used && phys < START + RESERVE;
}

u64 partition_kernel_pages_taken(void)
{
	return (kernel_taken - kernel_at_start) / PAGE_SIZE;
}

/* ---- CPUs ---- */

struct cpu *cpu_at(u32 index)
{
	must(index < SLOTS);
	return &cpus[index];
}

struct slot *slot_at(u32 index)
{
	must(index < SLOTS);
	return &slots[index];
}

void partition_run(u32 index)
{
	/* this_slot() reads it from there. */
	syscall(SYS_arch_prctl, ARCH_SET_GS, &slots[index]);
}

static void set_up_slots(void)
{
	memset(cpus, 0, sizeof(cpus));
	memset(slots, 0, sizeof(slots));
	memset(channels, 0, sizeof(channels));
	memset(controls, 0, sizeof(controls));
	for (u32 i = 0; i < SLOTS; i++) {
		slots[i].self = &slots[i];
		slots[i].index = i;
		slots[i].node = i;
		slots[i].cpu = &cpus[i];
		slots[i].next = &slots[i];
		slots[i].channel = &channels[i];
		slots[i].control = &controls[i];
		slots[i].channel = &channel;
		slots[i].status = &status->cpu[i];
		slots[i].own.first = &slots[i];
		slots[i].own.n_slots = 1;
		slots[i].own.n_threads = 1;
		slots[i].own.pid = i + 1;
		slots[i].process = &slots[i].own;
		cpus[i].index = i;
		cpus[i].current = &slots[i];
		controls[i].order = LWK_ORDER_PROCESS;
	}
}

/* The LWK has cleared the memory at boot. */
bool memory_is_own(void)
{
	return false;
}

static void clear_user_pages(void)
{
	for (size_t at = RESERVE; at < FIRST_BYTES; at += LARGE_SIZE)
		if (used[at / LARGE_SIZE])
			memset(first + at, 0, LARGE_SIZE);
	for (size_t at = 0; at < SECOND_BYTES; at += LARGE_SIZE)
		if (used[(FIRST_BYTES + at) / LARGE_SIZE])
			memset(second + at, 0, LARGE_SIZE);
	memset(used, 0, sizeof(used));
}

static void forget_pages(void)
{
	n_chunks = 0;
	memset(whole, 0, sizeof(whole));
	memset(partial, 0, sizeof(partial));
	user_taken = kernel_taken = 0;
	kernel_free = NULL;
}

void partition_reset(unsigned int kernel_pages, unsigned int levels)
{
	const u64 array =
		ALIGN_UP(USER_PAGES / (LARGE_SIZE / PAGE_SIZE) * sizeof(struct chunk), PAGE_SIZE);

	memset(&status_area, 0, LWK_STATUS_BYTES(SLOTS));
	boot_area = (struct lwk_boot_params){
		.n_cpus = SLOTS,
		.n_slots = SLOTS,
		.n_mem = 2,
		.tsc_khz = 1000000,
		.reserve_start = START,
		.reserve_size = RESERVE,
		.reserve_used = RESERVE - array - kernel_pages * PAGE_SIZE,
		.grants = START + PAGE_SIZE,
		.mem = { { .start = START, .size = FIRST_BYTES },
			 { .start = SECOND, .size = SECOND_BYTES, .node = 1 } },
	};
	set_up_slots();
	partition_run(0);
	forget_pages();
	clear_user_pages();
	pages_init();
	kernel_at_start = kernel_taken;
	simulated_cr4 = levels == 5 ? CR4_LA57 : 0;
	simulated_cr3 = START;
	memset(first, 0, PAGE_SIZE);
}

void panic(const char *format, ...)
{
	fuzz_broken(format, "panic", 0);
}

u64 user_free_bytes(void)
{
	return status->user_bytes - user_taken;
}
