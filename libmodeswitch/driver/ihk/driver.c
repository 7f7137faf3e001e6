// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Speaks to IHK by its library, and so to McKernel; see ihk.h. CPUs and memory that are not in
 * ihk.json are not the jobs', and the driver leaves them alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/ihk/ihk.h"
#include "modeswitch/job.h"

const struct ihk_library *ihk;

/* Library= of the switch that this process makes. */
static char wanted_library[4096];
static bool is_wanted;

bool ihk_is_itself(void)
{
	return !ihk->os_set_owner;
}

int ihk_count(int answer, int most)
{
	return answer > most ? -EPROTO : answer;
}

static int use_library(const char *path, struct ms_error *err)
{
	ihk = ihk_library_load(path, err);
	if (!ihk || ihk_check_isolation(err) < 0)
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
		ms_fail(err, "ihk.json, the list of what LWK jobs have of IHK, cannot be read: %s",
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
			"found: %s; see whether IHK's module ihk-smp-x86_64 is loaded, and of the "
			"library's release",
			error == -EPROTO ? "nonsense" : strerror(-error));
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

int ihk_load_owned(struct owned *owned)
{
	int error = owned_load(owned);

	if (!error && owned_is_empty(owned) && is_wanted)
		snprintf(owned->library, sizeof(owned->library), "%s", wanted_library);
	return error;
}

/* *reserved: the CPU is reserved, and in no instance. 0 or a negative errno. */
static int look_at_cpu(int cpu, bool *reserved)
{
	int cpus[IHK_MAX_NUM_CPUS], n, error;

	*reserved = false;
	n = ihk_count(ihk->get_num_reserved_cpus(0), IHK_MAX_NUM_CPUS);
	if (n <= 0)
		return n;
	error = ihk->query_cpu(0, cpus, n);
	if (error)
		return error < 0 ? error : -EPROTO;
	for (int i = 0; i < n; i++)
		*reserved |= cpus[i] == cpu;
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
	bool reserved;
	int error = look_at_cpu(cpu, &reserved);

	if (error || reserved)
		return error ? error : -EALREADY;
	error = owned_add_cpu(owned, cpu, node_of(cpu));
	if (!error)
		error = owned_save(owned);
	if (error)
		return error;
	error = ihk->reserve_cpu(0, &cpu, 1);
	/* The library may report success when the CPU is not reserved, so this asks. */
	if (look_at_cpu(cpu, &reserved) == 0 && reserved)
		return 0;
	owned_drop_cpu(owned, owned_find_cpu(owned, cpu));
	owned_save(owned);
	return error == -EINVAL ? -ENODEV : error < 0 ? error : -EPROTO;
}

static int lend_cpu(int dev, unsigned cpu)
{
	struct owned owned;
	int error = ihk_load_owned(&owned);

	if (!error)
		error = owned_find_cpu(&owned, cpu) ? -EALREADY : reserve_cpu(&owned, cpu);
	owned_release(&owned);
	return error;
}

static int return_cpu(int dev, unsigned cpu)
{
	struct owned_cpu *found;
	struct owned owned;
	int error = owned_load(&owned), number = cpu;
	bool reserved;

	if (error)
		return error;
	ihk_forget_removed(&owned);
	found = owned_find_cpu(&owned, cpu);
	error = !found ? -ENOENT : found->instance >= 0 ? -EBUSY : 0;
	if (!error)
		error = look_at_cpu(cpu, &reserved);
	if (!error)
		error = reserved ? ihk->release_cpu(0, &number, 1) : -ENOENT;
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
	if (!error)
		ihk_forget_removed(&owned);
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
	.create = ihk_create,
	.destroy = ihk_destroy,
	.assign_cpu = ihk_assign_cpu,
	.assign_memory = ihk_assign_memory,
	.load = ihk_load,
	.boot = ihk_boot,
	.shutdown = ihk_shut_down,
	.info = ihk_info,
	.max_instances = IHK_MAX_OS,
	.kmsg = ihk_kmsg,
	.check = ihk_check,
	.watching = &watching_ihk,
	.dumping = &dumping_ihk,
};
