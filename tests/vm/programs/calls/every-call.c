// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes every system call of x86-64 Linux with all bits set in all of its arguments, which is an
 * error for each of them, and prints its number and whether the LWK handled it: local, delegated or
 * refused (with ENOSYS; any other result of a call that nobody counted is printed). The LWK's own
 * counts tell, so the program runs there only.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/syscall.h>
#include <unistd.h>

struct counts {
	unsigned long local, delegated;
};

static void on_alarm(int signal)
{
	(void)signal;
}

static unsigned long fact(const char *facts, const char *name)
{
	const char *line = strstr(facts, name);

	return line ? strtoul(line + strlen(name), NULL, 10) : 0;
}

static struct counts count(void)
{
	char facts[4096];
	int fd = open("/proc/self/lwk", O_RDONLY);
	ssize_t n = read(fd, facts, sizeof(facts) - 1);

	close(fd);
	if (n <= 0) {
		perror("/proc/self/lwk");
		exit(1);
	}
	facts[n] = '\0';
	return (struct counts){ fact(facts, "\nlocal_calls "), fact(facts, "\ndelegated_calls ") };
}

/*
 * The code is inline: the child of vfork(2) would return from a function on its parent's stack.
 * A child ends at once.
 */
static inline long call(long nr)
{
	register long r10 __asm__("r10") = -1, r8 __asm__("r8") = -1, r9 __asm__("r9") = -1;
	long result = nr;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(-1L), "S"(-1L), "d"(-1L), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	if (result == 0 && (nr == SYS_fork || nr == SYS_vfork))
		_exit(0);
	return result;
}

/* Returns who handled 'nr'; 'nothing' is the cost of counting itself. */
static const char *who(long nr, const struct counts *nothing)
{
	struct counts before = count(), after;
	static char unknown[40];
	long result;

	result = call(nr);
	after = count();
	if (after.local - before.local > nothing->local)
		return "local";
	if (after.delegated - before.delegated > nothing->delegated)
		return "delegated";
	if (result == -ENOSYS)
		return "refused";
	snprintf(unknown, sizeof(unknown), "refused with %ld", result);
	return unknown;
}

/*
 * Returns true for calls that do not come back here. The LWK executes them, as this program's end
 * shows.
 */
static int leaves(long nr)
{
	return nr == SYS_exit || nr == SYS_exit_group || nr == SYS_rt_sigreturn;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_alarm };
	long last = argc == 2 ? atol(argv[1]) : 0;
	struct counts nothing, again;

	/* For pause(). */
	sigaction(SIGALRM, &action, NULL);
	nothing = count();
	again = count();
	nothing =
		(struct counts){ again.local - nothing.local, again.delegated - nothing.delegated };
	for (long nr = 0; nr <= last; nr++) {
		const char *taken;

		if (leaves(nr))
			continue;
		if (nr == SYS_pause)
			alarm(1);
		taken = who(nr, &nothing);
		printf("%ld %s\n", nr, taken);
	}
	/* Only a message queue would outlive this process. */
	return msgctl(msgget(-1, 0), IPC_RMID, NULL) ? 1 : 0;
}
