/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of Linux that files of lwkpart.ko use, for user space. The Makefile makes the names of
 * Linux's headers lead here. READ_ONCE() lets a fuzzer change shared memory between two reads.
 */
#ifndef FUZZ_LWKPART_KERNEL_H
#define FUZZ_LWKPART_KERNEL_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef __u64 u64;
typedef __s64 s64;
typedef uint64_t phys_addr_t;

#define __user

/* ---- memory ---- */

#define PAGE_SHIFT 12
#define PAGE_SIZE 4096UL
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PMD_SIZE (2UL << 20)
#define PUD_SIZE (1UL << 30)
#define PTRS_PER_PTE 512
#define IS_ALIGNED(x, a) (((x) & ((a) - 1)) == 0)
#define PAGE_ALIGN(x) (((x) + PAGE_SIZE - 1) & PAGE_MASK)
#define PAGE_ALIGNED(x) IS_ALIGNED((u64)(x), PAGE_SIZE)
#define offset_in_page(x) ((unsigned long)(x) & ~PAGE_MASK)
#define _PAGE_PRESENT 1UL
#define _PAGE_RW 2UL
#define _PAGE_USER 4UL
#define _PAGE_PWT 8UL
#define _PAGE_PCD 16UL
#define _PAGE_ACCESSED 32UL
#define _PAGE_DIRTY 64UL
#define _PAGE_PSE 128UL
#define _PAGE_NX (1UL << 63)
#define PTE_PFN_MASK 0x000ffffffffff000UL

/* Fuzzers define them; an address outside of the partition ends the fuzzer. */
void *phys_to_virt(u64 physical);
u64 virt_to_phys(const void *virt);
extern unsigned int simulated_levels;
#define pgtable_l5_enabled() (simulated_levels == 5)

/* ---- shared memory ---- */

/* Changes what an LWK may change, at a time when lwkpart.ko reads it. */
void scribble(void);

#define barrier() __asm__ volatile("" ::: "memory")
#define READ_ONCE(x) (scribble(), *(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define smp_load_acquire(p) (scribble(), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define cmpxchg(p, old, new)                                                                       \
	({                                                                                         \
		__typeof__(*(p)) was = (old);                                                      \
		scribble();                                                                        \
		__atomic_compare_exchange_n(p, &was, new, false, __ATOMIC_SEQ_CST,                 \
					    __ATOMIC_SEQ_CST);                                     \
		was;                                                                               \
	})
#define cpu_relax() ((void)0)
#define cond_resched() false

/* ---- small things ---- */

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min_t(type, a, b) min((type)(a), (type)(b))
#define check_add_overflow(a, b, sum) __builtin_add_overflow(a, b, sum)
#define isascii(c) (!((c) & 0x80))
#define isprint(c) ((c) >= ' ' && (c) <= '~')
#define pr_err(...) ((void)0)
#define kvzalloc(size, flags) calloc(1, size)
#define kvfree(memory) free(memory)
#define GFP_KERNEL 0
#define boot_cpu_has(feature) (feature)
#define X86_FEATURE_NX true
#define X86_FEATURE_GBPAGES true
#define x2apic_enabled() true
#define MSR_IA32_APICBASE 0
#define rdmsrq(msr, value) ((value) = 0)
#define slow_virt_to_phys(virt) virt_to_phys(virt)
#define rdtsc_ordered() 0
enum { tsc_khz = 1000000 };
#define u64_to_user_ptr(address) ((void *)(uintptr_t)(address))

static inline unsigned long copy_to_user(void *to, const void *from, unsigned long size)
{
	memcpy(to, from, size);
	return 0;
}

struct kvec {
	void *iov_base;
	size_t iov_len;
};

/* ---- locks; one thread runs ---- */

struct rw_semaphore {
	int readers;
};

struct mutex {
	int holders;
};

typedef int spinlock_t;

#define down_read(lock) ((lock)->readers++)
#define down_read_killable(lock) (down_read(lock), 0)
#define up_read(lock) must((lock)->readers-- > 0)
#define down_write(lock) down_read(lock)
#define up_write(lock) up_read(lock)
#define spin_lock(lock) must(!(*(lock))++)
#define spin_unlock(lock) must(!--(*(lock)))

#endif
