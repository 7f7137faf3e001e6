/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot, and what a CPU does when it has no process. */
#include "lwk/lwk.h"
#include "lwk/machine/entry.h"

struct lwk_boot_params *boot;
struct lwk_status *status;
u64 boot_tsc;

static struct cpu cpus[LWK_MAX_CPUS];
/* Of the first slot of each CPU, which it boots in; and of the others. */
static struct slot first_slots[LWK_MAX_CPUS], *more_slots;

struct cpu *cpu_at(u32 index)
{
	return &cpus[index];
}

struct slot *slot_at(u32 index)
{
	return index < boot->n_cpus ? &first_slots[index] : &more_slots[index - boot->n_cpus];
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

static void slot_setup(struct slot *slot, u32 index, struct cpu *cpu)
{
	slot->self = slot;
	slot->index = index;
	slot->cpu = cpu;
	slot->node = boot->cpus[cpu->index].node;
	slot->channel = (struct lwk_channel *)phys_to_virt(boot->channels) + index;
	slot->control = (struct lwk_control *)phys_to_virt(boot->controls) + index;
	slot->status = &status->cpu[index];
	slot->status->times.since_tsc = LWK_TIME_STANDS;
	slot->deadline = NO_DEADLINE;
	slot->fpu_area = kernel_boot_alloc(fpu_size());
	slot->fpu_switched = kernel_boot_alloc(fpu_size());
}

/* So that switch_stack() makes it begin as a CPU that has no process. */
static void prepare_stack(struct slot *slot)
{
	u64 *stack = kernel_boot_alloc(LWK_BOOT_STACK);

	slot->kernel_rsp = (u64)stack + LWK_BOOT_STACK;
	slot->rsp = slot->kernel_rsp - (SWITCH_REGISTERS + 1) * sizeof(u64);
	*(u64 *)(slot->kernel_rsp - sizeof(u64)) = (u64)restart_slot;
	slot->root = read_cr3();
}

static void slots_setup(struct cpu *cpu)
{
	struct slot *slot = cpu->current;

	slot_setup(slot, cpu->index, cpu);
	slot->next = slot;
	for (u32 index = cpu->index + boot->n_cpus; index < boot->n_slots; index += boot->n_cpus) {
		struct slot *more = slot_at(index);

		slot_setup(more, index, cpu);
		prepare_stack(more);
		more->next = slot->next;
		slot->next = more;
	}
	slot->status->times.since_tsc = rdtsc();
}

/* entry.S calls this once per CPU, on the stack that lwkpart.ko made. */
void boot_cpu(struct lwk_boot_params *params, u32 index, u64 stack_top);
void boot_cpu(struct lwk_boot_params *params, u32 index, u64 stack_top)
{
	struct slot *slot = &first_slots[index];
	struct cpu *cpu = &cpus[index];

	/* All that can panic wants to know which CPU it is. */
	slot->self = slot;
	slot->cpu = cpu;
	cpu->index = index;
	cpu->current = slot;
	write_msr(MSR_GS_BASE, (u64)slot);
	if (index == 0)
		boot_first_cpu(params);
	else
		while (!LOAD_ACQUIRE(first_cpu_ready))
			cpu_relax();

	cpu_setup(cpu, stack_top);
	slots_setup(cpu);
	heartbeat();
	print("CPU %u: Linux's CPU %u, APIC %u, NUMA node %u", index, boot->cpus[index].linux_cpu,
	      boot->cpus[index].apicid, slot->node);
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

void slot_loop(void)
{
	struct slot *slot = this_slot();

	/* A thread has ended, its process has not. */
	if (slot->process)
		thread_park();
	account(LWK_CPU_IDLE);
	STORE_RELEASE(slot->control->obeyed, LWK_ORDER_NONE);
	while (!channel_ordered(slot))
		slot_sleep(channel_ordered);
	if (READ_ONCE(slot->control->order) == LWK_ORDER_THREAD)
		thread_join();
	process_run();
}
