// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/memory/question.h"

#include <linux/wait.h>

#include "abi/shared/orders.h"
#include "instance/orders/doorbell.h"

/* The number of looks for the answer before sleeping. */
#define LOOKS 100

/* Returns the LWK's answer; REFUSED also when the LWK will not answer any more. */
static u32 answer(struct lwk_thread *thread)
{
	struct instance *instance = thread->process->instance;
	u32 state = LWK_FAULT_REFUSED;

	spin_lock(&thread->lock);
	if (thread->channel && state_has_processes(READ_ONCE(instance->state)))
		state = smp_load_acquire(&instance->controls[thread->slot].fault_state);
	spin_unlock(&thread->lock);
	return state;
}

static void send_question(struct lwk_thread *thread, enum lwk_fault_kind kind, unsigned long addr,
			  unsigned long size)
{
	struct instance *instance = thread->process->instance;
	struct lwk_control *control;

	spin_lock(&thread->lock);
	if (thread->channel) {
		control = &instance->controls[thread->slot];
		control->fault_addr = addr;
		control->fault_kind = kind;
		control->fault_size = size;
		WRITE_ONCE(control->fault_sleeps, 0);
		smp_store_release(&control->fault_state, LWK_FAULT_ASKED);
		doorbell_ring(instance, thread->slot);
	}
	spin_unlock(&thread->lock);
}

/* From now on the LWK rings its doorbell when it answers. */
static void want_doorbell(struct lwk_thread *thread)
{
	spin_lock(&thread->lock);
	if (thread->channel)
		WRITE_ONCE(thread->process->instance->controls[thread->slot].fault_sleeps, 1);
	spin_unlock(&thread->lock);
	smp_mb(); /* the LWK writes 'fault_state', then reads 'fault_sleeps' */
}

/* The LWK answers on another CPU, usually at once. */
static u32 look_for_answer(struct lwk_thread *thread)
{
	unsigned int looks = 0;
	u32 state;

	while ((state = answer(thread)) == LWK_FAULT_ASKED && ++looks < LOOKS)
		cpu_relax();
	return state;
}

/* Waits for so many jiffies at most. Returns how many are left; 0 or less: there is no answer. */
static long await_answer(struct lwk_thread *thread, bool killable, long left)
{
	wait_queue_head_t *queue = &thread->process->instance->wait[thread->slot];

	if (look_for_answer(thread) != LWK_FAULT_ASKED)
		return left;
	want_doorbell(thread);
	return killable ? wait_event_killable_timeout(*queue, answer(thread) != LWK_FAULT_ASKED,
						      left)
			: wait_event_timeout(*queue, answer(thread) != LWK_FAULT_ASKED, left);
}

u32 question_put(struct lwk_thread *thread, enum lwk_fault_kind kind, unsigned long addr,
		 unsigned long size, bool killable)
{
	long left = QUESTION_SECONDS * HZ;

	/* The late answer to a question that was given up would be taken for that to the next. */
	if (answer(thread) == LWK_FAULT_ASKED)
		left = await_answer(thread, killable, left);
	if (left <= 0)
		return LWK_FAULT_ASKED;
	send_question(thread, kind, addr, size);
	await_answer(thread, killable, left);
	return answer(thread);
}
