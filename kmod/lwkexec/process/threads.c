/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread of ours stands for each thread of the LWK process: its calls that wait in Linux hold
 * nobody else's, its signals are its own, and its number is the other's.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "lwkexec/lwkexec.h"

/* Enough for what call_execute() does. */
#define STACK_BYTES (256UL << 10)

struct newcomer {
	sem_t known;
	int error;
};

void threads_serve(void)
{
	struct lwk_packet packet;
	int64_t result;

	for (;;) {
		channel_receive(&packet);
		if (packet.kind == LWK_PACKET_REQUEST) {
			result = call_execute(&packet);
			if (!own.newborn)
				channel_reply(packet.id, result);
			own.newborn = false;
		} else if (packet.nr == LWK_CALL_SIGNAL_ACTION)
			signals_action(packet.args[0], packet.args[1]);
		else if (packet.nr == LWK_CALL_SIGNALS_TAKEN)
			signals_taken();
		else if (packet.nr == LWK_CALL_EXIT)
			program_ended(&packet);
	}
}

static void *begin(void *argument)
{
	struct newcomer *newcomer = argument;
	int error = session_add_thread();
	sigset_t none;

	newcomer->error = error;
	sem_post(&newcomer->known); /* and with that it is gone */
	if (error)
		return NULL;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	threads_serve();
}

int64_t threads_add(void)
{
	struct newcomer newcomer = { 0 };
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;
	int error;

	if (pthread_attr_init(&attributes))
		return -ENOMEM;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sem_init(&newcomer.known, 0, 0);
	/* Until it has its channel it can pass no signal on. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, &attributes, begin, &newcomer);
	if (!error)
		while (sem_wait(&newcomer.known))
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return error ? -error : newcomer.error;
}
