// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hostile proxy writes into its channel at any moment at which the LWK waits: packets, counts,
 * signals. The process may end by that; the LWK must go on.
 */
#include <linux/errno.h>
#include <setjmp.h>

#include "lwk/base/string.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/cpu.h"
#include "lwk/paging/pages.h"
#include "lwk/process/process.h"
#include "lwk/process/slot.h"
#include "lwk/proxy/channel.h"
#include "lwk/signals/action.h"
#include "lwk/signals/collect.h"
#include "lwk/signals/pending.h"

#include "fuzz.h"

long syscall(long number, ...);
#define SYS_arch_prctl 158
#define ARCH_SET_GS 0x1001

static struct input input;
static jmp_buf ended;

static struct slot slots[2];
static struct cpu cpu;
static struct lwk_channel channel;
static struct lwk_control control;
static struct lwk_cpu_status own_status;
static struct lwk_boot_params boot_area = { .n_cpus = 2, .n_slots = 2 };
static u8 pages[QUEUED_PAGES + 1][PAGE_SIZE] __attribute__((aligned(4096)));
static bool page_used[QUEUED_PAGES + 1];

struct lwk_boot_params *boot = &boot_area;
uint64_t simulated_cr3, simulated_cr4;

/* No error is injected. */
bool boot_option(const char *option)
{
	return false;
}

/* ---- the proxy ---- */

/* Writes any bytes to the channel; at the end of the input it withdraws the order. */
static void proxy_acts(void)
{
	static const size_t places[] = {
		offsetof(struct lwk_channel, to_linux.count),
		offsetof(struct lwk_channel, to_lwk.slot),
		offsetof(struct lwk_channel, signals.head),
		offsetof(struct lwk_channel, signals.slot),
	};
	u8 what = take_byte(&input);
	size_t at;

	if (!input.left)
		control.order = LWK_ORDER_NONE;
	switch (what & 7) {
	case 0:
		/* A reply that fits. */
		channel.to_lwk.slot[slots[0].received % LWK_RING_SLOTS] = (struct lwk_packet){
			.kind = LWK_PACKET_REPLY,
			.turn = slots[0].received + 1,
			.id = slots[0].next_id,
			.args = { take_byte(&input) },
		};
		break;
	case 1:
		channel.to_linux.count = slots[0].sent;
		break;
	case 2:
		take_bytes(&input, &channel.signals.slot[channel.signals.head % LWK_SIGNAL_SLOTS],
			   1 + (what >> 3));
		channel.signals.head++;
		break;
	case 3:
		control.fault_state = LWK_FAULT_ASKED;
		control.fault_addr = take_number(&input, 8);
		break;
	case 4:
		at = places[(what >> 3) % 4] + take_byte(&input) % 8;
		take_bytes(&input, (u8 *)&channel + at, 1 + (what >> 5));
		break;
	case 5:
		at = take_number(&input, 2) % (sizeof(channel) - 8);
		take_bytes(&input, (u8 *)&channel + at, 1 + (what >> 5));
		break;
	}
}

/* ---- other files of the LWK ---- */

struct slot *slot_at(u32 index)
{
	must(index < 2);
	return &slots[index];
}

void process_abandon(void)
{
	longjmp(ended, 1);
}

void process_kill(void)
{
	longjmp(ended, 1);
}

void slot_sleep(bool (*ready)(const struct slot *slot))
{
	while (!ready(&slots[0]))
		proxy_acts();
}

void process_looks(void)
{
	if (!channel_ordered(&slots[0]))
		process_abandon();
	channel_serve_fault();
	proxy_acts();
}

bool slot_others_wait(void)
{
	return true;
}

void apic_ring_linux(u32 cpu)
{
}

void apic_send(u32 apicid, u32 vector)
{
}

void print(const char *format, ...)
{
}

int space_fault(struct space *space, u64 addr, bool write, bool exec, bool asks)
{
	static const int results[] = { 0, -EAGAIN, -EFAULT, -ENOMEM };

	return results[take_byte(&input) % 4];
}

bool space_is_active(void)
{
	return true;
}

void space_revoke(struct space *space, u64 addr, u64 size)
{
}

bool signal_ignored(const struct process *process, int signal)
{
	return signal % 8 == 0;
}

void *kernel_page_alloc(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (page_used[i])
			continue;
		page_used[i] = true;
		return memset(pages[i], 0, PAGE_SIZE);
	}
	return NULL;
}

void kernel_page_free(void *page)
{
	size_t index = ((u8 *)page - pages[0]) / PAGE_SIZE;

	must(index < ARRAY_SIZE(pages) && page_used[index]);
	page_used[index] = false;
}

/* ---- the LWK's calls ---- */

static void use_channel(void)
{
	u64 args[6] = { take_byte(&input) };
	struct lwk_packet packet;
	struct lwk_signal signal;
	int number;

	switch (take_byte(&input) % 8) {
	case 0:
		channel_request(take_byte(&input), args);
		break;
	case 1:
		channel_notice(1, 2, 3);
		break;
	case 2:
		channel_receive(&packet);
		must(packet.kind == LWK_PACKET_REQUEST);
		channel_reply(packet.id, 0);
		break;
	case 3:
		signal_collect();
		break;
	case 4:
		signal_collect_late(take_number(&input, 4));
		break;
	case 5:
		number = 1 + take_byte(&input) % SIGNALS;
		if (signal_take(number, &signal))
			must(signal.signal == number);
		break;
	case 6:
		if (take_byte(&input) < 16)
			signal_hand_down(take_number(&input, 8));
		signal_effective();
		break;
	case 7:
		proxy_acts();
		break;
	}
}

static void begin(void)
{
	memset(slots, 0, sizeof(slots));
	memset(&channel, 0, sizeof(channel));
	memset(&control, 0, sizeof(control));
	memset(&own_status, 0, sizeof(own_status));
	memset(page_used, 0, sizeof(page_used));
	slots[0].self = &slots[0];
	slots[0].cpu = &cpu;
	slots[0].channel = &channel;
	slots[0].control = &control;
	slots[0].status = &own_status;
	slots[0].process = &slots[0].own;
	slots[0].own.first = &slots[0];
	slots[0].own.n_slots = 1 + take_byte(&input) % 2;
	slots[1].process = &slots[0].own;
	slots[1].thread.tid = 77;
	slots[0].thread.blocked = take_number(&input, 8);
	control.order = LWK_ORDER_PROCESS;
	channel_reset();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;

	if (!ready) {
		/* this_slot() reads it from there. */
		syscall(SYS_arch_prctl, ARCH_SET_GS, &slots[0]);
		slots[0].self = &slots[0];
		ready = true;
	}
	input = (struct input){ data, size };
	begin();
	if (setjmp(ended) == 0)
		while (input.left)
			use_channel();
	pending_end(&slots[0].own);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		must(!page_used[i]);
	return 0;
}
