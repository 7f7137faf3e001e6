/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls that programs make in their own mode (vdso(7)): the C library finds them at
 * LWK_VDSO_VADDR, by the ELF headers of the file that this is linked to.
 */
#include <asm/unistd.h>
#include <linux/time.h>

#include "abi/shared/layout.h"
#include "lwk/machine/entry.h"
#include "lwk/time/read.h"

#define CLOCK ((const struct lwk_clock *)LWK_CLOCK_VADDR)
#define NS_PER_SEC 1000000000UL

int __vdso_clock_gettime(int64_t id, struct __kernel_timespec *to);
int __vdso_clock_getres(int64_t id, struct __kernel_timespec *to);
int __vdso_gettimeofday(struct __kernel_old_timeval *to, struct timezone *zone);
int64_t __vdso_time(int64_t *to);
int __vdso_getcpu(unsigned int *cpu, unsigned int *node, void *unused);

static int64_t system_call(int64_t number, uint64_t first, uint64_t second)
{
	int64_t ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(first), "S"(second)
			 : "rcx", "r11", "memory");
	return ret;
}

int __vdso_clock_gettime(int64_t id, struct __kernel_timespec *to)
{
	enum lwk_clock_kind kind = clock_kind((uint64_t)id);
	uint64_t ns;

	if (kind == LWK_CLOCK_KINDS)
		return system_call(__NR_clock_gettime, id, (uint64_t)to);
	ns = clock_read(CLOCK, kind);
	to->tv_sec = ns / NS_PER_SEC;
	to->tv_nsec = ns % NS_PER_SEC;
	return 0;
}

int __vdso_clock_getres(int64_t id, struct __kernel_timespec *to)
{
	return system_call(__NR_clock_getres, id, (uint64_t)to);
}

int __vdso_gettimeofday(struct __kernel_old_timeval *to, struct timezone *zone)
{
	uint64_t us;

	if (to) {
		us = clock_read(CLOCK, LWK_CLOCK_REALTIME) / 1000;
		to->tv_sec = us / 1000000;
		to->tv_usec = us % 1000000;
	}
	if (zone)
		*zone = (struct timezone){ 0, 0 };
	return 0;
}

int64_t __vdso_time(int64_t *to)
{
	int64_t seconds = clock_read(CLOCK, LWK_CLOCK_REALTIME) / NS_PER_SEC;

	if (to)
		*to = seconds;
	return seconds;
}

int __vdso_getcpu(unsigned int *cpu, unsigned int *node, void *unused)
{
	unsigned int both;

	/* As in Linux, the limit of a segment holds both, because all CPUs have lsl. */
	__asm__("lsl %1, %0" : "=r"(both) : "r"(CPU_NODE_SELECTOR_NUMBER));
	if (cpu)
		*cpu = both & 0xfff;
	if (node)
		*node = both >> 12;
	return 0;
}
