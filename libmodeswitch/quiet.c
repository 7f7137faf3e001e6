// SPDX-License-Identifier: GPL-2.0-or-later
#include "quiet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "interrupts.h"
#include "irqbalance.h"
#include "job_cpus.h"
#include "journal.h"
#include "json.h"
#include "process.h"
#include "record.h"
#include "state.h"
#include "steer.h"
#include "switch.h"

#define STATE_FILE "quiet.json"
#define LOCK_FILE "quiet.lock"

/* What the process that watches remembers from pass to pass. */
struct memory {
	struct ms_irqs before; /* the last reading */
	hwloc_bitmap_t quiet;  /* whose CPUs these counts are about */
	double *carried;       /* interrupts of devices, by CPU number */
	double interval;       /* seconds from pass to pass */
	size_t n_carried;
};

struct pass {
	/*
	 * "os": the OS CPUs; "interrupts": those that were moved, "irq", "name", "was", "now", and
	 * "before" while "now" is being set; or "refused", those that cannot be moved.
	 * "cpus", "irqs": what irqbalance shall leave alone; "added_…": the part of it that is by
	 * our will.
	 */
	struct json_object *state;
	struct memory *memory; /* NULL: rates are those since boot */
	hwloc_bitmap_t online, quiet, busy, os;
	size_t n_jobs;
	struct ms_irqs counts;

	/* By the same place as in 'counts'; without 'was': not for us to move. */
	struct steer_irq *irqs;
	size_t n;
	bool disturbed; /* somebody else moves interrupts */
	bool changed;	/* the file is to be written */
};

/* ---- what was moved ---- */

static int read_state(struct json_object **state, struct ms_error *err)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" STATE_FILE, state_dir);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return ms_fail(err, "%s: %m", path);
	*state = fd < 0 ? json_object_new_object() : json_object_from_fd(fd);
	if (fd >= 0)
		close(fd);
	if (*state && json_object_is_type(*state, json_type_object))
		return 0;
	json_object_put(*state);
	*state = NULL;
	return ms_fail(err,
		       "%s: wanted the interrupts that were moved for quiet jobs; found something "
		       "else; remove the file: those interrupts stay where they are then",
		       path);
}

static struct json_object *entries(struct pass *pass)
{
	struct json_object *array;

	if (json_object_object_get_ex(pass->state, "interrupts", &array) &&
	    json_object_is_type(array, json_type_array))
		return array;
	array = json_object_new_array();
	json_object_object_add(pass->state, "interrupts", array);
	return array;
}

static struct json_object *find_entry(struct pass *pass, const char *irq)
{
	struct json_object *all = entries(pass);

	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (strcmp(journal_text(entry, "irq"), irq) == 0)
			return entry;
	}
	return NULL;
}

static void drop_entry(struct pass *pass, struct json_object *entry)
{
	struct json_object *all = entries(pass);

	for (size_t i = json_object_array_length(all); i-- > 0;) {
		if (json_object_array_get_idx(all, i) == entry)
			json_object_array_del_idx(all, i, 1);
	}
	pass->changed = true;
}

static bool nothing_is_left(struct pass *pass)
{
	return !pass->n_jobs && json_object_array_length(entries(pass)) == 0 &&
	       !*journal_text(pass->state, "added_cpus") &&
	       !*journal_text(pass->state, "added_irqs");
}

static int write_state(struct pass *pass, struct ms_error *err)
{
	char path[PATH_MAX];

	if (!nothing_is_left(pass))
		return state_keep(
			STATE_FILE,
			json_object_to_json_string_ext(pass->state, JSON_C_TO_STRING_PLAIN), err);
	snprintf(path, sizeof(path), "%s/" STATE_FILE, state_dir);
	return unlink(path) == 0 || errno == ENOENT ? 0 : ms_fail(err, "%s: %m", path);
}

static void read_set(struct json_object *object, const char *key, hwloc_bitmap_t set)
{
	struct ms_error ignored;

	if (ms_parse_cpus(journal_text(object, key), set, &ignored) < 0)
		hwloc_bitmap_zero(set);
}

/* ---- what there is ---- */

static int find_jobs(struct pass *pass, struct ms_error *err)
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

/* A hardware thread is not free whose neighbour has a job. */
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

static int find_cpus(struct pass *pass, hwloc_const_bitmap_t taken, struct ms_error *err)
{
	hwloc_bitmap_t isolated = hwloc_bitmap_alloc();

	if (!isolated)
		return ms_fail(err, "out of memory");
	if (kernel_read_list(pass->online, "/sys/devices/system/cpu/online") < 0) {
		hwloc_bitmap_free(isolated);
		return ms_fail(err, "/sys/devices/system/cpu/online cannot be read");
	}
	/* The administrator keeps them from all that is not told to be there. */
	if (kernel_read_list(isolated, "/sys/devices/system/cpu/isolated") == 0)
		hwloc_bitmap_andnot(pass->online, pass->online, isolated);
	hwloc_bitmap_free(isolated);
	if (taken)
		hwloc_bitmap_andnot(pass->online, pass->online, taken);
	read_set(pass->state, "os", pass->os);
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

static double rate_of(const struct pass *pass, const struct ms_irq *irq)
{
	const struct ms_irqs *before = pass->memory ? &pass->memory->before : NULL;
	int64_t us = pass->counts.when_us - (before ? before->when_us : 0);
	uint64_t was = before ? sum_of(before, find_irq(before, irq->name)) : 0;
	uint64_t now = sum_of(&pass->counts, irq);

	/* Counts of CPUs that have gone are gone, too. */
	return us > 0 && now > was ? (now - was) * 1e6 / us : 0;
}

/* What each CPU has had since these jobs are there, or a little longer. */
static void carry(struct memory *memory, const struct ms_irqs *now, hwloc_const_bitmap_t quiet)
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

static bool is_refused(struct json_object *entry)
{
	return json_object_object_get_ex(entry, "refused", NULL);
}

static bool has_list(struct json_object *entry, const char *key, hwloc_const_bitmap_t cpus)
{
	hwloc_bitmap_t list = hwloc_bitmap_alloc();
	bool same = false;

	if (list && *journal_text(entry, key)) {
		read_set(entry, key, list);
		same = hwloc_bitmap_isequal(list, cpus);
	}
	hwloc_bitmap_free(list);
	return same;
}

/*
 * What is not as we have set it was set by somebody else: theirs stands, and is what comes back.
 * What is another device's by now needs nothing any more.
 */
static bool is_valid(struct pass *pass, struct json_object *entry, const struct ms_irq *irq,
		     hwloc_const_bitmap_t now)
{
	if (strcmp(journal_text(entry, "name"), irq->label) != 0)
		return false;
	if (is_refused(entry))
		return pass->n_jobs > 0;
	if (has_list(entry, "now", now) || has_list(entry, "before", now) ||
	    interrupt_is_drivers_choice(irq->name, now))
		return true;
	pass->disturbed = true;
	return false;
}

/* What has vanished needs nothing, either. */
static void drop_vanished(struct pass *pass)
{
	struct json_object *all = entries(pass);

	for (size_t i = json_object_array_length(all); i-- > 0;) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (!find_irq(&pass->counts, journal_text(entry, "irq")))
			drop_entry(pass, entry);
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

static int look_at(struct pass *pass, size_t place, struct ms_error *err)
{
	const struct ms_irq *counted = &pass->counts.irqs[place];
	struct json_object *entry = find_entry(pass, counted->name);
	struct steer_irq *irq = &pass->irqs[place];
	hwloc_bitmap_t was, now, near;

	if (alloc_sets(irq, &was, &now, &near) < 0)
		return ms_fail(err, "out of memory");
	if (!counted->device || interrupt_cpus(counted->name, now) < 0)
		return 0;
	if (entry && !is_valid(pass, entry, counted, now)) {
		drop_entry(pass, entry);
		entry = NULL;
	}
	if (entry && is_refused(entry))
		return 0;
	if (entry)
		read_set(entry, "was", was);
	else
		hwloc_bitmap_copy(was, now);
	irq->rate = rate_of(pass, counted);
	/* Where it is near counts only for those that may have to move. */
	if (hwloc_bitmap_intersects(now, pass->busy))
		interrupt_near(counted->name, pass->online, near);
	return 0;
}

static int decide(struct pass *pass, enum steer_place *place, struct ms_error *err)
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

/* ---- telling irqbalance ---- */

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

/* CPUs that shall have none; or, where all have some, the interrupts that have their places. */
static void find_wanted(struct pass *pass, enum steer_place place, hwloc_bitmap_t wanted[N_BANS])
{
	struct json_object *all = entries(pass);

	if (place != STEER_SPREAD) {
		hwloc_bitmap_copy(wanted[0], pass->quiet);
		return;
	}
	for (size_t i = 0; i < json_object_array_length(all); i++) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (!is_refused(entry))
			hwloc_bitmap_set(wanted[1], atoi(journal_text(entry, "irq")));
	}
}

/* Those of 'wanted' that are not 'there' already. */
static void add_to_list(struct json_object *object, const char *key, hwloc_const_bitmap_t wanted,
			hwloc_const_bitmap_t there)
{
	hwloc_bitmap_t list = hwloc_bitmap_alloc(), more = hwloc_bitmap_alloc();

	if (list && more) {
		read_set(object, key, list);
		hwloc_bitmap_andnot(more, wanted, there);
		hwloc_bitmap_or(list, list, more);
		json_add_list(object, key, list);
	}
	hwloc_bitmap_free(list);
	hwloc_bitmap_free(more);
}

/* The file has it before irqbalance has. */
static int ban_more(struct pass *pass, size_t i, hwloc_bitmap_t wanted, struct ms_error *err)
{
	hwloc_bitmap_t all = hwloc_bitmap_alloc();
	int ret = 0;

	if (!all) {
		ret = ms_fail(err, "out of memory");
	} else if (!hwloc_bitmap_iszero(wanted) && bans[i].banned(all) &&
		   !hwloc_bitmap_isincluded(wanted, all)) {
		add_to_list(pass->state, bans[i].added, wanted, all);
		hwloc_bitmap_or(all, all, wanted);
		ret = write_state(pass, err) < 0 ? -1 : bans[i].ban(all, err);
	}
	hwloc_bitmap_free(all);
	return ret;
}

static int allow_rest(struct pass *pass, size_t i, hwloc_bitmap_t wanted, struct ms_error *err)
{
	hwloc_bitmap_t added = hwloc_bitmap_alloc(), rest = hwloc_bitmap_alloc();
	int ret = 0;

	if (!added || !rest) {
		ret = ms_fail(err, "out of memory");
	} else {
		read_set(pass->state, bans[i].added, added);
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
 * It is asked only when there is something new to say, or when somebody moves interrupts, who may
 * be an irqbalance that has begun since: finding it takes a look at every process.
 */
static bool is_told(struct pass *pass, size_t i, hwloc_const_bitmap_t wanted)
{
	hwloc_bitmap_t told = hwloc_bitmap_alloc();
	bool same;

	if (told)
		read_set(pass->state, bans[i].key, told);
	same = told && !pass->disturbed && hwloc_bitmap_isequal(told, wanted);
	hwloc_bitmap_free(told);
	return same;
}

static int tell_irqbalance(struct pass *pass, enum steer_place place, bool more,
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

/* ---- doing ---- */

static struct json_object *add_entry(struct pass *pass, const struct ms_irq *irq,
				     hwloc_const_bitmap_t was)
{
	struct json_object *entry = json_object_new_object();

	json_add_text(entry, "irq", irq->name);
	json_add_text(entry, "name", irq->label);
	json_add_list(entry, "was", was);
	json_object_array_add(entries(pass), entry);
	pass->disturbed = true;
	return entry;
}

static void note_change(struct pass *pass, size_t place)
{
	const struct ms_irq *counted = &pass->counts.irqs[place];
	struct json_object *entry = find_entry(pass, counted->name);
	const struct steer_irq *irq = &pass->irqs[place];

	if (hwloc_bitmap_iszero(irq->was))
		return;
	if (hwloc_bitmap_isequal(irq->to, irq->now)) {
		/* It could not be moved. */
		if (entry && hwloc_bitmap_isequal(irq->now, irq->was))
			drop_entry(pass, entry);
		return;
	}
	/* One that has counts, but no device any more, is left alone. */
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
		read_set(entry, "was", was);
		back = has_list(entry, "now", was);
	}
	hwloc_bitmap_free(was);
	return back;
}

/*
 * What the kernel manages is tried no more, as long as there are quiet jobs. What fails otherwise
 * keeps its entry, and the next pass tries again: CPUs of its own may be lent, for instance.
 */
static void make_change(struct pass *pass, struct json_object *entry)
{
	int error = interrupt_set(entry);

	if (error == -EIO)
		json_add_number(entry, "refused", -error);
	else if (!error)
		json_object_object_del(entry, "before");
	if (!error && is_back(entry))
		drop_entry(pass, entry);
}

static void make_changes(struct pass *pass)
{
	struct json_object *all = entries(pass);

	for (size_t i = json_object_array_length(all); i-- > 0;) {
		struct json_object *entry = json_object_array_get_idx(all, i);

		if (json_object_object_get_ex(entry, "before", NULL) && !is_refused(entry))
			make_change(pass, entry);
	}
}

/* What irqbalance does not take is no reason to leave interrupts where they are. */
static int change(struct pass *pass, enum steer_place place, struct ms_error *err)
{
	struct ms_error ignored;

	for (size_t i = 0; i < pass->n; i++)
		note_change(pass, i);
	if (pass->changed && write_state(pass, err) < 0)
		return -1;
	/* First: else it would put them back. */
	tell_irqbalance(pass, place, true, &ignored);
	make_changes(pass);
	tell_irqbalance(pass, place, false, &ignored);
	return pass->changed ? write_state(pass, err) : 0;
}

/* ---- a pass ---- */

static void release(struct pass *pass)
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

static int look_and_change(struct pass *pass, hwloc_const_bitmap_t taken, struct ms_error *err)
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

/* 'os': NULL: as the last one said. The number of quiet jobs, or -1. */
static ssize_t run_pass(hwloc_const_bitmap_t taken, hwloc_const_bitmap_t os, struct memory *memory,
			struct ms_error *err)
{
	struct pass pass = { .memory = memory,
			     .online = hwloc_bitmap_alloc(),
			     .quiet = hwloc_bitmap_alloc(),
			     .busy = hwloc_bitmap_alloc(),
			     .os = hwloc_bitmap_alloc() };
	int ret = pass.online && pass.quiet && pass.busy && pass.os ? 0
								    : ms_fail(err, "out of memory");

	if (ret == 0)
		ret = read_state(&pass.state, err) < 0 || find_jobs(&pass, err) < 0 ? -1 : 0;
	if (ret == 0 && os)
		json_add_list(pass.state, "os", os);
	pass.changed = os || !pass.n_jobs;
	/* All of it: there is nobody to be quiet for, and nothing to bring back. */
	if (ret == 0 && (pass.n_jobs || json_object_object_length(pass.state)))
		ret = look_and_change(&pass, taken, err);
	release(&pass);
	return ret < 0 ? -1 : (ssize_t)pass.n_jobs;
}

int quiet_pass(hwloc_const_bitmap_t taken, struct ms_error *err)
{
	return run_pass(taken, NULL, NULL, err) < 0 ? -1 : 0;
}

/* ---- a job ---- */

static int start_watching(struct ms_error *err)
{
	static const char *const watch[] = { LWKCTL_PATH, "quiet", NULL };
	int error = process_detach(watch);

	return error ? ms_fail(err, "%s cannot be started: %s", LWKCTL_PATH, strerror(-error)) : 0;
}

static int publish(uint32_t job_id, uid_t uid, hwloc_const_bitmap_t cpus, const char *reason,
		   struct ms_error *err)
{
	struct ms_job job = { .job_id = job_id,
			      .uid = uid,
			      .state = MS_JOB_QUIET,
			      .instance = MS_NO_INSTANCE,
			      .since = time(NULL) };
	int ret;

	snprintf(job.reason, sizeof(job.reason), "%s", reason);
	if (cpus) {
		job.linux_cpus = hwloc_bitmap_dup(cpus);
		interrupts_measure(cpus, &job.irqs_before);
	}
	ret = record_publish(&job, err);
	ms_job_release(&job);
	return ret;
}

int ms_quiet_refuse(uint32_t job_id, uid_t uid, const char *reason, struct ms_error *err)
{
	return publish(job_id, uid, NULL, reason, err);
}

int ms_quiet_begin(const struct ms_config *config, uint32_t job_id, uid_t uid,
		   hwloc_const_bitmap_t cpus, struct ms_error *err)
{
	int lock = state_lock(config->switch_timeout_ms, err), ret;
	struct ms_error ignored;

	if (lock < 0)
		return -1;
	/* What an earlier run of a requeued job may have left. */
	ret = switch_off_locked(job_id, NULL, NULL, NULL, err);
	if (ret == 0)
		ret = publish(job_id, uid, cpus, "", err);
	if (ret == 0 &&
	    (run_pass(NULL, config->os_cpus, NULL, err) < 0 || start_watching(err) < 0)) {
		ret = -1;
		record_remove(job_id, &ignored);
		quiet_pass(NULL, &ignored);
	}
	close(lock);
	return ret;
}

int ms_quiet_resume(struct ms_error *err)
{
	struct ms_job *jobs;
	bool quiet = false;
	size_t n;

	if (ms_job_list(&jobs, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		quiet |= jobs[i].state == MS_JOB_QUIET;
	ms_job_list_free(jobs, n);
	return quiet ? start_watching(err) : 0;
}

/* ---- watching ---- */

/* Only one process at a time does it. A file descriptor; -1: another one does. */
static int take_watch(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" LOCK_FILE, state_dir);
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Away from the jobs' CPUs; where it may not, it runs where it is. */
static void go_to_os_cpus(void)
{
	hwloc_bitmap_t os = hwloc_bitmap_alloc();
	struct json_object *state = NULL;
	struct ms_error ignored;
	cpu_set_t set;
	int cpu;

	CPU_ZERO(&set);
	if (os && read_state(&state, &ignored) == 0) {
		read_set(state, "os", os);
		hwloc_bitmap_foreach_begin(cpu, os) {
			if (cpu < CPU_SETSIZE)
				CPU_SET(cpu, &set);
		}
		hwloc_bitmap_foreach_end();
		sched_setaffinity(0, sizeof(set), &set);
	}
	json_object_put(state);
	hwloc_bitmap_free(os);
}

static void wait_for(double seconds)
{
	struct timespec time = { .tv_sec = seconds,
				 .tv_nsec = (seconds - (time_t)seconds) * 1000000000 };

	nanosleep(&time, NULL);
}

/* The number of quiet jobs; one when a switch is going on, for all we know; or -1. */
static ssize_t watch_once(struct memory *memory, int *watch, struct ms_error *err)
{
	struct ms_error ignored;
	int lock = state_lock(0, &ignored);
	ssize_t n;

	if (lock < 0)
		return 1;
	n = run_pass(NULL, NULL, memory, err);
	/* Whoever begins after this finds nobody watching. */
	if (n <= 0) {
		close(*watch);
		*watch = -1;
	}
	close(lock);
	return n;
}

static int watch(struct memory *memory, struct ms_error *err)
{
	int fd = take_watch();
	ssize_t n = 1;

	if (fd < 0)
		return 0;
	go_to_os_cpus();
	while (n > 0) {
		wait_for(memory->interval);
		n = watch_once(memory, &fd, err);
	}
	return n;
}

int ms_quiet_watch(double interval, struct ms_error *err)
{
	struct memory memory = { .interval = interval,
				 .quiet = hwloc_bitmap_alloc(),
				 .n_carried = sysconf(_SC_NPROCESSORS_CONF) };
	int ret;

	memory.carried = calloc(memory.n_carried + 1, sizeof(*memory.carried));
	if (memory.quiet && memory.carried)
		ret = ms_irqs_read(&memory.before, err) < 0 ? -1 : watch(&memory, err);
	else
		ret = ms_fail(err, "out of memory");
	ms_irqs_release(&memory.before);
	hwloc_bitmap_free(memory.quiet);
	free(memory.carried);
	return ret;
}
