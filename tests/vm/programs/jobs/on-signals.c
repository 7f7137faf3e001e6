/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * on-signals SIGNAL...: waits, and prints which of these signals come. The last of them ends the
 * program with exit status 5; when the last is 0, none does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t came[NSIG];

static void note(int signal)
{
	came[signal] = 1;
}

/* Says which have come since last time; true when 'last' is one of them. */
static int tell(int last)
{
	int over = 0;

	for (int s = 1; s < NSIG; s++) {
		if (!came[s])
			continue;
		came[s] = 0;
		printf("signal %d came\n", s);
		over |= s == last;
	}
	fflush(stdout);
	return over;
}

int main(int argc, char **argv)
{
	int last = argc > 1 ? atoi(argv[argc - 1]) : 0;
	struct sigaction action = { .sa_handler = note };
	sigset_t unblocked, all;

	/* Blocked but while waiting, or one could come between a look and the wait. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &unblocked);
	for (int i = 1; i < argc; i++)
		sigaction(atoi(argv[i]), &action, NULL);
	puts("waiting");
	fflush(stdout);
	while (!tell(last))
		sigsuspend(&unblocked);
	return 5;
}
