// SPDX-License-Identifier: GPL-2.0-or-later
/* Does for a fault of an instruction with a FIXUP() what the LWK's trap() does. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

#include "lwk/fixups.h"

/* The linker makes them for the section. */
extern const struct {
	uint64_t from, to;
} __start_fixups[], __stop_fixups[];

static struct sigaction before;

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *rip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	for (uint64_t i = 0; &__start_fixups[i] < __stop_fixups; i++) {
		if (__start_fixups[i].from == (uint64_t)*rip) {
			*rip = __start_fixups[i].to;
			return;
		}
	}
	before.sa_sigaction(number, info, context);
}

void fixups_follow(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &action, &before);
}
