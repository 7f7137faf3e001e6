// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ledger lists every CPU and memory range that Linux has lent out, and the instance that has
 * it. It outlives the program that lent them, so that everything can be undone from here. Each
 * line holds a reference to the module, which cannot be unloaded while anything is lent.
 *
 * Writers hold lwkpart_mutex and ledger_lock. Linux's hotplug callbacks read the ledger and must
 * not take the mutex, which is held around remove_cpu(), which waits for them: they take
 * ledger_lock only.
 */
#include "lending/ledger.h"

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

DEFINE_MUTEX(lwkpart_mutex);

static LIST_HEAD(cpus);	  /* by number */
static LIST_HEAD(ranges); /* by address */
static DEFINE_SPINLOCK(ledger_lock);

static const struct lent_to nobody = { .instance = LWKPART_NO_INSTANCE };

struct lent_cpu *ledger_find_cpu(unsigned int cpu)
{
	struct lent_cpu *lent;

	list_for_each_entry(lent, &cpus, link)
		if (lent->cpu == cpu)
			return lent;
	return NULL;
}

struct lent_range *ledger_find_range(u64 start, u64 size)
{
	struct lent_range *lent;

	list_for_each_entry(lent, &ranges, link)
		if (lent->start == start && lent->size == size)
			return lent;
	return NULL;
}

int ledger_add_cpu(unsigned int cpu)
{
	struct lent_cpu *lent = kzalloc(sizeof(*lent), GFP_KERNEL), *after;

	if (!lent)
		return -ENOMEM;
	__module_get(THIS_MODULE);
	lent->cpu = cpu;
	lent->to = nobody;
	spin_lock(&ledger_lock);
	list_for_each_entry(after, &cpus, link)
		if (after->cpu > cpu)
			break;
	list_add_tail(&lent->link, &after->link);
	spin_unlock(&ledger_lock);
	return 0;
}

void ledger_remove_cpu(struct lent_cpu *lent)
{
	spin_lock(&ledger_lock);
	list_del(&lent->link);
	spin_unlock(&ledger_lock);
	kfree(lent);
	module_put(THIS_MODULE);
}

int ledger_add_range(u64 start, u64 size, unsigned int node, enum lwkpart_mem_kind kind)
{
	struct lent_range *lent = kzalloc(sizeof(*lent), GFP_KERNEL), *after;

	if (!lent)
		return -ENOMEM;
	__module_get(THIS_MODULE);
	lent->start = start;
	lent->size = size;
	lent->node = node;
	lent->kind = kind;
	lent->to = nobody;
	spin_lock(&ledger_lock);
	list_for_each_entry(after, &ranges, link)
		if (after->start > start)
			break;
	list_add_tail(&lent->link, &after->link);
	spin_unlock(&ledger_lock);
	return 0;
}

void ledger_remove_range(struct lent_range *lent)
{
	spin_lock(&ledger_lock);
	list_del(&lent->link);
	spin_unlock(&ledger_lock);
	kfree(lent);
	module_put(THIS_MODULE);
}

void ledger_assign_cpu(struct lent_cpu *lent, struct lent_to to)
{
	spin_lock(&ledger_lock);
	lent->to = to;
	spin_unlock(&ledger_lock);
}

void ledger_assign_range(struct lent_range *lent, struct lent_to to)
{
	spin_lock(&ledger_lock);
	lent->to = to;
	spin_unlock(&ledger_lock);
}

void ledger_unassign_all(u32 instance)
{
	struct lent_cpu *cpu;
	struct lent_range *range;

	spin_lock(&ledger_lock);
	list_for_each_entry(cpu, &cpus, link)
		if (cpu->to.instance == instance)
			cpu->to = nobody;
	list_for_each_entry(range, &ranges, link)
		if (range->to.instance == instance)
			range->to = nobody;
	spin_unlock(&ledger_lock);
}

bool ledger_has_cpu(unsigned int cpu, struct lent_to *to)
{
	struct lent_cpu *lent;

	spin_lock(&ledger_lock);
	lent = ledger_find_cpu(cpu);
	if (lent)
		*to = lent->to;
	spin_unlock(&ledger_lock);
	return lent;
}

bool ledger_has_memory(u64 start, u64 size, struct lent_to *to)
{
	struct lent_range *lent;
	bool found = false;

	spin_lock(&ledger_lock);
	list_for_each_entry(lent, &ranges, link) {
		if (start < lent->start + lent->size && lent->start < start + size) {
			*to = lent->to;
			found = true;
			break;
		}
	}
	spin_unlock(&ledger_lock);
	return found;
}

bool ledger_is_empty(void)
{
	return list_empty(&cpus) && list_empty(&ranges);
}

void ledger_count(struct lwkpart_info *info)
{
	struct lent_cpu *cpu;
	struct lent_range *range;

	list_for_each_entry(cpu, &cpus, link)
		info->lent_cpus++;
	list_for_each_entry(range, &ranges, link) {
		info->lent_ranges++;
		info->lent_bytes += range->size;
	}
}

int ledger_copy(struct lwkpart_ledger *request)
{
	struct lwkpart_ledger_entry __user *to = u64_to_user_ptr(request->entries);
	struct lwkpart_ledger_entry entry;
	struct lent_cpu *cpu;
	struct lent_range *range;
	u32 count = 0;

	list_for_each_entry(cpu, &cpus, link) {
		if (count < request->capacity) {
			entry = (struct lwkpart_ledger_entry){
				.instance = cpu->to.instance,
				.cpu = cpu->cpu,
				.node = cpu_to_node(cpu->cpu),
			};
			if (copy_to_user(&to[count], &entry, sizeof(entry)))
				return -EFAULT;
		}
		count++;
	}
	list_for_each_entry(range, &ranges, link) {
		if (count < request->capacity) {
			entry = (struct lwkpart_ledger_entry){
				.kind = range->kind,
				.instance = range->to.instance,
				.node = range->node,
				.start = range->start,
				.size = range->size,
			};
			if (copy_to_user(&to[count], &entry, sizeof(entry)))
				return -EFAULT;
		}
		count++;
	}
	request->count = count;
	return 0;
}
