// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells irqbalance to leave the CPUs of quiet jobs alone, or interrupts that have their places. */
#include <stdlib.h>

#include "base/json.h"
#include "interrupts/irqbalance.h"
#include "interrupts/quiet/pass.h"
#include "modeswitch/error.h"
#include "store/journal.h"

static const struct {
	const char *key, *added;
	bool (*banned)(hwloc_bitmap_t set);
	int (*ban)(hwloc_const_bitmap_t set, struct ms_error *err);
	int (*allow)(hwloc_const_bitmap_t set, struct ms_error *err);
} bans[] = {
	{ "cpus", "added_cpus", irqbalance_banned, irqbalance_ban, irqbalance_allow },
	{ "irqs", "added_irqs", irqbalance_banned_irqs, irqbalance_ban_irqs,
	  irqbalance_allow_irqs },
};
#define N_BANS (sizeof(bans) / sizeof(*bans))

/* The CPUs of quiet jobs; or, where all CPUs share, the interrupts that have their places. */
static void find_wanted(struct quiet_pass *pass, enum steer_place place,
			hwloc_bitmap_t wanted[N_BANS])
{
	struct json_object *all = quiet_entries(pass);

	if (place != STEER_SPREAD) {
		hwloc_bitmap_copy(wanted[0], pass->quiet);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (!quiet_is_refused(entry))
			hwloc_bitmap_set(wanted[1], atoi(journal_text(entry, "irq")));
	}
}

/* Adds the elements of 'wanted' to the list that are not 'there' already. */
static void add_to_list(struct json_object *object, const char *key, hwloc_const_bitmap_t wanted,
			hwloc_const_bitmap_t there)
{
	hwloc_bitmap_t list = hwloc_bitmap_alloc(), more = hwloc_bitmap_alloc();

	if (list && more) {
		quiet_read_set(object, key, list);
		hwloc_bitmap_andnot(more, wanted, there);
		hwloc_bitmap_or(list, list, more);
		json_add_list(object, key, list);
	}
	hwloc_bitmap_free(list);
	hwloc_bitmap_free(more);
}

/* Writes the file before it tells irqbalance. */
static int ban_more(struct quiet_pass *pass, size_t i, hwloc_bitmap_t wanted, struct ms_error *err)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	int ret = 0;

	if (!all) {
		ret = ms_fail(err, "out of memory");
	} else if (!hwloc_bitmap_iszero(wanted) && bans[i].banned(all) &&
		   !hwloc_bitmap_isincluded(wanted, all)) {
		add_to_list(pass->state, bans[i].added, wanted, all);
		hwloc_bitmap_or(all, all, wanted);
		ret = quiet_write_state(pass, err) < 0 ? -1 : bans[i].ban(all, err);
	}
	hwloc_bitmap_free(all);
	return ret;
}

static int allow_rest(struct quiet_pass *pass, size_t i, hwloc_bitmap_t wanted,
		      struct ms_error *err)
{
	hwloc_bitmap_t added = hwloc_bitmap_alloc(), rest = hwloc_bitmap_alloc();
	int ret = 0;

	if (!added || !rest) {
		ret = ms_fail(err, "out of memory");
	} else {
		quiet_read_set(pass->state, bans[i].added, added);
		hwloc_bitmap_andnot(rest, added, wanted);
		if (!hwloc_bitmap_iszero(rest))
			ret = bans[i].allow(rest, err);
		hwloc_bitmap_and(added, added, wanted);
		json_add_list(pass->state, bans[i].added, added);
	}
	hwloc_bitmap_free(added);
	hwloc_bitmap_free(rest);
	return ret;
}

/*
 * Finding irqbalance takes a look at every process. So it is told only something new, or when
 * somebody moves interrupts: that may be an irqbalance that has begun since.
 */
static bool is_told(struct quiet_pass *pass, size_t i, hwloc_const_bitmap_t wanted)
{
	hwloc_bitmap_t told = hwloc_bitmap_alloc();
	bool same;

	if (told)
		quiet_read_set(pass->state, bans[i].key, told);
	same = told && !pass->disturbed && hwloc_bitmap_isequal(told, wanted);
	hwloc_bitmap_free(told);
	return same;
}

int quiet_tell_irqbalance(struct quiet_pass *pass, enum steer_place place, bool more,
			  struct ms_error *err)
{
	hwloc_bitmap_t wanted[N_BANS] = { hwloc_bitmap_alloc(), hwloc_bitmap_alloc() };
	int ret = wanted[0] && wanted[1] ? 0 : ms_fail(err, "out of memory");

	if (ret == 0)
		find_wanted(pass, place, wanted);
	for (size_t i = 0; ret == 0 && i < N_BANS; i++) {
		if (is_told(pass, i, wanted[i]))
			continue;
		ret = more ? ban_more(pass, i, wanted[i], err)
			   : allow_rest(pass, i, wanted[i], err);
		pass->changed = true;
		if (!more)
			json_add_list(pass->state, bans[i].key, wanted[i]);
	}
	for (size_t i = 0; i < N_BANS; i++)
		hwloc_bitmap_free(wanted[i]);
	return ret;
}
