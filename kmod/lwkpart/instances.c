// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of an LWK instance: create, assign, load, boot, shut down, destroy.
 *
 * What the LWK writes (status, console) is never trusted: it is copied once, bounded,
 * and text is made printable before anybody sees it.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/vmalloc.h>
#include "internal.h"

/* By id; with lwkpart_mutex held. */
static struct instance *instances[LWKPART_MAX_INSTANCES];

static void release(struct kref *kref)
{
	struct instance *instance = container_of(kref, struct instance, kref);

	confine_release(instance);
	kvfree(instance);
}

void instance_get(struct instance *instance)
{
	kref_get(&instance->kref);
}

void instance_put(struct instance *instance)
{
	kref_put(&instance->kref, release);
}

static struct instance *find(u32 id)
{
	return id < LWKPART_MAX_INSTANCES ? instances[id] : NULL;
}

unsigned int instance_count(void)
{
	unsigned int id, count = 0;

	for (id = 0; id < LWKPART_MAX_INSTANCES; id++)
		count += !!instances[id];
	return count;
}

void copy_lwk_text(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1; i++) {
		char c = READ_ONCE(from[i]);

		if (!c)
			break;
		to[i] = isascii(c) && isprint(c) ? c : '?';
	}
	to[i] = 0;
}

void instance_set_state(struct instance *instance, enum lwk_state state)
{
	instance->state = state;
	instance->since_ns = ktime_get_real_ns();
	event_signal(instance, LWK_EVENT_STATE);
	if (state == LWK_STATE_PANIC)
		event_signal(instance, LWK_EVENT_PANIC);
	if (state == LWK_STATE_HUNG)
		event_signal(instance, LWK_EVENT_HANG);
}

/* Does the LWK have CPUs that were started and not stopped? */
static bool is_live(const struct instance *instance)
{
	switch (instance->state) {
	case LWK_STATE_BOOTING:
	case LWK_STATE_RUNNING:
	case LWK_STATE_FREEZING:
	case LWK_STATE_FROZEN:
		return true;
	default:
		return false;
	}
}

static bool says_panic(const struct instance *instance)
{
	return is_live(instance) && READ_ONCE(instance->status->state) == LWK_STATE_PANIC;
}

enum lwk_state instance_state(struct instance *instance)
{
	if (!says_panic(instance))
		return instance->state;
	/* The worker takes over the message, which needs the lock for writing. */
	watch_soon(instance);
	return LWK_STATE_PANIC;
}

void instance_notice_panic(struct instance *instance)
{
	u32 cpu = 0;
	bool new;

	down_write(&instance->rwsem);
	new = says_panic(instance);
	if (new) {
		cpu = READ_ONCE(instance->status->panic_cpu);
		copy_lwk_text(instance->message, instance->status->message,
			      sizeof(instance->message));
		instance_set_state(instance, LWK_STATE_PANIC);
	}
	up_write(&instance->rwsem);
	if (!new)
		return;
	pr_err("the LWK of job %u (instance %u) was to run, but panicked on its CPU %u: %s; end the job, and keep its console text for whoever maintains that LWK\n",
	       instance->job_id, instance->id, cpu, instance->message);
	process_wake_all(instance);
}

void instance_hung(struct instance *instance, const char *why)
{
	bool new;

	down_write(&instance->rwsem);
	new = state_has_processes(instance->state);
	if (new) {
		strscpy(instance->message, why, sizeof(instance->message));
		instance_set_state(instance, LWK_STATE_HUNG);
	}
	up_write(&instance->rwsem);
	if (!new)
		return;
	pr_err("the LWK of job %u (instance %u) was to answer, but is hung: %s; end the job\n",
	       instance->job_id, instance->id, why);
	process_wake_all(instance);
}

int instance_create(struct lwkpart_create *request)
{
	kuid_t uid = make_kuid(current_user_ns(), request->uid);
	struct instance *instance;
	u32 id;
	int error;

	if (!uid_valid(uid) || request->flags & ~LWKPART_CREATE_PROXY_CALLS)
		return -EINVAL;
	for (id = 0; id < LWKPART_MAX_INSTANCES && instances[id]; id++)
		;
	if (id == LWKPART_MAX_INSTANCES)
		return -ENOSPC;
	instance = kvzalloc(sizeof(*instance), GFP_KERNEL);
	if (!instance)
		return -ENOMEM;
	kref_init(&instance->kref);
	init_rwsem(&instance->rwsem);
	mutex_init(&instance->process_mutex);
	mutex_init(&instance->counters_mutex);
	watch_init(instance);
	event_init(instance);
	instance->id = id;
	instance->uid = uid;
	instance->job_id = request->job_id;
	instance->proxy_calls = request->flags & LWKPART_CREATE_PROXY_CALLS;
	instance->since_ns = ktime_get_real_ns();
	error = process_device_create(instance);
	if (error) {
		instance_put(instance);
		return error;
	}
	__module_get(THIS_MODULE);
	instances[id] = instance;
	request->instance = id;
	return 0;
}

/* May it get more CPUs and memory? */
static int check_assignable(const struct instance *instance)
{
	if (!instance)
		return -ENOENT;
	return instance->state > LWK_STATE_LOADED ? -EBUSY : 0;
}

/* What was loaded before does not fit what is assigned now. */
static void set_assigned(struct instance *instance)
{
	down_write(&instance->rwsem);
	instance_set_state(instance, LWK_STATE_ASSIGNED);
	up_write(&instance->rwsem);
}

int instance_assign_cpu(const struct lwkpart_assign_cpu *request)
{
	struct instance *instance = find(request->instance);
	struct lent_cpu *lent = ledger_find_cpu(request->cpu);
	unsigned int index;
	int error;

	error = check_assignable(instance);
	if (error)
		return error;
	if (!lent)
		return -ENOENT;
	if (lent->owner)
		return -EBUSY;
	if (instance->n_cpus == LWK_MAX_CPUS)
		return -ENOSPC;
	if (request->doorbell_cpu >= nr_cpu_ids || !cpu_online(request->doorbell_cpu))
		return -EINVAL;
	error = cpu_make_ready(request->cpu);
	if (error)
		return error;
	ledger_assign_cpu(lent, instance);
	index = instance->n_cpus++;
	instance->doorbell_cpu[index] = request->doorbell_cpu;
	instance->cpus[index] = (struct lwk_boot_cpu){
		.linux_cpu = request->cpu,
		.apicid = cpu_apicid(request->cpu),
		.node = cpu_to_node(request->cpu),
	};
	set_assigned(instance);
	return 0;
}

int instance_assign_memory(const struct lwkpart_assign_mem *request)
{
	struct instance *instance = find(request->instance);
	struct lent_range *lent = ledger_find_range(request->start, request->size);
	int error;

	error = check_assignable(instance);
	if (error)
		return error;
	if (!lent)
		return -ENOENT;
	if (lent->owner)
		return -EBUSY;
	if (instance->n_mem == LWK_MAX_MEM)
		return -ENOSPC;
	ledger_assign_range(lent, instance);
	instance->mem[instance->n_mem++] = (struct lwk_boot_mem){
		.start = lent->start,
		.size = lent->size,
		.node = lent->node,
	};
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
		pr_err("an image was to be loaded into instance %u, which has %u CPUs and %u memory ranges; assign some of both first\n",
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
	down_write(&instance->rwsem);
	error = image_load(instance, file, request->size);
	instance_set_state(instance, error ? LWK_STATE_ASSIGNED : LWK_STATE_LOADED);
	up_write(&instance->rwsem);
free_file:
	vfree(file);
	return error;
}

/* With rwsem held and the state BOOTING, so the shared areas are there. */
static bool says_running(const struct instance *instance)
{
	return READ_ONCE(instance->status->magic) == LWK_SHARED_MAGIC &&
	       READ_ONCE(instance->status->state) == LWK_STATE_RUNNING;
}

/* It will not be waited for any longer. With rwsem held for writing, state BOOTING. */
static void give_up_boot(struct instance *instance, const char *why)
{
	scnprintf(instance->message, sizeof(instance->message), "%s; %u of %u CPUs came up", why,
		  READ_ONCE(instance->status->cpus_up), instance->n_cpus);
	instance_set_state(instance, LWK_STATE_HUNG);
}

/* What became of a boot: -EINPROGRESS, or what LWKPART_BOOT answers. */
static int boot_result(struct instance *instance, ktime_t deadline)
{
	bool late = ktime_after(ktime_get(), deadline);
	int result = -EINPROGRESS;

	instance_notice_panic(instance);
	down_write(&instance->rwsem);
	if (instance->state == LWK_STATE_PANIC) {
		result = -EIO;
	} else if (instance->state != LWK_STATE_BOOTING) {
		result = -ECANCELED; /* somebody has shut it down */
	} else if (says_running(instance)) {
		instance_set_state(instance, LWK_STATE_RUNNING);
		result = 0;
	} else if (late) {
		give_up_boot(instance, "it was not running in time");
		result = -ETIMEDOUT;
	} else if (fatal_signal_pending(current)) {
		give_up_boot(instance, "whoever booted it was killed");
		result = -EINTR;
	}
	up_write(&instance->rwsem);
	return result;
}

/* Its CPUs were started: waits until the state is BOOTING no more. */
static int wait_running(struct instance *instance, u32 timeout_ms)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), timeout_ms);
	int result;

	while ((result = boot_result(instance, deadline)) == -EINPROGRESS)
		usleep_range(200, 1000);
	process_wake_all(instance);
	if (result == -ETIMEDOUT)
		pr_err("the LWK of job %u (instance %u) was to be running %u ms after its start: %s; read its console, or allow it more time\n",
		       instance->job_id, instance->id, timeout_ms, instance->message);
	return result;
}

/* -ETIMEDOUT: not all CPUs started; the state is HUNG. */
static int start_cpus(struct instance *instance)
{
	unsigned int i;
	int error;

	for (i = 0; i < instance->n_cpus; i++) {
		struct cpu_entry entry = {
			.page_root = instance->page_root,
			.address = instance->entry,
			.stack = instance->stacks + (i + 1) * LWK_BOOT_STACK,
			.params = LWK_DIRECT_MAP + virt_to_phys(instance->params),
			.index = i,
		};

		error = cpu_start(instance->cpus[i].linux_cpu, &entry);
		if (error) {
			down_write(&instance->rwsem);
			scnprintf(instance->message, sizeof(instance->message),
				  "CPU %u did not start", instance->cpus[i].linux_cpu);
			instance_set_state(instance, LWK_STATE_HUNG);
			up_write(&instance->rwsem);
			process_wake_all(instance);
			return error;
		}
	}
	return 0;
}

/* Everything up to the point where the LWK must act. With lwkpart_mutex held. */
static int start(struct instance *instance, const char *cmdline)
{
	int error;

	if (instance->state != LWK_STATE_LOADED)
		return -EBUSY;
	strscpy(instance->params->cmdline, cmdline, sizeof(instance->params->cmdline));
	clock_publish(instance);
	error = doorbell_connect(instance);
	if (error)
		return error;
	down_write(&instance->rwsem);
	instance_set_state(instance, LWK_STATE_BOOTING);
	up_write(&instance->rwsem);
	error = start_cpus(instance);
	if (error)
		return error;
	watch_start(instance);
	return 0;
}

int instance_boot(const struct lwkpart_boot *request)
{
	struct instance *instance;
	int error;

	if (mutex_lock_killable(&lwkpart_mutex))
		return -EINTR;
	instance = find(request->instance);
	error = instance ? start(instance, request->cmdline) : -ENOENT;
	if (!error)
		instance_get(instance);
	mutex_unlock(&lwkpart_mutex);
	if (error)
		return error;
	error = wait_running(instance, request->timeout_ms);
	instance_put(instance);
	return error;
}

/* Stops whatever the instance is doing. It needs nothing of the LWK: that may be dead. */
static void stop(struct instance *instance)
{
	bool started = instance->state > LWK_STATE_LOADED && instance->state != LWK_STATE_SHUTDOWN;

	if (instance->state == LWK_STATE_SHUTDOWN)
		return;
	counters_remove(instance);
	down_write(&instance->rwsem);
	instance_set_state(instance, LWK_STATE_SHUTDOWN);
	up_write(&instance->rwsem);
	process_wake_all(instance);
	if (!started)
		return;
	process_revoke_all(instance);
	cpu_stop(instance->cpus, instance->n_cpus);
	process_stopped_all(instance);
	doorbell_disconnect(instance);
	watch_stop(instance);
}

int instance_shutdown(u32 id)
{
	struct instance *instance = find(id);

	if (!instance)
		return -ENOENT;
	stop(instance);
	return 0;
}

int instance_destroy(u32 id)
{
	struct instance *instance = find(id);

	if (!instance)
		return -ENOENT;
	stop(instance);
	process_device_destroy(instance);
	/* Open files may keep the structure for a while, but nothing of the partition. */
	down_write(&instance->rwsem);
	image_unload(instance);
	up_write(&instance->rwsem);
	ledger_unassign_all(instance);
	instances[id] = NULL;
	instance_put(instance);
	module_put(THIS_MODULE);
	return 0;
}

int instance_info(struct lwkpart_instance_info *request)
{
	struct instance *instance = find(request->instance);
	unsigned int i;

	if (!instance)
		return -ENOENT;
	instance_notice_panic(instance);
	down_read(&instance->rwsem);
	request->state = instance->state;
	memcpy(request->message, instance->message, sizeof(request->message));
	up_read(&instance->rwsem);
	request->uid = from_kuid_munged(current_user_ns(), instance->uid);
	request->job_id = instance->job_id;
	request->cpus = instance->n_cpus;
	request->ranges = instance->n_mem;
	for (i = 0; i < instance->n_mem; i++)
		request->bytes += instance->mem[i].size;
	request->processes = READ_ONCE(instance->n_processes);
	return 0;
}

int instance_kmsg(struct lwkpart_kmsg *request)
{
	struct instance *instance = find(request->instance);

	return instance ? console_copy(instance, request) : -ENOENT;
}

int instance_hang_limit(const struct lwkpart_hang_limit *request)
{
	struct instance *instance = find(request->instance);

	if (!instance)
		return -ENOENT;
	WRITE_ONCE(instance->hang_ms, request->limit_ms);
	return 0;
}

/* The caller may have looked before the number came to another job. */
static struct instance *find_of_job(u32 id, u32 job_id)
{
	struct instance *instance = find(id);

	return instance && instance->job_id == job_id ? instance : NULL;
}

int instance_dump_layout(struct lwkpart_dump_layout *request)
{
	struct instance *instance = find_of_job(request->instance, request->job_id);

	return instance ? dump_layout(instance, request) : -ENOENT;
}

int instance_dump(struct lwkpart_dump *request)
{
	const struct instance *instance = find_of_job(request->instance, request->job_id);

	return instance ? dump_copy(instance, request) : -ENOENT;
}

int instance_confine(const struct lwkpart_confine *request)
{
	struct instance *instance = find(request->instance);

	if (!instance)
		return -ENOENT;
	/* Who is a proxy already would stay where it is. */
	return instance->state > LWK_STATE_LOADED ? -EBUSY : confine_set(instance, request);
}
