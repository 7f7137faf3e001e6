/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks on Linux and on an LWK what Linux promises of calls that few programs make. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
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
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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
	return 0;
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

	CHECK(known > 0 && known & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	CHECK(known & MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
	CHECK(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0);
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
	pid_t child;
	void *end;

	CHECK(getrlimit(RLIMIT_AS, &old) == 0 && old.rlim_cur == RLIM_INFINITY);
	now = (struct rlimit){ limit, old.rlim_max };
	CHECK(setrlimit(RLIMIT_AS, &now) == 0);
	CHECK(prlimit(getpid(), RLIMIT_AS, NULL, &now) == 0 && now.rlim_cur == limit);
	CHECK(!has_room_for(limit) && errno == ENOMEM && has_room_for(step));
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
	if (identity() || process_descriptors() || command_line(argc, argv) || all_descriptors() ||
	    direct_transfers() || barriers() || protection_keys() || places() || scheduling() ||
	    address_space())
		return 1;
	puts("all of it is right");
	return 0;
}
