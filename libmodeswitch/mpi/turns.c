// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A stream of messages in one direction costs the delay of a link once: all but the first are on
 * their way already when the receiver wants them. An answer costs the delay again, so a rank counts
 * the first receive after each send to the same peer. In a dialogue each rank counts half of the
 * delays; when both send and then receive, each counts all of them. The rank that sends first
 * leads: a dialogue has one leader, an exchange has two, which is how a reader tells them apart.
 *
 * This knows pairs of ranks only; all senders that a rank receives from without learning who they
 * are count as one. A rank that leads keeps leading until all ranks meet, in a barrier for
 * instance. Receives that have begun count as received when the rank has next waited for any
 * request; that is the one it waits for, except in programs that leave receives open across other
 * waits, whose turns are told a little early.
 *
 * A leader that has just got an answer comes to a meeting one delay later than its peer, and finds
 * the peer's part of it there. The peer leaves the meeting one delay after the leader, and finds
 * the leader's next message there. Such a meeting costs no delay: it is hidden. A second meeting
 * right after it costs both delays, so hidden ones are counted only where their number is odd.
 */
#include "mpi/turns.h"

#include <stddef.h>

enum { SENT = 1, RECEIVED };

static uint32_t meetings = 1;
static uint32_t open_receives[256];
static unsigned n_open;
static bool sent; /* to any rank since the last receive from an unknown one */

static struct page_turns *turns_with(struct page *page, uint32_t world, bool sends)
{
	struct page_turns *turns = &page_turns(page)[world];

	if (turns->meeting != meetings) {
		if (sends && turns->last == RECEIVED && turns->leading)
			turns->hidden += (meetings - turns->meeting) % 2;
		turns->meeting = meetings;
		turns->last = 0;
	}
	return turns;
}

void turns_sent(struct page *page, uint32_t world)
{
	struct page_turns *turns = turns_with(page, world, true);

	if (!turns->last)
		turns->leading = true;
	turns->last = SENT;
	sent = true;
}

void turns_received(struct page *page, uint32_t world, uint64_t now)
{
	struct page_turns *turns = turns_with(page, world, false);
	uint64_t ticks = now - turns->received_ticks;

	turns->received_ticks = now;

	/* An unknown rank may be any that was sent to. */
	if (world == page->ranks && sent) {
		turns->leading = turns->last ? turns->leading : true;
		turns->last = SENT;
		sent = false;
	}
	if (turns->last == RECEIVED) {
		turns->stream_ticks += ticks;
		return;
	}
	if (!turns->last)
		turns->leading = false;
	turns->last = RECEIVED;
	if (turns->leading)
		turns->leads++;
	else
		turns->follows++;
}

void turns_posted(struct page *page, uint32_t world, uint64_t now)
{
	if (n_open < sizeof(open_receives) / sizeof(*open_receives))
		open_receives[n_open++] = world;
	else
		turns_received(page, world, now);
}

void turns_completed(struct page *page, uint64_t now)
{
	for (unsigned i = 0; i < n_open; i++)
		turns_received(page, open_receives[i], now);
	n_open = 0;
}

void turns_met(void)
{
	meetings++;
}
