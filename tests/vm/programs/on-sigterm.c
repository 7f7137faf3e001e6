/* SPDX-License-Identifier: GPL-2.0-or-later */
/* on-sigterm: waits; when SIGTERM comes, says so and exits with 5. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t came;

static void note(int signal)
{
	came = signal;
}

int main(void)
{
	struct sigaction action = { .sa_handler = note };

	sigaction(SIGTERM, &action, NULL);
	puts("waiting");
	fflush(stdout);
	while (came != SIGTERM)
		pause();
	puts("SIGTERM came");
	return 5;
}
