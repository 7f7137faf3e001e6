// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /dev/lwk/N: its file operations. Each ioctl is a row of a table; the row's function copies
 * arguments in and results out, and other files do the work.
 */
#include "process/device.h"

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "abi/control/kmsg.h"
#include "abi/device/counters.h"
#include "abi/device/freeze.h"
#include "abi/device/process.h"
#include "abi/device/serve.h"
#include "abi/device/watch.h"
#include "compat/compat.h"
#include "instance/orders/counters.h"
#include "instance/orders/freeze.h"
#include "instance/watch/console.h"
#include "instance/watch/usage.h"
#include "process/calls/calls.h"
#include "process/calls/serve.h"
#include "process/memory/grant.h"
#include "process/memory/mmap.h"
#include "process/memory/window.h"
#include "process/process.h"
#include "process/thread/channel.h"
#include "server/server.h"

static dev_t first_device;
static struct class *device_class;
static struct workqueue_struct *closers;

static long get_status(struct lwk_process *process, void __user *arg)
{
	struct instance *instance = process->instance;
	struct lwk_instance_status status = {};

	status.state = instance_tell(instance, status.message);
	status.cpus = instance->n_cpus;
	status.status_bytes = PAGE_ALIGN(LWK_STATUS_BYTES(instance->n_slots));
	status.processes = READ_ONCE(instance->n_processes);
	return copy_to_user(arg, &status, sizeof(status)) ? -EFAULT : 0;
}

static long get_details(struct lwk_process *process, void __user *arg)
{
	struct instance *instance = process->instance;
	struct lwk_instance_details details = {
		.uid = from_kuid_munged(current_user_ns(), instance->uid),
		.job_id = instance->job_id,
	};
	unsigned int i;

	details.state = instance_tell(instance, details.message);
	details.since_ns = READ_ONCE(instance->since_ns);
	details.cpus = instance->n_cpus;
	details.processes = READ_ONCE(instance->n_processes);
	for (i = 0; i < instance->n_mem; i++)
		details.bytes += instance->mem[i].size;
	return copy_to_user(arg, &details, sizeof(details)) ? -EFAULT : 0;
}

static long get_usage(struct lwk_process *process, void __user *arg)
{
	struct lwk_usage usage;
	int error;

	if (copy_from_user(&usage, arg, sizeof(usage)))
		return -EFAULT;
	if (usage.reserved[0] || usage.reserved[1])
		return -EINVAL;
	error = usage_copy(process->instance, &usage);
	if ((!error || error == -ENOSPC) && copy_to_user(arg, &usage, sizeof(usage)))
		return -EFAULT;
	return error;
}

static long read_console(struct lwk_process *process, void __user *arg)
{
	struct lwkpart_kmsg kmsg;
	int error;

	if (copy_from_user(&kmsg, arg, sizeof(kmsg)))
		return -EFAULT;
	if (kmsg.flags || kmsg.instance)
		return -EINVAL;
	error = console_copy(process->instance, &kmsg);
	if (error)
		return error;
	return copy_to_user(arg, &kmsg, sizeof(kmsg)) ? -EFAULT : 0;
}

static long listen(struct lwk_process *process, void __user *arg)
{
	struct lwk_eventfd request;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	return event_listen(&process->instance->events, process, &request);
}

static long freeze(struct lwk_process *process, void __user *arg)
{
	struct lwk_freeze request;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	return freeze_instance(process->instance, &request);
}

static long count(struct lwk_process *process, void __user *arg)
{
	struct lwk_counters request;
	int error;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	error = counters_command(process->instance, &request);
	if (error)
		return error;
	return copy_to_user(arg, &request, sizeof(request)) ? -EFAULT : 0;
}

static long create(struct lwk_process *process, void __user *arg)
{
	struct lwk_proc_create request;
	long error;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	error = process_create(process, &request);
	if (error)
		return error;
	/* If this fails, the process ends with the file, as any other does. */
	return copy_to_user(arg, &request, sizeof(request)) ? -EFAULT : 0;
}

static long add_thread(struct lwk_process *process, void __user *arg)
{
	struct lwk_thread_create request;
	long error;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	error = process_add_thread(process, &request);
	if (error)
		return error;
	/* If this fails, the process has a slot that it does not use. */
	return copy_to_user(arg, &request, sizeof(request)) ? -EFAULT : 0;
}

static long end(struct lwk_process *process, void __user *arg)
{
	if (task_tgid(current) != process->proxy)
		return -EPERM;
	window_hide(process);
	return process_end(process);
}

static long serve_caller(struct lwk_process *process, void __user *arg)
{
	return serve(thread_of_caller(process), arg);
}

static long ring(struct lwk_process *process, void __user *arg)
{
	return channel_ring(thread_of_caller(process));
}

static long unmap(struct lwk_process *process, void __user *arg)
{
	struct lwk_unmap request;

	if (copy_from_user(&request, arg, sizeof(request)))
		return -EFAULT;
	return window_unmap(process, &request);
}

static long grant(struct lwk_process *process, void __user *arg)
{
	return grants_serve(process);
}

static const struct operation {
	unsigned int command;
	long (*run)(struct lwk_process *process, void __user *arg);
	bool after_destroy;
} operations[] = {
	{ LWK_GET_STATUS, get_status, .after_destroy = true },
	{ LWK_PROC_CREATE, create },
	{ LWK_SERVE, serve_caller },
	{ LWK_DOORBELL, ring },
	{ LWK_UNMAP, unmap },
	{ LWK_GET_DETAILS, get_details, .after_destroy = true },
	{ LWK_GET_USAGE, get_usage },
	{ LWK_KMSG, read_console },
	{ LWK_EVENTFD, listen },
	{ LWK_FREEZE, freeze },
	{ LWK_THREAD_CREATE, add_thread },
	{ LWK_PROC_END, end },
	{ LWK_COUNTERS, count },
	{ LWK_GRANT, grant },
};

static long device_ioctl(struct file *file, unsigned int command, unsigned long arg)
{
	struct lwk_process *process = file->private_data;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(operations) && operations[i].command != command; i++)
		;
	if (i == ARRAY_SIZE(operations))
		return -ENOTTY;
	if (READ_ONCE(process->instance->destroyed) && !operations[i].after_destroy)
		return -EHOSTDOWN;
	return operations[i].run(process, (void __user *)arg);
}

/*
 * Returns 0 when the caller may open the instance, or the error. The node's mode alone does not
 * tell: a descriptor that names the node of an earlier instance leads to the one that has its
 * number now.
 */
static int check_opener(const struct instance *instance)
{
	if (READ_ONCE(instance->destroyed))
		return -ENXIO;
	return uid_eq(current_fsuid(), instance->uid) || capable(CAP_SYS_ADMIN) ? 0 : -EACCES;
}

static void take_mappings(struct lwk_process *process, struct inode *inode, struct file *file)
{
	address_space_init_once(&process->mapping);
	process->mapping.host = inode;
	/* Where the node is in a file system with a page cache, nothing would empty one of ours. */
	process->mapping.a_ops = &empty_aops;
	file->f_mapping = &process->mapping;
}

static int device_open(struct inode *inode, struct file *file)
{
	struct instance *instance = container_of(inode->i_cdev, struct instance, cdev);
	struct lwk_process *process;
	int error = check_opener(instance);

	if (error)
		return error;
	process = kzalloc(sizeof(*process), GFP_KERNEL_ACCOUNT);
	if (!process)
		return -ENOMEM;
	if (grants_create(process)) {
		kfree(process);
		return -ENOMEM;
	}
	process->instance = instance;
	process->file = file;
	take_mappings(process, inode, file);
	thread_init(&process->first, process);
	init_rwsem(&process->shown);
	xa_init(&process->shown_parts);
	process->hidings = 1; /* so that no thread knows a page */
	file->private_data = process;
	mutex_lock(&instance->files_mutex);
	list_add(&process->link, &instance->files);
	mutex_unlock(&instance->files_mutex);
	return 0;
}

/* Ends the process, for which it may wait for the LWK, and frees it. */
static void close_process(struct lwk_process *process)
{
	struct lwk_thread *thread;

	/* A file that was only used to watch the instance has no process to wait for. */
	if (process->first.slot >= 0)
		process_end(process);
	mutex_lock(&process->instance->files_mutex);
	list_del(&process->link);
	mutex_unlock(&process->instance->files_mutex);
	if (process->first.slot < 0)
		grants_destroy(process);
	while ((thread = process->first.next)) {
		process->first.next = thread->next;
		put_pid(thread->proxy);
		kfree(thread);
	}
	put_pid(process->proxy);
	free_page((unsigned long)process->gone_page);
	xa_destroy(&process->shown_parts);
	kfree(process);
}

static void close_later(struct work_struct *work)
{
	struct lwk_process *process = container_of(work, struct lwk_process, closing);
	struct instance *instance = process->instance;

	close_process(process);
	instance_put(instance);
}

static int device_close(struct inode *inode, struct file *file)
{
	struct lwk_process *process = file->private_data;

	event_forget(&process->instance->events, process);
	if (process->first.slot < 0 || task_tgid(current) == process->proxy) {
		close_process(process);
		return 0;
	}
	/*
	 * Anybody can be the last to close a file: who throws away a message with its descriptor, or
	 * Linux's worker for all files that kernel threads close. Only the proxy waits for the LWK itself.
	 */
	instance_get(process->instance);
	INIT_WORK(&process->closing, close_later);
	queue_work(closers, &process->closing);
	return 0;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_close,
	.unlocked_ioctl = device_ioctl,
	.mmap = process_mmap,
};

static char *device_node(compat_devnode_device *device, umode_t *mode, kuid_t *uid, kgid_t *gid)
{
	struct instance *instance = container_of(device, struct instance, device);

	/* When the node is removed, the caller asks for its name only. */
	if (mode)
		*mode = 0600;
	if (uid)
		*uid = instance->uid;
	return kasprintf(GFP_KERNEL, "lwk/%u", instance->id);
}

static const struct device_type device_type = {
	.name = "lwk",
	.devnode = device_node,
};

static void device_release(struct device *device)
{
	instance_put(container_of(device, struct instance, device));
}

int instance_device_create(struct instance *instance)
{
	unsigned int i;
	int error;

	INIT_LIST_HEAD(&instance->files);
	INIT_LIST_HEAD(&instance->stranded);
	for (i = 0; i < LWK_MAX_SLOTS; i++)
		init_waitqueue_head(&instance->wait[i]);
	for (i = 0; i < LWK_MAX_CPUS; i++)
		server_init(&instance->servers[i], instance);
	snprintf(instance->name, sizeof(instance->name), "lwk%u", instance->id);

	/* An open file holds the cdev, the cdev the device, and the device the instance. */
	instance_get(instance);
	device_initialize(&instance->device);
	instance->device.class = device_class;
	instance->device.type = &device_type;
	instance->device.devt = MKDEV(MAJOR(first_device), instance->id);
	instance->device.release = device_release;
	cdev_init(&instance->cdev, &device_operations);
	instance->cdev.owner = THIS_MODULE;
	error = dev_set_name(&instance->device, "lwk%u", instance->id);
	if (!error)
		error = cdev_device_add(&instance->cdev, &instance->device);
	if (error)
		put_device(&instance->device);
	return error;
}

void instance_device_destroy(struct instance *instance)
{
	cdev_device_del(&instance->cdev, &instance->device);
	put_device(&instance->device);
}

int instance_devices_init(void)
{
	int error = alloc_chrdev_region(&first_device, 0, LWKPART_MAX_INSTANCES, "lwk");

	if (error)
		return error;
	calls_init();
	device_class = compat_class_create("lwk");
	error = PTR_ERR_OR_ZERO(device_class);
	if (error)
		goto unregister;
	closers = alloc_workqueue("lwkpart", WQ_UNBOUND, 0);
	if (!closers) {
		error = -ENOMEM;
		goto destroy_class;
	}
	error = charge_init();
	if (error)
		goto destroy_closers;
	return 0;

destroy_closers:
	destroy_workqueue(closers);
destroy_class:
	class_destroy(device_class);
unregister:
	unregister_chrdev_region(first_device, LWKPART_MAX_INSTANCES);
	return error;
}

void instance_devices_exit(void)
{
	charge_exit();
	/* Closed files of instances that were destroyed do not hold the module, so this waits for them. */
	destroy_workqueue(closers);
	class_destroy(device_class);
	unregister_chrdev_region(first_device, LWKPART_MAX_INSTANCES);
}
