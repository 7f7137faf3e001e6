/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hostile LWK image: the bundled LWK, whose last CPU writes random words over all that lwkpart.ko
 * reads of it, again and again, between the turns of programs: status area, console, grants, controls
 * and channels. scribble=SEED among the arguments of the image starts it; without that word the image
 * is the bundled one. The linker leads calls of slot_loop() and share_pin() here.
 *
 * The image attacks the readers of shared memory and nothing else. A CPU in ring 0 needs no reader to
 * harm Linux, so it must stay sane itself: it never maps a page that it was granted, since a word of
 * its own may have named the page; and what its own kernel trusts is left alone, or keeps what
 * the kernel needs of it.
 */
#include <linux/errno.h>

#include "abi/shared/console.h"
#include "abi/shared/grant.h"
#include "abi/shared/state.h"
#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/trap.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/share.h"
#include "lwk/paging/direct_map.h"
#include "lwk/process/schedule.h"
#include "lwk/process/slot.h"
#include "lwk/time/clock.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

#define BURST 64 /* words in a turn */
/* A phase has one kind of nonsense, and is this long at most. */
#define PHASE_NS 20000000UL
/* Requests for pages of files, for each page that a program touches. */
#define MOST_PINS 8

void __real_slot_loop(void) __attribute__((noreturn));
void __wrap_slot_loop(void) __attribute__((noreturn));
s64 __real_share_pin(u64 addr, u64 count, u32 access, const __u64 **pages);
s64 __wrap_share_pin(u64 addr, u64 count, u32 access, const __u64 **pages);

/* ---- random numbers, as those of fuzz.h ---- */

static u64 state;

static u64 random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dUL;
}

static u64 below(u64 n)
{
	return random() % n;
}

/* Sets *seed to the number behind "scribble=". False: there is none. */
static bool read_seed(u64 *seed)
{
	static const char word[] = "scribble=";
	const size_t length = sizeof(word) - 1;

	for (const char *at = boot->cmdline; *at; at++) {
		if (memcmp(at, word, length) != 0)
			continue;
		*seed = 0;
		for (at += length; *at >= '0' && *at <= '9'; at++)
			*seed = *seed * 10 + (*at - '0');
		return true;
	}
	return false;
}

/* A physical address with bits of a page table entry: of the partition, or of anything. */
static u64 random_entry(void)
{
	const struct lwk_boot_mem *mem = &boot->mem[below(boot->n_mem)];
	u64 page = below(8) ? mem->start + below(mem->size) : random() >> (12 + below(40));

	return (page & PTE_ADDR) | (below(2) ? 0 : below(4096)) | (below(8) ? 0 : 1UL << below(64));
}

/* A value for a word that has the value 'old'. */
static u64 random_word(u64 old)
{
	switch (below(10)) {
	case 0:
		return random();
	case 1:
		return random() >> below(64);
	case 2:
		return -below(4096);
	case 3:
		return 1UL << below(64);
	case 4:
		return old ^ 1UL << below(64);
	case 5:
		return old + 1;
	case 6:
		return old - 1;
	case 7:
		return random_entry();
	case 8:
		return LWK_USER_START +
		       below((LWK_USER_END - LWK_USER_START) / PAGE_SIZE) * PAGE_SIZE;
	default:
		return below(boot->n_slots + 2);
	}
}

/* ---- places ---- */

static void scribble_32(u32 *at)
{
	WRITE_ONCE(*at, random_word(READ_ONCE(*at)));
}

/* Writes over one word, or a part of it, of some bytes that are aligned as a word is. */
static void scribble_over(void *start, size_t bytes)
{
	u64 *at = (u64 *)start + below(bytes / sizeof(*at));

	if (below(4))
		WRITE_ONCE(*at, random_word(READ_ONCE(*at)));
	else if (below(2))
		scribble_32((u32 *)at + below(2));
	else
		WRITE_ONCE(*((u8 *)at + below(8)), random());
}

/*
 * The last slots get no thread of Linux's, because they never say that they are free. The kernel
 * reads nothing of them, so they can have anything.
 */
static u32 first_unused(void)
{
	return boot->n_slots - (boot->n_slots - boot->n_cpus) / 4;
}

static struct lwk_control *control_of(u32 index)
{
	return (struct lwk_control *)phys_to_virt(boot->controls) + index;
}

static void scribble_unused(u32 index)
{
	struct lwk_control *control = control_of(index);

	switch (below(4)) {
	case 0:
		scribble_over((struct lwk_grant *)phys_to_virt(boot->grants) + index,
			      sizeof(struct lwk_grant));
		break;
	case 1:
		scribble_over((struct lwk_channel *)phys_to_virt(boot->channels) + index,
			      sizeof(struct lwk_channel));
		break;
	case 2:
		scribble_32(&control->order);
		scribble_over(&control->fault_addr,
			      sizeof(*control) - offsetof(struct lwk_control, fault_addr));
		WRITE_ONCE(control->obeyed, 1 + below(1000));
		break;
	default:
		scribble_over(&status->cpu[index], sizeof(status->cpu[index]));
	}
}

/*
 * The kernel decides by a slot's heartbeat whether a CPU uses old entries of page tables (tlb.c): it
 * stays odd or even.
 */
static void scribble_heartbeat(u64 *heartbeat)
{
	u64 old = READ_ONCE(*heartbeat), new = (random_word(old) & ~1UL) | (old & 1);

	__atomic_compare_exchange_n(heartbeat, &old, new, false, __ATOMIC_RELAXED,
				    __ATOMIC_RELAXED);
}

/* The kernel finds an element of 'tsc' by 'state'; there are four more behind its last one. */
static void scribble_times(struct lwk_cpu_times *times)
{
	if (below(4) == 0)
		WRITE_ONCE(times->state, below(LWK_CPU_STATES + 4));
	else if (below(2))
		scribble_32(&times->seq);
	else
		scribble_over(&times->since_tsc,
			      sizeof(*times) - offsetof(struct lwk_cpu_times, since_tsc));
}

/* Leaves 'allowed' alone, by which the kernel chooses CPUs. */
static void scribble_cpu(struct lwk_cpu_status *cpu)
{
	switch (below(8)) {
	case 0:
		scribble_times(&cpu->times);
		break;
	case 1:
		scribble_heartbeat(&cpu->heartbeat);
		break;
	case 2:
		scribble_over(&cpu->memory, sizeof(cpu->memory));
		break;
	case 3:
		scribble_over(&cpu->counters, sizeof(cpu->counters));
		break;
	case 4:
		scribble_32(&cpu->home);
		break;
	case 5:
		scribble_over(&cpu->interrupts, sizeof(cpu->interrupts));
		break;
	case 6:
		scribble_over(&cpu->delegated_calls, sizeof(cpu->delegated_calls));
		break;
	default:
		scribble_over(&cpu->local_calls,
			      offsetof(struct lwk_cpu_status, home) -
				      offsetof(struct lwk_cpu_status, local_calls));
	}
}

/*
 * Leaves alone what the kernel reads of the header: user_bytes, and the kind of the counters. The
 * state PANIC would end all: end_in_panic().
 */
static void scribble_header(void)
{
	static const struct {
		u32 from, to;
	} parts[] = {
		{ offsetof(struct lwk_status, cpus_up), offsetof(struct lwk_status, user_bytes) },
		{ offsetof(struct lwk_status, kernel_bytes),
		  offsetof(struct lwk_status, pmu_version) },
		{ offsetof(struct lwk_status, panic_ns), offsetof(struct lwk_status, pmu_missing) },
		{ offsetof(struct lwk_status, kernel_node), offsetof(struct lwk_status, cpu) },
	};
	u32 part = below(ARRAY_SIZE(parts) + 2), value;

	if (part < ARRAY_SIZE(parts)) {
		scribble_over((u8 *)status + parts[part].from, parts[part].to - parts[part].from);
	} else if (part == ARRAY_SIZE(parts)) {
		scribble_32(&status->n_slots);
	} else {
		value = random_word(0);
		WRITE_ONCE(status->state, value == LWK_STATE_PANIC ? LWK_STATE_RUNNING : value);
		scribble_32(&status->magic);
	}
}

static void scribble_status(u32 index)
{
	if (below(4) == 0)
		scribble_header();
	else
		scribble_cpu(&status->cpu[index]);
}

static void scribble_console(u32 index)
{
	struct lwk_console *console = phys_to_virt(boot->console);

	if (below(16))
		scribble_over(console->text, sizeof(console->text));
	else
		WRITE_ONCE(console->head, random_word(READ_ONCE(console->head)));
}

/* Most of it stays what a request could be. */
static void scribble_grant(u32 index)
{
	struct lwk_grant *grant = (struct lwk_grant *)phys_to_virt(boot->grants) + index;

	switch (below(8)) {
	case 0:
		WRITE_ONCE(grant->state, below(6));
		break;
	case 1:
		WRITE_ONCE(grant->order, below(8) ? LWK_GRANT_PIN + below(2) : random());
		break;
	case 2:
		WRITE_ONCE(grant->access, below(8) ? below(3) : random());
		break;
	case 3:
		WRITE_ONCE(grant->count, below(2) ? below(2 * LWK_GRANT_PAGES) : random_word(0));
		break;
	case 4:
		WRITE_ONCE(grant->start, READ_ONCE(grant->start) + (below(16) - 8) * PAGE_SIZE);
		break;
	default:
		scribble_over(grant, sizeof(*grant));
	}
}

/*
 * Leaves alone what Linux tells and the kernel obeys: order, number, leader, newcomer, and what to
 * revoke.
 */
static void scribble_control(u32 index)
{
	struct lwk_control *control = control_of(index);

	switch (below(32)) {
	case 0:
		WRITE_ONCE(control->obeyed, below(4));
		break;
	case 1:
		WRITE_ONCE(control->freeze, below(4));
		break;
	case 2:
		scribble_32(&control->cpu);
		break;
	case 3 ... 7:
		WRITE_ONCE(control->fault_state, below(8) ? below(6) : random());
		break;
	case 8 ... 9:
		scribble_32(&control->fault_sleeps);
		break;
	case 10 ... 12:
		WRITE_ONCE(control->page_root,
			   READ_ONCE(control_of(below(boot->n_slots))->page_root));
		break;
	default:
		WRITE_ONCE(control->page_root,
			   below(2) ? random_entry() & PTE_ADDR : random_word(control->page_root));
	}
}

static void scribble_channel(u32 index)
{
	scribble_over((struct lwk_channel *)phys_to_virt(boot->channels) + index,
		      sizeof(struct lwk_channel));
}

/* ---- turns ---- */

static void (*const areas[])(u32 index) = {
	scribble_status, scribble_console, scribble_grant, scribble_control, scribble_channel,
};
#define ALL_AREAS ((1U << ARRAY_SIZE(areas)) - 1)
#define CHANNELS (1U << (ARRAY_SIZE(areas) - 1))

/* The present phase; one without areas lets programs get on. */
static struct {
	u32 areas;
	bool unused; /* slots that are not used, too */
	u64 end;
} phase;

/* Repairs what programs cannot live without, and what the kernel does not write again by itself. */
static void repair(void)
{
	WRITE_ONCE(status->magic, LWK_SHARED_MAGIC);
	WRITE_ONCE(status->state, LWK_STATE_RUNNING);
	for (u32 i = boot->n_cpus; i < first_unused(); i++) {
		const struct slot *slot = slot_at(i);
		const struct process *process = READ_ONCE(slot->process);
		const struct cpu *cpu = READ_ONCE(slot->cpu);

		WRITE_ONCE(slot->status->home, cpu ? cpu->index + 1 : 0);
		WRITE_ONCE(slot->control->freeze, 0);
		WRITE_ONCE(slot->control->page_root,
			   process && process->first == slot ? process->space.root : 0);
	}
}

static void next_phase(void)
{
	repair();
	phase.areas = below(3) ? random() & ALL_AREAS : 0;
	/* No program lives for long with a channel full of nonsense. */
	if (below(8))
		phase.areas &= ~CHANNELS;
	phase.unused = below(2);
	phase.end = clock_monotonic() + below(PHASE_NS);
}

/* Once in a while the LWK says that it has panicked, and then that it has not. */
static void end_in_panic(void)
{
	static const char text[] = "scribble: \x1b[2J\n%s%n";

	memcpy(status->message, text, sizeof(text));
	WRITE_ONCE(status->panic_cpu, random());
	for (u32 i = 0; i < 1000; i++) {
		WRITE_ONCE(status->state, LWK_STATE_PANIC);
		scribble_over(status->message, sizeof(status->message));
		WRITE_ONCE(status->state, LWK_STATE_RUNNING);
	}
}

static void take_turn(void)
{
	u64 now = clock_monotonic();

	if (now >= phase.end || phase.end > now + PHASE_NS)
		next_phase();
	if (!phase.areas)
		return;
	for (u32 i = 0; i < BURST; i++) {
		u32 area = below(ARRAY_SIZE(areas)), index = below(first_unused());

		if (phase.unused && below(2))
			scribble_unused(first_unused() + below(boot->n_slots - first_unused()));
		else if (phase.areas >> area & 1)
			areas[area](index);
	}
	if (below(1UL << 18) == 0)
		end_in_panic();
}

/* The CPU looks for other slots between two turns. */
static u32 looks;

static bool others_had_a_look(const struct slot *slot)
{
	return ++looks > 1;
}

static bool has_program(void)
{
	for (u32 i = boot->n_cpus; i < boot->n_slots; i++)
		if (READ_ONCE(slot_at(i)->process))
			return true;
	return false;
}

/* The first program begins it, so that Linux can read the seed in the console before. */
static __attribute__((noreturn)) void scribble(void)
{
	bool begun = false;

	for (u32 i = first_unused(); i < boot->n_slots; i++)
		WRITE_ONCE(control_of(i)->obeyed, 1);
	for (;;) {
		begun |= has_program();
		if (begun)
			take_turn();
		looks = 0;
		slot_sleep(others_had_a_look);
		/* Linux wants to be obeyed, too. */
		leave_kernel();
		__asm__ volatile("sti; nop; nop; cli" ::: "memory");
		heartbeat();
	}
}

void __wrap_slot_loop(void)
{
	const struct slot *slot = this_slot();
	u64 seed;

	if (slot == slot->cpu->own && slot->index == boot->n_cpus - 1 && read_seed(&seed)) {
		print("scribble: seed %llu", seed);
		state = seed * 0x9e3779b97f4a7c15UL | 1;
		random();
		account(LWK_CPU_IDLE);
		scribble();
	}
	__real_slot_loop();
}

/* Asks for pages of the file and others near by, in all ways, and then uses none. */
s64 __wrap_share_pin(u64 addr, u64 count, u32 access, const __u64 **pages)
{
	u64 seed;
	s64 n = __real_share_pin(addr, count, access, pages);

	if (!read_seed(&seed))
		return n;
	for (u32 i = rdtsc() % MOST_PINS; i; i--)
		__real_share_pin(addr + (rdtsc() / 64 % 8) * PAGE_SIZE, 1 + rdtsc() / 64 % 60,
				 rdtsc() / 64 % 3, pages);
	return -EIO;
}
