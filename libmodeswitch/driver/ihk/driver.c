// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Speaks to IHK by its library, and so to McKernel; see ihk.h. What is not in ihk.json is not the
 * jobs' and is left alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "driver/ihk/ihk.h"
#include "modeswitch/job.h"

#define MAX_KARGS 1024

const struct ihk_library *ihk;
unsigned ihk_end_ms = 20000;

/* Library= of the switch that this process makes. */
static char wanted_library[4096];
static bool is_wanted;

int ihk_count(int answer, int most)
{
	return answer > most ? -EPROTO : answer;
}

static int use_library(const char *path, struct ms_error *err)
{
	ihk = ihk_library_load(path, err);
	if (!ihk)
		return -1;
	snprintf(wanted_library, sizeof(wanted_library), "%s", path);
	is_wanted = true;
	return 0;
}

/* Chooses the library by which something is lent now; if nothing is, that of the switch. */
static int choose_library(char path[4096])
{
	struct owned owned;
	int error = owned_load(&owned);

	if (error)
		return error;
	if (!owned_is_empty(&owned))
		snprintf(path, 4096, "%s", owned.library);
	else if (is_wanted)
		snprintf(path, 4096, "%s", wanted_library);
	else
		error = -ENOENT;
	owned_release(&owned);
	return error;
}

static int ihk_open(struct ms_error *err)
{
	char path[4096];
	int error = choose_library(path), dev;

	if (error == -ENOENT)
		return error;
	if (error) {
		ms_fail(err, "what LWK jobs have of IHK (ihk.json) cannot be read: %s",
			strerror(-error));
		return error;
	}
	ihk = ihk_library_load(path, err);
	if (!ihk)
		return -ELIBACC;
	error = ihk_count(ihk->get_num_reserved_cpus(0), IHK_MAX_NUM_CPUS);
	if (error == -ENOENT)
		return error;
	if (error < 0) {
		ms_fail(err,
			"IHK's library does not answer: expected the number of reserved CPUs, "
			"found: %s",
			error == -EPROTO ? "nonsense; it may be of another release than IHK's "
					   "modules"
					 : strerror(-error));
		return error;
	}
	/* The library opens its devices itself. */
	dev = memfd_create("ihk", MFD_CLOEXEC);
	if (dev >= 0)
		return dev;
	ms_fail(err, "memfd_create: %m");
	return -errno;
}

static void ihk_close(int dev)
{
	close(dev);
}

static int load_owned(struct owned *owned)
{
	int error = owned_load(owned);

	if (!error && owned_is_empty(owned) && is_wanted)
		snprintf(owned->library, sizeof(owned->library), "%s", wanted_library);
	return error;
}

/* 1: the CPU is reserved, and in no instance; 0: it is not; or a negative errno. */
static int is_reserved(int cpu)
{
	int cpus[IHK_MAX_NUM_CPUS], n, error;

	n = ihk_count(ihk->get_num_reserved_cpus(0), IHK_MAX_NUM_CPUS);
	if (n <= 0)
		return n;
	error = ihk->query_cpu(0, cpus, n);
	if (error)
		return error < 0 ? error : -EPROTO;
	for (int i = 0; i < n; i++) {
		if (cpus[i] == cpu)
			return 1;
	}
	return 0;
}

/* The CPU's NUMA node, as long as it is on-line. */
static int node_of(int cpu)
{
	char path[64];

	for (int node = 0; node < IHK_MAX_NUM_NUMA_NODES; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
		if (access(path, F_OK) == 0)
			return node;
	}
	return 0;
}

static int reserve_cpu(struct owned *owned, int cpu)
{
	int reserved = is_reserved(cpu), error;

	if (reserved)
		return reserved < 0 ? reserved : -EALREADY;
	error = owned_add_cpu(owned, cpu, node_of(cpu));
	if (!error)
		error = owned_save(owned);
	if (error)
		return error;
	error = ihk->reserve_cpu(0, &cpu, 1);
	/* The library may report success when the CPU is not reserved, so this asks. */
	if (is_reserved(cpu) == 1)
		return 0;
	owned_drop_cpu(owned, owned_find_cpu(owned, cpu));
	owned_save(owned);
	return error == -EINVAL ? -ENODEV : error < 0 ? error : -EPROTO;
}

static int lend_cpu(int dev, unsigned cpu)
{
	struct owned owned;
	int error = load_owned(&owned);

	if (!error)
		error = owned_find_cpu(&owned, cpu) ? -EALREADY : reserve_cpu(&owned, cpu);
	owned_release(&owned);
	return error;
}

static int return_cpu(int dev, unsigned cpu)
{
	struct owned_cpu *found;
	struct owned owned;
	int error = owned_load(&owned), number = cpu, reserved;

	if (error)
		return error;
	found = owned_find_cpu(&owned, cpu);
	error = !found ? -ENOENT : found->instance >= 0 ? -EBUSY : 0;
	if (!error) {
		reserved = is_reserved(cpu);
		error = reserved < 0 ? reserved
			: reserved   ? ihk->release_cpu(0, &number, 1)
				     : -ENOENT;
	}
	/* A CPU that is not reserved any more was given back by somebody else. */
	if (found && (!error || error == -ENOENT)) {
		owned_drop_cpu(&owned, found);
		if (owned_save(&owned))
			error = -EIO;
	}
	owned_release(&owned);
	return error > 0 ? -EPROTO : error;
}

static int read_ledger(int dev, struct ms_lent **out, size_t *n)
{
	struct ms_lent *lent;
	struct owned owned;
	int error = owned_load(&owned);

	if (!error)
		error = ihk_settle(&owned);
	*n = 0;
	lent = error ? NULL : calloc(owned.n_cpus + owned.n_chunks + 1, sizeof(*lent));
	if (!lent) {
		owned_release(&owned);
		return error ? error : -ENOMEM;
	}
	for (size_t i = 0; i < owned.n_cpus; i++)
		lent[(*n)++] = (struct ms_lent){
			.is_cpu = true,
			.cpu = owned.cpus[i].cpu,
			.node = owned.cpus[i].node,
			.instance = owned.cpus[i].instance < 0 ? MS_NO_INSTANCE
							       : owned.cpus[i].instance,
		};
	for (size_t i = 0; i < owned.n_chunks; i++)
		lent[(*n)++] = (struct ms_lent){
			.start = owned.chunks[i].key,
			.bytes = owned.chunks[i].bytes,
			.node = owned.chunks[i].node,
			.instance = owned.chunks[i].instance < 0 ? MS_NO_INSTANCE
								 : owned.chunks[i].instance,
		};
	owned_release(&owned);
	*out = lent;
	return 0;
}

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

/* Lets the job's user, and nobody else, run programs there. */
static int give_to_user(int os, uid_t uid)
{
	char path[64];

	if (ihk->os_set_owner)
		return ihk->os_set_owner(os, uid);
	snprintf(path, sizeof(path), IHK_DEVICE_PREFIX "%d", os);
	return chown(path, uid, -1) < 0 || chmod(path, 0600) < 0 ? -errno : 0;
}

static int create(int dev, uint32_t job_id, uid_t uid, bool kernel_calls)
{
	struct owned owned;
	int error = load_owned(&owned), os = -1;

	if (!error)
		os = ihk->create_os(0);
	if (!error && (os < 0 || os >= IHK_MAX_OS))
		error = os < 0 ? os : -EPROTO;
	if (!error)
		error = owned_add_instance(&owned, os, job_id, uid);
	if (!error)
		error = owned_save(&owned);
	/* From here on the undo of the switch ends it. */
	if (!error)
		error = give_to_user(os, uid);
	owned_release(&owned);
	return error ? error : os;
}

struct end {
	int os;
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

/* Removing an instance that runs also ends it. */
static int destroy_os(void *context)
{
	const struct end *end = context;
	int error;

	/* Booting may have failed before IHK began with it, so this does not ask whether it did. */
	empty(end->os);
	error = ihk->destroy_os(0, end->os);
	return error > 0 ? -EPROTO : error;
}

static int begin_end(const struct owned *owned, struct owned_instance *instance, struct end *end)
{
	end->booted = instance->booted;
	instance->ending = true;
	return owned_save(owned);
}

static int shut_down(int dev, unsigned instance)
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

static int destroy(int dev, unsigned instance)
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

static int assign_cpu(int dev, unsigned instance, unsigned cpu, unsigned doorbell_cpu)
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

/* Tells IHK which CPU of Linux answers which of the instance's CPUs. */
static int set_map(const struct owned *owned, unsigned instance)
{
	struct ihk_ikc_cpu_map map[IHK_MAX_NUM_CPUS];
	int n = 0;

	for (size_t i = 0; i < owned->n_cpus && n < IHK_MAX_NUM_CPUS; i++) {
		if (owned->cpus[i].instance == (int)instance)
			map[n++] = (struct ihk_ikc_cpu_map){ owned->cpus[i].cpu,
							     owned->cpus[i].doorbell };
	}
	return ihk->os_set_ikc_map(instance, map, n);
}

/* The library reads a file; this one has just the bytes that were checked. */
static int load_bytes(unsigned instance, const void *image, size_t size)
{
	int fd = memfd_create("lwk", MFD_CLOEXEC), error = 0;
	char path[64];
	ssize_t done;

	if (fd < 0)
		return -errno;
	for (size_t at = 0; !error && at < size; at += done) {
		done = write(fd, (const char *)image + at, size - at);
		if (done <= 0)
			error = done < 0 ? -errno : -EIO;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!error)
		error = ihk->os_load(instance, path);
	close(fd);
	return error == -EINVAL ? -ENOEXEC : error > 0 ? -EPROTO : error;
}

static int load(int dev, unsigned instance, const void *image, size_t size)
{
	struct owned_instance *found;
	struct owned owned;
	int error = owned_load(&owned);

	if (!error)
		error = ihk_find_instance(&owned, instance, &found);
	if (!error)
		error = set_map(&owned, instance);
	if (!error)
		error = load_bytes(instance, image, size);
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

static int boot(int dev, unsigned instance, const char *args, unsigned timeout_ms)
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

static int info(int dev, unsigned instance, struct instance_info *out)
{
	static const char *const words[MS_INSTANCE_STATES] = {
		[MS_INSTANCE_INACTIVE] = "INACTIVE", [MS_INSTANCE_BOOTING] = "BOOTING",
		[MS_INSTANCE_RUNNING] = "RUNNING",   [MS_INSTANCE_SHUTTING_DOWN] = "SHUTDOWN",
		[MS_INSTANCE_PANIC] = "PANIC",	     [MS_INSTANCE_HUNG] = "HUNG",
		[MS_INSTANCE_FREEZING] = "FREEZING", [MS_INSTANCE_FROZEN] = "FROZEN",
	};
	struct owned_instance *found;
	enum ms_instance_state state;
	struct owned owned;
	int error = owned_load(&owned);

	if (error)
		return error;
	error = ihk_find_instance(&owned, instance, &found);
	if (!error) {
		state = ihk_state(found);
		*out = (struct instance_info){
			.job_id = found->job_id,
			.failed = state == MS_INSTANCE_PANIC || state == MS_INSTANCE_HUNG,
			.state = words[state],
		};
	}
	owned_release(&owned);
	return error;
}

/* IHK gives all text that it still has: *position counts within that. */
static ssize_t kmsg(int dev, unsigned instance, uint64_t *position, char *text, size_t size)
{
	int bytes = ihk_count(ihk->os_get_kmsg_size(instance), 1 << 26), length;
	char *all;

	if (bytes < 0)
		return bytes;
	all = calloc(1, bytes + 1);
	if (!all)
		return -ENOMEM;
	length = ihk->os_kmsg(instance, all, bytes);
	/* There is no text before boot. */
	if (length == -EINVAL)
		length = 0;
	if (length > bytes)
		length = -EPROTO;
	if (length >= 0) {
		length = (uint64_t)length > *position ? length - *position : 0;
		length = (size_t)length < size ? length : (int)size;
		memcpy(text, all + *position, length);
		*position += length;
	}
	free(all);
	return length;
}

const struct driver driver_ihk = {
	.name = "ihk",
	.module = "ihk-smp-x86_64",
	.device_prefix = IHK_DEVICE_PREFIX,
	.use_library = use_library,
	.open = ihk_open,
	.close = ihk_close,
	.lend_cpu = lend_cpu,
	.return_cpu = return_cpu,
	.memory_grain = IHK_GRAIN,
	.lend_run = ihk_lend_run,
	.return_memory = ihk_return_memory,
	.ledger = read_ledger,
	.create = create,
	.destroy = destroy,
	.assign_cpu = assign_cpu,
	.assign_memory = ihk_assign_memory,
	.load = load,
	.boot = boot,
	.shutdown = shut_down,
	.info = info,
	.max_instances = IHK_MAX_OS,
	.kmsg = kmsg,
	.check = ihk_check,
	.watching = &watching_ihk,
};
