// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Doorbells: interrupts between Linux and the LWK.
 *
 * LWK to Linux: a vector that Linux allocates, through a child of the x86 vector domain, so that
 * it shows in /proc/interrupts and follows CPU hotplug. When Linux moves the interrupt, the new
 * target goes into the boot parameters, which the LWK reads for each doorbell.
 * Linux to LWK: a fixed vector, sent to the CPU's local APIC.
 */
#define pr_fmt(fmt) "lwkpart: " fmt

#include "instance/orders/doorbell.h"

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>
#include <asm/apic.h>
#include <asm/hw_irq.h>
#include <asm/irqdomain.h>
#include <asm/processor.h>
#include <asm/smp.h>

#include "abi/shared/orders.h"
#include "compat/compat.h"
#include "instance/state.h"

static struct fwnode_handle *fwnode;
static struct irq_domain *domain;

/* Tells the LWK where the doorbells of 'irq' go now. */
static void publish(struct instance *instance, unsigned int irq, struct irq_data *data)
{
	unsigned int target = cpumask_first(irq_data_get_effective_affinity_mask(data));
	struct irq_cfg *cfg = irqd_cfg(data);
	unsigned int i;
	u64 doorbell;

	if (!cfg || target >= nr_cpu_ids)
		return;
	/* cfg->dest_apicid would be a logical id in flat mode. */
	doorbell = (u64)per_cpu(x86_cpu_to_apicid, target) << 32 | cfg->vector;
	for (i = 0; i < instance->n_cpus; i++) {
		if (instance->doorbells.irq[i] != irq)
			continue;
		WRITE_ONCE(instance->params->cpus[i].doorbell, doorbell);
	}
}

static int doorbell_set_affinity(struct irq_data *data, const struct cpumask *mask, bool force)
{
	struct instance *instance = irq_data_get_irq_chip_data(data);
	int result = irq_chip_set_affinity_parent(data, mask, force);

	if (result >= 0 && instance)
		publish(instance, data->irq, data);
	return result;
}

static struct irq_chip doorbell_chip = {
	.name = "lwk",
	.irq_ack = irq_chip_ack_parent,
	.irq_set_affinity = doorbell_set_affinity,
	.irq_retrigger = irq_chip_retrigger_hierarchy,
	.flags = IRQCHIP_SKIP_SET_WAKE,
};

static int doorbell_alloc(struct irq_domain *d, unsigned int irq, unsigned int count, void *arg)
{
	const struct irq_fwspec *fwspec = arg;
	struct irq_alloc_info info;
	int error;

	/* The vector is allocated on its CPU at once: a later move could still be under way. */
	memset(&info, 0, sizeof(info));
	info.mask = cpumask_of(fwspec->param[1]);
	error = irq_domain_alloc_irqs_parent(d, irq, count, &info);
	if (error)
		return error;
	irq_domain_set_info(d, irq, irq, &doorbell_chip, NULL, handle_edge_irq, NULL, "edge");
	/* The vector may change while the LWK uses it. */
	compat_let_move_at_once(irq);
	return 0;
}

static int doorbell_translate(struct irq_domain *d, struct irq_fwspec *fwspec, unsigned long *hwirq,
			      unsigned int *type)
{
	*hwirq = fwspec->param[0];
	*type = IRQ_TYPE_EDGE_RISING;
	return 0;
}

static const struct irq_domain_ops domain_ops = {
	.translate = doorbell_translate,
	.alloc = doorbell_alloc,
	.free = irq_domain_free_irqs_common,
};

int doorbell_init(void)
{
	fwnode = irq_domain_alloc_named_fwnode("lwk");
	if (!fwnode)
		return -ENOMEM;
	domain = irq_domain_create_hierarchy(x86_vector_domain, 0, 0, fwnode, &domain_ops, NULL);
	if (!domain) {
		irq_domain_free_fwnode(fwnode);
		return -ENOMEM;
	}
	/* Before Linux 5.8 a domain with a name has no fwnode, by which its interrupts find it. */
	domain->fwnode = fwnode;
	return 0;
}

void doorbell_exit(void)
{
	irq_domain_remove(domain);
	irq_domain_free_fwnode(fwnode);
}

static irqreturn_t doorbell_interrupt(int irq, void *data)
{
	struct instance *instance = data;
	unsigned int i, slot, end;

	/* An LWK that panics rings its doorbell; the state tells. */
	instance_state(instance);
	smp_mb(); /* a task that is not in a queue yet looks at what the LWK wrote once it is */
	end = READ_ONCE(instance->slots_end);
	for (i = 0; i < instance->n_cpus; i++) {
		if (instance->doorbells.irq[i] != irq)
			continue;
		/* The LWK rings the doorbell of slot % n_cpus, wherever the slot is. */
		for (slot = i; slot < end; slot += instance->n_cpus)
			if (waitqueue_active(&instance->wait[slot]))
				instance_wake_proxy(instance, slot);
	}
	return IRQ_HANDLED;
}

/* Gives LWK CPU 'index' a new interrupt, or that of another CPU with the same target. */
static int connect_one(struct instance *instance, unsigned int index)
{
	unsigned int target = instance->doorbells.target[index], i;
	struct irq_fwspec fwspec = { .fwnode = fwnode, .param_count = 2 };
	int irq, error;

	for (i = 0; i < index; i++) {
		if (instance->doorbells.target[i] == target) {
			instance->doorbells.irq[index] = instance->doorbells.irq[i];
			return 0;
		}
	}
	fwspec.param[0] = instance->id * LWK_MAX_CPUS + index;
	fwspec.param[1] = target;
	irq = irq_create_fwspec_mapping(&fwspec);
	if (irq <= 0)
		return -ENOSPC;
	irq_set_chip_data(irq, instance);
	/* The plan chose the target; irqbalance must not change it. */
	error = request_irq(irq, doorbell_interrupt, IRQF_NOBALANCING, instance->name, instance);
	if (error)
		goto unmap;
	instance->doorbells.irq[index] = irq;
	error = compat_irq_set_affinity(irq, cpumask_of(target));
	if (error)
		goto free;
	return 0;

free:
	instance->doorbells.irq[index] = 0;
	free_irq(irq, instance);
unmap:
	irq_dispose_mapping(irq);
	return error;
}

int doorbell_connect(struct instance *instance)
{
	unsigned int i;
	int error;

	for (i = 0; i < instance->n_cpus; i++) {
		error = connect_one(instance, i);
		if (error) {
			pr_err("the LWK of job %u (instance %u) got no interrupt for its doorbells to CPU %u (error %d)\n",
			       instance->job_id, instance->id, instance->doorbells.target[i],
			       error);
			doorbell_disconnect(instance);
			return error;
		}
	}
	for (i = 0; i < instance->n_cpus; i++)
		publish(instance, instance->doorbells.irq[i],
			irq_get_irq_data(instance->doorbells.irq[i]));
	return 0;
}

void doorbell_disconnect(struct instance *instance)
{
	unsigned int i, j;

	for (i = 0; i < instance->n_cpus; i++) {
		int irq = instance->doorbells.irq[i];

		if (!irq)
			continue;
		for (j = i; j < instance->n_cpus; j++)
			if (instance->doorbells.irq[j] == irq)
				instance->doorbells.irq[j] = 0;
		free_irq(irq, instance);
		irq_dispose_mapping(irq);
	}
}

unsigned int doorbell_cpu(const struct instance *instance, unsigned int slot)
{
	u32 home = READ_ONCE(instance->status->cpu[slot].home);

	if (slot < instance->n_cpus)
		return slot;
	/* The LWK writes 'home'. While it moves a slot, the next CPU looks by itself. */
	return home && home <= instance->n_cpus
		       ? home - 1
		       : READ_ONCE(instance->controls[slot].cpu) % instance->n_cpus;
}

void doorbell_ring(struct instance *instance, unsigned int slot)
{
	unsigned long flags;
	unsigned int cpu;

	smp_mb(); /* the LWK writes 'home', then reads what this doorbell is about */
	cpu = doorbell_cpu(instance, slot);
	local_irq_save(flags);
	safe_apic_wait_icr_idle();
	/* The ICR of an x2APIC is an MSR, and no barrier but this one is for its write. */
	weak_wrmsr_fence();
	apic->icr_write(APIC_DM_FIXED | APIC_DEST_PHYSICAL | LWK_DOORBELL_VECTOR,
			instance->cpus[cpu].apicid);
	local_irq_restore(flags);
}
