/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock-own-map [MEGABYTES NODE FILE]: a user's process that keeps the lock of its own memory map. One thread
 * reads a page of a FUSE file system that never answers, through /proc/self/mem, which keeps the lock for reading
 * meanwhile; another wants to map memory, and all later readers wait behind it. Prints "locked PID" then, and
 * stays. With arguments it has that much memory on that NUMA node, prints "ready PID", and keeps the lock only
 * as long as the file is there; then it prints "unlocked PID".
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

static void write_file(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", name);
	close(fd);
}

/* Makes this process root of a name space of its own, in which it may mount. */
static void become_root(void)
{
	char uid[64], gid[64];

	snprintf(uid, sizeof(uid), "0 %u 1", getuid());
	snprintf(gid, sizeof(gid), "0 %u 1", getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		err(1, "unshare");
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/uid_map", uid);
	write_file("/proc/self/gid_map", gid);
}

static void answer(int device, uint64_t unique, const void *data, size_t size)
{
	struct {
		struct fuse_out_header header;
		char data[256];
	} reply = { .header = { .len = sizeof(reply.header) + size, .unique = unique } };

	memcpy(reply.data, data, size);
	if (write(device, &reply, reply.header.len) < 0)
		err(1, "answer");
}

/* True when a thread of the process wants to map memory: the one that reads can be ended by signals. */
static bool wants_lock(pid_t pid)
{
	char command[128];

	snprintf(command, sizeof(command), "cat /proc/%d/task/*/status | grep -q '^State:.D'", pid);
	return system(command) == 0;
}

static void wait_for_file(const char *file, bool there)
{
	while ((access(file, F_OK) == 0) != there)
		usleep(10000);
}

/* Serves a file system whose root is a file of one page, and answers no read(2) as long as 'file' is there. */
static void serve(int device, pid_t victim, int go, const char *file)
{
	static const char zeros[64];

	const struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
					    .minor = FUSE_KERNEL_MINOR_VERSION,
					    .max_write = PAGE };
	const struct fuse_attr_out attr = {
		.attr_valid = 1000000,
		.attr = { .ino = 1, .size = PAGE, .mode = S_IFREG | 0644, .nlink = 1 }
	};
	const struct fuse_open_out open = { .fh = 0 };
	static union {
		struct fuse_in_header header;
		char space[PAGE * 40];
	} request;

	while (read(device, &request, sizeof(request)) > 0) {
		switch (request.header.opcode) {
		case FUSE_INIT:
			answer(device, request.header.unique, &init, sizeof(init));
			break;
		case FUSE_GETATTR:
			answer(device, request.header.unique, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			answer(device, request.header.unique, &open, sizeof(open));
			break;
		case FUSE_READ:
			if (write(go, "", 1) != 1)
				err(1, "pipe");
			while (!wants_lock(victim))
				usleep(10000);
			printf("locked %d\n", victim);
			fflush(stdout);
			if (!file)
				break;
			wait_for_file(file, false);
			answer(device, request.header.unique, zeros, sizeof(zeros));
			printf("unlocked %d\n", victim);
			fflush(stdout);
			break;
		}
	}
}

static void *want_lock(void *go)
{
	char byte;

	if (read(*(int *)go, &byte, 1) == 1)
		mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return NULL;
}

static void hold_lock(const char *file, int go)
{
	struct stat ignored;
	pthread_t thread;
	char *map, byte;
	int fd, memory;

	/* The size of the file is asked for before it is mapped. */
	if (stat(file, &ignored) < 0)
		err(1, "stat");
	fd = open(file, O_RDONLY);
	memory = open("/proc/self/mem", O_RDONLY);
	map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || memory < 0 || map == MAP_FAILED)
		err(1, "map");
	if (pthread_create(&thread, NULL, want_lock, &go) != 0)
		errx(1, "pthread_create");
	if (pread(memory, &byte, 1, (uintptr_t)map) != 1)
		err(1, "read");
}

static void take_memory(const char *megabytes, const char *node)
{
	const unsigned long bytes = strtoul(megabytes, NULL, 10) << 20,
			    nodes = 1UL << strtoul(node, NULL, 10);
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED ||
	    syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, &nodes, 64UL, 0) < 0)
		err(1, "memory");
	memset(memory, 1, bytes);
}

int main(int argc, char **argv)
{
	char file[] = "/tmp/lock-own-map.XXXXXX", options[128];
	int device, go[2];
	pid_t victim;

	if (close(mkstemp(file)) < 0 || pipe(go) < 0)
		err(1, "%s", file);
	become_root();
	/* The device belongs to the name space of its opener, which has to be that of the mount. */
	device = open("/dev/fuse", O_RDWR);
	snprintf(options, sizeof(options), "fd=%d,rootmode=100644,user_id=0,group_id=0", device);
	if (device < 0 || mount("fuse", file, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		err(1, "mount of FUSE");
	victim = fork();
	if (victim < 0)
		err(1, "fork");
	if (victim == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
			err(1, "prctl");
		close(device);
		if (argc == 4) {
			take_memory(argv[1], argv[2]);
			printf("ready %d\n", getpid());
			fflush(stdout);
			wait_for_file(argv[3], true);
		}
		hold_lock(file, go[0]);
		pause();
		return 0;
	}
	serve(device, victim, go[1], argc == 4 ? argv[3] : NULL);
	return 1;
}
