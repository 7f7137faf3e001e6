/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot, and what a CPU does when it has no process. */
#include "lwk.h"

struct lwk_boot_params *boot;
struct lwk_status *status;
u64 boot_tsc;

static struct cpu cpus[LWK_MAX_CPUS];

struct cpu *cpu_at(u32 index)
{
	return &cpus[index];
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
	memcpy(status->version, LWK_VERSION, sizeof(LWK_VERSION));
	pages_init();
	registers_init();
}

/* entry.S calls this once per CPU, on the stack that lwkpart.ko made. */
void boot_cpu(struct lwk_boot_params *params, u32 index, u64 stack_top);
void boot_cpu(struct lwk_boot_params *params, u32 index, u64 stack_top)
{
	struct cpu *cpu = &cpus[index];

	/* All that can panic wants to know which CPU it is. */
	cpu->self = cpu;
	cpu->index = index;
	write_msr(MSR_GS_BASE, (u64)cpu);
	if (index == 0)
		boot_first_cpu(params);
	else
		while (!LOAD_ACQUIRE(first_cpu_ready))
			cpu_relax();

	cpu->node = boot->cpus[index].node;
	cpu->channel = (struct lwk_channel *)phys_to_virt(boot->channels) + index;
	cpu->control = (struct lwk_control *)phys_to_virt(boot->controls) + index;
	cpu->status = &status->cpu[index];
	cpu->status->times.since_tsc = rdtsc();
	cpu_setup(cpu, stack_top);
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

static void halt(void)
{
	leave_kernel();
	halt_with_interrupts();
	heartbeat();
}

void cpu_freeze(void)
{
	const struct lwk_control *control = this_cpu()->control;
	u32 former;

	if (!READ_ONCE(control->freeze))
		return;
	former = account(LWK_CPU_FROZEN);
	while (READ_ONCE(control->freeze) && channel_ordered()) {
		channel_serve_fault();
		halt();
	}
	account(former);
}

void cpu_sleep(bool (*ready)(void))
{
	struct cpu *cpu = this_cpu();

	WRITE_ONCE(cpu->channel->lwk_sleeps, 1);
	WRITE_ONCE(cpu->sleeps, 1);
	memory_barrier();
	if (!ready())
		halt();
	WRITE_ONCE(cpu->sleeps, 0);
	WRITE_ONCE(cpu->channel->lwk_sleeps, 0);
	cpu_freeze();
}

void cpu_wake(struct cpu *cpu)
{
	memory_barrier();
	if (READ_ONCE(cpu->sleeps))
		apic_send(boot->cpus[cpu->index].apicid, LWK_DOORBELL_VECTOR);
}

void cpu_loop(void)
{
	struct cpu *cpu = this_cpu();

	/* A thread has ended, its process has not. */
	if (cpu->process)
		thread_park();
	account(LWK_CPU_IDLE);
	STORE_RELEASE(cpu->control->obeyed, LWK_ORDER_NONE);
	while (!channel_ordered())
		cpu_sleep(channel_ordered);
	if (READ_ONCE(cpu->control->order) == LWK_ORDER_THREAD)
		thread_join();
	process_run();
}
