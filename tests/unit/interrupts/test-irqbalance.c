// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how irqbalance is found among processes that have its name. */
#include "unit/unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "interrupts/irqbalance.h"

#define NOBODY 65534

static pid_t started[8];
static size_t n_started;

/* Binds the abstract name that irqbalance has as process 'pid', with room for 'clients'. */
static int listen_as(pid_t pid, int clients)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
			      "irqbalance%d.sock", pid);
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1 + length;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), client;

	if (bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, clients) < 0)
		_exit(1);
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* The queue of an impostor is full with one client. */
	if (clients == 0 && connect(client, (struct sockaddr *)&address, size) < 0)
		_exit(1);
	return fd;
}

static void answer(int fd)
{
	static const char setup[] = "SLEEP 10 IRQ 24 LOAD 0 DIFF 0 CLASS other BANNED 0000000c";
	char request[64];
	int client;

	while ((client = accept(fd, NULL, NULL)) >= 0) {
		if (recv(client, request, sizeof(request), 0) > 0)
			send(client, setup, sizeof(setup), MSG_NOSIGNAL);
		close(client);
	}
}

/* Starts a process named irqbalance, and waits until it has run 'work', which gets its number. */
static void start(void (*work)(pid_t pid, int ready))
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, "irqbalance");
		work(getpid(), ready[1]);
		_exit(1);
	}
	started[n_started++] = child;
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

static void run_irqbalance(pid_t pid, int ready)
{
	int fd = listen_as(pid, 1);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(ready, "", 1) == 1)
		answer(fd);
}

static void become_nobody(void)
{
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void run_impostor(pid_t pid, int ready)
{
	become_nobody();
	listen_as(pid, 0);
	if (write(ready, "", 1) == 1)
		pause();
}

/* A program of root's that a user has given the name; another process of the user's has its socket. */
static void run_cheated(pid_t pid, int ready)
{
	pid_t user = fork();

	if (user == 0) {
		become_nobody();
		listen_as(pid, 0);
		if (write(ready, "", 1) == 1)
			pause();
		_exit(1);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
}

static int setup(void **state)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	bool runs = irqbalance_banned(cpus);

	hwloc_bitmap_free(cpus);
	n_started = 0;
	/* Only root can be somebody else; irqbalance of this host would answer, too. */
	*state = geteuid() == 0 && !runs ? started : NULL;
	return 0;
}

static int teardown(void **state)
{
	while (n_started) {
		kill(started[--n_started], SIGKILL);
		waitpid(started[n_started], NULL, 0);
	}
	return 0;
}

/* Asks, and checks that nobody has held us. Returns whether irqbalance answered. */
static bool ask(void)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	int64_t begin = clock_ms();
	bool answered = irqbalance_banned(cpus);

	assert_in_range(clock_ms() - begin, 0, 8000);
	if (answered)
		assert_int_equal(hwloc_bitmap_to_ulong(cpus), 0xc);
	hwloc_bitmap_free(cpus);
	return answered;
}

static void irqbalance_answers(void **state)
{
	if (!*state)
		skip();
	start(run_irqbalance);
	assert_true(ask());
}

static void processes_of_users_are_not_asked(void **state)
{
	if (!*state)
		skip();
	start(run_impostor);
	start(run_impostor);
	assert_false(ask());
	start(run_irqbalance);
	assert_true(ask());
}

static void full_queues_of_all_have_one_deadline(void **state)
{
	if (!*state)
		skip();
	for (int i = 0; i < 5; i++)
		start(run_cheated);
	assert_false(ask());
	start(run_irqbalance);
	assert_true(ask());
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(irqbalance_answers),
		TEST(processes_of_users_are_not_asked),
		TEST(full_queues_of_all_have_one_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
