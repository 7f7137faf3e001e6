/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets to and from the proxy. The proxy, which is the user's, can write anything into the
 * channel: counts are kept in struct slot, packets are copied before they are looked at, and
 * what is impossible ends the process, never the LWK.
 */
#include "lwk/proxy/channel.h"

#include <linux/errno.h>

#include "abi/shared/calls.h"
#include "abi/shared/orders.h"
#include "abi/shared/statistics.h"
#include "lwk/base/string.h"
#include "lwk/machine/apic.h"
#include "lwk/machine/boot.h"
#include "lwk/machine/x86.h"
#include "lwk/memory/fault.h"
#include "lwk/process/process.h"
#include "lwk/process/schedule.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"

/*
 * The time to look for a packet before halting begins at SPIN_MIN_US and doubles after each wait
 * that was longer, up to SPIN_MAX_US; after a wait longer than SPIN_MAX_US it is 0. lwkpart.ko does
 * the same (serve.c). A halted CPU costs nobody anything, but waking it costs an interrupt.
 */
#define SPIN_MIN_US 10
#define SPIN_MAX_US 200
/* Looks between two PAUSEs: a hypervisor or emulator may take microseconds for one. */
#define LOOKS 32

static bool packet_waits(const struct slot *slot)
{
	const struct lwk_packet *next =
		&slot->channel->to_lwk.slot[slot->received % LWK_RING_SLOTS];

	return LOAD_ACQUIRE(next->turn) == (u16)(slot->received + 1);
}

static bool something_waits(const struct slot *slot)
{
	return packet_waits(slot) || channel_disturbs(slot);
}

/* A slot that shares its CPU spins only while no other slot could use it. */
static void spin(u64 start)
{
	const struct slot *slot = this_slot();

	while (rdtsc() - start < slot->spin) {
		for (unsigned int i = 0; i < LOOKS; i++)
			if (something_waits(slot))
				return;
		if (slot_others_wait())
			return;
		cpu_relax();
	}
}

static void adapt_spin(u64 waited)
{
	struct slot *slot = this_slot();
	u64 us = boot->tsc_khz / 1000, most = SPIN_MAX_US * us;

	if (waited > most)
		slot->spin = 0;
	else if (waited > slot->spin)
		slot->spin = !slot->spin	     ? SPIN_MIN_US * us
			     : 2 * slot->spin < most ? 2 * slot->spin
						     : most;
}

static void wait(void)
{
	u64 start = rdtsc();

	spin(start);
	if (!something_waits(this_slot()))
		slot_sleep(something_waits);
	adapt_spin(rdtsc() - start);
	if (!channel_ordered(this_slot()))
		process_abandon();
	channel_serve_fault();
}

void channel_reset(void)
{
	struct slot *slot = this_slot();

	slot->sent = slot->taken = 0;
	slot->received = 0;
	slot->signals_taken = 0;
}

void channel_serve_fault(void)
{
	struct slot *slot = this_slot();
	u64 addr, size, kind;
	int error = -EFAULT;

	if (!channel_fault_waits(slot))
		return;
	addr = READ_ONCE(slot->control->fault_addr);
	size = READ_ONCE(slot->control->fault_size);
	kind = READ_ONCE(slot->control->fault_kind);
	if (kind == LWK_FAULT_REVOKE && boot_option("inject=keep"))
		return still_alive(); /* lwk(7) */
	if (kind == LWK_FAULT_REVOKE) {
		space_revoke(&slot->process->space, addr, size);
		error = 0;
	} else if (slot == slot->process->first || space_is_active()) {
		error = space_fault(&slot->process->space, addr, kind == LWK_FAULT_WRITE, false,
				    false);
	}
	if (error == -ENOMEM)
		slot->process->out_of_memory = true;
	STORE_RELEASE(slot->control->fault_state, !error	     ? LWK_FAULT_READY
						  : error == -EAGAIN ? LWK_FAULT_HIDE
								     : LWK_FAULT_REFUSED);
	memory_barrier();
	if (READ_ONCE(slot->control->fault_sleeps))
		apic_ring_linux(slot->index % boot->n_cpus);
}

static void broken(void)
{
	print("pid %u: its proxy wrote an impossible count into the channel; ending the process",
	      this_process()->pid);
	process_kill();
}

/*
 * Linux announces no room. At most one request is under way, but any number of notices. The count of
 * what Linux has read is in another line, so it is read only when the ring seems full.
 */
static void await_room(const struct lwk_ring *ring)
{
	struct slot *slot = this_slot();

	while (slot->sent - slot->taken >= LWK_RING_SLOTS) {
		slot->taken = LOAD_ACQUIRE(ring->count);
		if (slot->sent - slot->taken > LWK_RING_SLOTS)
			broken();
		if (slot->sent - slot->taken == LWK_RING_SLOTS)
			process_looks();
	}
}

static void send(u16 kind, u32 id, u64 nr, const u64 args[6])
{
	struct slot *slot = this_slot();
	struct lwk_ring *ring = &slot->channel->to_linux;
	struct lwk_packet *packet = &ring->slot[slot->sent % LWK_RING_SLOTS];

	await_room(ring);
	packet->kind = kind;
	packet->id = id;
	packet->nr = nr;
	memcpy(packet->args, args, sizeof(packet->args));
	STORE_RELEASE(packet->turn, (u16)++slot->sent);
	memory_barrier();
	if (READ_ONCE(slot->channel->linux_sleeps))
		apic_ring_linux(slot->index % boot->n_cpus);
}

static bool receive(struct lwk_packet *packet)
{
	struct slot *slot = this_slot();

	if (!packet_waits(slot))
		return false;
	*packet = slot->channel->to_lwk.slot[slot->received++ % LWK_RING_SLOTS];
	return true;
}

s64 channel_request(u64 nr, const u64 args[6])
{
	struct slot *slot = this_slot();
	u32 id = ++slot->next_id, former = account(LWK_CPU_DELEGATING);
	struct lwk_packet packet;

	send(LWK_PACKET_REQUEST, id, nr, args);
	for (;;) {
		/* A late reply to a call that no longer waits is ignored. */
		while (receive(&packet)) {
			if (packet.kind == LWK_PACKET_REPLY && packet.id == id) {
				account(former);
				return packet.args[0];
			}
		}
		wait();
	}
}

s64 channel_call_counted(enum lwk_call_kind about, u64 nr, const u64 args[6])
{
	this_slot()->status->delegated_calls[about]++;
	return channel_request(nr, args);
}

void channel_send_notice(u64 nr, const u64 args[6])
{
	send(LWK_PACKET_NOTICE, 0, nr, args);
}

bool channel_take_signal(struct lwk_signal *signal)
{
	struct slot *slot = this_slot();
	struct lwk_signals *signals = &slot->channel->signals;
	u32 waiting = LOAD_ACQUIRE(signals->head) - slot->signals_taken;

	if (!waiting)
		return false;
	if (waiting > LWK_SIGNAL_SLOTS)
		broken();
	*signal = signals->slot[slot->signals_taken % LWK_SIGNAL_SLOTS];
	STORE_RELEASE(signals->tail, ++slot->signals_taken);
	return true;
}

s64 channel_send_signal(const struct lwk_signal *signal)
{
	u64 args[6];

	_Static_assert(sizeof(args) == sizeof(*signal), "all that a packet can carry");
	memcpy(args, signal, sizeof(args));
	return channel_call_counted(LWK_CALLS_PROCESS, LWK_CALL_SIGNAL, args);
}

void channel_receive(struct lwk_packet *packet)
{
	do {
		while (!receive(packet))
			wait();
	} while (packet->kind != LWK_PACKET_REQUEST);
}

void channel_reply(u32 id, s64 result)
{
	send(LWK_PACKET_REPLY, id, 0, (const u64[6]){ result });
}
