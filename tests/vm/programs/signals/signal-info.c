/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that signals tell their sender and value, and their timer, descriptor or child. Prints the
 * same on Linux and on the LWK.
 *
 *	signal-info [TEST]
 *	signal-info outside N: waits for so many signals SIGRTMIN+2, then a SIGUSR1, of its parent
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static const struct timespec no_time;
static char *self;
static int some_object;

static void block(sigset_t *set, int signal)
{
	sigemptyset(set);
	sigaddset(set, signal);
	pthread_sigmask(SIG_BLOCK, set, NULL);
}

static void unblock(const sigset_t *set)
{
	pthread_sigmask(SIG_UNBLOCK, set, NULL);
}

static union sigval number(int n)
{
	return (union sigval){ .sival_int = n };
}

/* ---- what handlers were told ---- */

#define MOST 64
static volatile sig_atomic_t n_told;
static siginfo_t told[MOST];

static void handler(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (n_told < MOST)
		told[n_told] = *info;
	n_told++;
}

static void handle(int signal)
{
	struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	n_told = 0;
	sigaction(signal, &action, NULL);
}

static int to_itself(void)
{
	handle(SIGUSR1);
	CHECK(raise(SIGUSR1) == 0 && n_told == 1);
	CHECK(told[0].si_code == SI_TKILL && told[0].si_pid == getpid() &&
	      told[0].si_uid == getuid());
	CHECK(kill(getpid(), SIGUSR1) == 0 && n_told == 2);
	CHECK(told[1].si_code == SI_USER && told[1].si_pid == getpid() &&
	      told[1].si_uid == getuid());
	CHECK(sigqueue(getpid(), SIGUSR1, number(7)) == 0 && n_told == 3);
	CHECK(told[2].si_code == SI_QUEUE && told[2].si_value.sival_int == 7);
	CHECK(sigqueue(getpid(), 0, number(7)) == 0 && n_told == 3);
	CHECK(sigqueue(getpid(), 65, number(7)) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_rt_sigqueueinfo, getpid(), SIGUSR1, 8) == -1 && errno == EFAULT);
	CHECK(pthread_sigqueue(pthread_self(), SIGUSR1, number(8)) == 0 && n_told == 4);
	CHECK(told[3].si_code == SI_QUEUE && told[3].si_value.sival_int == 8);
	return 0;
}

/* All of them, in the order of their numbers, and of the sending. */
static int queued(void)
{
	sigset_t set, set2, pending;

	block(&set, SIGRTMIN + 3);
	block(&set2, SIGRTMIN + 2);
	handle(SIGRTMIN + 3);
	handle(SIGRTMIN + 2);
	for (int i = 0; i < 40; i++)
		CHECK(sigqueue(getpid(), SIGRTMIN + 2 + i % 2, number(i)) == 0);
	CHECK(n_told == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGRTMIN + 2));
	unblock(&set2);
	CHECK(n_told == 20);
	unblock(&set);
	CHECK(n_told == 40);
	for (int i = 0; i < 20; i++) {
		CHECK(told[i].si_value.sival_int == 2 * i);
		CHECK(told[20 + i].si_value.sival_int == 2 * i + 1);
	}
	return 0;
}

/* A child sends more of them than a channel has room for. */
static int by_child(void)
{
	siginfo_t info;
	sigset_t set, usr;
	int status;
	pid_t pid;

	block(&set, SIGRTMIN + 2);
	block(&usr, SIGUSR1);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++)
			if (sigqueue(getppid(), SIGRTMIN + 2, number(i)))
				_exit(1);
		sigqueue(getppid(), SIGUSR1, number(1));
		sigqueue(getppid(), SIGUSR1, number(2));
		_exit(0);
	}
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
	for (int i = 0; i < 100; i++) {
		CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2 && info.si_code == SI_QUEUE);
		CHECK(info.si_pid == pid && info.si_uid == getuid());
		CHECK(info.si_value.sival_int == i);
	}
	CHECK(sigtimedwait(&set, &info, &no_time) == -1 && errno == EAGAIN);
	/* Only the first of several pending SIGUSR1s waits. */
	CHECK(sigwaitinfo(&usr, &info) == SIGUSR1 && info.si_value.sival_int == 1);
	unblock(&set);
	unblock(&usr);
	return 0;
}

/* The limit of pending signals is reported, and is at least POSIX's. */
static int too_many(void)
{
	siginfo_t info;
	sigset_t set;
	int n = 0;

	block(&set, SIGRTMIN + 2);
	while (sigqueue(getpid(), SIGRTMIN + 2, number(n)) == 0)
		n++;
	CHECK(errno == EAGAIN && n >= 32);
	/* A signal of kill(), which carries no information, is not refused. */
	CHECK(kill(getpid(), SIGRTMIN + 2) == 0);
	for (int i = 0; i < n; i++) {
		CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2);
		CHECK(info.si_code == SI_QUEUE && info.si_value.sival_int == i);
	}
	CHECK(sigtimedwait(&set, &info, &no_time) == -1 && errno == EAGAIN);
	CHECK(sigqueue(getpid(), SIGRTMIN + 2, number(n)) == 0);
	CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2 && info.si_value.sival_int == n);
	unblock(&set);
	return 0;
}

/* The LWK does not keep all of a child's signals, but the first. */
static int too_many_of_a_child(void)
{
	siginfo_t info;
	sigset_t set;
	int n = 0;
	pid_t pid;

	block(&set, SIGRTMIN + 2);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 500; i++)
			sigqueue(getppid(), SIGRTMIN + 2, number(i));
		_exit(0);
	}
	CHECK(waitpid(pid, NULL, 0) == pid);
	while (sigtimedwait(&set, &info, &no_time) > 0)
		CHECK(info.si_value.sival_int == n++);
	CHECK(n >= 250);
	unblock(&set);
	return 0;
}

static int children(void)
{
	siginfo_t info;
	sigset_t set;
	pid_t pid;

	block(&set, SIGCHLD);
	pid = fork();
	if (pid == 0)
		_exit(3);
	CHECK(sigwaitinfo(&set, &info) == SIGCHLD && info.si_code == CLD_EXITED);
	CHECK(info.si_pid == pid && info.si_status == 3 && info.si_uid == getuid());
	CHECK(waitpid(pid, NULL, 0) == pid);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	CHECK(kill(pid, SIGSTOP) == 0 && sigwaitinfo(&set, &info) == SIGCHLD);
	CHECK(info.si_code == CLD_STOPPED && info.si_pid == pid && info.si_status == SIGSTOP);
	CHECK(kill(pid, SIGCONT) == 0 && sigwaitinfo(&set, &info) == SIGCHLD);
	CHECK(info.si_code == CLD_CONTINUED && info.si_status == SIGCONT);
	CHECK(kill(pid, SIGKILL) == 0 && sigwaitinfo(&set, &info) == SIGCHLD);
	CHECK(info.si_code == CLD_KILLED && info.si_pid == pid && info.si_status == SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	unblock(&set);
	return 0;
}

/* A thread that waits for an ignored signal gets it. */
static int ignored(void)
{
	siginfo_t info;
	sigset_t set;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		/* Ignored before it is blocked, and after. */
		if (i == 0)
			signal(SIGUSR2, SIG_IGN);
		block(&set, SIGUSR2);
		if (i == 1)
			signal(SIGUSR2, SIG_IGN);
		pid = fork();
		if (pid == 0)
			_exit(kill(getppid(), SIGUSR2));
		CHECK(sigwaitinfo(&set, &info) == SIGUSR2 && info.si_pid == pid);
		CHECK(waitpid(pid, NULL, 0) == pid);
		unblock(&set);
		signal(SIGUSR2, SIG_DFL);
	}
	/* Ignored children are never waited for. */
	signal(SIGCHLD, SIG_IGN);
	block(&set, SIGCHLD);
	if (fork() == 0)
		_exit(0);
	CHECK(wait(NULL) == -1 && errno == ECHILD);
	unblock(&set);
	signal(SIGCHLD, SIG_DFL);
	return 0;
}

static int descriptors(void)
{
	siginfo_t info;
	sigset_t set;
	int ends[2];

	block(&set, SIGRTMIN + 5);
	CHECK(pipe(ends) == 0);
	CHECK(fcntl(ends[0], F_SETOWN, getpid()) == 0);
	CHECK(fcntl(ends[0], F_SETSIG, SIGRTMIN + 5) == 0);
	CHECK(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) == 0);
	CHECK(write(ends[1], "", 1) == 1);
	CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 5);
	CHECK(info.si_code == POLL_IN && info.si_fd == ends[0] && info.si_band & 1);
	close(ends[0]);
	close(ends[1]);
	unblock(&set);
	return 0;
}

/* ---- timers ---- */

static int start_timer(timer_t timer, unsigned first_ms, unsigned ms)
{
	struct itimerspec when = { .it_value.tv_nsec = first_ms * 1000000L,
				   .it_interval.tv_nsec = ms * 1000000L };

	return timer_settime(timer, 0, &when, NULL);
}

/* Uses CPU time without a call. */
static void spend(unsigned ms)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - start.tv_sec) * 1000L + (now.tv_nsec - start.tv_nsec) / 1000000 < ms);
}

static int timer_values(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1,
				  .sigev_value.sival_ptr = &some_object };
	timer_t timer, other;
	siginfo_t info;
	sigset_t set;

	block(&set, SIGUSR1);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	event.sigev_value.sival_ptr = &event;
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &other) == 0);
	CHECK(start_timer(timer, 10, 0) == 0 && sigwaitinfo(&set, &info) == SIGUSR1);
	CHECK(info.si_code == SI_TIMER && info.si_value.sival_ptr == &some_object);
	CHECK(info.si_overrun == 0 && timer_getoverrun(timer) == 0);
	CHECK(start_timer(other, 10, 0) == 0 && sigwaitinfo(&set, &info) == SIGUSR1);
	CHECK(info.si_code == SI_TIMER && info.si_value.sival_ptr == &event);
	CHECK(timer_delete(timer) == 0 && timer_delete(other) == 0);
	CHECK(timer_getoverrun(timer) == -1 && errno == EINVAL);
	unblock(&set);
	return 0;
}

/* A timer's signal waits once, and counts how often the timer has run out since. */
static int overruns(int signal)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = signal };
	siginfo_t info;
	timer_t timer;
	sigset_t set;

	block(&set, signal);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(start_timer(timer, 10, 10) == 0);
	/* Linux may pass the signal on late. */
	for (int i = 0; i < 100 && (i == 0 || info.si_overrun == 0); i++) {
		spend(50);
		CHECK(sigwaitinfo(&set, &info) == signal && info.si_code == SI_TIMER);
	}
	CHECK(info.si_overrun > 0 && timer_getoverrun(timer) == info.si_overrun);
	CHECK(start_timer(timer, 0, 0) == 0 && timer_delete(timer) == 0);
	while (sigtimedwait(&set, &info, &no_time) > 0)
		;
	unblock(&set);
	return 0;
}

static int timer_overruns(void)
{
	return overruns(SIGALRM) || overruns(SIGRTMIN + 1);
}

static void *await_timer(void *argument)
{
	siginfo_t info;
	sigset_t set;
	int *tid = argument;

	block(&set, SIGRTMIN + 1);
	__atomic_store_n(tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		if (sigwaitinfo(&set, &info) != SIGRTMIN + 1 || info.si_code != SI_TIMER ||
		    info.si_value.sival_int != 11)
			return "wrong";
	return NULL;
}

/* The others would handle it. */
static int timer_of_thread(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
				  .sigev_signo = SIGRTMIN + 1,
				  .sigev_value.sival_int = 11 };
	int tid = 0, seen;
	pthread_t thread;
	timer_t timer;
	void *wrong;

	handle(SIGRTMIN + 1);
	CHECK(pthread_create(&thread, NULL, await_timer, &tid) == 0);
	while (!(seen = __atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
		sched_yield();
	event.sigev_notify_thread_id = seen;
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(start_timer(timer, 10, 10) == 0);
	CHECK(pthread_join(thread, &wrong) == 0 && !wrong);
	CHECK(timer_delete(timer) == 0 && n_told == 0);
	return 0;
}

static sem_t called;
static volatile int wrong_calls;

static void call(union sigval value)
{
	if (value.sival_ptr != &some_object)
		wrong_calls++;
	sem_post(&called);
}

static int timer_function(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD,
				  .sigev_notify_function = call,
				  .sigev_value.sival_ptr = &some_object };
	timer_t timer;

	CHECK(sem_init(&called, 0, 0) == 0);
	CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	CHECK(start_timer(timer, 10, 20) == 0);
	for (int i = 0; i < 5; i++)
		while (sem_wait(&called))
			CHECK(errno == EINTR);
	CHECK(timer_delete(timer) == 0 && wrong_calls == 0);
	return 0;
}

/* ---- message queues ---- */

static int messages(void)
{
	struct mq_attr attributes = { .mq_maxmsg = 2, .mq_msgsize = 8 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGRTMIN + 4,
				  .sigev_value.sival_int = 12 };
	char name[32], message[8];
	siginfo_t info;
	sigset_t set;
	mqd_t queue;

	block(&set, SIGRTMIN + 4);
	snprintf(name, sizeof(name), "/signal-info.%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
	CHECK(queue >= 0 && mq_unlink(name) == 0);
	CHECK(mq_notify(queue, &event) == 0 && mq_send(queue, "a", 1, 0) == 0);
	CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 4 && info.si_code == SI_MESGQ);
	CHECK(info.si_value.sival_int == 12 && info.si_pid == getpid());
	CHECK(mq_receive(queue, message, sizeof(message), NULL) == 1);

	event = (struct sigevent){ .sigev_notify = SIGEV_THREAD,
				   .sigev_notify_function = call,
				   .sigev_value.sival_ptr = &some_object };
	CHECK(sem_init(&called, 0, 0) == 0);
	CHECK(mq_notify(queue, &event) == 0 && mq_send(queue, "b", 1, 0) == 0);
	CHECK(sem_wait(&called) == 0 && wrong_calls == 0 && mq_close(queue) == 0);
	unblock(&set);
	return 0;
}

/* ---- threads, more than there are CPUs ---- */

#define THREADS 7

static pthread_t threads[THREADS];
static pthread_barrier_t all_there;
static int pipes[2];

static void *await_own(void *argument)
{
	intptr_t me = (intptr_t)argument;
	siginfo_t info;
	sigset_t set;
	char byte;

	if (me % 2) {
		block(&set, SIGRTMIN + 6);
		pthread_barrier_wait(&all_there);
		return sigwaitinfo(&set, &info) == SIGRTMIN + 6 && info.si_code == SI_QUEUE &&
				       info.si_pid == getpid() && info.si_value.sival_int == me
			       ? NULL
			       : "wrong";
	}
	pthread_barrier_wait(&all_there);
	/* Ended by its handler, or begun after that has run. */
	if (read(pipes[0], &byte, 1) != -1 || errno != EINTR)
		return "wrong";
	return NULL;
}

static int of_threads(void)
{
	struct timespec some = { 0, 10000000 };
	void *wrong;

	handle(SIGRTMIN + 6);
	CHECK(pipe(pipes) == 0 && pthread_barrier_init(&all_there, NULL, THREADS + 1) == 0);
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, await_own, (void *)i) == 0);
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < THREADS; i++) {
		CHECK(pthread_sigqueue(threads[i], SIGRTMIN + 6, number(i)) == 0);
		/* A signal that comes before the read has ended nothing, so it is sent again. */
		while (i % 2 == 0 && pthread_tryjoin_np(threads[i], &wrong) == EBUSY) {
			nanosleep(&some, NULL);
			pthread_sigqueue(threads[i], SIGRTMIN + 6, number(i));
		}
		if (i % 2)
			CHECK(pthread_join(threads[i], &wrong) == 0);
		CHECK(!wrong);
	}
	CHECK(n_told >= 4 && told[0].si_code == SI_QUEUE && told[0].si_value.sival_int == 0);
	return 0;
}

static void *handle_one(void *unused)
{
	sigset_t none;

	(void)unused;
	pthread_barrier_wait(&all_there);
	sigemptyset(&none);
	while (!n_told)
		sigsuspend(&none);
	return NULL;
}

/* A signal for the process goes to another thread when the first one does not want it. */
static int for_another(void)
{
	pthread_t thread;
	sigset_t set;
	pid_t pid;

	block(&set, SIGUSR2);
	handle(SIGUSR2);
	CHECK(pthread_barrier_init(&all_there, NULL, 2) == 0);
	for (int i = 0; i < 2; i++) {
		n_told = 0;
		CHECK(pthread_create(&thread, NULL, handle_one, NULL) == 0);
		pthread_barrier_wait(&all_there);
		pid = fork();
		if (pid == 0)
			_exit(i ? sigqueue(getppid(), SIGUSR2, number(5))
				: kill(getppid(), SIGUSR2));
		CHECK(pthread_join(thread, NULL) == 0 && n_told == 1 && told[0].si_pid == pid);
		CHECK(told[0].si_code == (i ? SI_QUEUE : SI_USER) && told[0].si_errno == 0);
		CHECK(!i || told[0].si_value.sival_int == 5);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
	unblock(&set);
	return 0;
}

/* ---- another program ---- */

static int after_exec(const char *parent)
{
	siginfo_t info;
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (int i = 0; i < 3; i++) {
		CHECK(sigtimedwait(&set, &info, &no_time) > 0);
		if (info.si_signo == SIGUSR1) {
			CHECK(info.si_code == SI_USER && info.si_pid == atoi(parent));
			continue;
		}
		CHECK(info.si_signo == SIGRTMIN + 2 && info.si_code == SI_QUEUE);
		CHECK(info.si_value.sival_int == i && info.si_pid == getpid());
	}
	CHECK(sigtimedwait(&set, &info, &no_time) == -1 && errno == EAGAIN);
	return 0;
}

static int over_exec(void)
{
	int ends[2], status;
	char parent[16], byte;
	sigset_t set, usr;
	pid_t pid;

	block(&set, SIGRTMIN + 2);
	block(&usr, SIGUSR1);
	CHECK(pipe(ends) == 0);
	snprintf(parent, sizeof(parent), "%d", getpid());
	pid = fork();
	if (pid == 0) {
		for (int i = 1; i < 3; i++)
			sigqueue(getpid(), SIGRTMIN + 2, number(i));
		close(ends[1]);
		if (read(ends[0], &byte, 1) == 0) {
			execl("/nonexistent", "x", NULL);
			execl(self, self, "after-exec", parent, NULL);
		}
		_exit(126);
	}
	close(ends[0]);
	CHECK(kill(pid, SIGUSR1) == 0 && close(ends[1]) == 0);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	unblock(&set);
	unblock(&usr);
	return 0;
}

static int outside(int n)
{
	siginfo_t info;
	sigset_t set, usr;

	block(&set, SIGRTMIN + 2);
	block(&usr, SIGUSR1);
	printf("ready as %d\n", getpid());
	for (int i = 0; i < n; i++) {
		CHECK(sigwaitinfo(&set, &info) == SIGRTMIN + 2 && info.si_code == SI_USER);
		CHECK(info.si_pid == getppid() && info.si_uid == getuid());
	}
	printf("%d from its parent\n", n);
	CHECK(sigwaitinfo(&usr, &info) == SIGUSR1 && info.si_code == SI_USER);
	CHECK(info.si_pid == getppid() && info.si_uid == getuid());
	CHECK(sigtimedwait(&set, &info, &no_time) == -1 && errno == EAGAIN);
	puts("and the last");
	return 0;
}

static const struct test tests[] = {
	{ "to itself", to_itself },
	{ "queued", queued },
	{ "by a child", by_child },
	{ "too many", too_many },
	{ "too many of a child", too_many_of_a_child },
	{ "children", children },
	{ "ignored", ignored },
	{ "descriptors", descriptors },
	{ "timers with values", timer_values },
	{ "overruns", timer_overruns },
	{ "timer of a thread", timer_of_thread },
	{ "timer with a function", timer_function },
	{ "message queue", messages },
	{ "threads", of_threads },
	{ "for another thread", for_another },
	{ "another program", over_exec },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	self = realpath("/proc/self/exe", NULL);
	if (argc > 2 && !strcmp(argv[1], "after-exec"))
		return after_exec(argv[2]);
	if (argc > 2 && !strcmp(argv[1], "outside"))
		return outside(atoi(argv[2]));
	return RUN_TESTS(tests, argc > 1 ? argv[1] : NULL);
}
