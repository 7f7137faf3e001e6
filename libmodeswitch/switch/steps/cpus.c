// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the LWK's CPUs from Linux.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpusets.h"
#include "base/files.h"
#include "base/patience.h"
#include "modeswitch/config.h"
#include "modeswitch/error.h"
#include "modeswitch/node.h"
#include "switch/steps/table.h"

static struct json_object *details(struct switching *switching)
{
	struct json_object *object = json_object_new_object();
	char *list;

	if (hwloc_bitmap_list_asprintf(&list, switching->plan->lwk_cpus) < 0)
		return NULL;
	json_object_object_add(object, "cpus", json_object_new_string(list));
	free(list);
	return object;
}

/* A switch goes on without it, and waits only if a process keeps its memory map locked. */
static void keep_off_memory_maps(struct switching *switching)
{
	int error = cpusets_name_nodes();

	if (error)
		switching_say(switching, "not all cpusets name their nodes: %s", strerror(-error));
}

static int lend(struct switching *switching, unsigned cpu, struct patience *patience,
		struct ms_error *err)
{
	struct ms_error ignored;
	int error;

	do
		error = switching->driver->lend_cpu(switching->dev, cpu);
	while (patience_lasts(patience, error) && switching_may_go_on(switching, &ignored) == 0);
	switch (error) {
	case 0:
		return 0;
	case -EBUSY:
		return ms_fail(err,
			       "Linux cannot spare CPU %u: it is needed or something holds it; "
			       "'dmesg' on the node may tell what",
			       cpu);
	case -EALREADY:
		return ms_fail(err,
			       "CPU %u is lent already; the administrator's remedy is "
			       "'lwkctl reset'",
			       cpu);
	case -ENODEV:
		return ms_fail(err, "CPU %u is not on-line", cpu);
	default:
		return ms_fail(err, "CPU %u cannot be taken from Linux: %s", cpu, strerror(-error));
	}
}

static int run(struct switching *switching, struct ms_error *err)
{
	struct patience patience = patience_for(TAKE_CPU_MS);
	int cpu;

	keep_off_memory_maps(switching);
	hwloc_bitmap_foreach_begin(cpu, switching->plan->lwk_cpus) {
		if (switching_may_go_on(switching, err) < 0 ||
		    lend(switching, cpu, &patience, err) < 0)
			return -1;
	}
	hwloc_bitmap_foreach_end();
	return 0;
}

static bool is_online(unsigned cpu)
{
	char text[8];

	return kernel_read(text, sizeof(text), "/sys/devices/system/cpu/cpu%u/online", cpu) > 0 &&
	       *text == '1';
}

static int give_back(struct switching *switching, unsigned cpu, const struct ms_lent *lent,
		     struct patience *patience, struct ms_error *err)
{
	enum owner owner = lent ? switching_owner(switching, lent) : OWNER_NOBODY;
	int error = 0;

	if (owner == OWNER_OTHER_JOB)
		return 0;
	if (owner == OWNER_THIS_JOB)
		return ms_fail(err, "CPU %u is still lent to LWK instance %d", cpu, lent->instance);
	if (!lent && is_online(cpu))
		return 0;
	while (lent) {
		error = switching->driver->return_cpu(switching->dev, cpu);
		if (!patience_lasts(patience, error))
			break;
	}
	if (error && error != -ENOENT)
		return ms_fail(err, "CPU %u cannot be given back to Linux: %s", cpu,
			       strerror(-error));
	while (!is_online(cpu)) {
		error = kernel_write("1", "/sys/devices/system/cpu/cpu%u/online", cpu);
		if (!patience_lasts(patience, error))
			break;
	}
	if (!is_online(cpu))
		return ms_fail(err, "CPU %u does not come on-line: %s", cpu, strerror(-error));
	switching_say(switching, "CPU %u is back", cpu);
	return 0;
}

/* Finds a lent CPU in the ledger; NULL: it is not lent. */
static const struct ms_lent *find_cpu(const struct ms_lent *ledger, size_t n, unsigned cpu)
{
	for (size_t i = 0; i < n; i++) {
		if (ledger[i].is_cpu && ledger[i].cpu == cpu)
			return &ledger[i];
	}
	return NULL;
}

static int undo(struct switching *switching, struct json_object *entry, struct ms_error *err)
{
	struct patience patience = patience_for(RETURN_CPU_MS);
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	struct ms_lent *ledger = NULL;
	struct ms_error why;
	int cpu, ret = -1;
	size_t n;

	if (ms_parse_cpus(journal_text(entry, "cpus"), cpus, err) == 0)
		ret = switching_ledger(switching, &ledger, &n, err);
	if (ret == 0) {
		keep_off_memory_maps(switching);
		hwloc_bitmap_foreach_begin(cpu, cpus) {
			const struct ms_lent *lent = find_cpu(ledger, n, cpu);

			if (give_back(switching, cpu, lent, &patience, &why) < 0 && ret == 0)
				ret = ms_fail(err, "%s", why.text);
		}
		hwloc_bitmap_foreach_end();
	}
	free(ledger);
	hwloc_bitmap_free(cpus);
	return ret;
}

const struct step step_cpus = { .name = "cpus", .details = details, .run = run, .undo = undo };
