// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mmap(2) of /dev/lwk/N: the status area, the channels, and the WINDOW.
 */
#include "process/memory/mmap.h"

#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/mm.h>

#include "abi/device/device.h"
#include "abi/shared/channel.h"
#include "abi/shared/status.h"
#include "compat/compat.h"
#include "process/memory/window.h"

static vm_fault_t insert_page(struct vm_fault *vmf, void *area)
{
	unsigned long offset = (vmf->address & PAGE_MASK) - vmf->vma->vm_start;

	return vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK,
			      (virt_to_phys(area) + offset) >> PAGE_SHIFT);
}

static vm_fault_t status_fault(struct vm_fault *vmf)
{
	struct lwk_process *process = vmf->vma->vm_private_data;
	struct instance *instance = process->instance;
	vm_fault_t result = VM_FAULT_SIGBUS;

	down_read(&instance->rwsem);
	if (serves(instance) &&
	    (vmf->address & PAGE_MASK) - vmf->vma->vm_start < LWK_STATUS_BYTES(instance->n_slots))
		result = insert_page(vmf, instance->status);
	up_read(&instance->rwsem);
	return result;
}

/*
 * The page that stands for all pages of channels that have gone: a thread of the proxy may be just
 * reading or writing its own, in a signal handler too, and learns from its next LWK_SERVE.
 */
static void *gone_page(struct lwk_process *process)
{
	void *page = READ_ONCE(process->gone_page), *other;

	if (page)
		return page;
	page = (void *)get_zeroed_page(GFP_KERNEL_ACCOUNT);
	other = page ? cmpxchg(&process->gone_page, NULL, page) : NULL;
	if (!other)
		return page;
	free_page((unsigned long)page);
	return other;
}

static vm_fault_t show_gone_page(struct vm_fault *vmf, struct lwk_process *process)
{
	void *page = gone_page(process);

	return page ? vmf_insert_pfn(vmf->vma, vmf->address & PAGE_MASK, PHYS_PFN(__pa(page)))
		    : VM_FAULT_OOM;
}

static vm_fault_t channel_fault(struct vm_fault *vmf)
{
	struct lwk_thread *thread = vmf->vma->vm_private_data;
	struct instance *instance = thread->process->instance;
	struct lwk_channel *channel;
	vm_fault_t result;

	down_read(&instance->rwsem);
	down_read(&thread->process->shown);
	channel = READ_ONCE(thread->channel);
	if (serves(instance) && channel)
		result = insert_page(vmf, channel);
	else
		result = show_gone_page(vmf, thread->process);
	up_read(&thread->process->shown);
	up_read(&instance->rwsem);
	return result;
}

static const struct vm_operations_struct status_ops = {
	.fault = status_fault,
	.mremap = compat_refuse_mremap,
};

static const struct vm_operations_struct channel_ops = {
	.fault = channel_fault,
	.mremap = compat_refuse_mremap,
};

int process_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct lwk_process *process = file->private_data;
	struct lwk_thread *thread = thread_of_caller(process);
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT, size = vma->vm_end - vma->vm_start;
	int error;

	if (READ_ONCE(process->instance->destroyed))
		return -EHOSTDOWN;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vma->vm_private_data = process;
	switch (offset) {
	case LWK_MMAP_STATUS:
		if (size > PAGE_ALIGN(sizeof(struct lwk_status)))
			return -EINVAL;
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYWRITE);
		vma->vm_ops = &status_ops;
		break;
	case LWK_MMAP_CHANNEL:
		if (thread->slot < 0 || size != sizeof(struct lwk_channel))
			return -EINVAL;
		vma->vm_private_data = thread;
		vma->vm_ops = &channel_ops;
		break;
	default:
		error = window_attach(process, vma, offset);
		if (error)
			return error;
	}
	/*
	 * A child of the proxy gets no mapping, which madvise(2) cannot change because of VM_IO. Linux
	 * executes no code of the LWK process.
	 */
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC);
	return 0;
}
