/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lwkexec/process/threads.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "lwkexec/instance/channel.h"
#include "lwkexec/instance/session.h"

/* Enough for any delegated call. */
#define STACK_BYTES (256UL << 10)

struct newcomer {
	sem_t known;
	int error;
};

static void *begin(void *argument)
{
	struct newcomer *newcomer = argument;
	int error = session_add_thread();
	sigset_t none;

	newcomer->error = error;
	/* The newcomer is gone after this: it is on the stack of the thread that waits. */
	sem_post(&newcomer->known);
	if (error)
		return NULL;
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	channel_serve();
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
	/* The new thread cannot pass on a signal before it has a channel. */
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
