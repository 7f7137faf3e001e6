// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of instances: each is created, gets CPUs, memory and an image, is booted, shut down and
 * destroyed.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "instances.h"

#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>

#include "boot.h"
#include "instance/image/reserve.h"
#include "instance/instance.h"
#include "instance/state.h"
#include "instance/watch/console.h"
#include "instance/watch/dump.h"
#include "lending/cpu.h"
#include "lending/ledger.h"
#include "process/device.h"
#include "watch.h"

/* Indexed by id. With lwkpart_mutex held. */
static struct instance *instances[LWKPART_MAX_INSTANCES];

static struct instance *find(u32 id)
{
	return id < LWKPART_MAX_INSTANCES ? instances[id] : NULL;
}

/*
 * Chooses a number for a new instance, or LWKPART_MAX_INSTANCES: none is free. The numbers go
 * round, so that a device's name and minor do not soon mean another job's instance.
 */
static u32 choose_id(void)
{
	static u32 next;
	u32 tries, id;

	for (tries = 0; tries < LWKPART_MAX_INSTANCES; tries++) {
		id = next;
		next = (next + 1) % LWKPART_MAX_INSTANCES;
		if (!instances[id])
			return id;
	}
	return LWKPART_MAX_INSTANCES;
}

unsigned int instance_count(void)
{
	unsigned int id, count = 0;

	for (id = 0; id < LWKPART_MAX_INSTANCES; id++)
		count += !!instances[id];
	return count;
}

#define CREATE_FLAGS (LWKPART_CREATE_PROXY_CALLS | LWKPART_CREATE_LIMITED)

int instance_create(struct lwkpart_create *request)
{
	kuid_t uid = make_kuid(current_user_ns(), request->uid);
	struct instance *instance;
	u32 id;
	int error;

	if (!uid_valid(uid) || request->flags & ~CREATE_FLAGS)
		return -EINVAL;
	id = choose_id();
	if (id == LWKPART_MAX_INSTANCES)
		return -ENOSPC;
	instance = kvzalloc(sizeof(*instance), GFP_KERNEL);
	if (!instance)
		return -ENOMEM;
	kref_init(&instance->kref);
	mutex_init(&instance->life);
	init_rwsem(&instance->rwsem);
	mutex_init(&instance->process_mutex);
	mutex_init(&instance->files_mutex);
	mutex_init(&instance->counters.mutex);
	confinement_init(&instance->confinement);
	events_init(&instance->events);
	watch_init(instance);
	instance->id = id;
	instance->uid = uid;
	instance->job_id = request->job_id;
	instance->proxy_calls = request->flags & LWKPART_CREATE_PROXY_CALLS;
	instance->limited = request->flags & LWKPART_CREATE_LIMITED;
	instance->since_ns = ktime_get_real_ns();
	error = instance_device_create(instance);
	if (error) {
		instance_put(instance);
		return error;
	}
	__module_get(THIS_MODULE);
	instances[id] = instance;
	request->instance = id;
	return 0;
}

/* 0 when the instance may get what is lent to 'to', NULL when it is not lent; -ENOENT, -EBUSY. */
static int check_assignable(const struct instance *instance, const struct lent_to *to)
{
	if (!instance)
		return -ENOENT;
	if (instance->state > LWK_STATE_LOADED)
		return -EBUSY;
	if (!to)
		return -ENOENT;
	return is_assigned(to) ? -EBUSY : 0;
}

/* An image that was loaded before does not fit the new partition. */
static void set_assigned(struct instance *instance)
{
	down_write(&instance->rwsem);
	/* Another caller may have shut the instance down just now. */
	if (instance->state <= LWK_STATE_LOADED)
		instance_set_state(instance, LWK_STATE_ASSIGNED);
	up_write(&instance->rwsem);
}

static struct lent_to as_owner(const struct instance *instance)
{
	return (struct lent_to){ .instance = instance->id, .job_id = instance->job_id };
}

int instance_assign_cpu(const struct lwkpart_assign_cpu *request)
{
	struct instance *instance = find(request->instance);
	struct lent_cpu *lent = ledger_find_cpu(request->cpu);
	unsigned int index;
	int error;

	error = check_assignable(instance, lent ? &lent->to : NULL);
	if (error)
		return error;
	if (instance->n_cpus == LWK_MAX_CPUS)
		return -ENOSPC;
	if (request->doorbell_cpu >= nr_cpu_ids || !cpu_online(request->doorbell_cpu))
		return -EINVAL;
	error = cpu_make_ready(request->cpu);
	if (error)
		return error;
	ledger_assign_cpu(lent, as_owner(instance));
	index = instance->n_cpus++;
	instance->doorbells.target[index] = request->doorbell_cpu;
	instance->cpus[index] = (struct lwk_boot_cpu){
		.linux_cpu = request->cpu,
		.apicid = cpu_apicid(request->cpu),
		.node = cpu_to_node(request->cpu),
	};
	set_assigned(instance);
	return 0;
}

/*
 * Adds memory to the partition, and joins what adjoins on one node: a partition of many memory
 * blocks has few ranges. False: it has as many as it can have.
 */
static bool join_memory(struct instance *instance, struct lwk_boot_mem range)
{
	unsigned int i = 0;

	while (i < instance->n_mem) {
		struct lwk_boot_mem *old = &instance->mem[i];

		if (old->node != range.node || (old->start + old->size != range.start &&
						range.start + range.size != old->start)) {
			i++;
			continue;
		}
		range.start = min(range.start, old->start);
		range.size += old->size;
		*old = instance->mem[--instance->n_mem];
	}
	if (i == LWK_MAX_MEM)
		return false;
	instance->mem[instance->n_mem++] = range;
	return true;
}

int instance_assign_memory(const struct lwkpart_assign_mem *request)
{
	struct instance *instance = find(request->instance);
	struct lent_range *lent = ledger_find_range(request->start, request->size);
	int error;

	error = check_assignable(instance, lent ? &lent->to : NULL);
	if (error)
		return error;
	if (!join_memory(instance, (struct lwk_boot_mem){
					   .start = lent->start,
					   .size = lent->size,
					   .node = lent->node,
				   }))
		return -ENOSPC;
	ledger_assign_range(lent, as_owner(instance));
	set_assigned(instance);
	return 0;
}

int instance_load(const struct lwkpart_load *request)
{
	struct instance *instance = find(request->instance);
	void *file;
	int error;

	if (!instance)
		return -ENOENT;
	if (instance->state != LWK_STATE_ASSIGNED && instance->state != LWK_STATE_LOADED)
		return -EBUSY;
	if (!request->size || request->size > LWKPART_MAX_IMAGE)
		return -ENOEXEC;
	if (!instance->n_cpus || !instance->n_mem) {
		pr_err("no image can be loaded into instance %u: expected CPUs and memory, found %u CPUs and %u memory ranges; assign both first\n",
		       instance->id, instance->n_cpus, instance->n_mem);
		return -ENOMEM;
	}
	file = vmalloc(request->size);
	if (!file)
		return -ENOMEM;
	if (copy_from_user(file, u64_to_user_ptr(request->image), request->size)) {
		error = -EFAULT;
		goto free_file;
	}
	mutex_lock(&instance->life);
	down_write(&instance->rwsem);
	error = -EBUSY;
	if (instance->state <= LWK_STATE_LOADED) {
		error = reserve_fill(instance, file, request->size);
		instance_set_state(instance, error ? LWK_STATE_ASSIGNED : LWK_STATE_LOADED);
	}
	up_write(&instance->rwsem);
	mutex_unlock(&instance->life);
free_file:
	vfree(file);
	return error;
}

int instance_boot(const struct lwkpart_boot *request)
{
	struct instance *instance;
	int error;

	if (mutex_lock_killable(&lwkpart_mutex))
		return -EINTR;
	instance = find(request->instance);
	error = instance ? boot_start(instance, request->cmdline) : -ENOENT;
	if (!error)
		instance_get(instance);
	mutex_unlock(&lwkpart_mutex);
	if (error)
		return error;
	error = boot_wait(instance, request->timeout_ms);
	instance_put(instance);
	return error;
}

/* Finds an instance and holds it, without lwkpart_mutex afterwards: or -ENOENT, -EINTR. */
static struct instance *find_and_hold(u32 id)
{
	struct instance *instance;

	if (mutex_lock_killable(&lwkpart_mutex))
		return ERR_PTR(-EINTR);
	instance = find(id);
	if (instance)
		instance_get(instance);
	mutex_unlock(&lwkpart_mutex);
	return instance ? instance : ERR_PTR(-ENOENT);
}

int instance_shutdown(u32 id)
{
	struct instance *instance = find_and_hold(id);

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	boot_stop(instance);
	instance_put(instance);
	return 0;
}

/* Forgets an instance that is shut down. With lwkpart_mutex held. */
static void forget(struct instance *instance)
{
	instance_device_destroy(instance);
	/* Open files may keep the structure, but must not reach the partition. */
	mutex_lock(&instance->life);
	down_write(&instance->rwsem);
	WRITE_ONCE(instance->destroyed, true);
	reserve_forget(instance);
	up_write(&instance->rwsem);
	mutex_unlock(&instance->life);
	ledger_unassign_all(instance->id);
	instances[instance->id] = NULL;
	instance_put(instance);
	module_put(THIS_MODULE);
}

int instance_destroy(u32 id)
{
	struct instance *instance = find_and_hold(id);
	int error = -ENOENT;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	boot_stop(instance);
	mutex_lock(&lwkpart_mutex);
	/* Another caller may have been quicker. */
	if (find(id) == instance) {
		forget(instance);
		error = 0;
	}
	mutex_unlock(&lwkpart_mutex);
	instance_put(instance);
	return error;
}

int instance_info(struct lwkpart_instance_info *request)
{
	struct instance *instance = find(request->instance);
	unsigned int i;

	if (!instance)
		return -ENOENT;
	request->state = instance_tell(instance, request->message);
	request->uid = from_kuid_munged(current_user_ns(), instance->uid);
	request->job_id = instance->job_id;
	request->cpus = instance->n_cpus;
	request->ranges = instance->n_mem;
	for (i = 0; i < instance->n_mem; i++)
		request->bytes += instance->mem[i].size;
	request->processes = READ_ONCE(instance->n_processes);
	request->memory_clear = instance_memory_is_clear(instance);
	return 0;
}

int instance_kmsg(struct lwkpart_kmsg *request)
{
	struct instance *instance = find_and_hold(request->instance);
	int error;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	error = console_copy(instance, request);
	instance_put(instance);
	return error;
}

int instance_hang_limit(const struct lwkpart_hang_limit *request)
{
	struct instance *instance = find(request->instance);

	if (!instance)
		return -ENOENT;
	WRITE_ONCE(instance->watch.hang_ms, request->limit_ms);
	return 0;
}

/* Holds an instance if it is still the job's: its number may have gone to another job's. */
static struct instance *find_and_hold_of_job(u32 id, u32 job_id)
{
	struct instance *instance = find_and_hold(id);

	if (IS_ERR(instance) || instance->job_id == job_id)
		return instance;
	instance_put(instance);
	return ERR_PTR(-ENOENT);
}

int instance_dump_layout(struct lwkpart_dump_layout *request)
{
	struct instance *instance = find_and_hold_of_job(request->instance, request->job_id);
	int error;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	error = dump_layout(instance, request);
	instance_put(instance);
	return error;
}

int instance_dump(struct lwkpart_dump *request)
{
	struct instance *instance = find_and_hold_of_job(request->instance, request->job_id);
	int error;

	if (IS_ERR(instance))
		return PTR_ERR(instance);
	error = dump_copy(instance, request);
	instance_put(instance);
	return error;
}

int instance_confine(const struct lwkpart_confine *request)
{
	struct instance *instance = find(request->instance);

	if (!instance)
		return -ENOENT;
	/* Proxies that exist already would not be moved. */
	return instance->state > LWK_STATE_LOADED
		       ? -EBUSY
		       : confinement_set(&instance->confinement, request);
}
