/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks clocks and timers of CPU time. Linux keeps the same promises, except for the time of
 * delegated calls, which it counts. Needs two CPUs.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* Older headers have no name for it. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define MS 1000000LL
/*
 * CPU time may be so much more than expected: on a host with other work the machine's CPUs
 * stand still at times, and the machine does not know.
 */
#define STEP (100 * MS)

static int64_t read_clock(clockid_t id)
{
	struct timespec time = { 0, -1 };

	clock_gettime(id, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int64_t of_process(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static int64_t of_thread(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static int64_t to_ns(struct timeval time)
{
	return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

/* Uses so much CPU time of the thread, almost without calls. */
static void compute(int64_t ns)
{
	int64_t end = of_thread() + ns;

	while (of_thread() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void rest(int64_t ns)
{
	struct timespec left = to_timespec(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

static bool about(int64_t found, int64_t expected)
{
	if (found > expected - STEP && found < expected + STEP)
		return true;
	printf("expected about %lld ms, found %lld ms\n", (long long)(expected / MS),
	       (long long)(found / MS));
	return false;
}

/* ---- clocks ---- */

static int clocks_agree(void)
{
	int64_t wall = read_clock(CLOCK_MONOTONIC), process = of_process(), thread = of_thread();
	int64_t begin, used;
	struct rusage usage;
	struct tms tms;

	rest(300 * MS);
	CHECK(about(of_process(), process) && about(of_thread(), thread));
	begin = read_clock(CLOCK_MONOTONIC);
	compute(100 * MS);
	used = of_thread() - thread;
	/* The machine may have stood still meanwhile, but not for longer than its clock says. */
	CHECK(used >= 100 * MS && used < read_clock(CLOCK_MONOTONIC) - begin + STEP);
	CHECK(about(of_process() - process, used));
	CHECK(read_clock(CLOCK_MONOTONIC) - wall >= 399 * MS);
	CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
	CHECK(about(to_ns(usage.ru_utime) + to_ns(usage.ru_stime), of_process()));
	CHECK(getrusage(RUSAGE_THREAD, &usage) == 0);
	CHECK(about(to_ns(usage.ru_utime) + to_ns(usage.ru_stime), of_thread()));
	CHECK(times(&tms) != -1);
	CHECK(about((tms.tms_utime + tms.tms_stime) * 10 * MS, of_process()));
	return 0;
}

/* Touching memory is the kernel's time. */
static int system_time_counts(void)
{
	const size_t size = 64 << 20;
	struct rusage before, after;
	char *memory;

	CHECK(getrusage(RUSAGE_SELF, &before) == 0);
	for (int i = 0; i < 4; i++) {
		memory = aligned_alloc(4096, size);
		CHECK(memory);
		for (size_t at = 0; at < size; at += 4096)
			((volatile char *)memory)[at] = 1;
		free(memory);
	}
	CHECK(getrusage(RUSAGE_SELF, &after) == 0);
	CHECK(to_ns(after.ru_stime) > to_ns(before.ru_stime));
	return 0;
}

static atomic_bool stop;

static void *compute_until_stop(void *clock)
{
	int64_t before = of_thread();

	while (!stop)
		for (volatile int i = 0; i < 10000; i++)
			;
	if (clock)
		*(int64_t *)clock = of_thread() - before;
	return NULL;
}

static int threads_add_up(void)
{
	int64_t process = of_process(), first = of_thread(), used = 0, seen;
	clockid_t clock, own;
	pthread_t thread;

	stop = false;
	CHECK(pthread_create(&thread, NULL, compute_until_stop, &used) == 0);
	CHECK(pthread_getcpuclockid(thread, &clock) == 0);
	CHECK(pthread_getcpuclockid(pthread_self(), &own) == 0);
	compute(100 * MS);
	CHECK(about(read_clock(own), of_thread()));
	seen = read_clock(clock);
	stop = true;
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(seen > 0 && seen <= used + STEP &&
	      about(of_process() - process, of_thread() - first + used));
	CHECK(clock_getcpuclockid(getpid(), &clock) == 0);
	CHECK(about(read_clock(clock), of_process()));
	CHECK(clock_getcpuclockid(0, &clock) == 0 && about(read_clock(clock), of_process()));
	return 0;
}

static int children_add_up(void)
{
	struct rusage before, after;
	int64_t deadline = read_clock(CLOCK_MONOTONIC) + 30000 * MS;
	clockid_t clock;
	int status;
	pid_t child;

	CHECK(getrusage(RUSAGE_CHILDREN, &before) == 0);
	child = fork();
	if (child == 0) {
		if (of_process() > STEP)
			_exit(1);
		compute(200 * MS);
		pause();
		_exit(0);
	}
	CHECK(child > 0);
	CHECK(clock_getcpuclockid(child, &clock) == 0);
	/* Linux learns of it once a second. */
	while (read_clock(clock) < 150 * MS && read_clock(CLOCK_MONOTONIC) < deadline)
		rest(10 * MS);
	CHECK(read_clock(clock) >= 150 * MS);
	kill(child, SIGTERM);
	CHECK(waitpid(child, &status, 0) == child && WTERMSIG(status) == SIGTERM);
	CHECK(getrusage(RUSAGE_CHILDREN, &after) == 0);
	CHECK(to_ns(after.ru_utime) + to_ns(after.ru_stime) - to_ns(before.ru_utime) -
		      to_ns(before.ru_stime) >
	      190 * MS);
	CHECK(clock_getcpuclockid(child, &clock) != 0);
	return 0;
}

/* ---- timers ---- */

static atomic_int counted, signals, overruns, last_value;
static _Atomic pid_t taker;

static void count(int signal, siginfo_t *info, void *context)
{
	(void)context;
	/* A signal for another thread may come late. */
	if (signal != counted)
		return;
	signals++;
	overruns += info->si_code == SI_TIMER ? info->si_overrun : 0;
	last_value = info->si_code == SI_TIMER ? info->si_value.sival_int : 0;
	taker = syscall(SYS_gettid);
}

static void handle(int signal)
{
	struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART };

	sigaction(signal, &action, NULL);
	counted = signal;
	signals = overruns = last_value = taker = 0;
}

/*
 * An emulated machine may interrupt its CPU late, and what comes while it stands still is one
 * signal; so there is no least number for a time.
 */
static void compute_until_signals(int n)
{
	for (int i = 0; signals < n && i < 2000; i++)
		compute(10 * MS);
}

static int interval_timer(int which, int signal)
{
	const struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	int64_t process = of_process();
	struct itimerval left;
	int n, due;

	handle(signal);
	CHECK(setitimer(which, &every, NULL) == 0);
	compute_until_signals(10);
	CHECK(getitimer(which, &left) == 0 && to_ns(left.it_interval) == 10 * MS);
	CHECK(to_ns(left.it_value) > 0 && to_ns(left.it_value) <= 10 * MS + STEP);
	n = signals;
	due = (of_process() - process) / (10 * MS);
	printf("timer %d: %d signals of %d\n", which, n, due);
	CHECK(n >= 10 && n <= due + 8);
	rest(200 * MS);
	CHECK(signals <= n + 2);
	CHECK(setitimer(which, &never, &left) == 0 && to_ns(left.it_interval) == 10 * MS);
	n = signals;
	compute(50 * MS);
	CHECK(signals == n);
	CHECK(getitimer(which, &left) == 0 && !to_ns(left.it_interval) && !to_ns(left.it_value));
	return 0;
}

/* Programs read clocks by the vDSO, and a signal may come while they do. */
static int signals_come_in_vdso(void)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct timespec now;

	handle(SIGPROF);
	CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
	while (signals < 50) {
		CHECK(time(NULL) > 0);
		CHECK(clock_gettime(CLOCK_REALTIME, &now) == 0);
	}
	CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
	return 0;
}

static int threads_share_timer(void)
{
	const struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };
	int64_t process = of_process();
	pthread_t thread;
	sigset_t set;
	pid_t other;
	int expected;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	handle(SIGPROF);
	stop = false;
	CHECK(setitimer(ITIMER_PROF, &every, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, compute_until_stop, NULL) == 0);
	compute_until_signals(10);
	expected = (of_process() - process) / (10 * MS);
	printf("threads: %d signals of %d\n", signals, expected);
	CHECK(signals >= 10 && signals <= expected + 8);
	/* The other thread takes the signals that this one blocks. */
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	signals = taker = 0;
	compute_until_signals(1);
	other = taker;
	CHECK(other && other != syscall(SYS_gettid));
	CHECK(setitimer(ITIMER_PROF, &never, NULL) == 0);
	stop = true;
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	return 0;
}

static int timers_of_clocks(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec value = { .it_value = to_timespec(200 * MS) }, left;
	struct timespec when = { 0, 0 }, soon = { 60, 0 };
	int64_t start, due;
	siginfo_t info;
	sigset_t set;
	timer_t timer;

	event.sigev_value.sival_int = 42;
	handle(SIGRTMIN);
	CHECK(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &value, NULL) == 0);
	rest(200 * MS);
	CHECK(!signals);
	CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_nsec > 0);
	start = of_thread();
	compute_until_signals(1);
	CHECK(signals == 1 && last_value == 42 && of_thread() - start > 200 * MS - STEP);
	CHECK(timer_gettime(timer, &left) == 0 && !left.it_value.tv_nsec);

	/* Signals that are blocked add up. */
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
	value = (struct itimerspec){ to_timespec(10 * MS), to_timespec(10 * MS) };
	CHECK(timer_settime(timer, 0, &value, NULL) == 0);
	start = of_thread();
	compute(200 * MS);
	/* The machine may have stood still meanwhile, and the timer's interrupt comes afterwards. */
	CHECK(sigtimedwait(&set, &info, &soon) == SIGRTMIN && info.si_value.sival_int == 42);
	due = (of_thread() - start) / (10 * MS) - 1;
	printf("%d overruns of %lld\n", info.si_overrun, (long long)due);
	CHECK(info.si_overrun >= due - 5 && info.si_overrun <= due + 10);
	CHECK(timer_getoverrun(timer) == info.si_overrun);
	value = (struct itimerspec){ 0 };
	CHECK(timer_settime(timer, 0, &value, &left) == 0 && left.it_interval.tv_nsec == 10 * MS);
	while (sigtimedwait(&set, &info, &when) == SIGRTMIN)
		;
	CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
	CHECK(timer_delete(timer) == 0);

	CHECK(timer_create(CLOCK_PROCESS_CPUTIME_ID, NULL, &timer) == 0);
	due = of_process() + 30 * MS;
	value.it_value = to_timespec(due);
	handle(SIGALRM);
	CHECK(timer_settime(timer, TIMER_ABSTIME, &value, NULL) == 0);
	compute_until_signals(1);
	CHECK(signals == 1 && of_process() >= due);
	value.it_value.tv_nsec = 1000000000;
	CHECK(timer_settime(timer, 0, &value, NULL) == -1 && errno == EINVAL);
	CHECK(timer_delete(timer) == 0);
	CHECK(timer_settime(timer, 0, &value, NULL) == -1 && errno == EINVAL);
	/* The signal of a timer that sends none may be any number. */
	event = (struct sigevent){ .sigev_notify = SIGEV_NONE };
	CHECK(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0);
	CHECK(timer_delete(timer) == 0);
	event = (struct sigevent){ .sigev_notify = SIGEV_SIGNAL };
	CHECK(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == -1 && errno == EINVAL);
	return 0;
}

static int timer_tells_thread(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec value = { .it_value = to_timespec(20 * MS) };
	sigset_t set, old;
	pthread_t thread;
	siginfo_t info;
	timer_t timer;

	/* The first thread waits, and gets a signal for the CPU time of another one. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(pthread_sigmask(SIG_BLOCK, &set, &old) == 0);
	event.sigev_notify_thread_id = syscall(SYS_gettid);
	event.sigev_value.sival_int = 7;
	CHECK(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer) == 0);
	CHECK(timer_settime(timer, 0, &value, NULL) == 0);
	stop = false;
	CHECK(pthread_create(&thread, NULL, compute_until_stop, NULL) == 0);
	CHECK(sigwaitinfo(&set, &info) == SIGUSR1);
	CHECK(info.si_code == SI_TIMER && info.si_value.sival_int == 7);
	stop = true;
	CHECK(pthread_join(thread, NULL) == 0 && timer_delete(timer) == 0);
	CHECK(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
	return 0;
}

static int can_sleep(void)
{
	struct timespec time = to_timespec(50 * MS), left = { 0, 0 };
	const struct itimerval soon = { .it_value = { 0, 50000 } };
	int64_t process;
	pthread_t thread;

	CHECK(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL) == EINVAL);
	stop = false;
	CHECK(pthread_create(&thread, NULL, compute_until_stop, NULL) == 0);
	process = of_process();
	CHECK(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &time, NULL) == 0);
	CHECK(of_process() - process >= 50 * MS);
	stop = true;
	CHECK(pthread_join(thread, NULL) == 0);
	/* No thread computes, so the clock stands still. */
	handle(SIGALRM);
	CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
	time.tv_sec = 1000;
	CHECK(clock_nanosleep(CLOCK_PROCESS_CPUTIME_ID, 0, &time, &left) == EINTR && signals == 1);
	CHECK(left.tv_sec >= 999);
	return 0;
}

/* Another program of the same process goes on with its time. */
static int exec_keeps_time(char **argv)
{
	char text[32];

	compute(100 * MS);
	snprintf(text, sizeof(text), "%lld", (long long)of_process());
	execl("/proc/self/exe", argv[0], text, NULL);
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 2) {
		CHECK(of_process() >= atoll(argv[1]));
		printf("all of it is right\n");
		return 0;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	return clocks_agree() || system_time_counts() || threads_add_up() || children_add_up() ||
	       interval_timer(ITIMER_PROF, SIGPROF) || interval_timer(ITIMER_VIRTUAL, SIGVTALRM) ||
	       signals_come_in_vdso() || threads_share_timer() || timers_of_clocks() ||
	       timer_tells_thread() || can_sleep() || exec_keeps_time(argv);
}
