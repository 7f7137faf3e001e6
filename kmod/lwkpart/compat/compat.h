/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This header hides what differs between kernels: the module's sources use the newest kernel's
 * interface, or a function of this header. Each HAVE_ says that this kernel compiles the file of that
 * name in kmod/tries: versions tell nothing, because vendors backport.
 */
#ifndef COMPAT_H
#define COMPAT_H

#ifdef __ASSEMBLY__

#ifdef HAVE_UNWIND_HINT_UNDEFINED
#define COMPAT_HINT_NO_STACK UNWIND_HINT_UNDEFINED
#else
#define COMPAT_HINT_NO_STACK UNWIND_HINT_EMPTY
#endif

#else

#include <linux/device.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <linux/module.h>
#ifdef HAVE_CC_PLATFORM
#include <linux/cc_platform.h>
#else
#include <linux/mem_encrypt.h>
#endif
#ifdef HAVE_PANIC_NOTIFIER
#include <linux/panic_notifier.h>
#endif

static inline bool compat_memory_is_encrypted(void)
{
#ifdef HAVE_CC_PLATFORM
	return cc_platform_has(CC_ATTR_MEM_ENCRYPT);
#else
	return mem_encrypt_active();
#endif
}

#ifndef HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}

static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags &= ~flags;
}
#endif

static inline struct class *compat_class_create(const char *name)
{
#ifdef HAVE_CLASS_CREATE_WITH_OWNER
	return class_create(THIS_MODULE, name);
#else
	return class_create(name);
#endif
}

/* The devnode operation of a device_type gets a device of this type. */
#ifdef HAVE_DEVNODE_OF_CONST_DEVICE
typedef const struct device compat_devnode_device;
#else
typedef struct device compat_devnode_device;
#endif

static inline long compat_pin_user_pages(unsigned long start, unsigned long count,
					 unsigned int flags, struct page **pages)
{
#ifdef HAVE_PIN_USER_PAGES_WITH_VMAS
	return pin_user_pages(start, count, flags, pages, NULL);
#else
	return pin_user_pages(start, count, flags, pages);
#endif
}

/* True when more than one mapping has the page; newer kernels estimate it for large folios. */
static inline bool compat_is_mapped_by_several(struct page *page)
{
#if defined(HAVE_PAGE_MAPCOUNT)
	return page_mapcount(page) > 1;
#elif defined(HAVE_FOLIO_LIKELY_MAPPED_SHARED)
	return folio_likely_mapped_shared(page_folio(page));
#else
	return folio_maybe_mapped_shared(page_folio(page));
#endif
}

static inline void compat_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef HAVE_EVENTFD_SIGNAL_WITH_COUNT
	eventfd_signal(eventfd, 1);
#else
	eventfd_signal(eventfd);
#endif
}

#endif

#endif
