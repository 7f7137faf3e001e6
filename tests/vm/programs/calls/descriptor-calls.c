/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks on Linux and on an LWK what Linux promises of calls on descriptors that few programs make:
 * descriptors of processes and signals, comparisons, memory in pipes and direct transfers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "check.h"

#define PAGE 4096UL

static int process_descriptors(void)
{
	struct pollfd ended = { .events = POLLIN };
	siginfo_t info = { 0 };
	pid_t child = fork();
	int fd;

	if (child == 0)
		for (;;)
			pause();
	ended.fd = syscall(__NR_pidfd_open, child, 0);
	CHECK(child > 0 && ended.fd >= 0 && poll(&ended, 1, 0) == 0);
	CHECK(syscall(__NR_pidfd_send_signal, ended.fd, SIGTERM, NULL, 0) == 0);
	CHECK(poll(&ended, 1, -1) == 1 && ended.revents & POLLIN);
	CHECK(waitid((idtype_t)3 /* P_PIDFD */, ended.fd, &info, WEXITED) == 0);
	CHECK(info.si_pid == child && info.si_code == CLD_KILLED && info.si_status == SIGTERM);
	CHECK(syscall(__NR_pidfd_open, child, 0) < 0 && errno == ESRCH && close(ended.fd) == 0);
	ended.fd = syscall(__NR_pidfd_open, getpid(), 0);
	fd = syscall(__NR_pidfd_getfd, ended.fd, 1, 0);
	CHECK(fd > 2 && fcntl(fd, F_GETFD) == FD_CLOEXEC && close(fd) == 0 && close(ended.fd) == 0);
	return 0;
}

static volatile sig_atomic_t handled;

static void on_signal(int signal)
{
	handled = signal;
}

/* True when the next signal that the descriptor reports has this number and sender. */
static bool tells(int fd, int signal, pid_t sender)
{
	struct pollfd waits = { .fd = fd, .events = POLLIN };
	struct signalfd_siginfo info;

	return poll(&waits, 1, 20000) == 1 && read(fd, &info, sizeof(info)) == sizeof(info) &&
	       (int)info.ssi_signo == signal && (pid_t)info.ssi_pid == sender;
}

static bool tells_nothing(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) < 0 && errno == EAGAIN;
}

static int signal_descriptors(void)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct timespec at_once = { 0, 0 };
	sigset_t set, pending;
	pid_t child;
	int fd, status;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
	/* A signal that has come before there is a descriptor. */
	CHECK(kill(getpid(), SIGUSR1) == 0);
	fd = signalfd(-1, &set, SFD_NONBLOCK);
	CHECK(fd >= 0 && tells(fd, SIGUSR1, getpid()) && tells_nothing(fd));
	CHECK(kill(getpid(), SIGUSR1) == 0 && tells(fd, SIGUSR1, getpid()));
	CHECK(raise(SIGUSR1) == 0 && tells(fd, SIGUSR1, getpid()) && tells_nothing(fd));
	child = fork();
	if (child == 0)
		_exit(kill(getppid(), SIGUSR1) || raise(SIGUSR1) || !tells(fd, SIGUSR1, getpid()));
	CHECK(child > 0 && tells(fd, SIGUSR1, child) && tells(fd, SIGCHLD, child));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	/* Other calls take signals of the descriptor's set, too. */
	CHECK(kill(getpid(), SIGUSR1) == 0 && sigpending(&pending) == 0);
	CHECK(sigismember(&pending, SIGUSR1) && !sigismember(&pending, SIGCHLD));
	CHECK(sigtimedwait(&set, NULL, &at_once) == SIGUSR1 && tells_nothing(fd));
	CHECK(sigaction(SIGUSR1, &action, NULL) == 0 && kill(getpid(), SIGUSR1) == 0 && !handled);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && handled == SIGUSR1);
	handled = 0;
	CHECK(kill(getpid(), SIGUSR1) == 0 && handled == SIGUSR1 && tells_nothing(fd));
	/* Another set for the same descriptor. */
	sigaddset(&set, SIGUSR2);
	CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0 && signalfd(fd, &set, 0) == fd);
	CHECK(raise(SIGUSR2) == 0 && tells(fd, SIGUSR2, getpid()));
	CHECK(signalfd(fd + 100, &set, 0) < 0 && errno == EBADF);
	CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0 && signal(SIGUSR1, SIG_DFL) == on_signal);
	return close(fd);
}

/* All numbers below the limit are the program's. */
static int all_descriptors(void)
{
	struct rlimit limit;
	int fd = 0, last = -1;

	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	if (limit.rlim_cur > 1024)
		limit.rlim_cur = 1024;
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	CHECK(errno == EMFILE && last == (int)limit.rlim_cur - 1);
	for (fd = 0; fd <= last; fd++)
		CHECK(fcntl(fd, F_GETFD) >= 0);
	for (fd = 3; fd <= last; fd++)
		CHECK(close(fd) == 0);
	/* Nothing is open that the program has not opened, by its proxy neither. */
	for (fd = 3; fd < 70000; fd++)
		CHECK(fchmod(fd, 0) < 0 && errno == EBADF && fchown(fd, -1, -1) < 0 &&
		      errno == EBADF);
	return 0;
}

static int comparisons(void)
{
	int fd = open("/dev/null", O_RDONLY), same = dup(fd), other = open("/dev/null", O_RDONLY);
	struct file_handle handle = { .handle_bytes = 0 };
	struct stat file;
	char facts[64];
	int mount;

	CHECK(syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, fd, same) == 0);
	CHECK(syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, fd, other) > 0);
	CHECK(close(fd) == 0 && close(same) == 0 && close(other) == 0);
	CHECK(stat("/", &file) == 0 && syscall(SYS_ustat, file.st_dev, facts) == 0);
	CHECK(syscall(SYS_sysfs, 3) > 0 && syscall(SYS_sysfs, 4) < 0 && errno == EINVAL);
	CHECK(name_to_handle_at(AT_FDCWD, "/", &handle, &mount, 0) < 0 &&
	      (errno == EOVERFLOW || errno == EOPNOTSUPP));
	return 0;
}

/* vmsplice(2) waits for room or data as on Linux, and then takes what it can. */
static int memory_in_pipes(void)
{
	int ends[2], file = open("/dev/zero", O_RDWR);
	static char from[1 << 20], to[1 << 20];
	struct iovec out[2] = { { from, 100 }, { from + 100, sizeof(from) - 100 } };
	struct iovec in = { to, sizeof(to) };
	ssize_t n;

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = i / 3;
	CHECK(file >= 0 && pipe(ends) == 0);
	CHECK(vmsplice(ends[0], &in, 1, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN);
	n = vmsplice(ends[1], out, 2, 0);
	CHECK(n > 100 && n < (ssize_t)sizeof(from));
	CHECK(vmsplice(ends[1], out, 2, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN);
	CHECK(vmsplice(ends[0], &in, 1, 0) == n && memcmp(from, to, n) == 0);
	CHECK(vmsplice(file, out, 1, 0) < 0 && errno == EBADF);
	CHECK(vmsplice(ends[1], out, 5000, 0) < 0 && errno == EINVAL);
	CHECK(vmsplice(ends[1], out, 1, 16) < 0 && errno == EINVAL);
	CHECK(close(ends[1]) == 0 && vmsplice(ends[0], &in, 1, 0) == 0);
	return close(ends[0]) | close(file);
}

static int direct_transfers(void)
{
	char name[] = "descriptor-calls.XXXXXX", *data, *found;
	int made = mkstemp(name), fd = open(name, O_RDWR | O_DIRECT);
	struct iovec two[2];

	CHECK(made >= 0 && fd >= 0 && unlink(name) == 0);
	data = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	found = mmap(NULL, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(data != MAP_FAILED && found != MAP_FAILED);
	for (size_t i = 0; i < 8 * PAGE; i++)
		data[i] = i / 7;
	CHECK(write(fd, data, 2 * PAGE) == 2 * PAGE);
	two[0] = (struct iovec){ data + 2 * PAGE, PAGE };
	two[1] = (struct iovec){ data + 3 * PAGE, 3 * PAGE };
	CHECK(writev(fd, two, 2) == 4 * PAGE && lseek(fd, 0, SEEK_CUR) == 6 * PAGE);
	CHECK(pwrite(fd, data + 6 * PAGE, 2 * PAGE, 6 * PAGE) == 2 * PAGE);
	CHECK(lseek(fd, PAGE, SEEK_SET) == PAGE && read(fd, found + PAGE, PAGE) == PAGE);
	CHECK(pread(fd, found, PAGE, 0) == PAGE && lseek(fd, 0, SEEK_CUR) == 2 * PAGE);
	two[0] = (struct iovec){ found + 4 * PAGE, 4 * PAGE };
	two[1] = (struct iovec){ found + 2 * PAGE, 2 * PAGE };
	CHECK(preadv(fd, two, 1, 4 * PAGE) == 4 * PAGE &&
	      preadv(fd, two + 1, 1, 2 * PAGE) == 2 * PAGE);
	CHECK(memcmp(data, found, 8 * PAGE) == 0);
	CHECK(pread(fd, found, 8 * PAGE, 7 * PAGE) == PAGE &&
	      pread(fd, found, PAGE, 8 * PAGE) == 0);
	CHECK(memcmp(data + 7 * PAGE, found, PAGE) == 0);
	CHECK(mprotect(found, PAGE, PROT_READ) == 0);
	CHECK(pread(fd, found, PAGE, 0) < 0 && errno == EFAULT);
	CHECK(pwrite(fd, (void *)PAGE, PAGE, 0) < 0 && errno == EFAULT);
	CHECK(munmap(data, 8 * PAGE) == 0 && munmap(found, 8 * PAGE) == 0);
	CHECK(close(fd) == 0 && close(made) == 0);
	return 0;
}

int main(void)
{
	if (comparisons() || memory_in_pipes() || process_descriptors() || signal_descriptors() ||
	    all_descriptors() || direct_transfers())
		return 1;
	puts("all of it is right");
	return 0;
}
