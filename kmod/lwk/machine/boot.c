/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot: from the entry of each CPU to its first wait for a process. */
#include "lwk/machine/boot.h"

#include "abi/shared/state.h"
#include "lwk/base/string.h"
#include "lwk/calls/table.h"
#include "lwk/machine/cpu.h"
#include "lwk/machine/entry.h"
#include "lwk/machine/x86.h"
#include "lwk/paging/clear.h"
#include "lwk/paging/direct_map.h"
#include "lwk/paging/pages.h"
#include "lwk/process/slot.h"
#include "lwk/watch/account.h"
#include "lwk/watch/console.h"
#include "lwk/watch/panic.h"
#include "lwk/watch/registers.h"

struct lwk_boot_params *boot;
struct lwk_status *status;
u64 boot_tsc;

static bool first_cpu_ready;
static u32 cpus_done; /* have cleared their share of the memory */

static void boot_first_cpu(struct lwk_boot_params *params)
{
	boot_tsc = rdtsc();
	boot = params;
	status = phys_to_virt(boot->status);
	console_init();
	if (boot->magic != LWK_SHARED_MAGIC || boot->version != LWK_SHARED_VERSION)
		panic("boot parameters: expected version %u, found %u; use lwkpart.ko and an image of one release",
		      LWK_SHARED_VERSION, boot->version);
	if (boot_option("inject=boot"))
		panic("injected");
	status->magic = LWK_SHARED_MAGIC;
	status->n_slots = boot->n_slots;
	memcpy(status->version, LWK_VERSION, sizeof(LWK_VERSION));
	pages_init();
	registers_init();
	slots_init();
	calls_init();
	direct_map_protect_image();
}

/* Clears the memory when all CPUs have taken what they need of it, and Slurm starts a program. */
static void clear_together(void)
{
	while (LOAD_ACQUIRE(status->cpus_up) < boot->n_cpus)
		cpu_relax();
	memory_clear();
	if (__atomic_add_fetch(&cpus_done, 1, __ATOMIC_ACQ_REL) == boot->n_cpus)
		STORE_RELEASE(status->memory_clear, 1);
	for (; LOAD_ACQUIRE(cpus_done) < boot->n_cpus; cpu_relax())
		still_alive();
}

/* entry.S calls this on each CPU, on the stack that lwkpart.ko made. */
void boot_cpu(struct lwk_boot_params *params, u32 index);
void boot_cpu(struct lwk_boot_params *params, u32 index)
{
	struct cpu *cpu;

	/* The first CPU makes room for the others. */
	while (index && !LOAD_ACQUIRE(first_cpu_ready))
		cpu_relax();
	cpu = cpu_at(index);
	/* A panic needs this_slot() and its CPU. */
	cpu->index = index;
	slot_boot(cpu);
	if (index == 0)
		boot_first_cpu(params);
	cpu_setup(cpu);
	slots_setup(cpu);
	heartbeat();
	print("CPU %u: Linux's CPU %u, APIC %u, NUMA node %u", index, boot->cpus[index].linux_cpu,
	      boot->cpus[index].apicid, this_slot()->node);
	if (index == 0) {
		space_setup();
		STORE_RELEASE(first_cpu_ready, true);
	}
	/* The last CPU to get here makes the instance RUNNING. */
	if (__atomic_add_fetch(&status->cpus_up, 1, __ATOMIC_ACQ_REL) == boot->n_cpus) {
		status->boot_tsc = rdtsc() - boot_tsc;
		print("%s: %u CPUs, %llu MB for processes, job %u", LWK_VERSION, boot->n_cpus,
		      status->user_bytes >> 20, boot->job_id);
		STORE_RELEASE(status->state, LWK_STATE_RUNNING);
	}
	clear_together();
	restart_slot();
}

bool boot_option(const char *option)
{
	size_t length = strlen(option);

	for (const char *at = boot->cmdline; *at;) {
		const char *end = at;

		while (*end && *end != ' ')
			end++;
		if ((size_t)(end - at) == length && memcmp(at, option, length) == 0)
			return true;
		at = *end ? end + 1 : end;
	}
	return false;
}
