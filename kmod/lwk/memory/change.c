/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwk/memory/change.h"

#include "lwk/process/process.h"
#include "lwk/process/schedule.h"

void change_begin(struct space *space)
{
	while (__atomic_exchange_n(&space->changing, 1, __ATOMIC_ACQUIRE)) {
		while (READ_ONCE(space->changing)) {
			process_goes_on();
			slot_yield();
		}
	}
	spin_lock(&space->lock);
}

void change_end(struct space *space)
{
	spin_unlock(&space->lock);
	STORE_RELEASE(space->changing, 0);
}

void space_keep(struct space *space)
{
	change_begin(space);
	spin_unlock(&space->lock);
}

void space_let_change(struct space *space)
{
	STORE_RELEASE(space->changing, 0);
}
