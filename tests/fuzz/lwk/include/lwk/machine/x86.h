/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK's header; instructions that only a kernel may execute act on a simulated CPU instead. */
#ifndef FUZZ_LWK_X86_H
#define FUZZ_LWK_X86_H

#define read_cr0 hardware_read_cr0
#define write_cr0 hardware_write_cr0
#define read_cr3 hardware_read_cr3
#define write_cr3 hardware_write_cr3
#define read_cr4 hardware_read_cr4
#define write_cr4 hardware_write_cr4
#define invalidate_page hardware_invalidate_page
#define read_msr hardware_read_msr
#define write_msr hardware_write_msr
#include_next "lwk/machine/x86.h"
#undef read_cr0
#undef write_cr0
#undef read_cr3
#undef write_cr3
#undef read_cr4
#undef write_cr4
#undef invalidate_page
#undef read_msr
#undef write_msr

extern uint64_t simulated_cr3, simulated_cr4;

static inline uint64_t read_cr0(void)
{
	return 0;
}

static inline void write_cr0(uint64_t value)
{
}

static inline uint64_t read_cr3(void)
{
	return simulated_cr3;
}

static inline void write_cr3(uint64_t value)
{
	simulated_cr3 = value;
}

static inline uint64_t read_cr4(void)
{
	return simulated_cr4;
}

static inline void write_cr4(uint64_t value)
{
}

static inline void invalidate_page(uint64_t addr)
{
}

static inline uint64_t read_msr(uint32_t msr)
{
	return 0;
}

static inline void write_msr(uint32_t msr, uint64_t value)
{
}

#endif
