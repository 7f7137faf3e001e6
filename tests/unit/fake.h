/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A driver and a /sys that only pretend. Like a kernel, both outlive the process that switches, so it
 * can be killed before and after each of its actions.
 */
#ifndef UNIT_FAKE_H
#define UNIT_FAKE_H

#include "unit/unit.h"

#include "driver/driver.h"
#include "modeswitch/node.h"

#define MB (1UL << 20)
#define BLOCK (128 * MB)

/* The state that lwkpart.ko would keep, and how the driver fails. */
struct fake {
	struct ms_lent lent[64];
	size_t n;
	bool instances[4];
	uint32_t jobs[4];
	uint64_t largest_run; /* bytes of the largest run that any node has */
	uint64_t free_runs;   /* bytes, all nodes together */
	uint64_t next_run;    /* address */
	int actions, stop_at; /* at this action 'how' happens */
	enum { NOTHING, FAIL, CRASH } how;
	bool boot_fails, veto_blocks;
	unsigned busy; /* how often each call about a CPU says -EBUSY before it is done */
	unsigned refused;
	bool booted;
};

extern struct fake *fake;
extern const struct driver fake_driver;

/* Gives *fake memory that child processes share. 0 or -1. */
int fake_begin(void);
void fake_end(void);

/* Makes the machine below unit_dir again, with nothing lent, and a driver that does not fail. */
void fake_make(void);

/* Checks that the memory block is in this state. */
void assert_block(unsigned index, const char *state);
/* Checks that the machine is as fake_make() left it. */
void assert_all_is_back(void);

#endif
