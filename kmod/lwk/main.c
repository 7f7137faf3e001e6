/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot, and what a CPU does when it has no process. */
#include "lwk.h"
#include "entry.h"

struct lwk_boot_params *boot;
struct lwk_status *status;
u64 boot_tsc;

static struct core cores[LWK_MAX_CPUS];
/* Of the first slot of each CPU, which it boots in; and of the others. */
static struct cpu first_slots[LWK_MAX_CPUS], *more_slots;

struct core *core_at(u32 index)
{
	return &cores[index];
}

struct cpu *cpu_at(u32 slot)
{
	return slot < boot->n_cpus ? &first_slots[slot] : &more_slots[slot - boot->n_cpus];
}

static bool first_cpu_ready;

static void boot_first_cpu(struct lwk_boot_params *params)
{
	boot_tsc = rdtsc();
	boot = params;
	status = phys_to_virt(boot->status);
	console_init();
	if (boot->magic != LWK_SHARED_MAGIC || boot->version != LWK_SHARED_VERSION)
		panic("boot parameters of version %u: wanted %u; lwkpart.ko and this image are of different releases",
		      boot->version, LWK_SHARED_VERSION);
	if (boot_option("inject=boot"))
		panic("injected");
	status->magic = LWK_SHARED_MAGIC;
	status->n_slots = boot->n_slots;
	memcpy(status->version, LWK_VERSION, sizeof(LWK_VERSION));
	pages_init();
	registers_init();
	more_slots = kernel_boot_alloc((boot->n_slots - boot->n_cpus) * sizeof(*more_slots));
}

static void slot_setup(struct cpu *cpu, u32 slot, struct core *core)
{
	cpu->self = cpu;
	cpu->index = slot;
	cpu->core = core;
	cpu->node = boot->cpus[core->index].node;
	cpu->channel = (struct lwk_channel *)phys_to_virt(boot->channels) + slot;
	cpu->control = (struct lwk_control *)phys_to_virt(boot->controls) + slot;
	cpu->status = &status->cpu[slot];
	cpu->status->times.since_tsc = LWK_TIME_STANDS;
	cpu->deadline = NO_DEADLINE;
	cpu->fpu_area = kernel_boot_alloc(fpu_size());
	cpu->fpu_switched = kernel_boot_alloc(fpu_size());
}

/* So that switch_stack() makes it begin as a CPU that has no process. */
static void prepare_stack(struct cpu *cpu)
{
	u64 *stack = kernel_boot_alloc(LWK_BOOT_STACK);

	cpu->kernel_rsp = (u64)stack + LWK_BOOT_STACK;
	cpu->rsp = cpu->kernel_rsp - (SWITCH_REGISTERS + 1) * sizeof(u64);
	*(u64 *)(cpu->kernel_rsp - sizeof(u64)) = (u64)restart_cpu;
	cpu->root = read_cr3();
}

static void slots_setup(struct core *core)
{
	struct cpu *cpu = core->current;

	slot_setup(cpu, core->index, core);
	cpu->next = cpu;
	for (u32 slot = core->index + boot->n_cpus; slot < boot->n_slots; slot += boot->n_cpus) {
		struct cpu *more = cpu_at(slot);

		slot_setup(more, slot, core);
		prepare_stack(more);
		more->next = cpu->next;
		cpu->next = more;
	}
	cpu->status->times.since_tsc = rdtsc();
}

/* entry.S calls this once per CPU, on the stack that lwkpart.ko made. */
void boot_cpu(struct lwk_boot_params *params, u32 index, u64 stack_top);
void boot_cpu(struct lwk_boot_params *params, u32 index, u64 stack_top)
{
	struct cpu *cpu = &first_slots[index];
	struct core *core = &cores[index];

	/* All that can panic wants to know which CPU it is. */
	cpu->self = cpu;
	cpu->core = core;
	core->index = index;
	core->current = cpu;
	write_msr(MSR_GS_BASE, (u64)cpu);
	if (index == 0)
		boot_first_cpu(params);
	else
		while (!LOAD_ACQUIRE(first_cpu_ready))
			cpu_relax();

	cpu_setup(core, stack_top);
	slots_setup(core);
	heartbeat();
	print("CPU %u: Linux's CPU %u, APIC %u, NUMA node %u", index, boot->cpus[index].linux_cpu,
	      boot->cpus[index].apicid, cpu->node);
	if (index == 0) {
		space_setup();
		STORE_RELEASE(first_cpu_ready, true);
	}
	/* The last one to come up opens the shop. */
	if (__atomic_add_fetch(&status->cpus_up, 1, __ATOMIC_ACQ_REL) == boot->n_cpus) {
		status->boot_tsc = rdtsc() - boot_tsc;
		print("%s: %u CPUs, %llu MB for processes, job %u", LWK_VERSION, boot->n_cpus,
		      status->user_bytes >> 20, boot->job_id);
		STORE_RELEASE(status->state, LWK_STATE_RUNNING);
	}
	restart_cpu();
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

void cpu_loop(void)
{
	struct cpu *cpu = this_cpu();

	/* A thread has ended, its process has not. */
	if (cpu->process)
		thread_park();
	account(LWK_CPU_IDLE);
	STORE_RELEASE(cpu->control->obeyed, LWK_ORDER_NONE);
	while (!channel_ordered(cpu))
		cpu_sleep(channel_ordered);
	if (READ_ONCE(cpu->control->order) == LWK_ORDER_THREAD)
		thread_join();
	process_run();
}
