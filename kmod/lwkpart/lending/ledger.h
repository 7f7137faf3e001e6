/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: which CPUs and memory ranges Linux has lent out, and to which instance.
 *
 * Unless a comment says otherwise, a caller holds lwkpart_mutex.
 */
#ifndef LWKPART_LEDGER_H
#define LWKPART_LEDGER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "abi/control/device.h"
#include "abi/control/ledger.h"

/* Serialises everything that is done through /dev/lwkpart. */
extern struct mutex lwkpart_mutex;

/* The instance that a CPU or range is assigned to, as the ledger and messages name it. */
struct lent_to {
	u32 instance; /* LWKPART_NO_INSTANCE: not assigned yet */
	u32 job_id;   /* 0 with LWKPART_NO_INSTANCE */
};

struct lent_cpu {
	struct list_head link; /* by number */
	unsigned int cpu;
	struct lent_to to;
};

struct lent_range {
	struct list_head link; /* by address */
	u64 start, size;
	unsigned int node;
	enum lwkpart_mem_kind kind;
	struct lent_to to;
};

static inline bool is_assigned(const struct lent_to *to)
{
	return to->instance != LWKPART_NO_INSTANCE;
}

/* NULL when it is not lent; start and size (bytes) must be those of one whole range. */
struct lent_cpu *ledger_find_cpu(unsigned int cpu);
struct lent_range *ledger_find_range(u64 start, u64 size);
/* Adds a line, as not assigned: 0 or -ENOMEM. The caller has checked that there is none yet. */
int ledger_add_cpu(unsigned int cpu);
int ledger_add_range(u64 start, u64 size, unsigned int node, enum lwkpart_mem_kind kind);
/* Removes a line and frees it. */
void ledger_remove_cpu(struct lent_cpu *lent);
void ledger_remove_range(struct lent_range *lent);
void ledger_assign_cpu(struct lent_cpu *lent, struct lent_to to);
void ledger_assign_range(struct lent_range *lent, struct lent_to to);
void ledger_unassign_all(u32 instance);
/* True when the CPU, or any byte of the memory, is lent; *to says to whom. Without the mutex. */
bool ledger_has_cpu(unsigned int cpu, struct lent_to *to);
bool ledger_has_memory(u64 start, u64 size, struct lent_to *to);
/* The caller need not hold the mutex. */
bool ledger_is_empty(void);
/* Adds to lent_cpus, lent_ranges and lent_bytes. */
void ledger_count(struct lwkpart_info *info);
/* LWKPART_GET_LEDGER: 0 or -EFAULT. */
int ledger_copy(struct lwkpart_ledger *request);

#endif
