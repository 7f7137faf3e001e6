// SPDX-License-Identifier: GPL-2.0-or-later
/* A pass: looks at the interrupts and the quiet jobs, decides, and moves interrupts. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/json.h"
#include "interrupts/affinity.h"
#include "interrupts/quiet/job_cpus.h"
#include "interrupts/quiet/pass.h"
#include "interrupts/quiet/quiet.h"
#include "modeswitch/job.h"
#include "store/journal.h"

/* ---- jobs and CPUs ---- */

static int find_jobs(struct quiet_pass *pass, struct ms_error *err)
{
	struct ms_job *jobs;
	size_t n;

	if (ms_job_list(&jobs, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].state != MS_JOB_QUIET || *jobs[i].reason)
			continue;
		pass->n_jobs++;
		hwloc_bitmap_or(pass->quiet, pass->quiet, jobs[i].linux_cpus);
	}
	ms_job_list_free(jobs, n);
	return 0;
}

/* A hardware thread is not free when another of its core has a job. */
static void add_siblings(hwloc_const_bitmap_t online, hwloc_bitmap_t busy)
{
	hwloc_bitmap_t core = hwloc_bitmap_alloc(), all = hwloc_bitmap_dup(busy);
	char path[PATH_MAX], text[16];
	int cpu;

	if (core && all &&
	    kernel_read(text, sizeof(text), "/sys/devices/system/cpu/smt/active") > 0 &&
	    strcmp(text, "1") == 0) {
		hwloc_bitmap_foreach_begin(cpu, online) {
			snprintf(path, sizeof(path),
				 "/sys/devices/system/cpu/cpu%d/topology/core_cpus_list", cpu);
			if (kernel_read_list(core, path) == 0 &&
			    hwloc_bitmap_intersects(core, busy))
				hwloc_bitmap_or(all, all, core);
		}
		hwloc_bitmap_foreach_end();
		hwloc_bitmap_copy(busy, all);
	}
	hwloc_bitmap_free(core);
	hwloc_bitmap_free(all);
}

static int find_cpus(struct quiet_pass *pass, hwloc_const_bitmap_t taken, struct ms_error *err)
{
	hwloc_bitmap_t isolated = hwloc_bitmap_alloc();

	if (!isolated)
		return ms_fail(err, "out of memory");
	if (kernel_read_list(pass->online, "/sys/devices/system/cpu/online") < 0) {
		hwloc_bitmap_free(isolated);
		return ms_fail(err, "/sys/devices/system/cpu/online cannot be read");
	}
	/* The administrator keeps isolated CPUs free of everything that is not bound there. */
	if (kernel_read_list(isolated, "/sys/devices/system/cpu/isolated") == 0)
		hwloc_bitmap_andnot(pass->online, pass->online, isolated);
	hwloc_bitmap_free(isolated);
	if (taken)
		hwloc_bitmap_andnot(pass->online, pass->online, taken);
	quiet_read_set(pass->state, "os", pass->os);
	job_cpus(pass->busy);
	hwloc_bitmap_or(pass->busy, pass->busy, pass->quiet);
	add_siblings(pass->online, pass->busy);
	return 0;
}

/* ---- rates ---- */

static const struct ms_irq *find_irq(const struct ms_irqs *irqs, const char *name)
{
	for (size_t i = 0; i < irqs->n_irqs; i++) {
		if (strcmp(irqs->irqs[i].name, name) == 0)
			return &irqs->irqs[i];
	}
	return NULL;
}

static uint64_t sum_of(const struct ms_irqs *irqs, const struct ms_irq *irq)
{
	uint64_t sum = 0;

	for (size_t i = 0; irq && i < irqs->n_cpus; i++)
		sum += irq->counts[i];
	return sum;
}

static double rate_of(const struct quiet_pass *pass, const struct ms_irq *irq)
{
	const struct ms_irqs *before = pass->memory ? &pass->memory->before : NULL;
	int64_t us = pass->counts.when_us - (before ? before->when_us : 0);
	uint64_t was = before ? sum_of(before, find_irq(before, irq->name)) : 0;
	uint64_t now = sum_of(&pass->counts, irq);

	/* The counts of a CPU vanish with it, so the sum can be lower than before. */
	return us > 0 && now > was ? (now - was) * 1e6 / us : 0;
}

/* Adds up what each CPU has had since the present quiet jobs began, or a little longer. */
static void carry(struct quiet_memory *memory, const struct ms_irqs *now,
		  hwloc_const_bitmap_t quiet)
{
	if (!hwloc_bitmap_isequal(memory->quiet, quiet)) {
		memset(memory->carried, 0, memory->n_carried * sizeof(*memory->carried));
		hwloc_bitmap_copy(memory->quiet, quiet);
	}
	for (size_t i = 0; i < now->n_cpus; i++) {
		unsigned cpu = now->cpus[i];
		uint64_t had = ms_irqs_of_cpu(&memory->before, cpu, true);
		uint64_t has = ms_irqs_of_cpu(now, cpu, true);

		if (cpu < memory->n_carried && has > had)
			memory->carried[cpu] += has - had;
	}
}

/* ---- deciding ---- */

static bool has_list(struct json_object *entry, const char *key, hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_t list = hwloc_bitmap_alloc();
	bool same = false;

	if (list && *journal_text(entry, key)) {
		quiet_read_set(entry, key, list);
		same = hwloc_bitmap_isequal(list, cpus);
	}
	hwloc_bitmap_free(list);
	return same;
}

/*
 * An interrupt with other CPUs than we have set was set by somebody else: it keeps those CPUs, also
 * when the jobs have ended. An interrupt that another device has now needs nothing.
 */
static bool is_valid(struct quiet_pass *pass, struct json_object *entry, const struct ms_irq *irq,
		     hwloc_const_bitmap_t now)
{
	if (strcmp(journal_text(entry, "name"), irq->label) != 0)
		return false;
	if (quiet_is_refused(entry))
		return pass->n_jobs > 0;
	if (has_list(entry, "now", now) || has_list(entry, "before", now) ||
	    interrupt_is_drivers_choice(irq->name, now))
		return true;
	pass->disturbed = true;
	return false;
}

/* An interrupt that has vanished needs nothing, either. */
static void drop_vanished(struct quiet_pass *pass)
{
	struct json_object *all = quiet_entries(pass);

	for (size_t i = json_object_array_length(all); i-- > 0;) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (!find_irq(&pass->counts, journal_text(entry, "irq")))
			quiet_drop_entry(pass, entry);
	}
}

static int alloc_sets(struct steer_irq *irq, hwloc_bitmap_t *was, hwloc_bitmap_t *now,
		      hwloc_bitmap_t *near)
{
	irq->was = *was = hwloc_bitmap_alloc();
	irq->now = *now = hwloc_bitmap_alloc();
	irq->near = *near = hwloc_bitmap_alloc();
	irq->to = hwloc_bitmap_alloc();
	return *was && *now && *near && irq->to ? 0 : -1;
}

static int look_at(struct quiet_pass *pass, size_t place, struct ms_error *err)
{
	const struct ms_irq *counted = &pass->counts.irqs[place];
	struct json_object *entry = quiet_find_entry(pass, counted->name);
	struct steer_irq *irq = &pass->irqs[place];
	hwloc_bitmap_t was, now, near;

	if (alloc_sets(irq, &was, &now, &near) < 0)
		return ms_fail(err, "out of memory");
	if (!counted->device || interrupt_cpus(counted->name, now) < 0)
		return 0;
	if (entry && !is_valid(pass, entry, counted, now)) {
		quiet_drop_entry(pass, entry);
		entry = NULL;
	}
	if (entry && quiet_is_refused(entry))
		return 0;
	if (entry)
		quiet_read_set(entry, "was", was);
	else
		hwloc_bitmap_copy(was, now);
	irq->rate = rate_of(pass, counted);
	/* Only interrupts that may have to move need to know the CPUs near their device. */
	if (hwloc_bitmap_intersects(now, pass->busy))
		interrupt_near(counted->name, pass->online, near);
	return 0;
}

static int decide(struct quiet_pass *pass, enum steer_place *place, struct ms_error *err)
{
	struct steer_cpus cpus = { .online = pass->online,
				   .quiet = pass->quiet,
				   .busy = pass->busy,
				   .os = pass->os,
				   .horizon = MS_QUIET_INTERVAL };

	drop_vanished(pass);
	pass->irqs = calloc(pass->counts.n_irqs + 1, sizeof(*pass->irqs));
	if (!pass->irqs)
		return ms_fail(err, "out of memory");
	pass->n = pass->counts.n_irqs;
	for (size_t i = 0; i < pass->n; i++) {
		if (look_at(pass, i, err) < 0)
			return -1;
	}
	if (pass->memory) {
		cpus.horizon = pass->memory->interval;
		cpus.carried = pass->memory->carried;
		cpus.n_carried = pass->memory->n_carried;
	}
	*place = steer_decide(&cpus, pass->irqs, pass->n);
	return 0;
}

/* ---- doing ---- */

static struct json_object *add_entry(struct quiet_pass *pass, const struct ms_irq *irq,
				     hwloc_const_bitmap_t was)
{
	struct json_object *entry = json_object_new_object();

	json_add_text(entry, "irq", irq->name);
	json_add_text(entry, "name", irq->label);
	json_add_list(entry, "was", was);
	json_object_array_add(quiet_entries(pass), entry);
	pass->disturbed = true;
	return entry;
}

static void note_change(struct quiet_pass *pass, size_t place)
{
	const struct ms_irq *counted = &pass->counts.irqs[place];
	struct json_object *entry = quiet_find_entry(pass, counted->name);
	const struct steer_irq *irq = &pass->irqs[place];

	if (hwloc_bitmap_iszero(irq->was))
		return;
	if (hwloc_bitmap_isequal(irq->to, irq->now)) {
		/* An earlier move failed, and is not wanted any more. */
		if (entry && hwloc_bitmap_isequal(irq->now, irq->was))
			quiet_drop_entry(pass, entry);
		return;
	}
	/* An interrupt that has counts, but no device any more, is left alone. */
	if (!entry && !interrupt_is_used(counted->name))
		return;
	if (!entry)
		entry = add_entry(pass, counted, irq->was);
	json_add_list(entry, "before", irq->now);
	json_add_list(entry, "now", irq->to);
	pass->changed = true;
}

static bool is_back(struct json_object *entry)
{
	hwloc_bitmap_t was = hwloc_bitmap_alloc();
	bool back = false;

	if (was) {
		quiet_read_set(entry, "was", was);
		back = has_list(entry, "now", was);
	}
	hwloc_bitmap_free(was);
	return back;
}

/*
 * An interrupt that the kernel manages is not tried again as long as there are quiet jobs. After
 * any other failure the entry stays and the next pass tries again: the CPUs may be lent now.
 */
static void make_change(struct quiet_pass *pass, struct json_object *entry)
{
	int error = interrupt_set(entry);

	if (error == -EIO)
		json_add_number(entry, "refused", -error);
	else if (!error)
		json_object_object_del(entry, "before");
	if (!error && is_back(entry))
		quiet_drop_entry(pass, entry);
}

static void make_changes(struct quiet_pass *pass)
{
	struct json_object *all = quiet_entries(pass);

	for (size_t i = json_object_array_length(all); i-- > 0;) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (json_object_object_get_ex(entry, "before", NULL) && !quiet_is_refused(entry))
			make_change(pass, entry);
	}
}

/* Interrupts move even when irqbalance cannot be told. */
static int change(struct quiet_pass *pass, enum steer_place place, struct ms_error *err)
{
	struct ms_error ignored;

	for (size_t i = 0; i < pass->n; i++)
		note_change(pass, i);
	if (pass->changed && quiet_write_state(pass, err) < 0)
		return -1;
	/* irqbalance hears of it first; else it would move interrupts back. */
	quiet_tell_irqbalance(pass, place, true, &ignored);
	make_changes(pass);
	quiet_tell_irqbalance(pass, place, false, &ignored);
	return pass->changed ? quiet_write_state(pass, err) : 0;
}

/* ---- a pass ---- */

static void release(struct quiet_pass *pass)
{
	for (size_t i = 0; i < pass->n; i++) {
		hwloc_bitmap_free((hwloc_bitmap_t)pass->irqs[i].was);
		hwloc_bitmap_free((hwloc_bitmap_t)pass->irqs[i].now);
		hwloc_bitmap_free((hwloc_bitmap_t)pass->irqs[i].near);
		hwloc_bitmap_free(pass->irqs[i].to);
	}
	free(pass->irqs);
	json_object_put(pass->state);
	ms_irqs_release(&pass->counts);
	hwloc_bitmap_free(pass->online);
	hwloc_bitmap_free(pass->quiet);
	hwloc_bitmap_free(pass->busy);
	hwloc_bitmap_free(pass->os);
}

static int look_and_change(struct quiet_pass *pass, hwloc_const_bitmap_t taken,
			   struct ms_error *err)
{
	enum steer_place place = STEER_OS;

	if (find_cpus(pass, taken, err) < 0 || ms_irqs_read(&pass->counts, err) < 0)
		return -1;
	if (pass->memory)
		carry(pass->memory, &pass->counts, pass->quiet);
	if (decide(pass, &place, err) < 0 || change(pass, place, err) < 0)
		return -1;
	if (pass->memory) {
		ms_irqs_release(&pass->memory->before);
		pass->memory->before = pass->counts;
		pass->counts = (struct ms_irqs){ 0 };
	}
	return 0;
}

ssize_t quiet_run_pass(hwloc_const_bitmap_t taken, hwloc_const_bitmap_t os,
		       struct quiet_memory *memory, struct ms_error *err)
{
	struct quiet_pass pass = { .memory = memory,
				   .online = hwloc_bitmap_alloc(),
				   .quiet = hwloc_bitmap_alloc(),
				   .busy = hwloc_bitmap_alloc(),
				   .os = hwloc_bitmap_alloc() };
	int ret = pass.online && pass.quiet && pass.busy && pass.os ? 0
								    : ms_fail(err, "out of memory");

	if (ret == 0)
		ret = quiet_read_state(&pass.state, err) < 0 || find_jobs(&pass, err) < 0 ? -1 : 0;
	if (ret == 0 && os)
		json_add_list(pass.state, "os", os);
	pass.changed = os || !pass.n_jobs;
	/* Without quiet jobs and without a file there is nothing to do. */
	if (ret == 0 && (pass.n_jobs || json_object_object_length(pass.state)))
		ret = look_and_change(&pass, taken, err);
	release(&pass);
	return ret < 0 ? -1 : (ssize_t)pass.n_jobs;
}

int quiet_make_pass(hwloc_const_bitmap_t taken, struct ms_error *err)
{
	return quiet_run_pass(taken, NULL, NULL, err) < 0 ? -1 : 0;
}
