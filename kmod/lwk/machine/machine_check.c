/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machine checks (Intel SDM volume 3, chapter "Machine-Check Architecture"; AMD APM volume 2).
 *
 * A CPU that gets one must clear MCG_STATUS.MCIP: with it set, the next one resets the machine. On
 * machines that send each machine check to all CPUs, the banks of most have nothing to say.
 */
#include "lwk/machine/machine_check.h"

#include "lwk/machine/cpu.h"
#include "lwk/machine/x86.h"
#include "lwk/process/slot.h"
#include "lwk/watch/console.h"
#include "lwk/watch/panic.h"
#include "lwk/watch/registers.h"

#define CAP_BANKS 0xff
#define CAP_CMCI (1UL << 10)
#define CAP_RECOVERY (1UL << 24) /* S and AR say what software must do */
#define CTL2_CMCI (1UL << 30)

#define GLOBAL_RESTARTABLE (1UL << 0)
#define GLOBAL_RELATED (1UL << 1) /* the interrupted instruction has to do with the error */

#define STATUS_VALID (1UL << 63)
#define STATUS_OVERFLOW (1UL << 62)
#define STATUS_UNCORRECTED (1UL << 61)
#define STATUS_ADDRESS (1UL << 58)
#define STATUS_CORRUPT (1UL << 57) /* the CPU's state is */
#define STATUS_SIGNALLED (1UL << 56)
#define STATUS_ACTION (1UL << 55)

/* CPUID leaf 0x80000007, EBX (AMD): an error that is not fatal says so. */
#define HAS_SUCCOR (1u << 1)

enum severity { NOTHING, CORRECTED, HARMLESS, ENDS_PROGRAM, FATAL };

struct finding {
	enum severity severity;
	u32 bank;
	u64 status, address;
};

static bool amd_recovers(void)
{
	u32 regs[4];

	cpuid(0x80000007, 0, regs);
	return regs[1] & HAS_SUCCOR;
}

static enum severity severity_of(u64 status, u64 capabilities)
{
	if (!(status & STATUS_VALID))
		return NOTHING;
	if (!(status & STATUS_UNCORRECTED))
		return CORRECTED;
	if (status & STATUS_CORRUPT)
		return FATAL;
	if (!(capabilities & CAP_RECOVERY))
		return amd_recovers() && !(status & STATUS_OVERFLOW) ? ENDS_PROGRAM : FATAL;
	if (!(status & STATUS_ACTION))
		return HARMLESS;
	return status & STATUS_SIGNALLED && !(status & STATUS_OVERFLOW) ? ENDS_PROGRAM : FATAL;
}

static void read_bank(u32 bank, u64 capabilities, struct finding *found)
{
	found->bank = bank;
	found->status = read_msr(MSR_MC_STATUS(bank));
	found->severity = severity_of(found->status, capabilities);
	found->address = found->status & STATUS_ADDRESS && found->severity != NOTHING
				 ? read_msr(MSR_MC_ADDR(bank))
				 : 0;
}

/* Finds the worst uncorrected error, and clears all that it sees. */
static void find_worst(u64 capabilities, struct finding *worst)
{
	struct finding found;

	*worst = (struct finding){ .severity = NOTHING };
	for (u32 bank = 0; bank < (capabilities & CAP_BANKS); bank++) {
		read_bank(bank, capabilities, &found);
		/* Corrected ones wait for machine_check_report(). */
		if (found.severity <= CORRECTED)
			continue;
		write_msr(MSR_MC_STATUS(bank), 0);
		if (found.severity > worst->severity)
			*worst = found;
	}
}

/* The severity for this CPU, which goes on with the interrupted instruction if it can. */
static enum severity judge(const struct finding *worst, u64 global, bool user)
{
	enum severity severity = worst->severity;

	if (!(global & (GLOBAL_RESTARTABLE | GLOBAL_RELATED)))
		return FATAL;
	if (!(global & GLOBAL_RESTARTABLE) && severity < ENDS_PROGRAM)
		severity = ENDS_PROGRAM;
	return severity == ENDS_PROGRAM && !user ? FATAL : severity;
}

static __attribute__((noreturn)) void fail(const struct frame *frame, struct slot *slot,
					   const struct finding *worst)
{
	/* The GS base may be the process's. */
	write_msr(MSR_GS_BASE, (u64)slot);
	registers_save(slot, frame);
	panic("CPU %u: machine check at %llx: bank %u, status %llx, address %llx", slot->cpu->index,
	      frame->rip, worst->bank, worst->status, worst->address);
}

/*
 * entry.S calls it on the stack for machine checks, with a slot of this CPU; GS may be the
 * process's, and the interrupted code may hold any lock. True: the program ends, on its own stack.
 */
bool machine_check(const struct frame *frame, struct slot *slot);
bool machine_check(const struct frame *frame, struct slot *slot)
{
	u64 global = read_msr(MSR_MCG_STATUS);
	struct finding worst;
	enum severity severity;

	find_worst(read_msr(MSR_MCG_CAP), &worst);
	severity = judge(&worst, global, frame->cs & 3);
	slot->cpu->machine_check_address = worst.address;
	slot->cpu->machine_checks += worst.severity == HARMLESS;
	write_msr(MSR_MCG_STATUS, 0);
	if (severity == FATAL)
		fail(frame, slot, &worst);
	return severity == ENDS_PROGRAM;
}

u64 machine_check_address(void)
{
	return this_slot()->cpu->machine_check_address;
}

/* Linux hears of this bank's errors, because a CPU of its shares the bank. */
static bool is_linux(u32 bank, u64 capabilities)
{
	return capabilities & CAP_CMCI && read_msr(MSR_MC0_CTL2 + bank) & CTL2_CMCI;
}

void machine_check_report(void)
{
	struct cpu *cpu = this_slot()->cpu;
	u64 capabilities = read_msr(MSR_MCG_CAP);
	struct finding found;

	if (cpu->machine_checks)
		print("CPU %u: %u machine checks with errors that no program has met", cpu->index,
		      cpu->machine_checks);
	cpu->machine_checks = 0;
	for (u32 bank = 0; bank < (capabilities & CAP_BANKS); bank++) {
		read_bank(bank, capabilities, &found);
		if (found.severity == NOTHING || is_linux(bank, capabilities))
			continue;
		write_msr(MSR_MC_STATUS(bank), 0);
		print("CPU %u: the hardware had %s error: bank %u, status %llx, address %llx",
		      cpu->index, found.severity == CORRECTED ? "a corrected" : "an uncorrected",
		      bank, found.status, found.address);
	}
}
