// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves device interrupts from the LWK's CPUs to OS CPUs near their devices before these CPUs
 * leave, and back after they have returned. Linux, too, moves interrupts when a CPU leaves, but to
 * any CPU, and an interrupt that had no other CPU is then allowed on all CPUs for ever.
 *
 * An interrupt that cannot be moved is no reason to refuse the job: Linux moves it when the CPU
 * leaves. 'lwkctl check' names such interrupts.
 */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "interrupts/affinity.h"
#include "interrupts/counts.h"
#include "interrupts/irqbalance.h"
#include "interrupts/quiet/quiet.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/plan.h"
#include "switch/steps/table.h"

/*
 * Adds the CPUs that irqbalance must leave alone: "banned" has all of them, and "added" those that
 * this switch bans and its undo allows again.
 */
static void add_ban(hwloc_const_bitmap_t cpus, struct json_object *object)
{
	hwloc_bitmap_t banned = hwloc_bitmap_alloc(), added = hwloc_bitmap_alloc();

	if (banned && added && irqbalance_banned(banned)) {
		hwloc_bitmap_andnot(added, cpus, banned);
		hwloc_bitmap_or(banned, banned, cpus);
		json_add_list(object, "banned", banned);
		json_add_list(object, "added", added);
	}
	hwloc_bitmap_free(banned);
	hwloc_bitmap_free(added);
}

/* Interrupts that --quiet-irqs jobs have sent to this job's CPUs get another place. */
static void look_after_quiet(const struct ms_plan *plan)
{
	hwloc_bitmap_t taken = hwloc_bitmap_alloc();
	struct ms_error ignored;

	if (taken) {
		hwloc_bitmap_or(taken, plan->lwk_cpus, plan->linux_cpus);
		quiet_make_pass(taken, &ignored);
	}
	hwloc_bitmap_free(taken);
}

static struct json_object *details(struct switching *switching)
{
	struct json_object *object = json_object_new_object();
	struct json_object *found = json_object_new_array();

	look_after_quiet(switching->plan);
	interrupts_find_on(switching->plan->lwk_cpus, switching->config->os_cpus, found);
	json_object_object_add(object, "interrupts", found);
	add_ban(switching->plan->lwk_cpus, object);
	return object;
}

static struct json_object *own_entry(struct switching *switching)
{
	struct json_object *entries = switching->journal->entries, *entry = NULL;

	for (size_t i = json_object_array_length(entries); i-- > 0;) {
		entry = json_object_array_get_idx(entries, i);
		if (strcmp(journal_text(entry, "step"), step_interrupts.name) == 0)
			break;
	}
	return entry;
}

static void set_all(struct switching *switching)
{
	struct json_object *interrupts;

	json_object_object_get_ex(own_entry(switching), "interrupts", &interrupts);
	for (size_t i = 0; i < json_object_array_length(interrupts); i++)
		interrupt_set(json_object_array_get_idx(interrupts, i));
}

static int change_ban(struct json_object *entry, const char *key,
		      int (*change)(hwloc_const_bitmap_t cpus, struct ms_error *err),
		      struct ms_error *err)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int ret = cpus ? ms_parse_cpus(journal_text(entry, key), cpus, err)
		       : ms_fail(err, "out of memory");

	if (ret == 0 && !hwloc_bitmap_iszero(cpus))
		ret = change(cpus, err);
	hwloc_bitmap_free(cpus);
	return ret;
}

static int run(struct switching *switching, struct ms_error *err)
{
	/* Linux can measure these CPUs only before they leave. */
	interrupts_measure(switching->plan->lwk_cpus, &switching->irqs_before);
	/* irqbalance comes first: it would put the interrupts back. */
	if (change_ban(own_entry(switching), "banned", irqbalance_ban, err) < 0)
		return -1;
	set_all(switching);
	return 0;
}

/* Drivers may have moved interrupts as CPUs left, to any CPU that stays. */
static int run_again(struct switching *switching, struct ms_error *err)
{
	set_all(switching);
	look_after_quiet(switching->plan);
	return 0;
}

static int undo(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	struct json_object *interrupts;
	struct ms_error why;
	int error;

	if (!json_object_object_get_ex(entry, "interrupts", &interrupts) ||
	    !json_object_is_type(interrupts, json_type_array))
		return ms_fail(err, "the journal does not tell which interrupts were moved");
	for (size_t i = 0; i < json_object_array_length(interrupts); i++) {
		struct json_object *interrupt = json_object_array_get_idx(interrupts, i);

		error = interrupt_restore(interrupt);
		if (error)
			switching_say(switching, "interrupt %s stays on CPUs %s: %s",
				      journal_text(interrupt, "irq"),
				      journal_text(interrupt, "now"), strerror(-error));
	}
	/* The interrupts are back; an irqbalance that refuses is not worth a stuck node. */
	if (change_ban(entry, "added", irqbalance_allow, &why) < 0)
		switching_say(switching, "%s", why.text);
	return 0;
}

const struct step step_interrupts = {
	.name = "interrupts", .details = details, .run = run, .undo = undo
};
const struct step step_settle = { .name = "settle", .run = run_again };
