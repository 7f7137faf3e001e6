/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks on Linux and on an LWK what Linux promises of calls that few programs make. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/kcmp.h>
#include <linux/keyctl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/shared/linux_calls.h"
#include "check.h"

#define PAGE 4096UL

extern char **environ;

/* A user may set the IDs to what they are. GNU make's posix_spawn(3) does so for each program. */
static int identity(void)
{
	char *const arguments[] = { "true", NULL };
	uid_t user = getuid(), other = user + 1, ids[3];
	gid_t group = getgid(), groups[64], group_ids[3];
	posix_spawnattr_t attributes;
	pid_t child;
	int status;

	CHECK(setuid(user) == 0 && seteuid(user) == 0 && setreuid(user, -1) == 0);
	CHECK(setresuid(user, user, user) == 0 && setresuid(-1, -1, -1) == 0);
	CHECK(setgid(group) == 0 && setegid(group) == 0 && setregid(-1, group) == 0);
	CHECK(setresgid(group, group, group) == 0 && setresgid(-1, -1, -1) == 0);
	CHECK(setuid(other) < 0 && errno == EPERM && setgid(group + 1) < 0 && errno == EPERM);
	CHECK(setreuid(other, -1) < 0 && errno == EPERM && setregid(-1, 0) < 0 && errno == EPERM);
	CHECK(setresuid(-1, -1, 0) < 0 && errno == EPERM);
	CHECK(setresgid(-1, 0, -1) < 0 && errno == EPERM);
	CHECK(setuid(-1) < 0 && errno == EINVAL && setgid(-1) < 0 && errno == EINVAL);
	CHECK(setfsuid(other) == (int)user && setfsuid(-1) == (int)user);
	CHECK(setfsgid(0) == (int)group && setfsgid(-1) == (int)group);
	CHECK(setgroups(getgroups(64, groups), groups) < 0 && errno == EPERM);
	CHECK(getresuid(&ids[0], &ids[1], &ids[2]) == 0);
	CHECK(ids[0] == user && ids[1] == user && ids[2] == user);
	CHECK(getresgid(&group_ids[0], &group_ids[1], &group_ids[2]) == 0);
	CHECK(group_ids[0] == group && group_ids[1] == group && group_ids[2] == group);

	CHECK(posix_spawnattr_init(&attributes) == 0);
	CHECK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_RESETIDS) == 0);
	CHECK(posix_spawnp(&child, "true", NULL, &attributes, arguments, environ) == 0);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	return 0;
}

/* A key is the thread's, as long as the same thread of the proxy makes its calls. */
static int keys(void)
{
	char data[8] = "";
	long key = syscall(SYS_add_key, "user", "more-calls", "data", 4, KEY_SPEC_THREAD_KEYRING);

	CHECK(key > 0 && syscall(SYS_keyctl, KEYCTL_READ, key, data, sizeof(data)) == 4);
	CHECK(memcmp(data, "data", 4) == 0);
	CHECK(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_THREAD_KEYRING, "user", "more-calls",
		      0) == key);
	return 0;
}

static int personalities(void)
{
	int old = personality(UINT32_MAX), status;
	struct utsname names;
	char release[256] = "";
	int fd = open("/proc/sys/kernel/osrelease", O_RDONLY);
	pid_t child;

	CHECK(old >= 0 && personality(old | ADDR_NO_RANDOMIZE | UNAME26) == old);
	CHECK(uname(&names) == 0 && strncmp(names.release, "2.6.", 4) == 0);
	child = fork();
	if (child == 0)
		_exit(!(personality(UINT32_MAX) & ADDR_NO_RANDOMIZE));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(personality(old) == (old | ADDR_NO_RANDOMIZE | UNAME26));
	CHECK(uname(&names) == 0 && read(fd, release, sizeof(release) - 1) > 0 && close(fd) == 0);
	CHECK(strlen(release) == strlen(names.release) + 1 &&
	      strncmp(release, names.release, strlen(names.release)) == 0);
	return 0;
}

static int capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];

	CHECK(syscall(SYS_capget, &header, has) == 0 && syscall(SYS_capset, &header, has) == 0);
	has[0].permitted = has[0].effective = 1U << CAP_SYS_ADMIN;
	CHECK(geteuid() == 0 || (syscall(SYS_capset, &header, has) < 0 && errno == EPERM));
	return 0;
}

static int clock_of_the_node(void)
{
	struct timeval sane = { 1700000000, 0 }, bad = { 0, 1000001 };
	struct timex facts = { 0 };

	CHECK(adjtimex(&facts) >= 0 && facts.tick > 0);
	CHECK(settimeofday(&bad, NULL) < 0 && errno == EINVAL);
	CHECK(geteuid() == 0 || (settimeofday(&sane, NULL) < 0 && errno == EPERM));
	return 0;
}

/* ---- processes ---- */

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

/* The number and the sender of the next signal that the descriptor tells of. */
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

static int command_line(int argc, char **argv)
{
	int fd = open("/proc/self/cmdline", O_RDONLY);
	char text[1024], *at = text;
	ssize_t n = read(fd, text, sizeof(text));

	CHECK(fd >= 0 && n > 0 && close(fd) == 0);
	for (int i = 0; i < argc; i++) {
		CHECK(strcmp(at, argv[i]) == 0);
		at += strlen(at) + 1;
	}
	CHECK(at == text + n);
	return 0;
}

/* ---- files ---- */

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
	char name[] = "more-calls.XXXXXX", *data, *found;
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

/* ---- memory ---- */

static atomic_bool stop;

static void *spin(void *nothing)
{
	while (!atomic_load(&stop))
		;
	return nothing;
}

static int barriers(void)
{
	long known = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
	pthread_t thread;
	int status;
	pid_t child;

	CHECK(known > 0 && known & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	CHECK(known & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) < 0 && errno == EPERM);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0) < 0 &&
	      errno == EPERM);
	child = fork();
	if (child == 0)
		_exit(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) != 0);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	CHECK(pthread_create(&thread, NULL, spin, NULL) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0);
	atomic_store(&stop, true);
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK(syscall(SYS_membarrier, 1 << 30, 0) < 0 && errno == EINVAL);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 99) < 0 && errno == EINVAL);
	return 0;
}

static int protection_keys(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int key = pkey_alloc(0, 0);

	CHECK(page != MAP_FAILED && (key > 0 || errno == ENOSPC));
	CHECK(key < 0 || pkey_free(key) == 0);
	CHECK(pkey_alloc(1, 0) < 0 && errno == EINVAL && pkey_free(99) < 0 && errno == EINVAL);
	CHECK(pkey_mprotect(page, PAGE, PROT_READ | PROT_WRITE, -1) == 0);
	*page = 1;
	CHECK(pkey_mprotect(page, PAGE, PROT_READ, 99) < 0 && errno == EINVAL);
	CHECK(munmap(page, PAGE) == 0);
	return 0;
}

static int places(void)
{
	char *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *pages[] = { memory, memory + 3 * PAGE, memory + 2 * PAGE };
	int nodes[3] = { -99, -99, -99 };

	CHECK(memory != MAP_FAILED && munmap(memory + 2 * PAGE, PAGE) == 0);
	*memory = 1;
	CHECK(syscall(SYS_move_pages, 0, 3, pages, NULL, nodes, 0) == 0 && nodes[0] >= 0);
	CHECK(nodes[1] == -ENOENT || nodes[1] == -EFAULT);
	CHECK(nodes[2] == -EFAULT || nodes[2] == -ENOENT);
	CHECK(syscall(SYS_move_pages, getpid(), 1, pages, NULL, nodes, 0) == 0 && nodes[0] >= 0);
	CHECK(syscall(SYS_move_pages, 0, 1, PAGE, NULL, nodes, 0) < 0 && errno == EFAULT);
	CHECK(munmap(memory, 4 * PAGE) == 0);
	return 0;
}

/* ---- scheduling ---- */

static int scheduling(void)
{
	/* struct sched_attr of <linux/sched/types.h>, which old headers do not have. */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = { 0 };
	struct sched_param none = { 0 }, first = { 1 };
	int status;
	pid_t child;

	CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0 &&
	      sched_getscheduler(0) == SCHED_BATCH);
	CHECK(syscall(__NR_sched_getattr, 0, &attributes, sizeof(attributes), 0) == 0);
	CHECK(attributes.policy == SCHED_BATCH && !attributes.priority);
	child = fork();
	if (child == 0)
		_exit(sched_getscheduler(0) != SCHED_BATCH);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	attributes.policy = SCHED_OTHER;
	CHECK(syscall(__NR_sched_setattr, 0, &attributes, 0) == 0 &&
	      sched_getscheduler(getpid()) == SCHED_OTHER);
	CHECK(sched_setparam(0, &first) == -1 && errno == EINVAL);
	CHECK(geteuid() == 0 ||
	      (sched_setscheduler(0, SCHED_FIFO, &first) == -1 && errno == EPERM));
	return 0;
}

/* ---- memory ---- */

static int advice(void)
{
	char *memory =
		mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char present[4];
	int status;
	pid_t child;

	CHECK(memory != MAP_FAILED);
	memset(memory, 'a', 4 * PAGE);
	CHECK(madvise(memory + PAGE, PAGE, MADV_WIPEONFORK) == 0);
	CHECK(madvise(memory + 2 * PAGE, PAGE, MADV_DONTFORK) == 0);
	/* A child's child inherits the advice. */
	child = fork();
	if (child == 0)
		child = fork();
	if (child == 0)
		_exit(memory[0] != 'a' || memory[PAGE] || memory[4 * PAGE - 1] != 'a' ||
		      mincore(memory + 2 * PAGE, PAGE, present) != -1 || errno != ENOMEM);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	if (memory[PAGE] == 0)
		_exit(status != 0);
	CHECK(status == 0 && memory[PAGE] == 'a' && memory[2 * PAGE] == 'a');
	CHECK(madvise(memory, 4 * PAGE, MADV_KEEPONFORK) == 0);
	CHECK(madvise(memory, 4 * PAGE, MADV_DOFORK) == 0);
	child = fork();
	if (child == 0)
		_exit(memory[PAGE] != 'a' || memory[2 * PAGE] != 'a');
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
	/* Locked pages are there. */
	CHECK(madvise(memory, 4 * PAGE, MADV_DONTNEED) == 0 && mlock(memory, 2 * PAGE) == 0);
	CHECK(mincore(memory, 4 * PAGE, present) == 0 && present[1] & 1 && !(present[2] & 1));
	CHECK(madvise(memory, PAGE, 77) == -1 && errno == EINVAL);
	CHECK(madvise(memory + 1, PAGE, MADV_NORMAL) == -1 && errno == EINVAL);
	CHECK(munmap(memory + PAGE, PAGE) == 0);
	CHECK(madvise(memory, 2 * PAGE, MADV_SEQUENTIAL) == -1 && errno == ENOMEM);
	return munmap(memory, 4 * PAGE);
}

/* ---- limits ---- */

static bool has_room_for(size_t size)
{
	void *room = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room != MAP_FAILED)
		munmap(room, size);
	return room != MAP_FAILED;
}

static int address_space(void)
{
	const size_t limit = 512 << 20, step = 64 << 20;
	struct rlimit old, now;
	int status;
	void *end, *room, *place;
	pid_t child;

	CHECK(getrlimit(RLIMIT_AS, &old) == 0 && old.rlim_cur == RLIM_INFINITY);
	now = (struct rlimit){ limit, old.rlim_max };
	CHECK(setrlimit(RLIMIT_AS, &now) == 0);
	CHECK(prlimit(getpid(), RLIMIT_AS, NULL, &now) == 0 && now.rlim_cur == limit);
	CHECK(!has_room_for(limit) && errno == ENOMEM && has_room_for(step));
	room = mmap(NULL, step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	place = mmap(NULL, 2 * step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(room != MAP_FAILED && place != MAP_FAILED);
	now.rlim_cur = step + step / 2;
	CHECK(setrlimit(RLIMIT_AS, &now) == 0);
	CHECK(mremap(room, step, 2 * step, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED &&
	      errno == ENOMEM);
	CHECK(mremap(room, step, step, MREMAP_MAYMOVE | 4 /* DONTUNMAP */, NULL) == MAP_FAILED &&
	      errno == ENOMEM);
	CHECK(mremap(room, step, step, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place);
	now.rlim_cur = limit;
	CHECK(setrlimit(RLIMIT_AS, &now) == 0 && munmap(place, 2 * step) == 0);
	end = sbrk(0);
	CHECK(sbrk(limit) == (void *)-1 && errno == ENOMEM && sbrk(0) == end);
	child = fork();
	if (child == 0)
		_exit(has_room_for(limit) || !has_room_for(step));
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	now.rlim_cur = old.rlim_max;
	now.rlim_max = 0;
	CHECK(setrlimit(RLIMIT_AS, &now) == -1 && errno == EINVAL);
	CHECK(setrlimit(RLIMIT_AS, &old) == 0 && has_room_for(limit));
	CHECK(setrlimit(RLIMIT_AS, (void *)8) == -1 && errno == EFAULT);
	CHECK(getrlimit(RLIMIT_AS, (void *)8) == -1 && errno == EFAULT);
	return 0;
}

int main(int argc, char **argv)
{
	if (identity() || keys() || personalities() || capabilities() || clock_of_the_node() ||
	    comparisons() || memory_in_pipes() || advice() || process_descriptors() ||
	    signal_descriptors() || command_line(argc, argv) || all_descriptors() ||
	    direct_transfers() || barriers() || protection_keys() || places() || scheduling() ||
	    address_space())
		return 1;
	puts("all of it is right");
	return 0;
}
