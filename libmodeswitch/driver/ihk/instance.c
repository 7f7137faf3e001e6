// SPDX-License-Identifier: GPL-2.0-or-later
/* The operations of the driver for IHK on an instance, from making it to ending it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "driver/ihk/ihk.h"

#define MAX_KARGS 1024

unsigned ihk_end_ms = 20000;

static bool is_listed(int os)
{
	int list[IHK_MAX_OS], n = ihk_count(ihk->get_num_os_instances(0), IHK_MAX_OS);

	if (n <= 0 || ihk->get_os_instances(0, list, n) != 0)
		return false;
	while (n--) {
		if (list[n] == os)
			return true;
	}
	return false;
}

int ihk_find_instance(const struct owned *owned, int os, struct owned_instance **instance)
{
	int cpus[IHK_MAX_NUM_CPUS], n, ours = 0;

	*instance = owned_find_instance(owned, os);
	if (!*instance || !is_listed(os))
		return -ENOENT;
	n = ihk_count(ihk->os_get_num_assigned_cpus(os), IHK_MAX_NUM_CPUS);
	if (n < 0)
		return n;
	if (n && ihk->os_query_cpu(os, cpus, n) != 0)
		return -ENOENT;
	for (int i = 0; i < n; i++) {
		struct owned_cpu *cpu = owned_find_cpu(owned, cpus[i]);

		if (!cpu || cpu->instance != os)
			return -ENOENT;
	}
	for (size_t i = 0; i < owned->n_cpus; i++)
		ours += owned->cpus[i].instance == os;
	/* The last one may be on its way; IHK takes all CPUs from an instance that it ends. */
	return n == ours || n == ours - 1 || (!n && (*instance)->ending) ? 0 : -ENOENT;
}

void ihk_forget_removed(struct owned *owned)
{
	struct owned_instance *found;

	/* The last one takes the place of the one that goes. */
	for (size_t i = owned->n_instances; i-- > 0;) {
		if (ihk_find_instance(owned, owned->instances[i].os, &found) == -ENOENT)
			owned_drop_instance(owned, found);
	}
}

int ihk_hold(int os, struct ihk_held *held)
{
	int error;

	held->lock = owned_lock(false, ihk_end_ms);
	if (held->lock < 0)
		return held->lock;
	error = owned_load(&held->owned);
	if (!error) {
		error = ihk_find_instance(&held->owned, os, &held->instance);
		if (error)
			owned_release(&held->owned);
	}
	if (error)
		close(held->lock);
	return error;
}

void ihk_let_go(struct ihk_held *held)
{
	owned_release(&held->owned);
	close(held->lock);
}

/* Lets the job's user, and nobody else, run programs there. */
static int give_to_user(int os, uid_t uid)
{
	char path[64];

	if (ihk->os_set_owner)
		return ihk->os_set_owner(os, uid);
	snprintf(path, sizeof(path), "%s%d", ihk_device_prefix, os);
	return chown(path, uid, -1) < 0 || chmod(path, 0600) < 0 ? -errno : 0;
}

struct end {
	int os;
	uid_t uid;
	bool booted;
};

/*
 * Takes its CPUs and memory from an instance that does not run: what one has that was never
 * booted is lost with it, so that nobody can have these CPUs again. IHK refuses it for one that
 * runs.
 */
static void empty(int os)
{
	struct ihk_mem_chunk *chunks;
	int cpus[IHK_MAX_NUM_CPUS], n;

	n = ihk_count(ihk->os_get_num_assigned_cpus(os), IHK_MAX_NUM_CPUS);
	if (n > 0 && ihk->os_query_cpu(os, cpus, n) == 0)
		ihk->os_release_cpu(os, cpus, n);
	n = ihk_count(ihk->os_get_num_assigned_mem_chunks(os), IHK_MAX_CHUNKS);
	chunks = n > 0 ? calloc(n, sizeof(*chunks)) : NULL;
	if (chunks && ihk->os_query_mem(os, chunks, n) == 0)
		ihk->os_release_mem(os, chunks, n);
	free(chunks);
}

/*
 * The next two run in a child: with programs still there, IHK may wait for ever. Nobody may ask for
 * the state of an instance that IHK has shut down: that is Linux's end, too.
 */
static int end_os(void *context)
{
	const struct end *end = context;
	int error = end->booted ? ihk->os_shutdown(end->os) : 0;

	return error > 0 ? -EPROTO : error;
}

/*
 * IHK itself, when it removes an instance, reads what booting gives it, and that is Linux's end where
 * nothing has: before the first boot, and after shutdown. The boot of an instance without CPUs fails, but
 * gives it that. With -EBUSY it does not: another instance runs.
 */
static int make_removable(int os)
{
	if (!ihk_is_itself() || ihk->os_get_num_assigned_cpus(os) != 0)
		return 0;
	return ihk->os_boot(os) == -EBUSY ? -EBUSY : 0;
}

/* Removing an instance that runs also ends it. */
static int destroy_os(void *context)
{
	const struct end *end = context;
	int error;

	/* Booting may have failed before IHK began with it, so this does not ask whether it did. */
	empty(end->os);
	error = make_removable(end->os);
	if (!error)
		error = ihk->destroy_os(0, end->os);
	return error > 0 ? -EPROTO : error;
}

/* IHK itself runs one LWK at a time: it boots no second one. */
static int create_os(void)
{
	int n = ihk_is_itself() ? ihk->get_num_os_instances(0) : 0;

	return n < 0 ? n : n ? -ENOSPC : ihk->create_os(0);
}

int ihk_create(int dev, uint32_t job_id, uid_t uid, bool kernel_calls, bool limited)
{
	struct owned owned;
	int error = ihk_load_owned(&owned), os = -1;

	if (!error) {
		/* IHK may give the new one the number of one that is gone. */
		ihk_forget_removed(&owned);
		os = create_os();
	}
	if (!error && (os < 0 || os >= IHK_MAX_OS))
		error = os < 0 ? os : -EPROTO;
	if (!error)
		error = owned_add_instance(&owned, os, job_id, uid);
	if (!error)
		error = owned_save(&owned);
	if (error && os >= 0 && os < IHK_MAX_OS)
		destroy_os(&(struct end){ .os = os });
	/* From here on the undo of the switch ends it. */
	if (!error)
		error = give_to_user(os, uid);
	owned_release(&owned);
	return error ? error : os;
}

/*
 * Waits for the processes that are asking for its state; one that asks later finds that it is ending. Then ends
 * its proxies.
 */
static int begin_end(const struct owned *owned, struct owned_instance *instance, struct end *end)
{
	int lock = owned_lock(true, ihk_end_ms), error;

	if (lock < 0)
		return lock;
	end->uid = instance->uid;
	end->booted = instance->booted;
	instance->ending = true;
	error = owned_save(owned);
	close(lock);
	if (!error)
		ihk_end_proxies(end->os, end->uid);
	return error;
}

int ihk_shut_down(int dev, unsigned instance)
{
	struct owned_instance *found;
	struct owned owned;
	struct end end = { .os = instance };
	int error = owned_load(&owned);

	if (!error)
		error = ihk_find_instance(&owned, instance, &found);
	if (!error)
		error = begin_end(&owned, found, &end);
	owned_release(&owned);
	return error ? error : child_call_alone(end_os, &end, -1, clock_ms() + ihk_end_ms);
}

int ihk_destroy(int dev, unsigned instance)
{
	struct owned_instance *found;
	struct owned owned;
	struct end end = { .os = instance };
	int error = owned_load(&owned);

	if (error)
		return error;
	error = ihk_find_instance(&owned, instance, &found);
	if (!error)
		error = begin_end(&owned, found, &end);
	if (!error) {
		error = child_call_alone(destroy_os, &end, -1, clock_ms() + ihk_end_ms);
		if (error && !is_listed(instance))
			error = 0;
	}
	/* Another program has removed it. */
	if (found && (!error || error == -ENOENT)) {
		owned_drop_instance(&owned, found);
		error = owned_save(&owned);
	}
	owned_release(&owned);
	return error;
}

int ihk_assign_cpu(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu)
{
	struct owned_instance *of;
	struct owned_cpu *found;
	struct owned owned;
	int error = owned_load(&owned), number = cpu;

	if (error)
		return error;
	found = owned_find_cpu(&owned, cpu);
	error = !found		       ? -ENOENT
		: found->instance >= 0 ? -EBUSY
				       : ihk_find_instance(&owned, instance, &of);
	if (!error) {
		found->instance = instance;
		found->doorbell = doorbell_cpu;
		error = owned_save(&owned);
	}
	if (!error) {
		error = ihk->os_assign_cpu(instance, &number, 1);
		if (error) {
			found->instance = -1;
			owned_save(&owned);
		}
	}
	owned_release(&owned);
	return error > 0 ? -EPROTO : error;
}

static int boot_os(void *context)
{
	int error = ihk->os_boot(*(int *)context);

	return error > 0 ? -EPROTO : error;
}

/* IHK gives up after 10 s; a busy machine boots an LWK later. */
static int await_boot(const struct owned_instance *instance, int error, int64_t deadline)
{
	enum ms_instance_state state;

	while ((state = ihk_state(instance)) == MS_INSTANCE_BOOTING && clock_ms() < deadline)
		usleep(50000);
	return state == MS_INSTANCE_RUNNING ? 0 : error ? error : -EPROTO;
}

int ihk_boot(int dev, unsigned instance, const char *args, unsigned timeout_ms)
{
	struct owned_instance *found;
	int64_t deadline = clock_ms() + timeout_ms;
	char kargs[MAX_KARGS];
	struct owned owned;
	int error = owned_load(&owned), os = instance;

	if (error)
		return error;
	error = ihk_find_instance(&owned, instance, &found);
	if (!error && snprintf(kargs, sizeof(kargs), "hidos%s%s", *args ? " " : "", args) >=
			      (int)sizeof(kargs))
		error = -E2BIG;
	if (!error)
		error = ihk->os_kargs(instance, kargs);
	if (!error) {
		found->booted = true;
		error = owned_save(&owned);
	}
	if (!error)
		error = await_boot(found, child_call_alone(boot_os, &os, -1, deadline), deadline);
	owned_release(&owned);
	return error > 0 ? -EPROTO : error;
}

enum ms_instance_state ihk_state(const struct owned_instance *instance)
{
	bool asks = instance->booted && !instance->ending;
	int status = asks ? ihk->os_get_status(instance->os) : IHK_STATUS_INACTIVE;

	_Static_assert((int)IHK_STATUS_FROZEN == (int)MS_INSTANCE_FROZEN, "the same states");
	/* An LWK that was booted and of which IHK says nothing sensible is of no use. */
	return status < 0 || status > IHK_STATUS_FROZEN ? MS_INSTANCE_HUNG : status;
}

int ihk_info(int dev, unsigned instance, struct instance_info *out)
{
	static const char *const words[MS_INSTANCE_STATES] = {
		[MS_INSTANCE_INACTIVE] = "INACTIVE", [MS_INSTANCE_BOOTING] = "BOOTING",
		[MS_INSTANCE_RUNNING] = "RUNNING",   [MS_INSTANCE_SHUTTING_DOWN] = "SHUTDOWN",
		[MS_INSTANCE_PANIC] = "PANIC",	     [MS_INSTANCE_HUNG] = "HUNG",
		[MS_INSTANCE_FREEZING] = "FREEZING", [MS_INSTANCE_FROZEN] = "FROZEN",
	};
	enum ms_instance_state state;
	struct ihk_held held;
	int error = ihk_hold(instance, &held);

	if (error)
		return error;
	state = ihk_state(held.instance);
	*out = (struct instance_info){
		.job_id = held.instance->job_id,
		.failed = state == MS_INSTANCE_PANIC || state == MS_INSTANCE_HUNG,
		.state = words[state],
	};
	ihk_let_go(&held);
	return 0;
}

int ihk_copy_kmsg(const struct ihk_held *held, char **text)
{
	int os = held->instance->os, bytes, length;

	*text = NULL;
	if (held->instance->ending)
		return -EHOSTDOWN;
	bytes = ihk_count(ihk->os_get_kmsg_size(os), 1 << 26);
	if (bytes < 0)
		return bytes;
	*text = calloc(1, bytes + 1);
	if (!*text)
		return -ENOMEM;
	length = ihk->os_kmsg(os, *text, bytes);
	/* There is no text before boot. */
	if (length == -EINVAL)
		length = 0;
	if (length > bytes)
		length = -EPROTO;
	if (length < 0) {
		free(*text);
		*text = NULL;
	}
	return length;
}

ssize_t ihk_read_kmsg(const struct ihk_held *held, uint64_t *position, char *text, size_t size)
{
	char *all;
	int length = ihk_copy_kmsg(held, &all);

	if (length < 0)
		return length;
	length = (uint64_t)length > *position ? length - *position : 0;
	length = (size_t)length < size ? length : (int)size;
	memcpy(text, all + *position, length);
	*position += length;
	free(all);
	return length;
}

ssize_t ihk_kmsg(int dev, unsigned instance, uint64_t *position, char *text, size_t size)
{
	struct ihk_held held;
	ssize_t length = ihk_hold(instance, &held);

	if (length < 0)
		return length;
	length = ihk_read_kmsg(&held, position, text, size);
	ihk_let_go(&held);
	return length;
}
