// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moves device interrupts to the OS CPUs when a node is prepared, and back.
 */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "interrupts/affinity.h"
#include "modeswitch/config.h"
#include "node/prepare/preparing.h"
#include "store/journal.h"

/* True when an earlier call's entry tells where the interrupt was. That entry must stay. */
static bool is_known(struct json_object *interrupts, const char *irq)
{
	for (size_t i = 0; i < json_object_array_length(interrupts); i++) {
		if (strcmp(journal_text(json_object_array_get_idx(interrupts, i), "irq"), irq) == 0)
			return true;
	}
	return false;
}

static void add_kept_interrupt(struct json_object *kept, struct json_object *interrupt, int error)
{
	struct json_object *item = json_object_new_object();

	json_add_text(item, "irq", journal_text(interrupt, "irq"));
	json_add_text(item, "name", journal_text(interrupt, "name"));
	json_add_text(item, "why",
		      error == -EIO ? "the kernel itself chooses its CPU" : strerror(-error));
	json_object_array_add(kept, item);
}

static enum change steer_interrupt(struct preparing *p, struct json_object *interrupt,
				   struct json_object *kept)
{
	struct json_object *known = array_of(p->state, "interrupts");
	bool is_new = !is_known(known, journal_text(interrupt, "irq"));
	int error;

	if (is_new)
		json_object_array_add(known, json_object_get(interrupt));
	if (write_state(p) < 0)
		return CHANGE_STOPPED;
	error = interrupt_set(interrupt);
	if (!error)
		return CHANGE_MADE;
	if (is_new)
		json_object_array_del_idx(known, json_object_array_length(known) - 1, 1);
	/* An interrupt without a name has no handler, and nobody needs to know of it. */
	if (*journal_text(interrupt, "name"))
		add_kept_interrupt(kept, interrupt, error);
	return CHANGE_REFUSED;
}

int steer_interrupts(struct preparing *p)
{
	struct json_object *part = json_object_new_object(), *kept = add_array(part, "kept");
	struct json_object *found = json_object_new_array();
	enum change change = CHANGE_MADE;
	unsigned changed = 0;

	json_object_object_add(p->report, "interrupts", part);
	json_add_list(part, "cpus", p->config->os_cpus);
	interrupts_find_outside(p->config->os_cpus, found);
	for (size_t i = 0; i < json_object_array_length(found) && change != CHANGE_STOPPED; i++) {
		if (!p->dry_run)
			change = steer_interrupt(p, json_object_array_get_idx(found, i), kept);
		changed += change == CHANGE_MADE;
	}
	json_object_put(found);
	json_add_number(part, "changed", changed);
	if (change == CHANGE_STOPPED)
		return -1;
	return p->dry_run ? 0 : write_state(p);
}

void undo_interrupts(struct preparing *p)
{
	struct json_object *interrupts = array_of(p->state, "interrupts");

	/* An interrupt that cannot be set refused it before, or is gone. */
	for (size_t i = json_object_array_length(interrupts); i-- > 0;)
		interrupt_restore(json_object_array_get_idx(interrupts, i));
	json_object_object_del(p->state, "interrupts");
}
