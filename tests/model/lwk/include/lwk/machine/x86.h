/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The LWK's header; instructions that only a kernel may execute act on simulated CPUs instead. */
#ifndef MODEL_LWK_X86_H
#define MODEL_LWK_X86_H

#define cpu_relax hardware_cpu_relax
#define memory_barrier hardware_memory_barrier
#define rdtsc hardware_rdtsc
#define read_cr3 hardware_read_cr3
#define write_cr3 hardware_write_cr3
#define read_msr hardware_read_msr
#define write_msr hardware_write_msr
#define halt_with_interrupts hardware_halt_with_interrupts
#include_next "lwk/machine/x86.h"
#undef cpu_relax
#undef memory_barrier
#undef rdtsc
#undef read_cr3
#undef write_cr3
#undef read_msr
#undef write_msr
#undef halt_with_interrupts

#include "explorer/explorer.h"

/* lwk.c has them. */
uint64_t read_msr(uint32_t msr);
void write_msr(uint32_t msr, uint64_t value);
void halt_with_interrupts(void);
uint64_t rdtsc(void);

#define cpu_relax() model_relax()
#define memory_barrier() model_barrier()

static inline uint64_t read_cr3(void)
{
	return 0;
}

static inline void write_cr3(uint64_t value)
{
}

#endif
